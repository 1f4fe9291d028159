#include "engine/train/options.h"

#include <stddef.h>

#include "engine/networks/settings.h"

const char *const vd_optimiser_names[] = {"adam", "rmsprop", "adamax"};
const char *const vd_schedule_names[] = {"steps", "cosine", "constant"};
const char *const vd_scst_names[] = {"none", "cider-d", "bits"};
const char *const vd_sample_names[] = {"beam", "draw"};
const char *const vd_baseline_names[] = {"mean", "others", "greedy"};
const char *const vd_best_names[] = {"own",    "ce",       "reward", "cider-d",
                                     "bleu-4", "faithful", "bits"};
const char *const vd_eos_names[] = {"in", "out"};

#define ROW(member, name, kind, least, most, initial, choices, optional, help)                     \
    {name,    VD_SETTING_##kind, offsetof(vd_train_options, member), least, most, initial,         \
     choices, optional},
const vd_setting vd_train_settings[] = {VD_TRAIN_SETTINGS(ROW){0}};

vd_train_options vd_train_defaults(void)
{
    vd_train_options options = {0};
    vd_settings_start(vd_train_settings, &options);
    return options;
}
