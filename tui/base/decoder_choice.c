#include "tui/base/decoder_choice.h"

vd_status vd_decoder_read(void *choice, const char *name, const char *text, vd_error *err)
{
    vd_decoder_choice *out = choice;
    out->made = vd_decoders_parse(text, &out->by);
    return out->made
               ? VD_OK
               : vd_error_set(err, VD_USAGE,
                              "--%s: expected discriminative, generative or both, found '%.80s'",
                              name, text);
}

vd_status vd_decoder_of(const vd_model *model, const vd_decoder_choice *choice, vd_decoders *out,
                        vd_error *err)
{
    vd_decoders has = vd_model_config(model)->decoders;
    *out = choice->made ? choice->by : has;
    if (*out == has || has == VD_BOTH)
        return VD_OK;
    return vd_error_set(err, VD_MISMATCH,
                        "%.300s has no such decoder, only a %s one; `visdial train --decoder "
                        "both` trains a model that has both",
                        vd_model_path(model), vd_decoders_name(has));
}
