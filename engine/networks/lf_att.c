// Late fusion with one look at the regions (Das et al. 2017, released code; Yang et al. 2016).
//   u_t = tanh(W_f [q_t ; g_t] + b), g_t as in lf.c
//   y_k = tanh(W_i v_k + b), s_k = w . tanh(W_k y_k + W_q u_t + b)
//   e_t = tanh(W_o (sum_k p_k y_k + u_t) + b)
// Attention: p, question -> regions.
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

static void declare(const vd_config *c, vd_layout *layout)
{
    vd_texts_declare(c, layout);
    vd_layout_linear(layout, "encoder.fusion", 2 * c->hidden, c->hidden, true);
    vd_glimpse_declare(layout, c);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_value *g, *q = vd_read_concatenated(tape, in, &g);
    vd_value *u = vd_tanh_layer(tape, vd_tape_concat(tape, q, g), "encoder.fusion", 0);
    const vd_explained stage = {.title = "Fusion of the texts",
                                .why = "The question and the history as one text are combined.",
                                .formula = {"u = tanh(W_f [q ; g] + b)"},
                                .in = {{"q", "the question", q}, {"g", "the history", g}},
                                .out = {{"u", "both", u}}};
    vd_tape_explain(tape, &stage);
    return vd_glimpse(tape, in, u);
}

const vd_encoder vd_encoder_lf_att = {.name = "lf-att",
                                      .title = "late fusion with attention",
                                      .text = &vd_text_lstm,
                                      .reads = "image score-regions dropout",
                                      .declare = declare,
                                      .build = build,
                                      .question_width = vd_width_hidden,
                                      .history_width = vd_width_concatenated};
