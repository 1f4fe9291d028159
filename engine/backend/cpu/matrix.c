// Matrix products. Those with weights: up to GEMV_ROWS rows by dot products (gemv.h), more by
// weights that are broadcast, or that were packed before (skinny_gemm.h); large products by
// OpenBLAS (blas.h), for which weights in 16 bits are widened.
#include "engine/backend/cpu/cpu.h"

#include <string.h>

#include "engine/backend/cpu/blas.h"
#include "engine/backend/cpu/gemv.h"
#include "engine/backend/cpu/skinny_gemm.h"
#include "engine/base/threads.h"

static void clear_rows(vd_real *c, int m, int n, int ldc)
{
    for (int r = 0; r < m; r++)
        memset(c + (size_t)r * (size_t)ldc, 0, (size_t)n * sizeof *c);
}

// y += a[0] x_0 + ... + a[3] x_3 with rows x_i, `stride` apart.
VD_TARGET_CLONES static void add_four_times(vd_real *restrict y, const vd_real a[4],
                                            const vd_real *x, size_t stride, int n)
{
    const vd_real *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    for (int i = 0; i < n; i++)
        y[i] = y[i] + a[0] * x[i] + a[1] * x1[i] + a[2] * x2[i] + a[3] * x3[i];
}

// Rows and columns of a tile of c that is kept in registers while k passes by.
enum { TILE_ROWS = 6, TILE_COLUMNS = 64 / sizeof(vd_real) };

VD_TARGET_CLONES static void add_tile(const vd_cpu_product *p, int r, int column)
{
    typedef vd_real lane __attribute__((vector_size(64)));
    const size_t down = p->ta ? 1 : (size_t)p->lda, along = p->ta ? (size_t)p->lda : 1;
    const size_t ldb = (size_t)p->ldb, ldc = (size_t)p->ldc;
    const vd_real *a = p->a + (size_t)r * down, *b = (const vd_real *)p->b + column;
    vd_real *c = p->c + (size_t)r * ldc + column;
    lane sum[TILE_ROWS], row;
#pragma GCC unroll 6
    for (size_t i = 0; i < TILE_ROWS; i++)
        memcpy(&sum[i], c + i * ldc, sizeof row);
    for (int k = p->k; k > 0; k--, a += along, b += ldb) {
        memcpy(&row, b, sizeof row);
#pragma GCC unroll 6
        for (size_t i = 0; i < TILE_ROWS; i++)
            sum[i] += a[i * down] * row;
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < TILE_ROWS; i++)
        memcpy(c + i * ldc, &sum[i], sizeof row);
}

// Row r of c from `column` on: what tiles leave over.
static void add_row(const vd_cpu_product *p, int r, int column)
{
    const size_t along = p->ta ? (size_t)p->lda : 1, ldb = (size_t)p->ldb;
    const size_t k = (size_t)p->k, n = (size_t)(p->n - column);
    const vd_real *a = p->a + (size_t)r * (p->ta ? 1 : (size_t)p->lda), *b = p->b;
    vd_real *row = p->c + (size_t)r * (size_t)p->ldc + column, x[4];
    size_t i = 0;
    if (p->tb)
        b += (size_t)column * ldb;
    else
        b += column;
    for (; !p->tb && i + 4 <= k; i += 4) {
        for (size_t j = 0; j < 4; j++)
            x[j] = a[(i + j) * along];
        add_four_times(row, x, b + i * ldb, ldb, (int)n);
    }
    for (; !p->tb && i < k; i++)
        vd_cpu_add_scaled(row, a[i * along], b + i * ldb, n);
    for (; i < k; i++)
        for (size_t j = 0; j < n; j++)
            row[j] += a[i * along] * b[j * ldb + i];
}

// For products too small for anything else, and for the tests' double precision.
static void small_gemm(const vd_cpu_product *p)
{
    const int columns = p->tb ? 0 : p->n / TILE_COLUMNS * TILE_COLUMNS;
    const int rows = columns ? p->m / TILE_ROWS * TILE_ROWS : 0;
    if (p->beta == 0)
        clear_rows(p->c, p->m, p->n, p->ldc);
    for (int column = 0; column < columns; column += TILE_COLUMNS)
        for (int r = 0; r < rows; r += TILE_ROWS)
            add_tile(p, r, column);
    for (int r = 0; r < p->m; r++)
        if (r >= rows || columns < p->n)
            add_row(p, r, r < rows ? columns : 0);
}

