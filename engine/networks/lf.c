// Late fusion (Das et al. 2017): the question, the picture as one vector, and all that was said as
// one text, joined. No attention.
//   g_t = state at the end of entries 0..t concatenated, v = unit(mean of v_k)
//   e_t = tanh(W [q_t ; v ; g_t] + b)
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

static void declare(const vd_config *c, vd_layout *layout)
{
    vd_texts_declare(c, layout);
    vd_layout_linear(layout, "encoder.fusion", c->region + 2 * c->hidden, c->hidden, true);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_value *g, *q = vd_read_concatenated(tape, in, &g);
    const vd_value *const all[] = {q, vd_inputs_picture(tape, in), g};
    vd_value *x = vd_tape_concat_all(tape, all, 3);
    vd_value *e = vd_tanh_layer(tape, x, "encoder.fusion", in->dropout);
    const vd_explained stage = {
        .title = "Fusion",
        .why = "The question, the picture as a whole and the history as one text are combined. "
               "There is no attention.",
        .formula = {"v = unit(mean of v_k), unit(x) = x / |x|", "e = tanh(W [q ; v ; g] + b)"},
        .in = {{"q", "the question", q}, {"v", "the picture", all[1]}, {"g", "the history", g}},
        .out = {{"e", "all three", e}}};
    vd_tape_explain(tape, &stage);
    return e;
}

const vd_encoder vd_encoder_lf = {.name = "lf",
                                  .title = "late fusion",
                                  .text = &vd_text_lstm,
                                  .reads = "dropout",
                                  .declare = declare,
                                  .build = build,
                                  .question_width = vd_width_hidden,
                                  .history_width = vd_width_concatenated};
