// Typed words that the model does not know: which word was probably meant.
#ifndef VD_SPELLING_H
#define VD_SPELLING_H

#include "engine/base/error.h"
#include "engine/model/vocab.h"

// The word of the vocabulary that was probably meant, the most frequent of those that are as near;
// NULL: none is near. (tui/base/nearest.h; the same first letter, and one edit in words of up to
// six letters, else two: "taller" is no "table", "but" no "out")
const char *vd_vocab_nearest(const vd_vocab *vocab, const char *word);

// What the model reads for what was typed: normalised (vd_normalise_typed), and every unknown word
// of at least four letters that is one edit from a frequent word (one of the first 300 of the
// vocabulary, with the same first letter) is read as that: "spheer" as "sphere". g_free gives *out
// back. Files of dialogs are evaluated as they are; this is for what people type.
vd_status vd_read_typed(const vd_vocab *vocab, const char *typed, char **out, vd_error *err);

#endif
