// Products by dot products, as a template: gemv.c includes this once for each instruction
// set. c[r][j] = a[r] . b[j]: the weights are read where they lie, in the layout and the number
// format of their file, and every one is read once for up to MOST_ROWS rows of a.
//
// Set before inclusion: LANES floats in a vector; TILE_COLUMNS columns of a tile, whose sums the
// registers hold; TARGET, an attribute; NAME(x), x with the instruction set's name;
// WIDEN_F16(half), a vector of half-precision numbers as floats. A sum is one of
// sums over at most DEPTH of k, each LANES partial sums in the order of k, so a result depends on
// neither the tile nor the thread that makes it, nor on m.

typedef float NAME(vector) __attribute__((vector_size(4 * LANES)));
typedef int32_t NAME(words) __attribute__((vector_size(4 * LANES)));
typedef uint16_t NAME(shorts) __attribute__((vector_size(2 * LANES)));

TARGET static inline __attribute__((always_inline)) NAME(vector)
    NAME(load)(const void *from, size_t at, const vd_dtype type)
{
    NAME(vector) value;
    NAME(shorts) half;
    if (type == VD_F32) {
        memcpy(&value, (const float *)from + at, sizeof value);
        return value;
    }
    memcpy(&half, (const uint16_t *)from + at, sizeof half);
    if (type == VD_F16)
        return WIDEN_F16(half);
    return (NAME(vector))(__builtin_convertvector(half, NAME(words)) << 16); // bfloat16
}

// The last count < LANES numbers, zeros behind them.
TARGET static inline __attribute__((always_inline)) NAME(vector)
    NAME(load_rest)(const void *from, size_t at, int count, const vd_dtype type)
{
    uint32_t rest[LANES] = {0};
    size_t size = type == VD_F32 ? 4 : 2;
    memcpy(rest, (const unsigned char *)from + at * size, (size_t)count * size);
    return NAME(load)(rest, 0, type);
}

// The LANES numbers before x + n, zeros but for the last `rest`: the others were counted already.
TARGET static inline __attribute__((always_inline)) NAME(vector)
    NAME(load_last)(const float *x, size_t n, size_t rest)
{
    NAME(words) bits, mask;
    memcpy(&bits, x + n - LANES, sizeof bits);
    memcpy(&mask, masks + 16 - LANES + rest, sizeof mask);
    return (NAME(vector))(bits & mask);
}

// Four lanes from LANES: the halves added until no more are left.
TARGET static inline __attribute__((always_inline)) vector_of_four NAME(fold)(NAME(vector) v)
{
#if LANES == 16
    typedef float half __attribute__((vector_size(32)));
    half eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                 __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
           __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#elif LANES == 8
    return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
    return v;
#endif
}

// The sums over the lanes of four vectors.
TARGET static inline __attribute__((always_inline)) vector_of_four
NAME(sums)(NAME(vector) v0, NAME(vector) v1, NAME(vector) v2, NAME(vector) v3)
{
    vector_of_four a = NAME(fold)(v0), b = NAME(fold)(v1), c = NAME(fold)(v2), d = NAME(fold)(v3);
    vector_of_four ab =
        __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
    vector_of_four cd =
        __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
    return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) +
           __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

// y = x as floats.
TARGET static inline __attribute__((always_inline)) void
NAME(widen_from)(const void *x, size_t n, float *y, const vd_dtype type)
{
    NAME(vector) value;
    size_t i = 0;
#pragma GCC unroll 4
    for (; i + LANES <= n; i += LANES) {
        value = NAME(load)(x, i, type);
        memcpy(y + i, &value, sizeof value);
    }
    if (i < n) {
        value = NAME(load_rest)(x, i, (int)(n - i), type);
        memcpy(y + i, &value, (n - i) * sizeof *y);
    }
}

TARGET static void NAME(widen)(const void *x, vd_dtype type, size_t n, float *y)
{
    if (type == VD_F16)
        NAME(widen_from)(x, n, y, VD_F16);
    else if (type == VD_BF16)
        NAME(widen_from)(x, n, y, VD_BF16);
    else
        memcpy(y, x, n * sizeof *y);
}

// The products of LANES numbers of `rows` rows of x, and of `columns` rows of w from number k on.
TARGET static inline __attribute__((always_inline)) void
NAME(add_products)(const float *x, size_t ldx, const void *w, size_t k, size_t ldw,
                   NAME(vector) sum[MOST_ROWS][TILE_COLUMNS], const int rows, const int columns,
                   const vd_dtype type)
{
    NAME(vector) value[MOST_ROWS];
    for (size_t a = 0; a < (size_t)rows; a++)
        value[a] = NAME(load)(x, a * ldx, VD_F32);
    for (size_t c = 0; c < (size_t)columns; c++) {
        NAME(vector) weight = NAME(load)(w, c * ldw + k, type);
        for (size_t a = 0; a < (size_t)rows; a++)
            sum[a][c] += value[a] * weight;
    }
}

