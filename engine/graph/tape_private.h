// The inside of the tape, for its operations.
#ifndef VD_TAPE_PRIVATE_H
#define VD_TAPE_PRIVATE_H

#include "engine/graph/tape.h"

// How a value came about. Its gradient is there when `backward` is called; that adds to those of
// what it came from.
struct vd_node {
    void (*backward)(vd_tape *tape, const vd_node *node);
    vd_node *before;
    const vd_value *y;
    const vd_value *x[3];
    const int *list[2];
    const void *kept; // of the operation's own kind
    vd_real *number;
    vd_real factor;
    uint64_t key;
    int count;
};

static inline bool vd_wanted(const vd_value *x)
{
    return x->dx != NULL;
}

static inline size_t vd_value_size(const vd_value *x)
{
    return (size_t)x->rows * (size_t)x->columns;
}

// A value to be computed, with a gradient where one is `wanted`. After a failure tape->nothing.
vd_value *vd_tape_take(vd_tape *tape, vd_axis axis, int rows, int columns, bool wanted);
// The same, of the rows, axis and pairs of x.
vd_value *vd_tape_like(vd_tape *tape, const vd_value *x, int columns, bool wanted);
// Records how y was computed, if its gradient is needed, and returns y. node: what `backward`
// reads; y and `before` are filled in.
vd_value *vd_tape_record(vd_tape *tape, vd_value *y, vd_node node);
// Whether all is well so far, and `fits`; else the failure names the operation.
bool vd_tape_fits(vd_tape *tape, bool fits, const char *operation, const vd_value *a,
                  const vd_value *b);
// A parameter and its gradient (NULL where none is wanted). False, and a failure unless it is
// optional, when it was not declared as such.
bool vd_tape_matrix(vd_tape *tape, const char *name, const char *suffix, vd_matrix *w,
                    vd_matrix *dw);
bool vd_tape_numbers(vd_tape *tape, const char *name, const char *suffix, bool optional,
                     vd_real **w, vd_real **dw, const vd_parameter **what);
// Scratch and lists, NULL and a failure when memory is out.
vd_real *vd_tape_reals(vd_tape *tape, size_t count);
vd_real *vd_tape_zeros(vd_tape *tape, size_t count);
void *vd_tape_kept(vd_tape *tape, size_t count, size_t size); // host memory, zeroed
// A linear layer with these weights and gradients; `name` is for failures.
vd_value *vd_tape_layer(vd_tape *tape, const vd_value *x, const vd_linear_weights *w,
                        const vd_linear_weights *dw, const char *name);
// y = a b, row by row, computed and recorded; a_row, b_row: which rows, NULL: as they are.
vd_value *vd_tape_multiply_rows(vd_tape *tape, vd_value *y, const vd_value *a, const int *a_row,
                                const vd_value *b, const int *b_row);

// vd_tape_show of one of several heads, or (heads 0) of another attention.
void vd_tape_show_head(vd_tape *tape, const vd_value *attention, const char *name, int index,
                       int heads);

#endif
