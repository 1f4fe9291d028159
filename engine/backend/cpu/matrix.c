// Matrix products: those with few rows by dot products with the weights where they lie
// (gemv.h), with some rows by weights that are broadcast (skinny_gemm.h), large ones, and
// those with weights that were packed before (packed_weights.h), on packed panels (gemm.h) or, on
// other processors, by OpenBLAS.
#include "engine/backend/cpu/cpu.h"

#include <string.h>

#include "engine/backend/cpu/blas.h"
#include "engine/backend/cpu/gemv.h"
#include "engine/backend/cpu/gemm.h"
#include "engine/backend/cpu/fp16_weights.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_weights.h"
#include "engine/backend/cpu/skinny_gemm.h"
#include "engine/base/threads.h"

// c = beta c. BLAS leaves c alone when there is nothing to sum, and zero times what was never
// written need not be zero.
static void scale_rows(vd_real *c, int m, int n, int ldc, vd_real beta)
{
    for (int r = 0; r < m; r++)
        for (int i = 0; i < n; i++) {
            vd_real *at = c + (size_t)r * (size_t)ldc + i;
            *at = beta == 0 ? 0 : beta * *at;
        }
}

VD_WIDE static void add_times(vd_real *y, vd_real a, const vd_real *x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

// Row by row: for products too small for anything else, and for the tests' double precision.
static void small_gemm(bool ta, bool tb, int m, int n, int k, vd_real alpha, const vd_real *a,
                       int lda, const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc)
{
    if (beta != 1)
        scale_rows(c, m, n, ldc, beta);
    for (int r = 0; r < m; r++) {
        vd_real *row = c + (size_t)r * (size_t)ldc;
        for (int i = 0; i < k; i++) {
            vd_real x = alpha * (ta ? a[(size_t)i * (size_t)lda + (size_t)r]
                                    : a[(size_t)r * (size_t)lda + (size_t)i]);
            if (tb)
                for (int j = 0; j < n; j++)
                    row[j] += x * b[(size_t)j * (size_t)ldb + (size_t)i];
            else
                add_times(row, x, b + (size_t)i * (size_t)ldb, n);
        }
    }
}

#ifndef VD_DOUBLE

// Up to so many rows are few, and where the weights are packed; where OpenBLAS does large products,
// up to so many are not worth its copy of the weights, nor so many multiplications. Up to SMALL
// multiplications are not worth any preparation. OpenBLAS gets PIECE rows or columns at a time.
enum {
    FEW_ROWS = 6,
    FEW_ROWS_PACKED = 1,
    FEW_ROWS_BLAS = 64,
    FEW_PRODUCTS = 1 << 25,
    SMALL = 1 << 21,
    PIECE = 512
};

// OpenBLAS on one thread, as it is used here, in pieces for ours.
typedef struct blas_job {
    const vd_gemm *p;
    bool rows; // cut between rows of c, else between columns
    int pieces;
} blas_job;

static void blas_piece(void *data, int index)
{
    const blas_job *j = data;
    const vd_gemm *p = j->p;
    int64_t all = j->rows ? p->m : p->n;
    size_t from = (size_t)(all * index / j->pieces), to = (size_t)(all * (index + 1) / j->pieces);
    int size = (int)(to - from);
    const float *b = p->b;
    if (j->rows)
        vd_cpu_sgemm(p->ta, p->tb, size, p->n, p->k, p->alpha,
                     p->a + from * (p->ta ? 1 : (size_t)p->lda), p->lda, b, p->ldb, p->beta,
                     p->c + from * (size_t)p->ldc, p->ldc);
    else
        vd_cpu_sgemm(p->ta, p->tb, p->m, size, p->k, p->alpha, p->a, p->lda,
                     b + from * (p->tb ? (size_t)p->ldb : 1), p->ldb, p->beta, p->c + from, p->ldc);
}

// An even number of pieces of about PIECE rows or columns: as many whatever the number of threads,
// so that results do not depend on it.
static void blas_in_pieces(const vd_gemm *p)
{
    int most = p->m > p->n ? p->m : p->n;
    blas_job j = {p, p->m >= p->n, 2 * ((most + PIECE) / (2 * PIECE))};
    vd_threads_run(j.pieces < 1 ? j.pieces = 1 : j.pieces, blas_piece, &j);
}

// In 16 bits, where nothing but these can read them.
static void in_passes(vd_few_rows rows)
{
    for (int left = rows.m; left > 0; left -= VD_SOME_ROWS) {
        rows.m = left < VD_SOME_ROWS ? left : VD_SOME_ROWS;
        if (!vd_cpu_some_rows(&rows))
            vd_cpu_few_rows(&rows);
        rows.x += (size_t)VD_SOME_ROWS * (size_t)rows.ldx;
        rows.y += (size_t)VD_SOME_ROWS * (size_t)rows.ldy;
    }
}

static void gemm(bool ta, bool tb, int m, int n, int k, vd_real alpha, const vd_real *a, int lda,
                 const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc)
{
    double work = (double)m * n * k;
    vd_gemm p = {.ta = ta,
                 .tb = tb,
                 .m = m,
                 .n = n,
                 .k = k,
                 .alpha = alpha,
                 .a = a,
                 .lda = lda,
                 .ldb = ldb,
                 .beta = beta,
                 .c = c,
                 .ldc = ldc};
    if (m <= 0 || n <= 0)
        return;
    p.b = vd_cpu_halves_find(b, &p.type); // weights in 16 bits are read where they lie
    p.panels = tb ? vd_cpu_panels_find(b, n, ldb, &p.panels_apart) : NULL;
    p.held = !p.panels && vd_cpu_gemm_holds(b);
    bool dots = !ta && tb && alpha == 1 && (beta == 0 || beta == 1);
    vd_few_rows rows = {a, p.b, p.type, c, lda, ldb, ldc, m, n, k, beta == 1};
    bool few = dots && !p.held && (m <= (p.panels ? FEW_ROWS_PACKED : FEW_ROWS) || work <= SMALL);
    bool small = !few && !p.held && p.type == VD_F32 && work <= SMALL;
    bool blas = vd_cpu_instructions() == VD_PORTABLE && p.type == VD_F32;
    bool some = dots && !few && !p.held && !p.panels && m <= (blas ? FEW_ROWS_BLAS : VD_SOME_ROWS);
    if (k <= 0)
        scale_rows(c, m, n, ldc, beta);
    else if (small)
        small_gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else if ((some && vd_cpu_some_rows(&rows)) || (!few && vd_cpu_gemm(&p)))
        return;
    else if (p.type != VD_F32 && !few)
        in_passes(rows);
    else if (few || (dots && work <= FEW_PRODUCTS))
        vd_cpu_few_rows(&rows);
    else
        blas_in_pieces(&p);
}

#else

static void gemm(bool ta, bool tb, int m, int n, int k, vd_real alpha, const vd_real *a, int lda,
                 const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc)
{
    if (m > 0 && n > 0)
        small_gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

#endif

typedef struct product_series {
    bool ta, tb;
    vd_real beta;
    const vd_product *list;
} product_series;

static void list_piece(void *data, int index)
{
    const product_series *l = data;
    const vd_product *p = l->list + index;
    gemm(l->ta, l->tb, p->m, p->n, p->k, 1, p->a, p->lda, p->b, p->ldb, l->beta, p->c, p->ldc);
}

static void products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    product_series l = {ta, tb, beta, list};
    vd_threads_run(count, list_piece, &l);
}

// Rows of numbers, for the pieces of what is done to each.
typedef struct rows_job {
    const vd_real *x;
    vd_real *y;
    size_t rows, columns;
} rows_job;

static void fill_range(void *data, size_t from, size_t to)
{
    const rows_job *j = data;
    for (size_t r = from; r < to; r++)
        memcpy(j->y + r * j->columns, j->x, j->columns * sizeof *j->y);
}

static void fill_rows(const vd_real *row, vd_real *y, int rows, int n)
{
    rows_job job = {.x = row, .y = y, .columns = (size_t)n};
    vd_threads_ranges((size_t)rows, n * 0.3, fill_range, &job);
}

static void linear(const vd_real *x, const vd_real *w, const vd_real *b, vd_real *y, int rows,
                   int in, int out)
{
    if (b)
        fill_rows(b, y, rows, out);
    gemm(false, true, rows, out, in, 1, x, in, w, in, b ? 1 : 0, y, out);
}

// Columns from..to-1 of the sum of all rows.
VD_WIDE static void sum_columns(const rows_job *j, size_t from, size_t to)
{
    for (size_t r = 0; r < j->rows; r++)
        for (size_t i = from; i < to; i++)
            j->y[i] += j->x[r * j->columns + i];
}

static void sum_range(void *data, size_t from, size_t to)
{
    sum_columns(data, from, to);
}

static void sum_rows(const vd_real *x, int rows, int columns, vd_real *sum)
{
    rows_job job = {x, sum, (size_t)rows, (size_t)columns};
    vd_threads_ranges((size_t)columns, rows * 0.3, sum_range, &job);
}

static void linear_backward(const vd_real *x, const vd_real *w, const vd_real *dy, vd_real *dx,
                            vd_real beta, vd_real *dw, vd_real *db, int rows, int in, int out)
{
    if (rows <= 0)
        return;
    if (dx)
        gemm(false, false, rows, in, out, 1, dy, out, w, in, beta, dx, in);
    if (dw)
        gemm(true, false, out, in, rows, 1, dy, out, x, in, 1, dw, in);
    if (db)
        sum_rows(dy, rows, out, db);
}

void vd_cpu_matrix(vd_backend *table)
{
    table->gemm = gemm;
    table->products = products;
    table->fill_rows = fill_rows;
    table->linear = linear;
    table->linear_backward = linear_backward;
}
