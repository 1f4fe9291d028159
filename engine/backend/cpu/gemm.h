// Large matrix products, on all threads: both factors are copied in panels that lie as the
// innermost loop reads them, in blocks that stay in the caches (Goto, van de Geijn 2008). Beside
// OpenBLAS's it copies a block once for all threads, and takes weights in 16 bits.
#ifndef VD_CPU_GEMM_H
#define VD_CPU_GEMM_H

#include <stdbool.h>

#include "engine/base/safetensors.h"

// c (m, n) = alpha op(a) op(b) + beta c; op(a) (m, k), op(b) (k, n), transposed where asked. The
// numbers are rows' distances in memory. m, n, k > 0; c is not read when beta is 0.
typedef struct vd_gemm {
    bool ta, tb;
    int m, n, k;
    float alpha;
    const float *a;
    int lda;
    const void *b; // of `type`, which may be VD_F16 or VD_BF16 when tb is set, else VD_F32
    vd_dtype type;
    int ldb;
    float beta;
    float *c;
    int ldc;
    // What is known of b:
    bool held;           // b is held, see below
    const float *panels; // of b, where it was packed before (packed_weights.h); NULL = it was not
    size_t panels_apart; // floats from one to the next
} vd_gemm;

// False when there is no code for this processor, or no memory for panels: nothing was done.
// A result does not depend on m, n or the number of threads.
bool vd_cpu_gemm(const vd_gemm *product);

// Until the next call (NULL: nothing) b stays as it is, and this thread's products with it, which
// are marked so, copy it once, if it is no larger than an LSTM's matrix of 700 states.
void vd_cpu_gemm_hold(const void *b);
bool vd_cpu_gemm_holds(const void *b);

// Lines of a panel of b; 0 when there is no code for this processor.
int vd_cpu_gemm_width(void);
// b (n, k), of `type`, in panels of so many lines (lines, k, width), zeros beside the last ones: as
// many floats as that makes.
void vd_cpu_gemm_pack(const void *b, vd_dtype type, int n, int k, float *panels);

// This thread's memory for the packed rows of a product, until the next one; NULL when there is
// none for so many.
float *vd_cpu_gemm_memory(size_t floats);

#endif
