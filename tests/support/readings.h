// Every network with its own text encoder; networks of each kind of reading with every other one,
// and the others with one of these.
#ifndef TESTS_SUPPORT_READINGS_H
#define TESTS_SUPPORT_READINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/networks/encoder.h"

// Sets network and text of the i-th; false after the last.
static inline bool support_reading(int i, vd_config *config)
{
    enum { FIRST = VD_TEXT_LSTM + 1, OTHERS = VD_TEXT_ENCODERS - FIRST };
    static const vd_network_kind all[] = {VD_NETWORK_LF_ATT, VD_NETWORK_HREA, VD_NETWORK_MN_ATT,
                                          VD_NETWORK_MVAN};
    static const struct {
        vd_network_kind network;
        vd_text_choice text;
    } one[] = {{VD_NETWORK_LF, VD_TEXT_GLDR},        {VD_NETWORK_LF_BU, VD_TEXT_BILSTM},
               {VD_NETWORK_MAC, VD_TEXT_GRU},        {VD_NETWORK_AMEM, VD_TEXT_QANET},
               {VD_NETWORK_MEMN2N, VD_TEXT_LSTM},    {VD_NETWORK_DMN, VD_TEXT_CONVS2S},
               {VD_NETWORK_BIDAF, VD_TEXT_GRU},      {VD_NETWORK_DCN, VD_TEXT_TRANSFORMER},
               {VD_NETWORK_MEMN2N, VD_TEXT_CONVS2S}, {VD_NETWORK_DMN, VD_TEXT_BILSTM}};
    const int networks = VD_NETWORKS - 1, count = sizeof all / sizeof *all * OTHERS,
              ones = sizeof one / sizeof *one;
    int k = i - networks;
    config->text = k < 0 ? VD_TEXT_OWN : (vd_text_choice)(FIRST + k % OTHERS);
    if (k < count)
        config->network = k < 0 ? (vd_network_kind)(i + 1) : all[k / OTHERS];
    if (vd_is_fused(config)) // its own by another name
        config->text = VD_TEXT_LSTM;
    if (k >= count && k < count + ones) {
        config->network = one[k - count].network;
        config->text = one[k - count].text;
    }
    return k < count + ones;
}

// Every other score of each network that takes one, with its own text encoder: sets network, text
// and scores of the i-th; false after the last.
static inline bool support_scoring(int i, vd_config *config)
{
    enum { FIRST = VD_SCORE_ADDITIVE, SCORES = VD_SCORE_SUM + 1 - FIRST };
    static const vd_network_kind all[] = {VD_NETWORK_LF_BU, VD_NETWORK_HREA, VD_NETWORK_MN_ATT};
    int networks = sizeof all / sizeof *all;
    vd_score score = (vd_score)(FIRST + i % SCORES);
    config->text = VD_TEXT_OWN;
    config->network = all[i / SCORES % networks];
    config->score_rounds = score;
    config->score_regions = score == VD_SCORE_SUM ? VD_SCORE_OWN : score;
    return i < networks * SCORES;
}

// "mn-att", "mn-att-gru", "mn-att-multi-head", "memn2n-layer-wise"
static inline const char *support_reading_name(const vd_config *config, char out[40])
{
    bool own = config->text == VD_TEXT_OWN;
    vd_score score = config->score_rounds ? config->score_rounds : config->score_regions;
    snprintf(out, 40, "%s%s%s%s%s%s", vd_network_names[config->network], own ? "" : "-",
             own ? "" : vd_text_names[config->text], score ? "-" : "",
             score ? vd_score_names[score] : "",
             config->tying == VD_TYING_LAYER_WISE ? "-layer-wise" : "");
    return out;
}

#endif
