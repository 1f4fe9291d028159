// Products of some rows with a matrix of weights: too many for dot products (gemv.h), too
// few to be worth a copy of all weights (gemm.h). The rows of x are packed, so that a vector
// holds one number of each of several rows; a weight is broadcast to a vector.
#ifndef VD_CPU_SKINNY_GEMM_H
#define VD_CPU_SKINNY_GEMM_H

#include <stdbool.h>

#include "engine/backend/cpu/gemv.h"

enum { VD_SOME_ROWS = 144 }; // at most

// k > 0. False when there are more rows than that, or no memory to pack them (1.5 million numbers
// at most): nothing was done. A sum is one of sums over parts of k, each in the order of k, so a
// result depends on neither m, n nor the number of threads.
bool vd_cpu_some_rows(const vd_few_rows *product);

#endif
