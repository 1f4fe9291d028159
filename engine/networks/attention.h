// The attentions that a network computed for an answer, a list with names. Code that displays them
// uses their axes only; a name means nothing outside its network.
#ifndef VD_ATTENTION_H
#define VD_ATTENTION_H

#include "engine/backend/arena.h"
#include "engine/backend/backend.h"
#include "engine/graph/axis.h"

// The part of an attention that is one of several heads; their mean stands behind them.
#define VD_ATTENTION_HEAD "head"

typedef struct vd_attention {
    char name[24]; // "rounds"; the same for all its hops, heads, layers or steps
    char part[8];  // which of these `index` counts: "hop"; "": there is one
    int index, of; // from 0; 1 where there is one
    vd_axis query, key;
    bool by_entry; // a row's shares sum to one within each entry, instead of over all keys
    bool nothing;  // what a row's shares lack to one went to nothing (vd_attention_nothing)
    bool derived;  // from other attentions: it cannot be made uniform by itself
    int rows, columns;
    float *share; // (rows, columns); NULL: not kept
} vd_attention;

// The last attention of the list with these axes whose shares are kept; NULL: none.
const vd_attention *vd_attention_last(const vd_attention *list, int count, vd_axis query,
                                      vd_axis key);
// The names of those that can be made uniform, each once, in order; true while there is an
// index-th.
bool vd_attention_named(const vd_attention *list, int count, int index, const char **name);
// What a row gives to nothing, a sentinel's share; 0 where there is none, and for rows of zeros.
double vd_attention_nothing(const vd_attention *attention, int row);
// "regions, step 2 of 3"
void vd_attention_title(const vd_attention *attention, char *out, size_t size);

void vd_attentions_free(vd_attention *list, int count);
// *out: a copy; NULL and VD_NO_MEMORY when memory is out.
vd_status vd_attentions_copy(const vd_attention *list, int count, vd_attention **out,
                             vd_error *err);

// ---- from a pass to an answer -------------------------------------------------------------------

// An attention where a pass of one question computed it.
typedef struct vd_attention_at {
    const char *name, *part; // part NULL: there is one
    int index, of;
    vd_axis query, key;
    bool by_entry;
    bool nothing; // the last column is a sentinel's
    bool derived;
    int rows, columns;
    const vd_real *share; // (rows, columns) memory of the backend
} vd_attention_at;

// What of a dialog a pass reads. at: for each that the pass has of an axis its index among the
// dialog's `count`, used where the pass has fewer; NULL: it has all.
typedef struct vd_axis_subsets {
    int count[VD_AXIS_COUNT];
    const int *at[VD_AXIS_COUNT];
} vd_axis_subsets;

// All of them one after another, *n numbers, so that they are read from a device at once.
vd_status vd_attentions_gather(const vd_backend *be, vd_arena *arena, const vd_attention_at *list,
                               int count, vd_real **out, size_t *n, vd_error *err);
// share: what was gathered, as floats. What the pass does not see has share zero.
vd_status vd_attentions_spread(const vd_attention_at *list, int count, const float *share,
                               const vd_axis_subsets *subsets, vd_attention **out, vd_error *err);

#endif