#ifndef VD_DOUBLE

// Up to GEMV_ROWS rows are products of a gemv. Products of at most SMALL multiplications, or
// SMALL_SKINNY where a is read by rows (a question has such), are computed without packing. Up to
// SMALL_HALVES with 16-bit weights (the answers of a bundled model's pool) are not worth loading
// OpenBLAS; training, with float weights, has it loaded anyway. It gets BLOCK rows or columns at a
// time.
enum {
    GEMV_ROWS = 6,
    SMALL = 1 << 21,
    SMALL_SKINNY = 1 << 23,
    SMALL_HALVES = 1 << 25,
    BLOCK = 512
};

typedef struct blocks_job {
    const vd_cpu_product *p;
    bool rows; // cut between rows of c, else between columns
    int blocks;
} blocks_job;

static vd_cpu_product block_of(const blocks_job *j, int index)
{
    vd_cpu_product p = *j->p;
    const int64_t all = j->rows ? p.m : p.n;
    const size_t from = (size_t)(all * index / j->blocks);
    const size_t to = (size_t)(all * (index + 1) / j->blocks);
    if (j->rows) {
        p.m = (int)(to - from);
        p.a += from * (p.ta ? 1 : (size_t)p.lda);
        p.c += from * (size_t)p.ldc;
    } else {
        p.n = (int)(to - from);
        p.b = (const unsigned char *)p.b +
              from * (p.tb ? (size_t)p.ldb : 1) * vd_matrix_number_size(p.type);
        p.c += from;
    }
    return p;
}

// A product with 16-bit weights, as many of which are widened at a time as there is room for.
static void blas_widened(const vd_cpu_product *p)
{
    const size_t k = (size_t)p->k;
    const int most = (int)(VD_SCRATCH_FLOATS / k);
    float *wide = most > 0 ? vd_cpu_scratch(VD_SCRATCH_FLOATS) : NULL;
    if (!wide) {
        vd_cpu_gemv(p);
        return;
    }
    vd_cpu_product part = *p;
    part.b = wide;
    part.ldb = p->k;
    for (int from = 0; from < p->n; from += part.n, part.c += part.n) {
        part.n = p->n - from < most ? p->n - from : most;
        for (size_t r = 0; r < (size_t)part.n; r++)
            vd_cpu_widen((const uint16_t *)p->b + ((size_t)from + r) * (size_t)p->ldb, p->type, k,
                         wide + r * k);
        vd_cpu_sgemm(&part);
    }
}

static void blas_block(void *data, int index)
{
    const vd_cpu_product p = block_of(data, index);
    if (p.type == VD_F32)
        vd_cpu_sgemm(&p);
    else
        blas_widened(&p);
}

// An even number of blocks of about BLOCK rows or columns: as many whatever the number of threads,
// so that results do not depend on it. Weights in 16 bits are cut, so that each is widened once.
static void blas_in_blocks(const vd_cpu_product *p)
{
    const bool rows = p->type == VD_F32 && p->m >= p->n;
    blocks_job j = {p, rows, 2 * (((rows ? p->m : p->n) + BLOCK) / (2 * BLOCK))};
    vd_threads_run(j.blocks < 1 ? j.blocks = 1 : j.blocks, blas_block, &j);
}

// False when the rows are too many.
static bool skinny(const vd_cpu_product *p, const vd_packed_matrix *packed, int column)
{
    if (p->m > VD_SKINNY_ROWS)
        return false;
    if (packed && p->m > GEMV_ROWS && vd_cpu_packed_gemm(p, packed, column))
        return true;
    if (p->m > GEMV_ROWS && (double)p->m * p->n * p->k > SMALL && vd_cpu_skinny_gemm(p))
        return true;
    vd_cpu_gemv(p);
    return true;
}

static void skinny_block(void *data, int index)
{
    const vd_cpu_product p = block_of(data, index);
    if (!vd_cpu_skinny_gemm(&p))
        vd_cpu_gemv(&p);
}

static void skinny_in_blocks(const vd_cpu_product *p)
{
    blocks_job j = {p, true, (p->m + VD_SKINNY_ROWS - 1) / VD_SKINNY_ROWS};
    vd_threads_run(j.blocks, skinny_block, &j);
}

