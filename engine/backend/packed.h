// Sequences of different lengths without padding. Two orders of the same tokens are used:
//   flat order     sequence 0's words, then sequence 1's, ... : what attention reads
//   step order     step 0 of all sequences (longest first), then step 1, ... : what an LSTM reads
#ifndef VD_PACKED_H
#define VD_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/backend/arena.h"
#include "engine/base/error.h"

// The arrays of a vd_packed where a backend's operations read them: on the CPU the arrays
// themselves, elsewhere copies in its memory.
typedef struct vd_packed_rows {
    const int *start, *length, *first, *last;
    const int32_t *id;
    const int *position, *owner, *order, *active, *offset, *forward, *backward, *parent, *child;
} vd_packed_rows;

// The rows of a prefix tree that have children (rows of the next step that continue them), on the
// host, grouped by step. The recurrent product of such a row is computed once for all its children.
typedef struct vd_packed_inner {
    int count;  // I
    int *row;   // (I) step order
    int *start; // (longest + 1) index in `row` of step s's first
    int *child; // (I + 1) first of its children, which are consecutive
    int *at;    // (T) index of a row in `row`, -1 = it has no children
} vd_packed_inner;

typedef struct vd_packed {
    int sequences; // S
    int tokens;    // T, over all sequences
    int longest;   // steps
    int widest;    // rows of the largest step
    int *start;    // (S + 1) flat row of a sequence's first word
    int *length;   // (S)
    int *first;    // (S) flat row of its first word, -1 when it has none
    int *last;     // (S) of its last
    int32_t *id;   // (T) token ids, flat order
    int *position; // (T) position of a token in its sequence, flat order
    int *owner;    // (T) sequence of a token, flat order
    int *order;    // (S) sequences by falling length, ties by index
    int *active;   // (longest) sequences that have a step s
    int *offset;   // (longest + 1) first row of a step, step order
    int *forward;  // (T) flat row of each row in step order, reading left to right
    int *backward; // (T) the same, reading right to left
    int *parent;   // (T) step order: the parent row in the previous step. NULL: row k of a step
                   // continues row k of the previous step
    int *child;    // (T + 1) of a tree: the first row that goes on from a row or a later one
    vd_packed_inner inner;
    vd_packed_rows rows;
} vd_packed;

// ids: (sequences, width), lengths 0..width. Arrays live in arena.
vd_status vd_packed_make(const int32_t *ids, const int32_t *lengths, int sequences, int width,
                         vd_arena *arena, vd_packed *out, vd_error *err);

// The distinct prefixes of sequences as a tree, for LSTMs that read left to right: each prefix has
// one row, so that a shared one is computed once. Both orders are the step order here; there is no
// backward order, and the fields of sequences are 0 or NULL.
//
// order: (count) indices of the sequences taken, sorted by vd_packed_sort. last: (count) row of the
// last word of sequence order[i], -1 when it is empty.
vd_status vd_packed_prefixes(const int32_t *ids, const int32_t *lengths, int width,
                             const int *order, int count, vd_arena *arena, vd_packed *out,
                             int *last, vd_error *err);

// Sequences of a tree one by one, each with rows of its own. last: (sequences) the tree's row where
// each ends, -1 when it is empty; becomes the flat row where it ends in out. row: (T) the tree's
// row of each token, flat order, in arena.
vd_status vd_packed_apart(const vd_packed *tree, int *last, int sequences, vd_arena *arena,
                          vd_packed *out, int **row, vd_error *err);

// The distinct words of packed sequences; apart: the same word at two positions counts as two.
typedef struct vd_distinct_words {
    int count;
    int *word;     // (T) flat order: which of them a token is
    int32_t *id;   // (count)
    int *position; // (count) of its first token
} vd_distinct_words;

vd_status vd_packed_distinct(const vd_packed *packed, int vocab, bool apart, vd_arena *arena,
                             vd_distinct_words *out, vd_error *err);

// order: (count) indices of the sequences sorted by their words, beginnings before what they begin,
// equal ones by index.
vd_status vd_packed_sort(const int32_t *ids, const int32_t *lengths, int width, int count,
                         int *order, vd_error *err);

#endif
