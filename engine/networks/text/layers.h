// Layers that text encoders, dialog-transformer and the score multi-head are made of. at: what
// stands before the part in a parameter's name, NAME.text.LAYER or encoder.layers.LAYER; name: all
// but ".weight" or ".bias".
#ifndef VD_TEXT_LAYERS_H
#define VD_TEXT_LAYERS_H

#include "engine/networks/text/text.h"

enum { VD_TEXT_WIDE = 3 }; // words of a gated convolution

// The words' vectors, a row each.
vd_value *vd_text_rows(vd_tape *tape, const vd_sequences *words);
// x + the sinusoids of the words' positions in their sentences (Vaswani et al. 2017, 3.5).
vd_value *vd_text_add_sinusoids(vd_tape *tape, const vd_sequences *words, const vd_value *x);

// Self-attention within a sentence's words.
const vd_pairing *vd_text_own_words(vd_tape *tape, const vd_sequences *words);
// Multi-head attention of rows x to rows y: per head softmax((W_q x_i) . (W_k y_j) / sqrt(size of a
// head)) mixes W_v y_j; concatenated, then W_o. No biases. Parameters NAME.{query,key,value,out};
// shown: what it is shown as, NULL: it is not.
typedef struct vd_heads_size {
    int x, y, all, out; // numbers of x, of y, of all heads, of what is found
} vd_heads_size;
void vd_heads_declare(vd_layout *layout, const char *name, vd_heads_size size);
vd_value *vd_heads_attend(vd_tape *tape, const vd_pairing *p, const vd_value *x, const vd_value *y,
                          int heads, const char *name, const char *shown);
// That of the words of each sentence to one another, NAME being at.attention.
void vd_text_declare_attention(vd_layout *layout, const char *at, int size);
vd_value *vd_text_attention(vd_tape *tape, const vd_pairing *p, const vd_value *x, int heads,
                            const char *at);
// W_2 relu(W_1 x + b) + b, `inner` wide inside.
void vd_text_declare_ffn(vd_layout *layout, const char *at, int size, int inner);
vd_value *vd_text_ffn(vd_tape *tape, const vd_value *x, const char *at);

// A gated convolution (Dauphin et al. 2017), three words wide, `dilation` apart, zeros beyond the
// sentence: a o sigmoid(b), [a ; b] = W [neighbours] + b, in -> 2 out. Its matrix is (2 out, 3 in),
// a word's numbers together.
void vd_text_declare_glu(vd_layout *layout, const char *name, int in, int out);
vd_value *vd_text_glu(vd_tape *tape, const vd_packed *packed, const vd_value *x, int dilation,
                      const char *name);
// a o sigmoid(b) of rows [a ; b].
vd_value *vd_text_gate(vd_tape *tape, const vd_value *y);
// The start of ConvS2S (text/convs2s.c) for the weight matrix that was declared last but its bias:
// N(0, sqrt(times (1 - 0.1) / columns)).
void vd_convs2s_start(vd_layout *layout, double times);

#endif
