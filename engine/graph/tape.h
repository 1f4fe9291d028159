// The tape: operations with their gradients, from which networks are composed. Every function below
// computes a value at once, in memory of an arena, and notes how its gradient goes back;
// vd_tape_backward walks the notes the other way.
//
// A value is a matrix of rows along an axis (the questions of a batch, their words, history
// entries, regions of pictures ...). What looks at what is a pairing (pairing.h). A failure (no
// memory, shapes that do not fit, a parameter that was not declared) is remembered, and asked for
// once with vd_tape_status: until then every function goes on with a value of no rows.
//
// Parameters are found by name among those the network declared (layout.h). A tape belongs to one
// pass; it and its values live until the arena is reset.
#ifndef VD_TAPE_H
#define VD_TAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/backend/arena.h"
#include "engine/backend/backend.h"
#include "engine/base/error.h"
#include "engine/graph/layout.h"
#include "engine/graph/pairing.h"

typedef struct vd_value {
    int rows, columns;
    vd_axis axis;
    // Of numbers that belong to pairs: row i is that of pair i. With several heads the pairs of the
    // first come first, then those of the second ...
    const vd_pairing *pairing;
    vd_real *x;
    vd_real *dx; // the gradient, zero until it is walked back; NULL: none is wanted
} vd_value;

// An attention that has a name: which rows look at which, what it is called, which of several
// (hop, head, layer) it is.
typedef struct vd_shown {
    struct vd_shown *next;
    const char *name;
    int index;
    const vd_value *value; // its pairing has the axes
} vd_shown;

// A value with the name it has in formulas, and what it is in words.
typedef struct vd_named {
    const char *name, *is;
    const vd_value *value;
} vd_named;

enum { VD_EXPLAINED_VALUES = 3, VD_EXPLAINED_FORMULAS = 4 };

// A stage to be explained: what it does, its formulas, why, from what to what. The attentions that
// were shown since the last stage belong to it. Texts outlive the tape.
typedef struct vd_explained {
    struct vd_explained *next;
    const char *title, *why;
    const char *formula[VD_EXPLAINED_FORMULAS]; // NULL: no more
    vd_named in[VD_EXPLAINED_VALUES], out[VD_EXPLAINED_VALUES];
    vd_named gate; // a part of 1 for each pair, shown as a table; value NULL: none
    int shown;     // attentions until then
} vd_explained;

typedef struct vd_node vd_node;

typedef struct vd_tape {
    // Settings, filled by the caller; all else zero.
    const vd_backend *be;
    vd_arena *arena;
    const vd_parameters *w;
    const vd_parameters *dw; // gradients, added to; NULL: none are wanted
    uint64_t key;            // of this pass' dropout masks
    // Names of attentions that are made uniform, a NULL at the end; NULL: none.
    const char *const *flatten;

    vd_shown *shown; // in the order of the calls
    vd_explained *explained;
    // Its own.
    vd_node *last;
    uint64_t operations; // so far
    vd_status status;
    vd_error error;
    vd_value nothing; // what functions return after a failure
} vd_tape;

