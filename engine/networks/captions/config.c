#include "engine/networks/captions/config.h"

#include "engine/networks/settings.h"

enum { HEADS = 4 };

const char *const vd_captioner_names[] = {"transformer", "cat", "sat-soft", "sat-hard"};
const char *const vd_history_names[] = {"own", "complete", "past", "only", "now", "light", "none"};
const char *const vd_awc_names[] = {"none", "fixed", "learnt"};
const char *const vd_ce_names[] = {"mean", "sum"};
const char *const vd_no_yes_names[] = {"no", "yes"};

#define ROW(member, name, kind, least, most, initial, choices, optional, help)                     \
    {name,    VD_SETTING_##kind, offsetof(vd_caption_config, member), least, most, initial,        \
     choices, optional},
const vd_setting vd_caption_settings[] = {VD_DATA_SETTINGS(ROW) VD_SIZE_SETTINGS(ROW)
                                              VD_CAPTION_SETTINGS(ROW){0}};

vd_caption_history vd_caption_history_of(const vd_caption_config *c)
{
    if (c->history != VD_HISTORY_OWN)
        return c->history;
    return c->captioner == VD_CAPTIONER_CAT ? VD_HISTORY_COMPLETE : VD_HISTORY_NONE;
}

bool vd_caption_is_sat(const vd_caption_config *c)
{
    return c->captioner == VD_CAPTIONER_SAT_SOFT || vd_caption_is_hard(c);
}

bool vd_caption_is_hard(const vd_caption_config *c)
{
    return c->captioner == VD_CAPTIONER_SAT_HARD;
}

bool vd_caption_reads(const vd_caption_config *c, const char *option)
{
    // The options that only some captioners read.
    static const char *const reads[VD_CAPTIONERS] = {
        [VD_CAPTIONER_TRANSFORMER] = "heads layers ce",
        [VD_CAPTIONER_CAT] = "heads layers ce shared history-norm",
        [VD_CAPTIONER_SAT_SOFT] = "embed seen-weight seen-target",
        [VD_CAPTIONER_SAT_HARD] = "embed reward-weight entropy-weight soft-share"};
    bool limited = false;
    for (int k = 0; k < VD_CAPTIONERS; k++)
        limited |= vd_listed(reads[k], option);
    return !limited || vd_listed(reads[c->captioner], option);
}

int vd_caption_heads(const vd_caption_config *c)
{
    return vd_caption_is_sat(c) ? 1 : c->heads ? c->heads : HEADS;
}

int vd_caption_layers(const vd_caption_config *c)
{
    return vd_caption_is_sat(c) ? 1 : c->layers;
}

vd_status vd_caption_check(const vd_caption_config *c, vd_error *err)
{
    vd_caption_history history = vd_caption_history_of(c);
    if (vd_caption_is_hard(c) && history != VD_HISTORY_NONE)
        return vd_error_set(err, VD_USAGE,
                            "history %s: the captioner sat-hard has none; expected own or none",
                            vd_history_names[c->history]);
    if (vd_caption_is_sat(c) && (history == VD_HISTORY_LIGHT || c->history_norm || !c->shared))
        return vd_error_set(err, VD_USAGE,
                            "captioner %s: it has no light history, no history-norm and no weights "
                            "of its own for the history",
                            vd_captioner_names[c->captioner]);
    if (c->captioner == VD_CAPTIONER_TRANSFORMER && history != VD_HISTORY_NONE)
        return vd_error_set(err, VD_USAGE,
                            "history %s: the captioner transformer has none; expected own or none, "
                            "or another captioner",
                            vd_history_names[c->history]);
    if (c->awc != VD_AWC_NONE && history == VD_HISTORY_NONE)
        return vd_error_set(
            err, VD_USAGE,
            "awc %s: the captioner attends to no history; expected none, or another history",
            vd_awc_names[c->awc]);
    if (c->hidden % vd_caption_heads(c) != 0)
        return vd_error_set(err, VD_USAGE,
                            "heads: the vector size (hidden) %d is not a multiple of %d heads; "
                            "expected a number that divides it",
                            c->hidden, vd_caption_heads(c));
    return VD_OK;
}
