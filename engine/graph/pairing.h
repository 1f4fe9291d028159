// Which rows attend to which: groups of query rows with one or two ranges of key rows. A row is
// only in groups with rows that it may attend to, so there are no masks.
//
// A group's numbers are a matrix (its queries, its keys), row-major, one group after another.
// Consecutive groups with the same `stride` are computed as one matrix if they share a range of
// keys, or if their second ranges begin at the same key and grow (causal attention). In such a
// matrix the entries beyond a row's own keys are padding, and the pairing is `padded`: a softmax
// writes zero there, a weighted sum accepts only the result of a softmax, and operations on single
// pairs refuse it.
#ifndef VD_PAIRING_H
#define VD_PAIRING_H

#include "engine/backend/arena.h"
#include "engine/backend/backend.h"
#include "engine/graph/axis.h"

typedef struct vd_range {
    int first, count;
} vd_range;

typedef struct vd_pair_group {
    vd_range query, key[2];
    int stride; // of a row of its matrix; 0: its keys. Larger: padded
    int at;     // its first pair; filled by vd_pairing_make
} vd_pair_group;

// A group's queries with one of its ranges of keys: a matrix with rows `stride` apart.
typedef struct vd_pair_block {
    vd_range query, key;
    int at, stride;
} vd_pair_block;

// The blocks, ordered so that no two between start[i] and start[i + 1] share a row, and so can be
// accumulated in parallel.
typedef struct vd_waves {
    int count;
    int *start;           // (count + 1)
    vd_pair_block *block; // (blocks)
} vd_waves;

// What only some operations read, in the backend's memory.
typedef struct vd_pair_lists {
    const int *query, *key, *group; // (pairs) rows and group of each pair, -1 of what is no pair
} vd_pair_lists;

typedef struct vd_pairing {
    vd_axis query_axis, key_axis;
    int query_rows, key_rows;
    int count, pairs;
    const vd_pair_group *group; // (count)
    // The last key of each group is a sentinel: its share means "attends to nothing". Set by the
    // caller.
    bool sentinel;
    // Shares sum to one within each entry, not over all keys of a query. Set by the caller.
    bool by_entry;
    // The shares come from other attentions, and so cannot be made even. Set by the caller.
    bool derived;
    int blocks;
    bool padded; // rows have room beyond their keys
    vd_waves by_query, by_key;
    vd_segments queries;  // of all groups, as segments of pairs, in the backend's memory
    vd_pair_lists *lists; // empty until vd_pairing_lists fills them
} vd_pairing;

// group (count): host memory of the arena. NULL if memory is out or there are too many pairs to
// count (arena->failed says which).
vd_pairing *vd_pairing_make(vd_arena *arena, vd_axis query_axis, int query_rows, vd_axis key_axis,
                            int key_rows, vd_pair_group *group, int count);
// Made when first asked for; arena: that of the pairing. NULL if memory is out.
const vd_pair_lists *vd_pairing_lists(const vd_pairing *p, vd_arena *arena);

#endif
