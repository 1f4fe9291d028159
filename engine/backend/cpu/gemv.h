// Products of a few rows with a matrix of weights, which is what answering a question mostly
// consists of: y = x w^T with w float32 or in 16 bits, read where it is. Sums are float32.
#ifndef VD_CPU_GEMV_H
#define VD_CPU_GEMV_H

#include <stdbool.h>

#include "engine/base/safetensors.h"

typedef struct vd_weight_product {
    const float *x; // (m, k), row stride ldx
    const void *w;  // (n, k), row stride ldw, of `type`: VD_F32, VD_F16 or VD_BF16
    vd_dtype type;
    float *y; // (m, n), row stride ldy; added to when `add`
    int ldx, ldw, ldy, m, n, k;
    bool add;
} vd_weight_product;

void vd_cpu_gemv(const vd_weight_product *product);

// y (n) = x, of `type` as above, as floats.
void vd_cpu_widen(const void *x, vd_dtype type, size_t n, float *y);

#endif
