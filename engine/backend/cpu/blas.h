// OpenBLAS for large products, loaded when the first one comes: starting it takes 15 ms and a
// thread of its own, and asking a bundled model never needs it.
#ifndef VD_CPU_BLAS_H
#define VD_CPU_BLAS_H

#include <stdbool.h>

// c = op(a) op(b) + beta c on the calling thread, as cblas_sgemm does, row-major; m, n, k >
// 0. Without the library by loops of our own.
void vd_cpu_sgemm(bool ta, bool tb, int m, int n, int k, const float *a, int lda, const float *b,
                  int ldb, float beta, float *c, int ldc);

// Where OpenBLAS took its code for an older processor (`taken`) than this one: the value of
// $OPENBLAS_CORETYPE that is right; else NULL.
const char *vd_cpu_blas_core(const char *taken);

#endif