// VD_OK, or what went wrong first.
vd_status vd_tape_status(const vd_tape *tape, vd_error *err);
// From the gradients of values (of the result: what is added to its dx) back to the parameters.
void vd_tape_backward(vd_tape *tape);
// Remembers a failure, unless there is one already.
void vd_tape_fail(vd_tape *tape, vd_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- where values come from ---------------------------------------------------------------------

// Numbers that are there, in the backend's memory, and have no gradient.
vd_value *vd_tape_constant(vd_tape *tape, vd_axis axis, const vd_real *x, int rows, int columns);
// A vector among the parameters, (1, n), or (rows, columns) when it was declared so.
vd_value *vd_tape_vector(vd_tape *tape, const char *name);
// Rows of a matrix among the parameters; ids in the backend's memory. The row VD_PAD has no
// gradient.
vd_value *vd_tape_embed(vd_tape *tape, const char *name, const int32_t *id, int rows, vd_axis axis);

// ---- rows ---------------------------------------------------------------------------------------

// Row r = row index[r] of x (a list in the backend's memory), zeros where that is -1. The gradient
// reads the list again: it stays as it is.
vd_value *vd_tape_rows(vd_tape *tape, const vd_value *x, const int *index, int rows, vd_axis axis);
// `rows` copies of a single row.
vd_value *vd_tape_repeat(vd_tape *tape, const vd_value *row, int rows, vd_axis axis);
// [a ; b], and of several.
vd_value *vd_tape_join(vd_tape *tape, const vd_value *a, const vd_value *b);
vd_value *vd_tape_join_all(vd_tape *tape, const vd_value *const *list, int count);
vd_value *vd_tape_columns(vd_tape *tape, const vd_value *x, int from, int count);
// The rows of b below those of a.
vd_value *vd_tape_stack(vd_tape *tape, const vd_value *a, const vd_value *b);
// Each word of packed sequences beside its neighbours: (T, C) -> (T, width C), `dilation` apart,
// zeros outside the sequence. Both ways alike with an odd width, or backwards only (the word itself
// comes last). A linear layer over it is a convolution.
vd_value *vd_tape_window(vd_tape *tape, const vd_value *x, const vd_packed *packed, int width,
                         int dilation, bool backwards);

// ---- layers -------------------------------------------------------------------------------------

// W x + b with name.weight and, where it was declared, name.bias.
vd_value *vd_tape_linear(vd_tape *tape, const vd_value *x, const char *name);
vd_value *vd_tape_map(vd_tape *tape, vd_function f, const vd_value *x);
vd_value *vd_tape_dropout(vd_tape *tape, const vd_value *x, vd_real rate); // rate 0: x itself
// Of values of one shape, number by number. One of both may be a single row, which counts for all.
vd_value *vd_tape_add(vd_tape *tape, const vd_value *a, const vd_value *b);
vd_value *vd_tape_multiply(vd_tape *tape, const vd_value *a, const vd_value *b);
vd_value *vd_tape_scale(vd_tape *tape, const vd_value *x, vd_real factor);
// With name.weight and name.bias.
vd_value *vd_tape_layer_norm(vd_tape *tape, const vd_value *x, const char *name);
vd_value *vd_tape_unit(vd_tape *tape, const vd_value *x); // x / max(|x|, 1e-12)

// ---- sequences ----------------------------------------------------------------------------------

// What a recurrent network reads.
typedef struct vd_sequences {
    const vd_packed *packed;
    const vd_value *x; // (T, in) in flat order, or the distinct rows of that
    const int *row;    // (T) the row of x that a word reads; NULL: its own
    vd_axis axis;      // of the words
} vd_sequences;

// Word states (T, directions hidden) of layers of LSTMs with PyTorch's names below `name`
// (weight_ih_l0, ...), dropout between them.
vd_value *vd_tape_lstm(vd_tape *tape, const vd_sequences *sequences, const char *name, int layers,
                       int directions, vd_real dropout);
// One step of one layer (PyTorch's LSTMCell): rows of x go on from rows of *state, which becomes
// theirs. Parameters name.weight_ih, name.weight_hh, name.bias_ih, name.bias_hh.
typedef struct vd_lstm_state {
    const vd_value *h, *c; // (rows, H)
} vd_lstm_state;
void vd_tape_lstm_cell(vd_tape *tape, const vd_value *x, vd_lstm_state *state, const char *name);
// Layers of GRUs, as vd_tape_lstm.
vd_value *vd_tape_gru(vd_tape *tape, const vd_sequences *sequences, const char *name, int layers,
                      int directions, vd_real dropout);
// States of a GRU (T, H) whose gates come from outside (Xiong et al. 2016), (T, 1): name.input and
// name.state, linear layers to 2H: r, n.
vd_value *vd_tape_gated_gru(vd_tape *tape, const vd_value *x, const vd_value *gate,
                            const vd_packed *packed, const char *name);
// Sentence vectors of word states: those of the last word, then, of two directions, the backward
// ones of the first; zero for sequences without words.
vd_value *vd_tape_ends(vd_tape *tape, const vd_value *states, const vd_packed *packed,
                       int directions, vd_axis axis);

// ---- pairs --------------------------------------------------------------------------------------

// Rows of queries and of keys, a row a pair; and the products of both, number by number, where k
// may be rows of pairs, too.
vd_value *vd_tape_queries(vd_tape *tape, const vd_pairing *p, const vd_value *q);
vd_value *vd_tape_keys(vd_tape *tape, const vd_pairing *p, const vd_value *k);
vd_value *vd_tape_products(vd_tape *tape, const vd_pairing *p, const vd_value *q,
                           const vd_value *k);
// Scores: q . k, of each head's columns.
vd_value *vd_tape_dot(vd_tape *tape, const vd_pairing *p, const vd_value *q, const vd_value *k,
                      int heads);
// v . tanh(q + k), v a row.
vd_value *vd_tape_additive(vd_tape *tape, const vd_pairing *p, const vd_value *q, const vd_value *k,
                           const vd_value *v);
// Softmax over the keys of each query, or over the queries of each key, in each group.
vd_value *vd_tape_softmax(vd_tape *tape, const vd_value *scores);
vd_value *vd_tape_softmax_queries(vd_tape *tape, const vd_value *scores);
// The largest score of each query, a row for each query of each group; 0 without keys.
vd_value *vd_tape_max(vd_tape *tape, const vd_value *scores);
// An attention with a name: the softmax over keys, which is shown and can be flattened.
vd_value *vd_tape_attend(vd_tape *tape, const vd_value *scores, const char *name, int index);
// Whether those of a name are flattened.
bool vd_tape_is_flat(const vd_tape *tape, const char *name);
// Numbers of a's groups times one number a group, a row of w.
vd_value *vd_tape_weigh(vd_tape *tape, const vd_value *a, const vd_value *w);
// Each query's sum of its keys' rows of v, weighted by a; with heads, of each head's columns. With
// sigmoids for weights (vd_tape_map) a network can count. And each key's of its queries' rows.
vd_value *vd_tape_mix(vd_tape *tape, const vd_value *a, const vd_value *v);
vd_value *vd_tape_mix_queries(vd_tape *tape, const vd_value *a, const vd_value *v);
// Attention memory (Seo et al. 2017): maps, numbers of pairs of questions and what they look at,
// mixed over the earlier questions by weights w of pairs of questions. The questions of a group of
// w are in one group of maps.
vd_value *vd_tape_mix_maps(vd_tape *tape, const vd_value *w, const vd_value *maps);

// ---- what people see ----------------------------------------------------------------------------

// Names outlive the tape.
void vd_tape_show(vd_tape *tape, const vd_value *attention, const char *name, int index);
void vd_tape_explain(vd_tape *tape, const vd_explained *stage); // copied

#endif
