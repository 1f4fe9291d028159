// The tape: operations with their gradients, from which networks are composed. Every function below
// computes a value at once, in memory of an arena, and records how its gradient is computed;
// vd_tape_backward goes through the records in reverse.
//
// A value is a matrix of rows along an axis (the questions of a batch, their words, history
// entries, regions of pictures ...). A pairing (pairing.h) says which rows attend to which. A
// failure (no memory, shapes that do not match, a parameter that was not declared) is stored;
// vd_tape_status returns it. Until then every function continues with a value without rows.
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
    // If the rows belong to pairs: row i is that of pair i. With several heads, the pairs of the
    // first head come first, then those of the second ...
    const vd_pairing *pairing;
    vd_real *x;
    vd_real *dx; // the gradient, zero before the backward pass; NULL: not needed
} vd_value;

// An attention that is shown: its name and its index among several (hop, head, layer).
typedef struct vd_shown {
    struct vd_shown *next;
    const char *name;
    int index;
    int heads;             // the index counts heads, of so many; 0: it does not
    const vd_value *value; // its pairing has the axes
} vd_shown;

// A value with its name in formulas and its description.
typedef struct vd_named {
    const char *name, *is;
    const vd_value *value;
} vd_named;

enum { VD_EXPLAINED_VALUES = 4, VD_EXPLAINED_FORMULAS = 6 };

// A stage of the walk: title, purpose, formulas, inputs and outputs. The attentions shown since the
// previous stage belong to it. Texts must outlive the tape.
typedef struct vd_explained {
    struct vd_explained *next;
    const char *title, *why;
    const char *formula[VD_EXPLAINED_FORMULAS]; // NULL: no more
    vd_named in[VD_EXPLAINED_VALUES], out[VD_EXPLAINED_VALUES];
    vd_named gate; // a number from 0 to 1 for each pair, shown as a table; value NULL: none
    int shown;     // attentions shown so far
} vd_explained;

typedef struct vd_node vd_node;

typedef struct vd_tape {
    // Settings, filled by the caller; all else zero.
    const vd_backend *be;
    vd_arena *arena;
    const vd_parameters *w;
    const vd_parameters *dw; // gradients, added to; NULL: no backward pass
    uint64_t key;            // of this pass' dropout masks
    // Names of attentions that are made uniform, a NULL at the end; NULL: none.
    const char *const *uniform;

    vd_shown *shown; // in the order of the calls
    vd_explained *explained;
    // Internal.
    vd_node *last;
    uint64_t operations; // so far
    vd_status status;
    vd_error error;
    vd_value nothing; // what functions return after a failure
} vd_tape;

