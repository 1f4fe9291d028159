// The innermost part of a large matrix product, as a template: cpu_gemm.c includes this once for
// each instruction set. A tile of c is kept in registers while packed panels of a and b pass by:
// one multiplication and addition for each broadcast number of a and vector of b.
//
// Set before inclusion: LANES floats in a vector; TILE_ROWS rows of VECTORS vectors, which with a
// row of b and a number of a fill the registers; TARGET, an attribute; NAME(x), x with the
// instruction set's name.

typedef float NAME(lane) __attribute__((vector_size(4 * LANES)));

// a (depth, TILE_ROWS), b (depth, VECTORS * LANES): c = alpha a^T b + beta c, which is not read
// when beta is 0.
TARGET static void NAME(tile_product)(const float *a, const float *b, int depth, float alpha,
                                      float beta, float *c, size_t ldc)
{
    NAME(lane) sum[TILE_ROWS][VECTORS] = {{{0}}};
    for (int r = 0; r < TILE_ROWS; r++) // there when the sums are
        __builtin_prefetch(c + (size_t)r * ldc, 1);
    for (int k = 0; k < depth; k++, a += TILE_ROWS, b += VECTORS * LANES) {
        NAME(lane) row[VECTORS];
        for (int v = 0; v < VECTORS; v++)
            memcpy(&row[v], b + v * LANES, sizeof row[v]);
        for (int r = 0; r < TILE_ROWS; r++)
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] += a[r] * row[v];
    }
#pragma GCC unroll 16 // else the sums pass through memory
    for (int r = 0; r < TILE_ROWS; r++, c += ldc)
        for (int v = 0; v < VECTORS; v++) {
            NAME(lane) value = alpha * sum[r][v], before;
            if (beta != 0) {
                memcpy(&before, c + v * LANES, sizeof before);
                value += beta * before;
            }
            memcpy(c + v * LANES, &value, sizeof value);
        }
}

#undef LANES
#undef TILE_ROWS
#undef VECTORS
#undef TARGET
#undef NAME
