#include "engine/backend/cpu/gemv.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/backend/cpu/instructions.h"
#include "engine/base/threads.h"

// Up to MOST_ROWS rows are multiplied in one pass, in tiles of at most MOST_SUMS sums; DEPTH
// numbers are summed at a time. A task has at least EACH columns.
enum {
    TILE = 4,
    MOST_ROWS = 6,
    MOST_SUMS = 12,
    AHEAD = 1024, // bytes
    EACH = 8,
    DEPTH = 640
};

typedef float vector_of_four __attribute__((vector_size(16)));

// LANES numbers from 16 - LANES + rest on are a mask of a vector's last `rest` lanes.
static const int32_t masks[32] = {[16] = -1, -1, -1, -1, -1, -1, -1, -1,
                                  -1,        -1, -1, -1, -1, -1, -1, -1};

typedef uint16_t halves_of_four __attribute__((vector_size(8)));

static vector_of_four widen_f16_portable(halves_of_four half)
{
    return (vector_of_four){vd_half_to_float(half[0]), vd_half_to_float(half[1]),
                            vd_half_to_float(half[2]), vd_half_to_float(half[3])};
}

#define LANES        4
#define TILE_COLUMNS TILE
#define TARGET
#define NAME(x)         x##_portable
#define WIDEN_F16(half) widen_f16_portable(half)
#include "engine/backend/cpu/gemv_tile.h"

#if defined(__x86_64__)
#define LANES           8
#define TILE_COLUMNS    TILE
#define TARGET          __attribute__((target("avx2,fma,f16c")))
#define NAME(x)         x##_avx2
#define WIDEN_F16(half) _mm256_cvtph_ps((__m128i)(half))
#include "engine/backend/cpu/gemv_tile.h"

#define LANES           16
#define TILE_COLUMNS    TILE
#define TARGET          __attribute__((target("avx512f,avx512bw,avx512vl,avx2,fma,f16c")))
#define NAME(x)         x##_avx512
#define WIDEN_F16(half) _mm512_cvtph_ps((__m256i)(half))
#include "engine/backend/cpu/gemv_tile.h"
#endif

// ---- which one ----------------------------------------------------------------------------------

static const struct {
    void (*run)(const vd_cpu_product *p, int from, int to);
    void (*widen)(const void *x, vd_dtype type, size_t n, float *y);
} dot_products[VD_INSTRUCTIONS] = {
    [VD_PORTABLE] = {product_portable, widen_portable},
#if defined(__x86_64__)
    [VD_AVX2] = {product_avx2, widen_avx2},
    [VD_AVX512] = {product_avx512, widen_avx512},
#endif
};

// ---- in tasks -----------------------------------------------------------------------------------

static void run_columns(void *product, size_t from, size_t to)
{
    const vd_cpu_product *p = product;
    int last = (int)to * EACH > p->n ? p->n : (int)to * EACH;
    dot_products[vd_cpu_instructions()].run(p, (int)from * EACH, last);
}

void vd_cpu_gemv(const vd_cpu_product *p)
{
    vd_cpu_product part = *p;
    for (int left = p->m; left > 0; left -= MOST_ROWS) {
        part.m = left < MOST_ROWS ? left : MOST_ROWS;
        // Reading a weight takes about as long as eight multiplications with it.
        double cost = EACH * p->k * (8.0 + part.m) / 64;
        vd_threads_ranges((size_t)(p->n + EACH - 1) / EACH, cost, run_columns, &part);
        part.a += (size_t)MOST_ROWS * (size_t)p->lda;
        part.c += (size_t)MOST_ROWS * (size_t)p->ldc;
    }
}

void vd_cpu_widen(const void *x, vd_dtype type, size_t n, float *y)
{
    dot_products[vd_cpu_instructions()].widen(x, type, n, y);
}
