#include "tui/decoder_choice.h"

vd_status vd_choose_decoder(const char *value, vd_decoder_choice *out, vd_error *err)
{
    out->made = vd_decoders_parse(value, &out->by);
    if (out->made)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "--decoder: expected discriminative, generative or both, found '%.80s'",
                        value);
}
