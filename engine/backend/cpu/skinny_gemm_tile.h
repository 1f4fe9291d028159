// The innermost part of a matrix product, as a template: it is included once for each instruction
// set, and includes itself for each shape of tile. A tile of c is kept in registers while rows of a
// and a packed panel of b pass by: one multiplication and addition for each broadcast number of a
// and vector of b.
//
// Set before inclusion: LANES floats in a vector; GROUP vectors of sums, which with a row of b and
// a number of a fill the registers; TARGET, an attribute; TILE(shape), a function's name.

#ifndef SHAPE
#define VECTORS 1
#define SHAPE   TILE(x1)
#include "engine/backend/cpu/skinny_gemm_tile.h"
#define VECTORS 2
#define SHAPE   TILE(x2)
#include "engine/backend/cpu/skinny_gemm_tile.h"
#define VECTORS 3
#define SHAPE   TILE(x3)
#include "engine/backend/cpu/skinny_gemm_tile.h"
#undef LANES
#undef GROUP
#undef TARGET
#undef TILE
#else

#ifndef VD_TILE_LINE
#define VD_TILE_LINE 16 // floats of a line of the caches
#endif

// c (ROWS, VECTORS * LANES) = a b, or where `add` c + a b; a (ROWS, depth), row stride lda, b
// (depth, VECTORS * LANES). Meanwhile ROWS lines of memory, `stride` bytes apart, are asked for
// ahead of their use for every VD_TILE_LINE of `depth`: the first from `next` on, those after them
// `step` bytes further on each time. Not inlined: among other code the registers would not suffice.
TARGET __attribute__((noinline)) static void SHAPE(const float *a, size_t lda, const float *b,
                                                   int depth, bool add, float *c, size_t ldc,
                                                   const unsigned char *next, size_t stride,
                                                   size_t step)
{
    enum { ROWS = GROUP / VECTORS };
    typedef float lane __attribute__((vector_size(4 * LANES)));
    lane sum[ROWS][VECTORS] = {{{0}}};
    for (int r = 0; r < ROWS; r++) { // there when the sums are
        __builtin_prefetch(c + (size_t)r * ldc, 1);
        __builtin_prefetch(c + (size_t)r * ldc + VECTORS * LANES - 1, 1);
    }
    for (int left = depth; left > 0; left -= VD_TILE_LINE, next += step) {
        for (size_t r = 0; r < ROWS; r++)
            __builtin_prefetch(next + r * stride);
#pragma GCC unroll 4  // the loop's own instructions cost time too
        for (int k = left < VD_TILE_LINE ? left : VD_TILE_LINE; k > 0;
             k--, a++, b += VECTORS * LANES) {
            lane row[VECTORS];
            for (int v = 0; v < VECTORS; v++)
                memcpy(&row[v], b + v * LANES, sizeof row[v]);
            for (int r = 0; r < ROWS; r++)
                for (int v = 0; v < VECTORS; v++)
                    sum[r][v] += a[(size_t)r * lda] * row[v];
        }
    }
#pragma GCC unroll 16 // else the sums pass through memory
    for (int r = 0; r < ROWS; r++, c += ldc)
        for (int v = 0; v < VECTORS; v++) {
            lane value = sum[r][v], before;
            if (add) {
                memcpy(&before, c + v * LANES, sizeof before);
                value += before;
            }
            memcpy(c + v * LANES, &value, sizeof value);
        }
}

#undef VECTORS
#undef SHAPE
#endif
