// The CPU's operations, by family; they are documented in backend.h.
#ifndef VD_CPU_H
#define VD_CPU_H

#include "engine/backend/backend.h"

// Each family fills its part of the table.
typedef void vd_cpu_family(vd_backend *table);
vd_cpu_family vd_cpu_matrix, vd_cpu_pointwise, vd_cpu_lstm, vd_cpu_attention, vd_cpu_segments,
    vd_cpu_normalise, vd_cpu_gru, vd_cpu_loss, vd_cpu_optimiser;

// A loop compiled for several instruction sets, the best one picked at start.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(VD_DOUBLE)
#if __GNUC__ >= 12 // with FMA
#define VD_TARGET_CLONES                                                                           \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VD_TARGET_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define VD_TARGET_CLONES
#endif

// Put before a loop without dependencies between its steps that the compiler cannot see to be so.
#if defined(__GNUC__) && !defined(__clang__)
#define VD_IVDEP _Pragma("GCC ivdep")
#else // clang's own pragma warns where a loop cannot be vectorised
#define VD_IVDEP
#endif

// Large memory that is the system's again once it is released, which malloc would keep for others
// of that size. NULL when there is none.
void *vd_cpu_map(size_t bytes);
void vd_cpu_unmap(void *memory, size_t bytes); // NULL is nothing

enum { VD_SCRATCH_FLOATS = 1 << 21 };

// This thread's memory for `floats` numbers, its only user until the next call; NULL when it is
// asked for more than VD_SCRATCH_FLOATS, or there is none.
float *vd_cpu_scratch(size_t floats);

// Sums of vectors: y += x; y += a x.
void vd_cpu_add(vd_real *y, const vd_real *x, size_t n);
void vd_cpu_copy_rows(const vd_real *x, int x_stride, const int *index, int rows, int width,
                      vd_real *y, int y_stride); // backend.h
void vd_cpu_add_scaled(vd_real *y, vd_real a, const vd_real *x, size_t n);
// y = softmax of x; y may be x.
void vd_cpu_softmax(const vd_real *x, vd_real *y, size_t n);

#endif
