// Captions as words. Training uses the words of the data set unchanged; coco-caption scores
// lower-case words without punctuation.
#ifndef VD_CAPTIONS_TOKENS_H
#define VD_CAPTIONS_TOKENS_H

#include "engine/base/string_arena.h"
#include "engine/measure/caption_metrics.h"
#include "features/text/tokenize.h"

typedef enum vd_caption_tokenizer {
    VD_CAPTION_WORDS, // the project's tokenizer, lower case: for training
    VD_CAPTION_COCO,  // coco-caption's: for metrics
    VD_CAPTION_GIVEN  // split at spaces: existing tokens
} vd_caption_tokenizer;

// COCO follows Stanford's PTBTokenizer 3.4.1 -lowerCase, as coco-caption runs it: the project's
// tokenizer, curly quotes straight, dashes as "--", the ellipsis as "...", brackets as "-lrb-" and
// so on, a quote before and hyphens behind a word cut off. Then these are dropped: quotes,
// . ? ! , : ; - -- and "..." ("-LRB-" is in coco-caption's list, but comes in lower case and
// stays). Of 7,097 captions, questions and answers of VisDial's 4 give other tokens than
// Stanford's. *out: vd_words_clear.
vd_status vd_caption_tokenize(const char *text, vd_caption_tokenizer by, vd_words *out,
                              vd_error *err);

// The same as numbers of words in `words`, which gets those that are new. *out: count and ids in
// arena. More than VD_CAPTION_MOST are VD_FORMAT, without the name of a file.
vd_status vd_caption_numbers(vd_word_counts *words, const char *text, vd_caption_tokenizer by,
                             vd_string_arena *arena, vd_tokens *out, vd_error *err);

// Numbers of the stems of all words, (words->count), new (vd_free): equal for words of one stem by
// the Snowball project's English stemmer (Porter2), METEOR's, as vd_meteor_align takes them.
vd_status vd_caption_stems(const vd_word_counts *words, int32_t **out, vd_error *err);

// Words as a text (g_free): joined by blanks, none before , . ; : ! ? 's n't.
char *vd_caption_text(const char *const *word, int count);

#endif