// VD_OK, or the first failure.
vd_status vd_tape_status(const vd_tape *tape, vd_error *err);
// The backward pass: from the gradients of values (the caller adds the result's to its dx) to the
// parameters. VD_OK, or the first failure.
vd_status vd_tape_backward(vd_tape *tape, vd_error *err);
// Stores a failure, unless there is one already.
void vd_tape_fail(vd_tape *tape, vd_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- where values come from ---------------------------------------------------------------------

// What host memory holds (`count` of `size` bytes, as long as the tape), where operations can read
// it; NULL, or no memory, is a failure.
const void *vd_tape_upload(vd_tape *tape, const void *host, size_t count, size_t size);
// Existing numbers in the backend's memory, without a gradient.
vd_value *vd_tape_constant(vd_tape *tape, vd_axis axis, const vd_real *x, int rows, int columns);
// The same of numbers in host memory (vd_tape_upload); and of a number for each pair of a pairing,
// which may be NULL after a failure.
vd_value *vd_tape_given(vd_tape *tape, vd_axis axis, const vd_real *host, int rows, int columns);
vd_value *vd_tape_given_pairs(vd_tape *tape, const vd_pairing *p, const vd_real *host);
// A vector among the parameters, (1, n), or (rows, columns) when it was declared so.
vd_value *vd_tape_vector(vd_tape *tape, const char *name);
// Rows of a matrix among the parameters; ids in the backend's memory. The row VD_PAD has no
// gradient.
vd_value *vd_tape_embed(vd_tape *tape, const char *name, const int32_t *id, int rows, vd_axis axis);

// ---- rows ---------------------------------------------------------------------------------------

// Row r = row index[r] of x (a list in the backend's memory), zeros where that is -1. The list must
// not change before the backward pass.
vd_value *vd_tape_rows(vd_tape *tape, const vd_value *x, const int *index, int rows, vd_axis axis);
// The same of a list in host memory (vd_tape_upload).
vd_value *vd_tape_choose(vd_tape *tape, const vd_value *x, const int *host, int rows, vd_axis axis);
// `rows` copies of one row.
vd_value *vd_tape_repeat(vd_tape *tape, const vd_value *row, int rows, vd_axis axis);
// Concatenation of columns, [a ; b], and of several.
vd_value *vd_tape_concat(vd_tape *tape, const vd_value *a, const vd_value *b);
vd_value *vd_tape_concat_all(vd_tape *tape, const vd_value *const *list, int count);
vd_value *vd_tape_columns(vd_tape *tape, const vd_value *x, int from, int count);
// The rows of b below those of a.
vd_value *vd_tape_stack(vd_tape *tape, const vd_value *a, const vd_value *b);
// Each word of packed sequences beside its neighbours: (T, C) -> (T, width C), `dilation` apart,
// zeros outside the sequence. Centred with an odd width, or causal with `backwards` (the word
// itself comes last). A linear layer over it is a convolution.
vd_value *vd_tape_window(vd_tape *tape, const vd_value *x, const vd_packed *packed, int width,
                         int dilation, bool backwards);

// ---- layers -------------------------------------------------------------------------------------

// W x + b with name.weight and, where it was declared, name.bias.
vd_value *vd_tape_linear(vd_tape *tape, const vd_value *x, const char *name);
vd_value *vd_tape_map(vd_tape *tape, vd_function f, const vd_value *x);
vd_value *vd_tape_dropout(vd_tape *tape, const vd_value *x, vd_real rate); // rate 0: x itself
// Elementwise, of values of the same shape. One of them may be a single row, which is broadcast.
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
// One step of one layer (PyTorch's LSTMCell): rows of x continue from rows of *state, which is
// updated; h and c must be set before the first step. Parameters name.weight_ih, name.weight_hh,
// name.bias_ih, name.bias_hh.
typedef struct vd_lstm_state {
    const vd_value *h, *c; // (rows, H)
} vd_lstm_state;
void vd_tape_lstm_cell(vd_tape *tape, const vd_value *x, vd_lstm_state *state, const char *name);
// Layers of GRUs, as vd_tape_lstm.
vd_value *vd_tape_gru(vd_tape *tape, const vd_sequences *sequences, const char *name, int layers,
                      int directions, vd_real dropout);
// States of a GRU (T, H) whose gates (T, 1) are given (Xiong et al. 2016): name.input and
// name.state, linear layers to 2H: r, n.
vd_value *vd_tape_gated_gru(vd_tape *tape, const vd_value *x, const vd_value *gate,
                            const vd_packed *packed, const char *name);
// Sentence vectors of word states: those of the last word, then, of two directions, the backward
// ones of the first; zero for sequences without words.
vd_value *vd_tape_last_states(vd_tape *tape, const vd_value *states, const vd_packed *packed,
                              int directions, vd_axis axis);

// ---- pairs --------------------------------------------------------------------------------------

// A pairing (pairing.h) in the tape's arena; NULL after a failure, which says `what` it was to be.
vd_pairing *vd_tape_pairing(vd_tape *tape, vd_axis query_axis, int query_rows, vd_axis key_axis,
                            int key_rows, vd_pair_group *group, int count, const char *what);
// Which rows each pair is of. Empty after a failure, and without a pairing (NULL).
vd_pair_lists vd_tape_lists(vd_tape *tape, const vd_pairing *p);
// The query rows and the key rows of each pair, one row per pair; and their elementwise products,
// where k may also have one row per pair.
vd_value *vd_tape_queries(vd_tape *tape, const vd_pairing *p, const vd_value *q);
vd_value *vd_tape_keys(vd_tape *tape, const vd_pairing *p, const vd_value *k);
vd_value *vd_tape_products(vd_tape *tape, const vd_pairing *p, const vd_value *q,
                           const vd_value *k);
// Scores (heads * pairs, 1), head by head: q . k, of each head's columns.
vd_value *vd_tape_dot(vd_tape *tape, const vd_pairing *p, const vd_value *q, const vd_value *k,
                      int heads);
// Scores (pairs, 1): v . tanh(q + k), v a row.
vd_value *vd_tape_additive(vd_tape *tape, const vd_pairing *p, const vd_value *q, const vd_value *k,
                           const vd_value *v);
// Softmax of scores, in their shape: over the keys of each query, in each group.
vd_value *vd_tape_softmax(vd_tape *tape, const vd_value *scores);
// The largest score of each query, a row for each query of each group; 0 without keys.
vd_value *vd_tape_max(vd_tape *tape, const vd_value *scores);
// A named attention: the softmax over keys, in the shape of the scores, which is shown and can be
// made uniform. Of several heads each is shown, then their mean.
vd_value *vd_tape_attend(vd_tape *tape, const vd_value *scores, const char *name, int index);
// Whether the attentions of this name are among those that are made uniform (vd_tape.uniform).
bool vd_is_uniform(const char *const *uniform, const char *name);
// The numbers of each group of a, times the group's number of w (groups, 1).
vd_value *vd_tape_weigh(vd_tape *tape, const vd_value *a, const vd_value *w);
// (query rows, columns of v) For each query, the sum of its keys' rows of v, weighted by a; with
// heads, of each head's columns. With sigmoid weights (vd_tape_map) a network can count; where the
// pairing is padded, a must come from a softmax.
vd_value *vd_tape_mix(vd_tape *tape, const vd_value *a, const vd_value *v);

// ---- for the views ------------------------------------------------------------------------------

// Names outlive the tape.
void vd_tape_show(vd_tape *tape, const vd_value *attention, const char *name, int index);
void vd_tape_explain(vd_tape *tape, const vd_explained *stage); // copied

#endif
