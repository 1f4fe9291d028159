#include "engine/networks/text/text.h"

const vd_text_encoder *vd_text_encoder_of(const vd_config *config)
{
    static const vd_text_encoder *const all[VD_TEXT_ENCODERS] = {[VD_TEXT_OWN] = &vd_text_lstm,
#define X(code, symbol, name) [VD_TEXT_##code] = &vd_text_##symbol,
                                                                 VD_TEXTS(X)
#undef X
    };
    return all[config->text];
}
