// What bidaf.c and dcn.c have in common: the words of a question, U, are compared with the words of
// the entries that it sees, C, and, with weights of their own, with the regions X = tanh(W v_k +
// b). A comparison gives a vector M_j for every word (or region); c and x are their sums, weighted
// by
//   softmax_j(w . [G_j ; M_j]) (bidaf), softmax_j(w . M_j) (dcn)
// and e = tanh(W [c ; x ; q] + b). Words are states of the text encoder (own: LSTMs of both
// directions), W = H wide, each entry read alone.
//
// The rows C and X are a question's own, one question after the other: what they are compared with
// differs from question to question.
#ifndef VD_FLOW_H
#define VD_FLOW_H

#include "engine/networks/parts.h"

enum { VD_FLOWS = 2 };

// One of the two comparisons.
typedef struct vd_flow {
    const char *of; // "history" or "regions": its parameters are called encoder.flow.OF.PART
    const char *looks, *alone, *pooled; // names of its attentions
    vd_axis axis;                       // of its rows
    const vd_pairing *pool;             // each question and its rows, a pair a row
    const vd_value *rows;               // (K, W)
} vd_flow;

typedef struct vd_flows {
    const vd_value *words, *q; // (Tq, W) word states and (N, W) sentence vectors of the questions
    vd_flow of[VD_FLOWS];
} vd_flows;

// Layers of the history's M, which is an LSTM of both directions; sizes of what M and w read.
typedef struct vd_flow_sizes {
    int layers, model, pool;
} vd_flow_sizes;

void vd_flows_declare(vd_layout *layout, const vd_config *config, const vd_flow_sizes *sizes);

// e; `compare` is called for the history, which gives c, and for the regions, which gives x.
typedef vd_value *vd_flow_compare(vd_tape *tape, const vd_inputs *in, const vd_flows *flows,
                                  const vd_flow *flow);
vd_value *vd_flows_build(vd_tape *tape, vd_inputs *in, vd_flow_compare *compare);

// Fills in the rows of a flow, whose axis is set, from x, which all questions of a dialog share.
void vd_flow_spread(vd_tape *tape, vd_inputs *in, const vd_value *x, vd_flow *flow);
// What each question's rows attend to: its words, with `more` rows behind them; or, `back`, what
// the words and those `more` rows attend to: the rows, with `more` behind them. NULL after a
// failure.
vd_pairing *vd_flow_pairing(vd_tape *tape, const vd_inputs *in, const vd_flow *flow, int more,
                            bool back);
// M of G: of words an LSTM over all that a question sees, of regions, which have no order, relu(W G
// + b).
vd_value *vd_flow_model(vd_tape *tape, const vd_inputs *in, const vd_flow *flow, const vd_value *g,
                        int layers);
// The sum of the rows m, weighted by a softmax of w . s.
vd_value *vd_flow_pool(vd_tape *tape, const vd_inputs *in, const vd_flow *flow, const vd_value *s,
                       const vd_value *m);

#endif
