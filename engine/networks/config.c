#include "engine/networks/config.h"

#include <stddef.h>
#include <string.h>

#include "engine/networks/settings.h"

const char *const vd_gate_names[] = {"leaky-relu", "sigmoid", "elu"};
const char *const vd_positions_names[] = {"none", "sinusoidal", "learned", "as-printed"};
const char *const vd_decoders_names[] = {"discriminative", "generative", "both"};
const char *const vd_network_names[] = {"mvan",
#define X(code, symbol, name) name,
                                        VD_ENCODERS(X)
#undef X
};
const char *const vd_text_names[] = {"own",
#define X(code, symbol, name) name,
                                     VD_TEXTS(X)
#undef X
};
const char *const vd_score_names[] = {"own",      "additive", "dot",        "scaled",
                                      "bilinear", "product",  "multi-head", "sum"};
const char *const vd_tying_names[] = {"adjacent", "layer-wise"};
const char *const vd_image_names[] = {"channels", "region", "raw"};
const char *const vd_boundaries_names[] = {"both", "none"};
const char *const vd_answer_names[] = {"lstm", "lstm-attention", "conv", "sequence"};
const char *const vd_copy_names[] = {"none", "pointer", "copynet"};

const char *const vd_task_names[] = {"dialog", "caption"};

vd_config vd_config_of_captioner(const vd_caption_config *caption)
{
    return (vd_config){.task = VD_TASK_CAPTION,
                       .caption = *caption,
                       .vocab = caption->vocab,
                       .embed = caption->hidden,
                       .hidden = caption->hidden,
                       .region = caption->region};
}

const vd_setting *vd_config_rows(const vd_config *config, const void **settings)
{
    bool captions = config->task == VD_TASK_CAPTION;
    *settings = captions ? (const void *)&config->caption : (const void *)config;
    return captions ? vd_caption_settings : vd_config_settings;
}

const char *vd_decoders_name(vd_decoders decoders)
{
    return vd_decoders_names[decoders];
}

bool vd_decoders_parse(const char *name, vd_decoders *out)
{
    static const char *const brief[] = {"disc", "gen", "both"};
    for (int i = VD_DISCRIMINATIVE; i <= VD_BOTH; i++)
        if (strcmp(name, vd_decoders_names[i]) == 0 || strcmp(name, brief[i]) == 0) {
            *out = (vd_decoders)i;
            return true;
        }
    return false;
}

#define ROW(member, name, kind, least, most, initial, choices, optional, help)                     \
    {name, VD_SETTING_##kind, offsetof(vd_config, member), least, most, initial, choices, optional},
const vd_setting vd_config_settings[] = {VD_DATA_SETTINGS(ROW) VD_NETWORK_SETTINGS(ROW){0}};
