// Memory network (Das et al. 2017): the question and the picture look back at what was said.
//   u_t = tanh(W_u [q_t ; v] + b), v = unit(mean of v_k); s_r = u_t . h_r for entries r <= t
//   c = sum_r a_r h_r, e_t = tanh(W_e (tanh(W_c c + b) + u_t) + b)
// Attention: a, question -> rounds.
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

static void declare(const vd_config *c, vd_layout *layout)
{
    vd_layout_linear(layout, "encoder.fuse", c->hidden + c->region, c->hidden, true);
    vd_memory_declare(layout, c);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_value *q = vd_text_sentences(tape, in, vd_text_questions(in), in->dropout);
    vd_value *v = vd_inputs_picture(tape, in);
    vd_value *u = vd_tanh_layer(tape, vd_tape_concat(tape, q, v), "encoder.fuse", 0);
    const vd_explained stage = {
        .title = "Question and picture",
        .why = "The question and the picture as a whole are combined.",
        .formula = {"v = unit(mean of v_k), unit(x) = x / |x|", "u = tanh(W_u [q ; v] + b)"},
        .in = {{"q", "the question", q}, {"v", "the picture", v}},
        .out = {{"u", "both", u}}};
    vd_tape_explain(tape, &stage);
    return vd_memory_look(tape, in, u);
}

const vd_encoder vd_encoder_mn = {.name = "mn",
                                  .title = "memory network",
                                  .text = &vd_text_lstm,
                                  .reads = "score-rounds dropout",
                                  .declare = declare,
                                  .build = build,
                                  .question_width = vd_width_hidden};