// All rows of a and columns j, j + apart, .. of c over from..to-1 of k; w, row stride ldw, begins
// with column j's weight number `from`.
TARGET static inline __attribute__((always_inline)) void
NAME(tile)(const vd_cpu_product *p, int j, size_t apart, int from, int to, const void *w,
           size_t ldw, const int rows, const int columns, const vd_dtype type)
{
    const NAME(vector) none = {0};
    NAME(vector) sum[MOST_ROWS][TILE_COLUMNS]; // all of them zeroed would pass through memory
    for (int a = 0; a < rows; a++)
        for (int c = 0; c < columns; c++)
            sum[a][c] = none;
    const float *x = p->a + from;
    const size_t size = type == VD_F32 ? 4 : 2;
    size_t ldx = (size_t)p->lda, i = 0, depth = (size_t)(to - from);
    // After the last numbers of a row come those of the next, which need not be adjacent.
    const size_t turn = to == p->k ? depth * size : SIZE_MAX, on = (size_t)(p->ldb - p->k) * size;
    if (rows <= 2) { // with more of them the registers do not suffice for this
#pragma GCC unroll 4
        for (; i + LANES <= depth; i += LANES)
            NAME(add_products)(x + i, ldx, w, i, ldw, sum, rows, columns, type);
    }
    for (; i + LANES <= depth; i += LANES) {
        for (size_t c = 0; c < (size_t)columns; c++)
            if (columns == TILE_COLUMNS / 2 && i % (64 / size) == 0) // memory is asked ahead
                __builtin_prefetch((const unsigned char *)w + (c * ldw + i) * size + AHEAD +
                                   (i * size + AHEAD >= turn ? on : 0));
        NAME(add_products)(x + i, ldx, w, i, ldw, sum, rows, columns, type);
    }
    if (i < depth && depth >= LANES) {
        NAME(vector) value[MOST_ROWS];
        for (size_t a = 0; a < (size_t)rows; a++)
            value[a] = NAME(load_last)(x + a * ldx, depth, depth - i);
        for (size_t c = 0; c < (size_t)columns; c++) {
            NAME(vector) weight = NAME(load)(w, c * ldw + depth - LANES, type);
            for (size_t a = 0; a < (size_t)rows; a++)
                sum[a][c] += value[a] * weight;
        }
    } else if (i < depth) {
        for (size_t c = 0; c < (size_t)columns; c++) {
            int rest = (int)(depth - i);
            NAME(vector) weight = NAME(load_rest)(w, c * ldw + i, rest, type);
            for (size_t a = 0; a < (size_t)rows; a++)
                sum[a][c] += weight * NAME(load_rest)(x, a * ldx + i, rest, VD_F32);
        }
    }
    const bool add = p->beta != 0 || from > 0;
    for (int a = 0; a < rows; a++) {
        float *y = p->c + (size_t)a * (size_t)p->ldc + j;
        vector_of_four all =
            NAME(sums)(sum[a][0], columns > 1 ? sum[a][1] : none, columns > 2 ? sum[a][2] : none,
                       columns > 3 ? sum[a][3] : none);
        for (int c = 0; c < columns; c++)
            y[(size_t)c * apart] = all[c] + (add ? y[(size_t)c * apart] : 0);
    }
}

// Rows that find room in registers: one pass, in which a tile's columns are far apart, so that the
// weights come in a few long streams, which is how memory gives them fastest.
TARGET static inline __attribute__((always_inline)) void NAME(one_pass)(const vd_cpu_product *p,
                                                                        int first, int last,
                                                                        int depth, const int rows,
                                                                        const vd_dtype type)
{
    const int columns = rows * TILE_COLUMNS <= MOST_SUMS ? TILE_COLUMNS : TILE_COLUMNS / 2;
    const int apart = (last - first) / columns;
    const size_t size = type == VD_F32 ? 4 : 2, ldw = (size_t)p->ldb;
    for (int j = first; j < last; j++)
        for (int from = 0; from < p->k; from += depth) {
            int to = p->k - from < depth ? p->k : from + depth;
            const unsigned char *w =
                (const unsigned char *)p->b + ((size_t)j * ldw + (size_t)from) * size;
            if (j < first + apart)
                NAME(tile)
            (p, j, (size_t)apart, from, to, w, (size_t)apart * ldw, rows, columns, type);
            else if (j >= first + apart * columns)
                NAME(tile)(p, j, 1, from, to, w, ldw, rows, 1, type);
        }
}

// A function for each number of rows and each type: the compiler takes twice as long over
// one of them all.
#define PASS(rows, type, name)                                                                     \
    TARGET static __attribute__((noinline)) void NAME(name##_##rows)(                              \
        const vd_cpu_product *p, int first, int last, int depth)                                   \
    {                                                                                              \
        NAME(one_pass)(p, first, last, depth, rows, type);                                         \
    }
#define PASSES(type, name)                                                                         \
    PASS(1, type, name)                                                                            \
    PASS(2, type, name)                                                                            \
    PASS(3, type, name)                                                                            \
    PASS(4, type, name)                                                                            \
    PASS(5, type, name)                                                                            \
    PASS(6, type, name)
#define ROW_OF(name)                                                                               \
    {                                                                                              \
        NAME(name##_1), NAME(name##_2), NAME(name##_3), NAME(name##_4), NAME(name##_5),            \
            NAME(name##_6)                                                                         \
    }
PASSES(VD_F32, f32)
PASSES(VD_F16, f16)
PASSES(VD_BF16, bf16)

static void (*const NAME(passes)[][MOST_ROWS])(const vd_cpu_product *p, int first, int last,
                                               int depth) = {
    [VD_F32] = ROW_OF(f32), [VD_F16] = ROW_OF(f16), [VD_BF16] = ROW_OF(bf16)};

// Columns from..to-1 of c.
static void NAME(product)(const vd_cpu_product *p, int from, int to)
{
    const int blocks = (p->k + DEPTH - 1) / DEPTH;
    const int depth = ((p->k + blocks - 1) / blocks + LANES - 1) / LANES * LANES;
    NAME(passes)[p->type][p->m - 1](p, from, to, depth);
}

#undef ROW_OF
#undef PASS
#undef PASSES
#undef LANES
#undef TILE_COLUMNS
#undef TARGET
#undef NAME
#undef WIDEN_F16
