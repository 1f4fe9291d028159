// Files of words: counts in the public layout, {"word": count, ...}, or a list of all words in id
// order, as a model file has it.
#ifndef VD_VOCAB_FILE_H
#define VD_VOCAB_FILE_H

#include "engine/model/vocab.h"

// Either kind. Of counts, words below `minimum` are left out; order: falling counts, ties as in the
// file.
vd_status vd_vocab_read(const char *path, int64_t minimum, vd_vocab **out, vd_error *err);
// Of counts only; a list of words has none. Order: as in the file. To be cleared after a failure,
// too.
vd_status vd_word_counts_read(const char *path, vd_word_counts *out, vd_error *err);
// All words with their counts, in that order. *written: how many.
vd_status vd_word_counts_write(const vd_word_counts *counts, const char *path, size_t *written,
                               vd_error *err);

#endif
