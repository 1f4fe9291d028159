// The vocabulary that a run starts with.
#ifndef VD_TRAIN_WORDS_H
#define VD_TRAIN_WORDS_H

#include "engine/model/vocab.h"
#include "features/dialogs/visdial.h"

// The words of the file `vocab`, or where that is NULL of the dialogs (read from `data`), that
// occur at least so many times. An error says what to do where there are none.
vd_status vd_run_words(const char *vocab, const char *data, const vd_visdial *dialogs,
                       int64_t minimum, vd_vocab **out, vd_error *err);

// The words of a model, then those of the dialogs that it lacks.
vd_status vd_run_more_words(const vd_vocab *known, const vd_visdial *dialogs, int64_t minimum,
                            vd_vocab **out, vd_error *err);

#endif
