// Products of some rows with a matrix of weights: too many for dot products (gemv.h), too few to be
// worth a copy of all weights (blas.h). The rows of a are packed, so that a vector holds one number
// of each of several rows, and a weight is broadcast to a vector; or the weights were packed before
// and the numbers of a are broadcast.
#ifndef VD_CPU_SKINNY_GEMM_H
#define VD_CPU_SKINNY_GEMM_H

#include "engine/backend/cpu/gemv.h"
#include "engine/backend/matrix.h"

enum { VD_SKINNY_ROWS = 144 }; // at most

// c = a b^T + beta c, k > 0. False when there are more rows than that, or no memory to pack them
// (cpu.h): nothing was done. A sum is one of sums over parts of k, each in the order of k, so a
// result depends on neither m, n nor the number of threads.
bool vd_cpu_skinny_gemm(const vd_cpu_product *product);

// The same with weights that were packed: those of b are columns column.. of the packed matrix.
// False when they were packed for other instructions, or there is no memory for fewer rows than a
// tile has: nothing was done.
bool vd_cpu_packed_gemm(const vd_cpu_product *product, const vd_packed_matrix *packed, int column);

// A copy of a matrix in panels of rows, of any of the types that products read; NULL when memory is
// out.
vd_packed_matrix *vd_cpu_pack(const vd_matrix *m);
void vd_cpu_unpack(vd_packed_matrix *packed); // NULL is nothing

#endif
