#include "engine/train/options.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/base/append.h"
#include "engine/networks/settings.h"

const char *const vd_optimiser_names[] = {"adam", "rmsprop", "adamax", "adamw"};
const char *const vd_schedule_names[] = {"steps", "cosine", "constant", "warm-up"};
const char *const vd_scst_names[] = {"none", "cider-d", "bits"};
const char *const vd_sample_names[] = {"beam", "draw"};
const char *const vd_baseline_names[] = {"mean", "others", "greedy"};
const char *const vd_best_names[] = {"own",    "ce",       "reward", "cider-d",
                                     "bleu-4", "faithful", "bits"};
const char *const vd_eos_names[] = {"in", "out"};

#define ROW(member, name, kind, least, most, initial, choices, optional, help)                     \
    {name,    VD_SETTING_##kind, offsetof(vd_train_options, member), least, most, initial,         \
     choices, optional},
#define BY_TASK(member, name, kind, least, most, initial, captions, scst, choices, optional, help) \
    ROW(member, name, kind, least, most, initial, choices, optional, help)
const vd_setting vd_train_settings[] = {VD_TRAIN_SETTINGS(ROW, BY_TASK){0}};

vd_train_options vd_train_defaults(void)
{
    vd_train_options options = {0};
    vd_settings_start(vd_train_settings, &options);
    return options;
}

static void add(char *out, const char *format, double value)
{
    if (value > 0)
        vd_append(out, VD_SIGNATURE, format, value);
}

static void add_scst(const vd_train_options *o, char *out)
{
    vd_append(out, VD_SIGNATURE, " sample=%s K=%d baseline=%s", vd_sample_names[o->sample],
              o->sample_size, vd_baseline_names[o->baseline]);
    if (o->scst == VD_SCST_CIDER_D)
        vd_append(out, VD_SIGNATURE, " df=pictures eos=%s", vd_eos_names[o->eos]);
    add(out, " most=%g", o->reward_most);
    add(out, " variety=%g", o->variety);
    add(out, " ce-weight=%g", o->ce_weight);
}

void vd_train_signature(const vd_caption_config *c, const vd_train_options *o,
                        char out[VD_SIGNATURE])
{
    vd_caption_ce ce = vd_caption_is_sat(c) ? VD_CE_SUM : c->ce;
    snprintf(out, VD_SIGNATURE, "ce=%s smooth=%g awc=%s", vd_ce_names[ce], c->smoothing,
             vd_awc_names[c->awc]);
    if (c->awc == VD_AWC_FIXED)
        add(out, ":%g", c->awc_level);
    vd_append(out, VD_SIGNATURE, " scst=%s", vd_scst_names[o->scst]);
    if (o->scst != VD_SCST_NONE)
        add_scst(o, out);
    vd_append(out, VD_SIGNATURE, " seed=%" PRIu64, o->seed);
}
