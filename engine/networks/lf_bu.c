// Late fusion with bottom-up regions: the baseline of the VisDial challenge, under the names of its
// public checkpoints.
//   s_k = w . (q_t o (W_p v_k + b)) + b', v = sum_k p_k v_k
//   e_t = tanh(W [v ; q_t ; g_t] + b), g_t as in lf.c
// b' changes no softmax. The public code lets rows of zeros take part in it; here they do not.
// Attention: p, question -> regions.
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

static vd_scoring score_of(const vd_config *c)
{
    vd_scoring s = vd_scoring_of(c, c->score_regions, VD_SCORE_PRODUCT, "encoder.attention_proj");
    s.found = c->region;
    return s;
}

static void declare(const vd_config *c, vd_layout *layout)
{
    vd_text_declare(layout, c, "encoder.hist_rnn", c->embed);
    vd_text_declare(layout, c, "encoder.ques_rnn", c->embed);
    vd_layout_linear(layout, "encoder.image_features_projection", c->region, c->hidden, true);
    if (c->score_regions == VD_SCORE_OWN)
        vd_layout_score(layout, "encoder.attention_proj", c->hidden, true);
    else
        vd_score_declare(layout, score_of(c));
    vd_layout_linear(layout, "encoder.fusion", c->region + 2 * c->hidden, c->hidden, true);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_REGIONS);
    vd_value *g, *q = vd_read_concatenated(tape, in, &g);
    vd_value *y = vd_tape_linear(tape, in->regions, "encoder.image_features_projection");
    vd_value *v =
        vd_score_find(tape, score_of(in->config), p, q, y, in->regions, in->dropout, "regions");
    const vd_explained look = {
        .title = "Look at the regions",
        .why = "The question is compared with each region; the best matches get the most weight.",
        .formula = {vd_score_by_heads(score_of(in->config))
                        ? "y_k = W_p v_k + b, v = heads(q, y), as above"
                        : "y_k = W_p v_k + b, v = sum_k softmax_k(score(q, y_k)) v_k",
                    vd_score_formula(score_of(in->config))},
        .in = {{"q", "the question", q}, {"y", "the regions", y}},
        .out = {{"v", "what is seen", v}}};
    vd_tape_explain(tape, &look);
    const vd_value *const all[] = {v, q, g};
    vd_value *e =
        vd_tanh_layer(tape, vd_tape_concat_all(tape, all, 3), "encoder.fusion", in->dropout);
    const vd_explained fusion = {
        .title = "Fusion",
        .why = "What is seen, the question and the history as one text are combined.",
        .formula = {"e = tanh(W [v ; q ; g] + b)"},
        .in = {{"v", "what is seen", v}, {"q", "the question", q}, {"g", "the history", g}},
        .out = {{"e", "all three", e}}};
    vd_tape_explain(tape, &fusion);
    return e;
}

const vd_encoder vd_encoder_lf_bu = {
    .name = "lf-bu",
    .title = "late fusion with bottom-up regions",
    .text = &vd_text_lstm,
    .published = {.mark = "encoder.image_features_projection.weight",
                  .last = "encoder.fusion.weight",
                  .states = 2,
                  .ranking = VD_BOUNDARIES_NONE},
    .reads = "image score-regions dropout",
    .declare = declare,
    .build = build,
    .question_width = vd_width_hidden,
    .history_width = vd_width_concatenated};
