// Copies of weights in the order in which large products read them (gemm.h): what many
// products are made with is packed once, instead of each time.
#ifndef VD_CPU_PACKED_WEIGHTS_H
#define VD_CPU_PACKED_WEIGHTS_H

#include <stddef.h>

#include "engine/base/error.h"

// w (rows, columns): float32, or in 16 bits (fp16_weights.h).
typedef struct vd_matrix {
    const float *w;
    int rows, columns;
} vd_matrix;

typedef struct vd_cpu_panels vd_cpu_panels;

// Copies of matrices, in the order of their addresses, which have to stay as they are until the
// copies are freed; of no matrix are there two. *out NULL, which is no failure, where there is no
// code for this processor, nor room to know of more: products then do without.
vd_status vd_cpu_panels_new(const vd_matrix *matrix, int count, vd_cpu_panels **out, vd_error *err);
void vd_cpu_panels_free(vd_cpu_panels *panels);

// The panels of w (n, ..), row stride ldw, a matrix or part of one; *apart floats from one to the
// next. NULL when there is no copy.
const float *vd_cpu_panels_find(const float *w, int n, int ldw, size_t *apart);

#endif