static void multiply_matrices(const vd_cpu_product *p, const vd_packed_matrix *packed, int column)
{
    const double work = (double)p->m * p->n * p->k;
    const bool by_rows = !p->ta && p->m <= VD_SKINNY_ROWS;
    const bool like_weights = !p->ta && p->tb;
    if (p->m <= 0 || p->n <= 0 || (p->k <= 0 && p->beta == 1))
        return;
    if (p->k <= 0)
        clear_rows(p->c, p->m, p->n, p->ldc); // BLAS would leave c alone
    else if (like_weights && skinny(p, packed, column))
        return;
    else if (p->type == VD_F32 && work <= (by_rows ? SMALL_SKINNY : SMALL))
        small_gemm(p);
    else if (like_weights && p->type != VD_F32 && work <= SMALL_HALVES)
        skinny_in_blocks(p);
    else
        blas_in_blocks(p);
}

#else

static void multiply_matrices(const vd_cpu_product *p, const vd_packed_matrix *packed, int column)
{
    (void)packed;
    (void)column;
    if (p->m > 0 && p->n > 0)
        small_gemm(p);
}

#endif

static void gemm(bool ta, bool tb, int m, int n, int k, const vd_real *a, int lda, const vd_real *b,
                 int ldb, vd_real beta, vd_real *c, int ldc)
{
    const vd_cpu_product p = {ta, tb, m, n, k, a, lda, b, VD_REAL_TYPE, ldb, beta, c, ldc};
    multiply_matrices(&p, NULL, 0);
}

typedef struct product_series {
    bool ta, tb;
    vd_real beta;
    const vd_product *list;
} product_series;

static void list_block(void *data, int index)
{
    const product_series *l = data;
    const vd_product *p = l->list + index;
    gemm(l->ta, l->tb, p->m, p->n, p->k, p->a, p->lda, p->b, p->ldb, l->beta, p->c, p->ldc);
}

static void products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    product_series l = {ta, tb, beta, list};
    vd_threads_run(count, list_block, &l);
}

static void linear(const vd_real *x, const vd_matrix *w, const vd_real *b, vd_real *y, int rows)
{
    const vd_cpu_product p = {.tb = true,
                              .m = rows,
                              .n = w->rows,
                              .k = w->columns,
                              .a = x,
                              .lda = w->columns,
                              .b = w->data,
                              .type = w->type,
                              .ldb = w->stride,
                              .beta = b ? 1 : 0,
                              .c = y,
                              .ldc = w->rows};
    if (b)
        vd_cpu_copy_rows(b, 0, NULL, rows, w->rows, y, w->rows);
    multiply_matrices(&p, w->packed, w->packed_column);
}

typedef struct sum_job {
    const vd_real *x;
    vd_real *sum; // of its rows, added to
    size_t rows, columns;
} sum_job;

VD_TARGET_CLONES static void sum_columns(void *data, size_t from, size_t to)
{
    const sum_job *j = data;
    for (size_t r = 0; r < j->rows; r++)
        for (size_t i = from; i < to; i++)
            j->sum[i] += j->x[r * j->columns + i];
}

static void linear_backward(const vd_real *x, const vd_matrix *w, const vd_real *dy, vd_real *dx,
                            int dx_stride, vd_real beta, const vd_matrix *dw, vd_real *db, int rows)
{
    const int in = w->columns, out = w->rows;
    if (rows <= 0)
        return;
    if (dx)
        gemm(false, false, rows, in, out, dy, out, vd_matrix_reals(w), w->stride, beta, dx,
             dx_stride);
    if (dw)
        gemm(true, false, out, in, rows, dy, out, x, in, 1, vd_matrix_reals(dw), dw->stride);
    if (db) {
        sum_job job = {dy, db, (size_t)rows, (size_t)out};
        vd_threads_ranges((size_t)out, rows * 0.3, sum_columns, &job);
    }
}

static void pack_weights(vd_matrix *w)
{
#ifndef VD_DOUBLE
    w->packed = vd_cpu_pack(w);
    w->packed_column = 0;
#else
    (void)w;
#endif
}

static void unpack_weights(vd_matrix *w)
{
#ifndef VD_DOUBLE
    vd_cpu_unpack((vd_packed_matrix *)(uintptr_t)w->packed);
#endif
    w->packed = NULL;
}

void vd_cpu_matrix(vd_backend *table)
{
    table->products = products;
    table->linear = linear;
    table->linear_backward = linear_backward;
    table->pack = pack_weights;
    table->unpack = unpack_weights;
}
