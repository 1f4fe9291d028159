// The settings of a training run (engine/networks/settings.h): what determines its result, and
// so what a checkpoint fixes.
#ifndef VD_RUN_SETTINGS_H
#define VD_RUN_SETTINGS_H

#include <stdbool.h>

#include "engine/train/trainer.h"

typedef struct vd_run_settings {
    vd_config network;
    vd_train_options training;
} vd_run_settings;

vd_run_settings vd_run_settings_defaults(void); // preset improved
// Those of captions: batches of 50, dropout 0.1, clipped gradients, a cosine schedule.
vd_run_settings vd_run_settings_captions(void);
// The same where a captioner learns from captions of its own (SCST): 10 pictures a step, a constant
// rate of 5e-6.
vd_run_settings vd_run_settings_scst(void);
// Settings of a captioner become another's, but for those that were said.
void vd_run_settings_of_captioner(vd_caption_config *settings, const vd_caption_config *other,
                                  bool (*said)(const void *context, const char *option),
                                  const void *context);

// The preset "improved" or "base" (which of the thesis' changes are on); false for another name.
// Only what presets decide is set.
bool vd_run_settings_preset(vd_run_settings *settings, const char *preset);
bool vd_run_settings_of_preset(const char *option); // whether presets decide it

// The names of the options that a run of this task has no use for, with spaces between them.
void vd_run_settings_foreign(vd_task task, char *out, size_t size);

// Reads an option (vd_option) into a vd_run_settings, of both tasks where both have it. option: one
// of the settings, without "--". text is ignored for switches.
vd_status vd_run_settings_set(void *settings, const char *option, const char *text, vd_error *err);
// Settings that need others; VD_USAGE names both.
vd_status vd_run_settings_check(const vd_run_settings *settings, vd_error *err);
// The value of an option as text, for messages.
void vd_run_settings_text(const vd_run_settings *settings, const char *option, char *out,
                          size_t size);
// Whether an option says of b what it says of a; heads that are left to the network (0) are as many
// as b's network has.
bool vd_run_settings_same(const vd_run_settings *a, const vd_run_settings *b, const char *option);

// The settings of a checkpoint; path: of its file, for errors.
vd_status vd_run_settings_resume(const vd_trainer *trainer, const char *path, vd_run_settings *out,
                                 vd_error *err);

#endif
