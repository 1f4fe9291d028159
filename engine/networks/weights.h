// Every trainable number of the network, under the public code's names: a block of them, in the
// order of vd_layout, and where each matrix and vector lies in it.
//
// The same struct bound to another block of the same layout holds gradients. LSTM matrices are
// PyTorch's: gate order i, f, g, o; two bias vectors.
#ifndef VD_WEIGHTS_H
#define VD_WEIGHTS_H

#include "engine/graph/layout.h"
#include "engine/networks/config.h"

enum { VD_LAYERS = 2 };

// GatedTrans; the halves lie one after the other, so that one product makes both.
typedef struct vd_gated_weights {
    vd_matrix w; // (2 out, in): Wy, then Wg
    vd_real *b;  // (2 out): by, then bg
} vd_gated_weights;

typedef struct vd_weights {
    vd_matrix embed;   // (V, E); row VD_PAD is zero and stays so
    vd_real *position; // (VD_MAX_HISTORY, E), learned positions only, else NULL

    vd_lstm_weights question[VD_LAYERS][2], history[VD_LAYERS][2]; // [layer][0 forward 1 backward]

    vd_gated_weights context_question, context_history; // 2H -> H
    vd_score_weights context_score;                     // H -> 1
    vd_linear_weights context_gate;                     // 4H -> 4H

    vd_gated_weights topic_question, topic_history; // 2H -> H
    vd_linear_weights topic_gate;                   // 2E -> 2E

    vd_gated_weights view_image;      // D -> H
    vd_gated_weights view_topic;      // 2E -> H
    vd_linear_weights view_1, view_2; // D+2E -> D+2E -> D

    vd_gated_weights region_fused;   // D+4H -> H
    vd_gated_weights region_context; // 4H -> H
    vd_score_weights region_score;   // H -> 1
    vd_linear_weights fusion;        // D+4H -> H

    // Decoders; NULL in a model without them.
    vd_lstm_weights candidate[VD_LAYERS]; // discriminative: E -> H -> H
    vd_lstm_weights answer[VD_LAYERS];    // generative: E -> H -> H
    vd_linear_weights words; // generative: H -> V; answer sequence: E -> V, `embed` without a bias

    vd_parameters all; // by name: what networks on a tape find theirs in
} vd_weights;

// Lists the parameters of a network of this configuration and sizes the block; when block is not
// NULL, binds *weights to it (weights may be NULL otherwise). The layout outlives *weights.
void vd_weights_layout(const vd_config *config, vd_layout *layout, vd_real *block,
                       vd_weights *weights);

// Binds *weights to a block of another type, of which only the matrices are read; `vectors` has the
// vectors, one after the other. layout: of this configuration.
void vd_weights_bind(const vd_config *config, vd_layout *layout, const void *block, vd_dtype type,
                     vd_real *vectors, vd_weights *weights);

// The matrices that a question multiplies with every region; how many.
enum { VD_PACKED = 2 };
int vd_weights_packed(const vd_config *config, vd_weights *weights, vd_matrix *list[VD_PACKED]);

// Initial values (vd_layout_init): encoder's linear layers Kaiming uniform (bound sqrt(6 /
// fan_in)) with zero bias (He et al. 2015), LSTMs and the generative output layer uniform in
// +-1/sqrt(H), embedding N(0,1) with the pad row zero; where words are also predicted by it (answer
// sequence) N(0, 1/sqrt(E)), so that their scores start near N(0,1).

#endif
