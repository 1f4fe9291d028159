// Word vectors in GloVe's text format (Pennington, Socher, Manning 2014): a line is a word, then
// its numbers, separated by single spaces.
#ifndef VD_GLOVE_H
#define VD_GLOVE_H

#include "engine/base/error.h"
#include "engine/model/vocab.h"

// Numbers a word has, by the file's first line.
vd_status vd_glove_width(const char *path, int *width, vd_error *err);

// A row of `width` numbers for every word of the vocabulary, as the public code starts from: zero
// for <PAD>, <S> and </S>, the vector of "unk" for words that are not in the file (<UNK> among
// them). rows (vocab, width) belongs to the caller. *found (may be NULL) gets how many words have a
// vector of their own; of a word that occurs twice the last one counts. A line of another width or
// with something that is no number is VD_FORMAT with its line number.
vd_status vd_glove_read(const char *path, const vd_vocab *vocab, int width, float *rows, int *found,
                        vd_error *err);

#endif
