// Text to words, as NLTK's word_tokenize does it (sentence split, then Treebank rules), which is
// how the public VisDial word counts were made.
#ifndef VD_TOKENIZE_H
#define VD_TOKENIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "engine/model/vocab.h"

typedef struct vd_words {
    size_t count;
    char **word; // (count), then NULL; g_strfreev
} vd_words;

// text must be valid UTF-8 (else VD_FORMAT with the byte's offset).
vd_status vd_tokenize(const char *text, vd_words *out, vd_error *err);
vd_status vd_tokenize_lower(const char *text, vd_words *out,
                            vd_error *err); // of text in lower case
void vd_words_clear(vd_words *words);

// Counts the words of a text, or of text + "?" (question): each so many times.
vd_status vd_text_count_words(vd_word_counts *counts, const char *text, bool question,
                              int64_t times, vd_error *err);

// What a person typed, made to look like the training text: lower case, white space folded, curly
// quotes straightened, a final "?" (and . or !) removed, numbers up to ten and apostrophes as the
// training text has them ("two" -> "2", "dont" -> "don't"). Owned by the caller. Invalid UTF-8 is
// VD_FORMAT.
vd_status vd_normalise_typed(const char *typed, char **out, vd_error *err);
// Its digits ("two" -> "2") for a number up to ten in lower case; NULL for another word.
const char *vd_typed_digits(const char *word);

// Ids of text + "?" (question) or of the text as it stands (caption), cut to `most`.
// found = tokens before the cut; ids holds min(found, most).
vd_status vd_text_ids(const vd_vocab *vocab, const char *text, bool question, int most,
                      int32_t *ids, int *length, int *found, vd_error *err);
// The same, without found, with extended ids for unknown words.
vd_status vd_text_oov_ids(vd_oov_words *own, const char *text, bool question, int most,
                          int32_t *ids, int *length, vd_error *err);
// <S> answer </S>, then cut to `most`.
vd_status vd_answer_ids(const vd_vocab *vocab, const char *answer, int most, int32_t *ids,
                        int *length, vd_error *err);
vd_status vd_answer_oov_ids(vd_oov_words *own, const char *answer, int most, int32_t *ids,
                            int *length, vd_error *err);

#endif
