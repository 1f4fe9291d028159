// The encoder of a transformer (Vaswani et al. 2017), two layers, `heads` heads:
//   y = sqrt(d) (W x + b) + sinusoid of the position
//   twice: y = ln(y + multi-head(y)), y = ln(y + W_2 relu(W_1 y + b) + b), d -> 4d -> d
// Layer normalisation comes last in each sublayer, for which the paper warms the rate up. Dropout:
// of the first y and of what is added to it.
#include "engine/networks/text/layers.h"

#include <math.h>

enum { LAYERS = 2, INNER = 4 };

static void declare(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    int d = vd_states_width(config);
    vd_layout_linear(layout, vd_name_of("%s.text.in", name).text, in, d, true);
    for (int l = 0; l < LAYERS; l++) {
        const vd_name at = vd_name_of("%s.text.%d", name, l);
        vd_text_declare_attention(layout, at.text, d);
        vd_layout_norm(layout, vd_name_of("%s.norm1", at.text).text, d);
        vd_text_declare_ffn(layout, at.text, d, INNER * d);
        vd_layout_norm(layout, vd_name_of("%s.norm2", at.text).text, d);
    }
}

// ln(y + dropout(more)).
static vd_value *add_norm(vd_tape *tape, const vd_inputs *in, const vd_value *y,
                          const vd_value *more, const char *norm)
{
    more = vd_tape_dropout(tape, more, in->text_dropout);
    return vd_tape_layer_norm(tape, vd_tape_add(tape, y, more), norm);
}

static vd_value *run(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                     const char *name)
{
    const vd_pairing *own = vd_text_own_words(tape, words);
    vd_value *y =
        vd_tape_linear(tape, vd_text_rows(tape, words), vd_name_of("%s.text.in", name).text);
    y = vd_tape_scale(tape, y, (vd_real)sqrt((double)y->columns));
    y = vd_tape_dropout(tape, vd_text_add_sinusoids(tape, words, y), in->text_dropout);
    for (int l = 0; l < LAYERS; l++) {
        const vd_name at = vd_name_of("%s.text.%d", name, l);
        vd_value *seen = vd_text_attention(tape, own, y, vd_text_heads(in->config), at.text);
        y = add_norm(tape, in, y, seen, vd_name_of("%s.norm1", at.text).text);
        y = add_norm(tape, in, y, vd_text_ffn(tape, y, at.text),
                     vd_name_of("%s.norm2", at.text).text);
    }
    return y;
}

const vd_text_encoder vd_text_transformer = {
    .dropout = 0.1, .heads = true, .declare = declare, .states = run};
