// Memory network with one look at the regions (Das et al. 2017, released code): the question
// attends to the rounds (mn.c, with u_t = q_t), the result of that to the regions (lf_att.c).
// Attentions: question -> rounds, then -> regions.
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

static void declare(const vd_config *c, vd_layout *layout)
{
    vd_memory_declare(layout, c);
    vd_glimpse_declare(layout, c);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_value *q = vd_text_sentences(tape, in, vd_text_questions(in), in->dropout);
    return vd_glimpse(tape, in, vd_memory_look(tape, in, q));
}

const vd_encoder vd_encoder_mn_att = {.name = "mn-att",
                                      .title = "memory network with attention",
                                      .text = &vd_text_lstm,
                                      .reads = "image score-rounds score-regions dropout",
                                      .declare = declare,
                                      .build = build,
                                      .question_width = vd_width_hidden};
