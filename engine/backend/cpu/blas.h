// OpenBLAS for large products, loaded when the first one comes: starting it takes 15 ms and a
// thread of its own, and asking a bundled model never needs it.
#ifndef VD_CPU_BLAS_H
#define VD_CPU_BLAS_H

#include "engine/backend/cpu/gemv.h"

// A product of floats on the calling thread; m, n, k > 0. Without the library by loops of our own.
void vd_cpu_sgemm(const vd_cpu_product *product);

// Where OpenBLAS took its code for an older processor (`taken`) than this one: the value of
// $OPENBLAS_CORETYPE that is right; else NULL.
const char *vd_cpu_blas_core(const char *taken);

#endif
