// Slips of the fingers in what people type: "how mnay yelow things". A word that the model does not
// know is read as one that it knows where a slip explains the difference, and the program says so.
// Words in files of dialogs are never changed.
#ifndef VD_SLIPS_H
#define VD_SLIPS_H

#include <stdbool.h>

#include "engine/base/error.h"
#include "engine/model/vocab.h"

// Whether `typed` is `meant` with a slip: two neighbours swapped (three letters or more), a letter
// doubled or not (four), a letter left out, added or replaced, but the first (six), or two of all
// these (eight letters or more, the first one right). Shorter words differ too often by meaning:
// "tree", "three"; "bear", "near".
bool vd_is_slip(const char *typed, const char *meant);

// The question as a model with this vocabulary reads it: normalised (vd_normalise_typed), its slips
// mended. *said: "mnay: read as many  yelow: read as yellow", "" without any; may be NULL. free()
// by vd_free.
vd_status vd_typed_question(const vd_vocab *vocab, const char *typed, char **question, char **said,
                            vd_error *err);

#endif
