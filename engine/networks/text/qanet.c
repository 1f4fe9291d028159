// The encoder block of QANet (Yu et al. 2018), d = H, `heads` heads:
//   y = W x + b + sinusoid of the place
//   four times: y = y + relu(pointwise(depthwise(ln y))), seven words wide, zeros beyond the
//   sentence y = y + multi-head(ln y), y = y + W_2 relu(W_1 ln y + b) + b, d -> d -> d
// Layer normalisation comes first in each sublayer; attention and what follows are layer 4. A
// depthwise convolution has a kernel for each channel, (1, 7 d), a word's numbers together, and no
// bias: the pointwise one after it has.
// Dropout: of the first y and of what is added to it. In training sublayer l of L = 6 is left out
// with probability p l / L, p the rate of dropout (stochastic depth). The paper has d = 128 and 8
// heads; a released version 96, one head and no W_o.
#include "engine/networks/text/layers.h"

#include <stdio.h>

#include "engine/base/rng.h"

enum { CONVOLUTIONS = 4, WIDE = 7, SUBLAYERS = CONVOLUTIONS + 2 };

// One pass of a text through the block.
typedef struct block {
    vd_tape *tape;
    const vd_inputs *in;
    const vd_packed *packed;
    const vd_pairing *own;
    const char *name;
} block;

static void declare(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    char depthwise[VD_TEXT_NAME];
    int d = vd_states_width(config);
    const vd_text_at last = {name, CONVOLUTIONS};
    vd_text_declare_linear(layout, (vd_text_at){name, VD_TEXT_ONCE}, "in", in, d);
    for (int l = 0; l < CONVOLUTIONS; l++) {
        const vd_text_at at = {name, l};
        vd_text_declare_norm(layout, at, "norm", d);
        vd_layout_add(layout, vd_text_part(at, "depthwise", depthwise), ".weight", false, 1,
                      WIDE * (size_t)d, vd_start_kaiming(WIDE));
        vd_text_declare_linear(layout, at, "pointwise", d, d);
    }
    vd_text_declare_norm(layout, last, "norm1", d);
    vd_text_declare_attention(layout, last, d);
    vd_text_declare_norm(layout, last, "norm2", d);
    vd_text_declare_ffn(layout, last, d, d);
}

// Each word's neighbours weighed, channel by channel, and added up.
static vd_value *depthwise(const block *b, const vd_value *y, vd_text_at at)
{
    char part[VD_TEXT_NAME], name[VD_TEXT_NAME + 8];
    int d = y->columns;
    snprintf(name, sizeof name, "%s.weight", vd_text_part(at, "depthwise", part));
    vd_value *near = vd_tape_window(b->tape, y, b->packed, WIDE, 1, false);
    near = vd_tape_multiply(b->tape, near, vd_tape_vector(b->tape, name));
    vd_value *sum = vd_tape_columns(b->tape, near, 0, d);
    for (int w = 1; w < WIDE; w++)
        sum = vd_tape_add(b->tape, sum, vd_tape_columns(b->tape, near, w * d, d));
    return sum;
}

static vd_value *convolve(const block *b, const vd_value *y, int layer)
{
    const vd_text_at at = {b->name, layer};
    y = depthwise(b, vd_text_norm(b->tape, y, at, "norm"), at);
    return vd_tape_map(b->tape, VD_RELU, vd_text_linear(b->tape, y, at, "pointwise"));
}

static vd_value *attend(const block *b, const vd_value *y, int layer)
{
    const vd_text_at at = {b->name, layer};
    return vd_text_attention(b->tape, b->own, vd_text_norm(b->tape, y, at, "norm1"),
                             vd_text_heads(b->in->config), at);
}

static vd_value *feed(const block *b, const vd_value *y)
{
    const vd_text_at at = {b->name, CONVOLUTIONS};
    return vd_text_ffn(b->tape, vd_text_norm(b->tape, y, at, "norm2"), at);
}

// Whether sublayer l, from 1, is left out of this pass.
static bool is_skipped(const block *b, int l)
{
    vd_rng rng = vd_rng_seed(b->tape->key, b->tape->operations);
    return vd_rng_uniform(&rng) < (double)b->in->text_dropout * l / SUBLAYERS;
}

static vd_value *run(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                     const char *name)
{
    const block b = {tape, in, words->packed, vd_text_own_words(tape, words), name};
    vd_value *y =
        vd_text_linear(tape, vd_text_rows(tape, words), (vd_text_at){name, VD_TEXT_ONCE}, "in");
    y = vd_tape_dropout(tape, vd_text_placed(tape, words, y), in->text_dropout);
    for (int l = 0; l < SUBLAYERS && tape->status == VD_OK; l++) {
        if (is_skipped(&b, l + 1))
            continue;
        vd_value *more = l < CONVOLUTIONS    ? convolve(&b, y, l)
                         : l == CONVOLUTIONS ? attend(&b, y, l)
                                             : feed(&b, y);
        y = vd_tape_add(tape, y, vd_tape_dropout(tape, more, in->text_dropout));
    }
    return y;
}

const vd_text_encoder vd_text_qanet = {
    .dropout = 0.1, .heads = true, .declare = declare, .states = run};
