// The vocabulary that a run starts with.
#ifndef VD_TRAIN_WORDS_H
#define VD_TRAIN_WORDS_H

#include "engine/model/vocab.h"
#include "tui/train/run_data.h"

// The words of the file `vocab`, or where that is NULL of the dialogs or captions, that occur at
// least so many times. The error says what to do if there are none.
vd_status vd_run_words(const char *vocab, const vd_run_data *data, int64_t minimum, vd_vocab **out,
                       vd_error *err);
// For a resumed run: the words of the file must be those of the checkpoint.
vd_status vd_run_words_check(const char *vocab, int64_t minimum, const vd_vocab *kept,
                             vd_error *err);

// The words of a model, then those of the data that it lacks.
vd_status vd_run_more_words(const vd_vocab *known, const vd_run_data *data, int64_t minimum,
                            vd_vocab **out, vd_error *err);

#endif
