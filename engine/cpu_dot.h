// Products by dot products, as a template: cpu_few_rows.c includes this once for each instruction
// set. y[r][j] = x[r] . w[j]: the weights are read where they lie, in the layout and the number
// format of their file, and every one is read once for all rows of x.
//
// Set before inclusion: LANES floats in a vector; TILE_ROWS x TILE_COLUMNS sums that the registers
// hold; TARGET, an attribute; NAME(x), x with the instruction set's name; NAME(load_f16), LANES
// half-precision numbers. Every sum runs over LANES partial sums in the order of k, whatever the
// tile, so a result depends on neither the tile nor the thread that makes it.

typedef float NAME(vector) __attribute__((vector_size(4 * LANES)));
typedef uint32_t NAME(words) __attribute__((vector_size(4 * LANES)));
typedef uint16_t NAME(halves) __attribute__((vector_size(2 * LANES)));

TARGET static inline __attribute__((always_inline)) NAME(vector)
    NAME(load)(const void *from, size_t at, const vd_dtype type)
{
    NAME(vector) value;
    if (type == VD_F16)
        return NAME(load_f16)((const uint16_t *)from + at);
    if (type == VD_BF16) { // the upper half of a float
        NAME(halves) half;
        memcpy(&half, (const uint16_t *)from + at, sizeof half);
        NAME(words) bits = __builtin_convertvector(half, NAME(words)) << 16;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    memcpy(&value, (const float *)from + at, sizeof value);
    return value;
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

TARGET static inline __attribute__((always_inline)) float NAME(sum)(NAME(vector) v)
{
    float lane[LANES];
    memcpy(lane, &v, sizeof lane);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

// y = x as floats.
TARGET static void NAME(widen)(const void *x, vd_dtype type, size_t n, float *y)
{
    NAME(vector) value;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        value = type == VD_F16 ? NAME(load)(x, i, VD_F16) : NAME(load)(x, i, VD_BF16);
        memcpy(y + i, &value, sizeof value);
    }
    if (i < n) {
        value = type == VD_F16 ? NAME(load_rest)(x, i, (int)(n - i), VD_F16)
                               : NAME(load_rest)(x, i, (int)(n - i), VD_BF16);
        memcpy(y + i, &value, (n - i) * sizeof *y);
    }
}

// Rows r.. of x and columns j.. of y over from..to-1 of k; w, row stride ldw, begins with column
// j's weight number `from`.
TARGET static inline __attribute__((always_inline)) void
NAME(tile)(const vd_few_rows *p, int r, int j, int from, int to, const void *w, size_t ldw,
           const int rows, const int columns, const vd_dtype type)
{
    NAME(vector) sum[TILE_ROWS][TILE_COLUMNS] = {{{0}}};
    const float *x = p->x + (size_t)r * (size_t)p->ldx + from;
    size_t ldx = (size_t)p->ldx, i = 0, depth = (size_t)(to - from);
    for (; i + LANES <= depth; i += LANES) {
        NAME(vector) weight[TILE_COLUMNS];
        for (size_t c = 0; c < (size_t)columns; c++)
            weight[c] = NAME(load)(w, c * ldw + i, type);
        for (size_t a = 0; a < (size_t)rows; a++) {
            NAME(vector) value = NAME(load)(x, a * ldx + i, VD_F32);
            for (size_t c = 0; c < (size_t)columns; c++)
                sum[a][c] += value * weight[c];
        }
    }
    if (i < depth)
        for (size_t c = 0; c < (size_t)columns; c++) {
            int rest = (int)(depth - i);
            NAME(vector) weight = NAME(load_rest)(w, c * ldw + i, rest, type);
            for (size_t a = 0; a < (size_t)rows; a++)
                sum[a][c] += weight * NAME(load_rest)(x, a * ldx + i, rest, VD_F32);
        }
    for (int a = 0; a < rows; a++) {
        float *y = p->y + (size_t)(r + a) * (size_t)p->ldy + j;
        for (int c = 0; c < columns; c++)
            y[c] = NAME(sum)(sum[a][c]) + (p->add || from > 0 ? y[c] : 0);
    }
}

TARGET static inline __attribute__((always_inline)) void
NAME(all_rows)(const vd_few_rows *p, int j, int from, int to, const void *w, size_t ldw,
               const int columns, const vd_dtype type)
{
    int r = 0;
    for (; r + TILE_ROWS <= p->m; r += TILE_ROWS)
        NAME(tile)(p, r, j, from, to, w, ldw, TILE_ROWS, columns, type);
    for (; r + 2 <= p->m; r += 2)
        NAME(tile)(p, r, j, from, to, w, ldw, 2, columns, type);
    if (r < p->m)
        NAME(tile)(p, r, j, from, to, w, ldw, 1, columns, type);
}

TARGET static inline __attribute__((always_inline)) void
NAME(stripe)(const vd_few_rows *p, int j, const int columns, const vd_dtype type)
{
    const size_t size = type == VD_F32 ? 4 : 2, ldw = (size_t)p->ldw;
    // As many weights at a time as stay in the first cache while all rows of x pass by.
    for (int from = 0, to; from < p->k; from = to) {
        to = p->k - from <= STRIPE_MOST ? p->k : from + STRIPE_DEPTH;
        const unsigned char *w =
            (const unsigned char *)p->w + ((size_t)j * ldw + (size_t)from) * size;
        if (type == VD_F32 || p->m <= TILE_ROWS) {
            NAME(all_rows)(p, j, from, to, w, ldw, columns, type);
            continue;
        }
        // Read more than once: widened once.
        float wide[TILE_COLUMNS * STRIPE_MOST];
        for (size_t c = 0; c < (size_t)columns; c++)
            NAME(widen)(w + c * ldw * size, type, (size_t)(to - from), wide + c * STRIPE_MOST);
        NAME(all_rows)(p, j, from, to, wide, STRIPE_MOST, columns, VD_F32);
    }
}

TARGET static inline __attribute__((always_inline)) void
NAME(stripes)(const vd_few_rows *p, int from, int to, const vd_dtype type)
{
    int j = from;
    for (; j + TILE_COLUMNS <= to; j += TILE_COLUMNS)
        NAME(stripe)(p, j, TILE_COLUMNS, type);
    for (; j < to; j++)
        NAME(stripe)(p, j, 1, type);
}

// Columns from..to-1 of y.
TARGET static void NAME(product)(const vd_few_rows *p, int from, int to)
{
    if (p->type == VD_F16)
        NAME(stripes)(p, from, to, VD_F16);
    else if (p->type == VD_BF16)
        NAME(stripes)(p, from, to, VD_BF16);
    else
        NAME(stripes)(p, from, to, VD_F32);
}

#undef LANES
#undef TILE_ROWS
#undef TILE_COLUMNS
#undef TARGET
#undef NAME
