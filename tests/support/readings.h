// Every network with its own text encoder, and networks of each kind of reading, whose own is lstm,
// with every other one.
#ifndef TESTS_SUPPORT_READINGS_H
#define TESTS_SUPPORT_READINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/networks/encoder.h"

// Sets network and text of the i-th; false after the last.
static inline bool support_reading(int i, vd_config *config)
{
    enum { FIRST = VD_TEXT_LSTM + 1 };
    static const vd_network_kind reader[] = {VD_NETWORK_LF_ATT, VD_NETWORK_HREA, VD_NETWORK_MN_ATT};
    const int networks = VD_NETWORKS - 1, readers = sizeof reader / sizeof *reader;
    config->text = VD_TEXT_OWN;
    config->network = (vd_network_kind)(i + 1);
    for (int k = 0; i >= networks && k < readers * (VD_TEXT_ENCODERS - FIRST); k++) {
        config->text = (vd_text_choice)(FIRST + k / readers);
        config->network = reader[k % readers];
        if (vd_encoder_check(config, NULL) == VD_OK && i-- == networks)
            return true;
    }
    return i < networks;
}

// "mn-att", "mn-att-gru", "memn2n-layer-wise"
static inline const char *support_reading_name(const vd_config *config, char out[40])
{
    bool own = config->text == VD_TEXT_OWN;
    snprintf(out, 40, "%s%s%s%s", vd_network_names[config->network], own ? "" : "-",
             own ? "" : vd_text_names[config->text],
             config->tying == VD_TYING_LAYER_WISE ? "-layer-wise" : "");
    return out;
}

#endif
