// The encoder block of QANet (Yu et al. 2018), d = H, `heads` heads:
//   y = W x + b + sinusoid of the position
//   four times: y = y + relu(pointwise(depthwise(ln y))), seven words wide, zeros beyond the
//     sentence
//   y = y + multi-head(ln y), y = y + W_2 relu(W_1 ln y + b) + b, d -> d -> d
// Layer normalisation comes first in each sublayer; attention and what follows are layer 4. A
// depthwise convolution has a kernel for each channel, (1, 7 d), a word's numbers together, and no
// bias: the pointwise one after it has.
// Dropout: of the first y and of what is added to it. In training sublayer l of L = 6 is left out
// with probability p l / L, p the rate of dropout (stochastic depth). The paper has d = 128 and 8
// heads; a released version 96, one head and no W_o.
#include "engine/networks/text/layers.h"

#include "engine/base/rng.h"

enum { CONVOLUTIONS = 4, WIDE = 7, SUBLAYERS = CONVOLUTIONS + 2 };

// One pass of a text through the block.
typedef struct block {
    vd_tape *tape;
    const vd_packed *packed;
} block;

static void declare(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    int d = vd_states_width(config);
    const vd_name last = vd_name_of("%s.text.%d", name, CONVOLUTIONS);
    vd_layout_linear(layout, vd_name_of("%s.text.in", name).text, in, d, true);
    for (int l = 0; l < CONVOLUTIONS; l++) {
        const vd_name at = vd_name_of("%s.text.%d", name, l);
        vd_layout_norm(layout, vd_name_of("%s.norm", at.text).text, d);
        vd_layout_add(layout, at.text, ".depthwise.weight", false, 1, WIDE * d,
                      vd_init_kaiming(WIDE));
        vd_layout_linear(layout, vd_name_of("%s.pointwise", at.text).text, d, d, true);
    }
    vd_layout_norm(layout, vd_name_of("%s.norm1", last.text).text, d);
    vd_text_declare_attention(layout, last.text, d);
    vd_layout_norm(layout, vd_name_of("%s.norm2", last.text).text, d);
    vd_text_declare_ffn(layout, last.text, d, d);
}

// Each word's neighbours weighed, channel by channel, and added up.
static vd_value *depthwise(const block *b, const vd_value *y, const char *at)
{
    int d = y->columns;
    const vd_value *kernel = vd_tape_vector(b->tape, vd_name_of("%s.depthwise.weight", at).text);
    vd_value *near = vd_tape_window(b->tape, y, b->packed, WIDE, 1, false);
    near = vd_tape_multiply(b->tape, near, kernel);
    vd_value *sum = vd_tape_columns(b->tape, near, 0, d);
    for (int w = 1; w < WIDE; w++)
        sum = vd_tape_add(b->tape, sum, vd_tape_columns(b->tape, near, w * d, d));
    return sum;
}

// A part's layer normalisation of y.
static vd_value *norm(const block *b, const vd_value *y, const char *at, const char *part)
{
    return vd_tape_layer_norm(b->tape, y, vd_name_of("%s.%s", at, part).text);
}

static vd_value *convolve(const block *b, const vd_value *y, const char *at)
{
    y = vd_tape_linear(b->tape, depthwise(b, norm(b, y, at, "norm"), at),
                       vd_name_of("%s.pointwise", at).text);
    return vd_tape_map(b->tape, VD_RELU, y);
}

// Whether sublayer l, from 1, is left out of this pass.
static bool is_skipped(const vd_tape *tape, const vd_inputs *in, int l)
{
    vd_rng rng = vd_rng_seed(tape->key, tape->operations);
    return vd_rng_uniform(&rng) < (double)in->text_dropout * l / SUBLAYERS;
}

static vd_value *run(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                     const char *name)
{
    const block b = {tape, words->packed};
    const vd_pairing *own = vd_text_own_words(tape, words);
    vd_value *y =
        vd_tape_linear(tape, vd_text_rows(tape, words), vd_name_of("%s.text.in", name).text);
    y = vd_tape_dropout(tape, vd_text_add_sinusoids(tape, words, y), in->text_dropout);
    for (int l = 0; l < SUBLAYERS && tape->status == VD_OK; l++) {
        const vd_name at = vd_name_of("%s.text.%d", name, l < CONVOLUTIONS ? l : CONVOLUTIONS);
        vd_value *more;
        if (is_skipped(tape, in, l + 1))
            continue;
        if (l < CONVOLUTIONS)
            more = convolve(&b, y, at.text);
        else if (l == CONVOLUTIONS)
            more = vd_text_attention(tape, own, norm(&b, y, at.text, "norm1"),
                                     vd_text_heads(in->config), at.text);
        else
            more = vd_text_ffn(tape, norm(&b, y, at.text, "norm2"), at.text);
        y = vd_tape_add(tape, y, vd_tape_dropout(tape, more, in->text_dropout));
    }
    return y;
}

const vd_text_encoder vd_text_qanet = {
    .dropout = 0.1, .heads = true, .declare = declare, .states = run};
