// The settings of a training run (engine/networks/settings.h): all that determines its
// result. A checkpoint keeps them.
#ifndef VD_RUN_SETTINGS_H
#define VD_RUN_SETTINGS_H

#include <stdbool.h>

#include "engine/train/trainer.h"
#include "tui/base/options.h"

typedef struct vd_run_settings {
    vd_config network;
    vd_train_options training;
} vd_run_settings;

vd_run_settings vd_run_settings_defaults(void); // preset improved
vd_run_settings vd_run_settings_captions(void); // of captioners
vd_run_settings vd_run_settings_scst(void);     // of SCST
// Takes the settings of another captioner, except those given as options.
void vd_run_settings_of_captioner(vd_caption_config *settings, const vd_caption_config *other,
                                  const vd_arguments *given);

// The preset "improved" or "base" (which of the thesis' changes are on); false for another name.
// Only the settings of presets are changed.
bool vd_run_settings_preset(vd_run_settings *settings, const char *preset);
bool vd_run_settings_of_preset(const char *option); // whether presets set it

// The names of the options that do not apply to this task, separated by spaces.
void vd_run_settings_foreign(vd_task task, char *out, size_t size);

// Reads an option (vd_option) into a vd_run_settings, for both tasks if both have it. option: its
// name without "--". text is ignored for switches.
vd_status vd_run_settings_set(void *settings, const char *option, const char *text, vd_error *err);
// Checks settings that depend on each other; VD_USAGE names both.
vd_status vd_run_settings_check(const vd_run_settings *settings, vd_error *err);
// Says on stderr which of the given options change nothing: two runs that differ in them alone are
// the same run.
void vd_run_settings_note(const vd_trainer *trainer, const vd_arguments *given);
// The value of an option as text, for messages.
void vd_run_settings_text(const vd_run_settings *settings, const char *option, char *out,
                          size_t size);
// Whether an option has the same value in a and b; heads 0 is the number that b's network has by
// default.
bool vd_run_settings_same(const vd_run_settings *a, const vd_run_settings *b, const char *option);

#endif
