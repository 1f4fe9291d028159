// Configuration and training options as JSON objects, for the metadata of model files and
// checkpoints: {"vocab": 312, "embed": 64, ..., "gate": "sigmoid"}.
#ifndef VD_SETTINGS_H
#define VD_SETTINGS_H

#include "engine/model/model.h"
#include "engine/train/trainer.h"

// New strings (vd_free); NULL on failure.
vd_status vd_settings_from_config(const vd_config *config, char **json, vd_error *err);
vd_status vd_settings_from_options(const vd_train_options *options, char **json, vd_error *err);

// `where` names the source in errors. Every field must be there, in range ("decoder" may be left
// out: discriminative); unknown ones are refused.
vd_status vd_settings_to_config(const char *json, const char *where, vd_config *config,
                                vd_error *err);
vd_status vd_settings_to_options(const char *json, const char *where, vd_train_options *options,
                                 vd_error *err);

// The same ranges for what a caller filled in; VD_USAGE names the field.
vd_status vd_settings_check_config(const vd_config *config, vd_error *err);
vd_status vd_settings_check_options(const vd_train_options *options, vd_error *err);

#endif
