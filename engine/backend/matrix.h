// A matrix of weights: (rows, columns), row-major. What operations read whole comes as one of
// these, so that a file's 16-bit numbers can be read where they are; what is computed, and short
// vectors (biases, score layers), are plain numbers.
#ifndef VD_MATRIX_H
#define VD_MATRIX_H

#include "engine/base/real.h"
#include "engine/base/safetensors.h"

#ifdef VD_DOUBLE
#define VD_REAL_TYPE VD_F64
#else
#define VD_REAL_TYPE VD_F32
#endif

// A backend's own copy of a matrix (backend.h, `pack`).
typedef struct vd_packed_matrix vd_packed_matrix;

typedef struct vd_matrix {
    // In the backend's memory. Weights are only read, for they may be a mapped file; gradients are
    // written.
    void *data;
    // VD_REAL_TYPE; weights in the host's memory may also be VD_F16 or VD_BF16.
    vd_dtype type;
    int rows, columns;
    int stride;                     // numbers from one row to the next
    const vd_packed_matrix *packed; // NULL = there is none
    int packed_column;              // of the packed matrix: which this one's first is
} vd_matrix;

static inline size_t vd_matrix_number_size(vd_dtype type)
{
    return type == VD_F64 ? 8 : type == VD_F32 ? 4 : 2;
}

static inline vd_matrix vd_matrix_of(vd_real *data, int rows, int columns)
{
    vd_matrix m = {data, VD_REAL_TYPE, rows, columns, columns, NULL, 0};
    return m;
}

// The columns from..from + count - 1 of a matrix.
static inline vd_matrix vd_matrix_columns(const vd_matrix *whole, int from, int count)
{
    vd_matrix part = *whole;
    part.data = (unsigned char *)whole->data + (size_t)from * vd_matrix_number_size(whole->type);
    part.columns = count;
    part.packed_column += from;
    return part;
}

// The numbers of a matrix of VD_REAL_TYPE.
static inline vd_real *vd_matrix_reals(const vd_matrix *m)
{
    return (vd_real *)m->data;
}

#endif
