// Gated linear dilated residual network (Wu et al. 2017): gated convolutions, three words wide,
// with d = H.
//   y = glu(conv(x)) (in -> d)
//   at dilation 1, 2, 4, 8: y = y + glu(conv(glu(conv(y)))), both dilated
// A state reads 1 + 2 + 4 (1 + 2 + 4 + 8) = 63 words. In the released code the second convolution
// reads the block's input, so that the first is dead, and the paper's 65 words, at dilations up to
// 16, count one convolution a block; here they are chained.
// Dropout: of the words and of what each block reads.
#include "engine/networks/text/layers.h"

enum { BLOCKS = 4 };

static void declare(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    int d = vd_states_width(config);
    vd_text_declare_glu(layout, vd_name_of("%s.text.in", name).text, in, d);
    for (int l = 0; l < BLOCKS; l++) {
        vd_text_declare_glu(layout, vd_name_of("%s.text.%d.conv1", name, l).text, d, d);
        vd_text_declare_glu(layout, vd_name_of("%s.text.%d.conv2", name, l).text, d, d);
    }
}

static vd_value *run(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                     const char *name)
{
    const vd_packed *packed = words->packed;
    vd_value *x = vd_tape_dropout(tape, vd_text_rows(tape, words), in->text_dropout);
    vd_value *y = vd_text_glu(tape, packed, x, 1, vd_name_of("%s.text.in", name).text);
    for (int l = 0; l < BLOCKS; l++) {
        const vd_name first = vd_name_of("%s.text.%d.conv1", name, l),
                      second = vd_name_of("%s.text.%d.conv2", name, l);
        vd_value *read = vd_tape_dropout(tape, y, in->text_dropout);
        read = vd_text_glu(tape, packed, read, 1 << l, first.text);
        y = vd_tape_add(tape, y, vd_text_glu(tape, packed, read, 1 << l, second.text));
    }
    return y;
}

const vd_text_encoder vd_text_gldr = {.dropout = 0.2, .declare = declare, .states = run};
