// The innermost part of a matrix product, as a template: it is included once for each instruction
// set and shape of tile. A tile of c is kept in registers while rows of a and a packed panel of b
// pass by: one multiplication and addition for each broadcast number of a and vector of b.
//
// Set before inclusion: LANES floats in a vector; TILE_ROWS rows of VECTORS vectors, which with a
// row of b and a number of a fill the registers; A_ROWS when a is not packed; TARGET, an
// attribute; TILE, the function's name. Meanwhile memory is asked for what comes next: some lines
// for every VD_TILE_LINE of `depth`.

#ifndef VD_TILE_LINE
#define VD_TILE_LINE  16 // floats of a line of the caches
#define VD_LINE_BYTES 64
#endif

#ifdef A_ROWS
// a (TILE_ROWS, lda): a row's numbers lie one after the other. Next come as many rows, `stride`
// bytes apart, `step` bytes of each.
#define A_NUMBER(r) a[(r)*lda]
#define A_STEP      1
#define A_NEXT      size_t lda, const unsigned char *next, size_t stride, size_t step
#else // a (depth, TILE_ROWS). Next come `step` bytes.
#define A_NUMBER(r) a[r]
#define A_STEP      TILE_ROWS
#define A_NEXT      const unsigned char *next, size_t step
#endif

// b (depth, VECTORS * LANES): c = alpha a b + beta c, which is not read when beta is 0. Not
// inlined: among other code the registers would not suffice.
TARGET __attribute__((noinline)) static void TILE(const float *a, const float *b, int depth,
                                                  float alpha, float beta, float *c, size_t ldc,
                                                  A_NEXT)
{
    typedef float lane __attribute__((vector_size(4 * LANES)));
    lane sum[TILE_ROWS][VECTORS] = {{{0}}};
    for (int r = 0; r < TILE_ROWS; r++) { // there when the sums are
        __builtin_prefetch(c + (size_t)r * ldc, 1);
        __builtin_prefetch(c + (size_t)r * ldc + VECTORS * LANES - 1, 1);
    }
    const int block = step ? VD_TILE_LINE : depth;
    for (int left = depth; left > 0; left -= block, next += step) {
#ifdef A_ROWS
        for (size_t r = 0; r < TILE_ROWS; r++)
            __builtin_prefetch(next + r * stride);
#else
        for (size_t at = 0; at < step; at += VD_LINE_BYTES)
            __builtin_prefetch(next + at);
#endif
#pragma GCC unroll 4 // the loop's own instructions cost time too
        for (int k = left < block ? left : block; k > 0; k--, a += A_STEP, b += VECTORS * LANES) {
            lane row[VECTORS];
            for (int v = 0; v < VECTORS; v++)
                memcpy(&row[v], b + v * LANES, sizeof row[v]);
            for (int r = 0; r < TILE_ROWS; r++)
                for (int v = 0; v < VECTORS; v++)
                    sum[r][v] += A_NUMBER(r) * row[v];
        }
    }
#pragma GCC unroll 16 // else the sums pass through memory
    for (int r = 0; r < TILE_ROWS; r++, c += ldc)
        for (int v = 0; v < VECTORS; v++) {
            lane value = alpha * sum[r][v], before;
            if (beta != 0) {
                memcpy(&before, c + v * LANES, sizeof before);
                value += beta * before;
            }
            memcpy(c + v * LANES, &value, sizeof value);
        }
}

#undef A_NUMBER
#undef A_STEP
#undef A_NEXT
#undef TILE_ROWS
#undef VECTORS
#undef TILE
