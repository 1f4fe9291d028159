// The encoder of ConvS2S (Gehring et al. 2017): gated convolutions, d = H.
//   y = W (x + position) + b (in -> d), the position in the sentence learned
//   six times: y = (glu(conv(y)) + y) sqrt(0.5), three words wide, zeros beyond the sentence
//   states W y + b (d -> d); a state reads 13 words
// Dropout p (own: 0.1): of x + position and of what each convolution reads. Convolutions of k words
// start N(0, sqrt(4 (1 - p) / (k d))), linear layers N(0, sqrt((1 - p) / d)), d what they read,
// with the own p. The released code's weight normalisation, and the 1 / 2L of the encoder's
// gradient, are left out.
#include "engine/networks/text/layers.h"

#include <math.h>

enum { LAYERS = 6, POSITIONS = 512 };

#define OWN_DROPOUT 0.1

void vd_convs2s_start(vd_layout *layout, double times)
{
    vd_parameter *p = &layout->parameter[layout->count - 2];
    p->init = (vd_init){VD_INIT_NORMAL, sqrt(times * (1 - OWN_DROPOUT) / (double)p->shape[1])};
}

static void declare(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    int d = vd_states_width(config);
    vd_layout_add(layout, name, ".text.place.weight", false, POSITIONS, in,
                  (vd_init){VD_INIT_NORMAL, 0.1});
    vd_layout_linear(layout, vd_name_of("%s.text.in", name).text, in, d, true);
    vd_convs2s_start(layout, 1);
    for (int l = 0; l < LAYERS; l++) {
        vd_text_declare_glu(layout, vd_name_of("%s.text.%d.conv", name, l).text, d, d);
        vd_convs2s_start(layout, 4);
    }
    vd_layout_linear(layout, vd_name_of("%s.text.out", name).text, d, d, true);
    vd_convs2s_start(layout, 1);
}

// x + position. Sentences are shorter than the table.
static vd_value *add_places(vd_tape *tape, const vd_sequences *words, const char *name)
{
    const vd_packed *p = words->packed;
    const vd_value *table = vd_tape_vector(tape, vd_name_of("%s.text.place.weight", name).text);
    if (p->longest > POSITIONS)
        vd_tape_fail(tape, VD_USAGE, "a text of %d words; convs2s reads %d at most", p->longest,
                     POSITIONS);
    vd_value *positions = vd_tape_rows(tape, table, p->rows.position, p->tokens, words->axis);
    return vd_tape_add(tape, vd_text_rows(tape, words), positions);
}

static vd_value *run(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                     const char *name)
{
    vd_value *y = vd_tape_dropout(tape, add_places(tape, words, name), in->text_dropout);
    y = vd_tape_linear(tape, y, vd_name_of("%s.text.in", name).text);
    for (int l = 0; l < LAYERS; l++) {
        vd_value *read = vd_tape_dropout(tape, y, in->text_dropout);
        read =
            vd_text_glu(tape, words->packed, read, 1, vd_name_of("%s.text.%d.conv", name, l).text);
        y = vd_tape_scale(tape, vd_tape_add(tape, read, y), (vd_real)sqrt(0.5));
    }
    return vd_tape_linear(tape, y, vd_name_of("%s.text.out", name).text);
}

const vd_text_encoder vd_text_convs2s = {.dropout = OWN_DROPOUT, .declare = declare, .states = run};
