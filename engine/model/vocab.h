// Words and their ids. Ids 0..3 are <PAD> <S> </S> <UNK>; words follow in descending count order,
// ties in file order, count >= 5 in the public data.
#ifndef VD_VOCAB_H
#define VD_VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "engine/base/token.h"

typedef struct vd_vocab vd_vocab;

// From a JSON array of all words in id order, the four special ones first (what a model file
// carries in its metadata). `where` names the source in errors.
vd_status vd_vocab_from_json(const char *json, size_t length, const char *where, vd_vocab **out,
                             vd_error *err);
// The same array as a new string (vd_free), or NULL when memory is out.
char *vd_vocab_to_json(const vd_vocab *vocab);

// From words in id order without the special ones.
vd_status vd_vocab_from_words(const char *const *words, size_t count, vd_vocab **out,
                              vd_error *err);

void vd_vocab_free(vd_vocab *vocab);

int vd_vocab_size(const vd_vocab *vocab);
const char *vd_vocab_word(const vd_vocab *vocab, int32_t id); // borrowed; "<UNK>" out of range
int32_t vd_vocab_id(const vd_vocab *vocab, const char *word); // VD_UNKNOWN when absent

// Words that are counted, for a new vocabulary: numbered from 0 on, in the order in which they
// came. Zero at first, and again when it is cleared.
typedef struct vd_word_counts {
    struct {
        char *text;
        int64_t times; // how often it was counted
    } * words;         // (count)
    size_t count, room;
    uint32_t *slots;   // open addressing: number + 1
    size_t slot_count; // a power of two, at least twice count
} vd_word_counts;
void vd_word_counts_clear(vd_word_counts *counts);
vd_status vd_word_counts_add(vd_word_counts *counts, const char *word, int64_t times,
                             vd_error *err);
// Words with at least `minimum` occurrences.
vd_status vd_word_counts_vocab(const vd_word_counts *counts, int64_t minimum, vd_vocab **out,
                               vd_error *err);
// How often word was added; 0 when never.
int64_t vd_word_counts_times(const vd_word_counts *counts, const char *word);
int32_t vd_word_counts_number(const vd_word_counts *counts, const char *word); // -1: it never came

// Out-of-vocabulary words get extended ids, from the vocabulary's size on as they first come: for
// models that copy words (See et al. 2017; networks/batch.h).
typedef struct vd_oov_words {
    const vd_vocab *vocab; // borrowed
    vd_word_counts more;   // zero at first; vd_word_counts_clear
} vd_oov_words;
// The vocabulary's id of a word, or its extended id.
vd_status vd_oov_words_id(vd_oov_words *own, const char *word, int32_t *id, vd_error *err);
const char *vd_oov_words_word(const vd_oov_words *own, int32_t id); // borrowed; as vd_vocab_word

#endif
