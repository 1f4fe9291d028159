// Which rows look at which: groups of query rows with one or two ranges of key rows. What a row may
// not see is in no group with it, so there are no masks.
//
// A group's numbers are a matrix (its queries, its keys), row-major, one group after another.
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
    int at; // its first pair; filled by vd_pairing_make
} vd_pair_group;

// A group's queries with one of its ranges of keys: a matrix with rows `stride` apart.
typedef struct vd_pair_block {
    vd_range query, key;
    int at, stride;
} vd_pair_block;

// The blocks in an order in which no two between start[i] and start[i + 1] share a row of a kind,
// so that they may be added to at the same time.
typedef struct vd_waves {
    int count;
    int *start;           // (count + 1)
    vd_pair_block *block; // (blocks)
} vd_waves;

typedef struct vd_pairing {
    vd_axis query_axis, key_axis;
    int query_rows, key_rows;
    int count, pairs;
    const vd_pair_group *group; // (count)
    // The last key of each group is no thing, but a sentinel: a share of it is a share of nothing.
    // Set by who made the pairing.
    bool sentinel;
    // Shares sum to one within each entry, not over all of a query's keys. Set likewise.
    bool by_entry;
    int blocks;
    vd_waves by_query, by_key;
    // Where operations read them: the queries of all groups as segments of pairs, the keys of all
    // groups likewise; and of each pair its rows and its group.
    vd_segments queries, keys;
    const int *query, *key, *group_of; // (pairs)
} vd_pairing;

// group (count): host memory of the arena. NULL when memory is out, or there are more pairs than
// can be counted (arena->failed says which).
vd_pairing *vd_pairing_make(vd_arena *arena, vd_axis query_axis, int query_rows, vd_axis key_axis,
                            int key_rows, vd_pair_group *group, int count);

#endif
