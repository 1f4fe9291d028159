// The settings of a training run: what decides its numbers, and so what a checkpoint fixes.
#ifndef VD_RUN_SETTINGS_H
#define VD_RUN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/train/trainer.h"

// Every number as the option of its name has it; enumerations as their values.
typedef struct vd_run_settings {
    int64_t gate, positions, optimiser, decoder;
    int64_t embed, hidden;
    int64_t margin;
    double lambda_start, lambda_decay, lambda_floor;
    double dropout, lstm_dropout, position_dropout;
    double rate, clip;
    int64_t batch, epochs, seed;
    int64_t micro_batch; // dialogs whose gradients are computed at a time; 0: all of the batch
    int64_t open_gates;  // of the gates without an upper bound
    int64_t min_count;   // of a word, to be in the vocabulary
    int64_t pool;        // most answers in pool.txt
    int64_t half;        // the model file's numbers in half precision
} vd_run_settings;

// The preset "improved" or "base" (spec: which of the thesis' changes are on); false for another
// name. Only what presets decide is set.
bool vd_run_settings_preset(vd_run_settings *settings, const char *preset);
vd_run_settings vd_run_settings_defaults(void); // preset improved

// Whether `option` is one of the settings above.
bool vd_run_settings_has(const char *option);
// text is ignored for switches.
vd_status vd_run_settings_set(vd_run_settings *settings, const char *option, const char *text,
                              vd_error *err);
// The value of an option as text, for messages and files.
void vd_run_settings_text(const vd_run_settings *settings, const char *option, char *out,
                          size_t size);
bool vd_run_settings_same(const vd_run_settings *a, const vd_run_settings *b, const char *option);

void vd_run_settings_options(const vd_run_settings *settings, vd_train_options *options);
// What the trainer itself does not keep (batch, epochs, min_count, pool, half, micro_batch) as one
// string for its metadata, and back. VD_FORMAT when the string is not one of these.
void vd_run_settings_write(const vd_run_settings *settings, char *out, size_t size);
vd_status vd_run_settings_read(vd_run_settings *settings, const vd_trainer *trainer,
                               const char *text, const char *path, vd_error *err);

#endif
