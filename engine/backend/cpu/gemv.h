// Products of matrices; and those of a few rows with a matrix of weights, which is what answering a
// question mostly consists of: c = a b^T with b float32 or in 16 bits, read where it is. Sums are
// float32.
#ifndef VD_CPU_GEMV_H
#define VD_CPU_GEMV_H

#include <stdbool.h>

#include "engine/base/real.h"
#include "engine/base/safetensors.h"

// A product c (m, n) = op(a) op(b) + beta c, beta 0 or 1, op = transpose where asked. b may have
// any of the types of weights (VD_REAL_TYPE, VD_F16, VD_BF16) where tb is set.
typedef struct vd_cpu_product {
    bool ta, tb;
    int m, n, k;
    const vd_real *a;
    int lda;
    const void *b;
    vd_dtype type;
    int ldb;
    vd_real beta;
    vd_real *c;
    int ldc;
} vd_cpu_product;

// c = a b^T + beta c: the product is one of rows with weights, whatever ta and tb say.
void vd_cpu_gemv(const vd_cpu_product *product);

// y (n) = x, of `type` as above, as floats.
void vd_cpu_widen(const void *x, vd_dtype type, size_t n, float *y);

#endif
