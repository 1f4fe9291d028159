// The CPU's operations, by family; backend.h says what each does.
#ifndef VD_CPU_H
#define VD_CPU_H

#include "engine/backend/backend.h"

// Each family fills its part of the table.
void vd_cpu_matrix(vd_backend *table);
void vd_cpu_pointwise(vd_backend *table);
void vd_cpu_lstm(vd_backend *table);
void vd_cpu_attention(vd_backend *table);
void vd_cpu_loss(vd_backend *table);
void vd_cpu_optimiser(vd_backend *table);

// A loop compiled for several instruction sets, the best one picked at start.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(VD_DOUBLE)
#if __GNUC__ >= 12 // with FMA
#define VD_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VD_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define VD_WIDE
#endif

// Before a loop whose steps do not meet in memory, which the compiler cannot see.
#if defined(__GNUC__) && !defined(__clang__)
#define VD_APART _Pragma("GCC ivdep")
#else // Clang's own is an order: it warns where the loop cannot be made vector code
#define VD_APART
#endif

// Whether element `index` survives dropout with this key; `threshold` = rate * 2^32.
static inline bool vd_keep(uint64_t key, uint32_t index, uint32_t threshold)
{
    // lowbias32 (Wellons): a good 32-bit mix that vectorises.
    uint32_t x = index ^ (uint32_t)key;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x += (uint32_t)(key >> 32);
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x >= threshold;
}

static inline uint32_t vd_drop_threshold(vd_real rate)
{
    return (uint32_t)((double)rate * 4294967296.0);
}

#endif
