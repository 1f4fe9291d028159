// Matrix products: OpenBLAS.
#include "engine/cpu.h"

#include <cblas.h>
#include <string.h>

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

static void gemm(bool ta, bool tb, int m, int n, int k, vd_real alpha, const vd_real *a, int lda,
                 const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc)
{
    if (m <= 0 || n <= 0)
        return;
    if (k <= 0) {
        scale_rows(c, m, n, ldc, beta);
        return;
    }
    CBLAS_TRANSPOSE at = ta ? CblasTrans : CblasNoTrans, bt = tb ? CblasTrans : CblasNoTrans;
#ifdef VD_DOUBLE
    cblas_dgemm(CblasRowMajor, at, bt, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#else
    if (m == 1 && !ta)
        cblas_sgemv(CblasRowMajor, tb ? CblasNoTrans : CblasTrans, tb ? n : k, tb ? k : n, alpha, b,
                    ldb, a, 1, beta, c, 1);
    else
        cblas_sgemm(CblasRowMajor, at, bt, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
}

static void products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    for (const vd_product *p = list; p < list + count; p++)
        gemm(ta, tb, p->m, p->n, p->k, 1, p->a, p->lda, p->b, p->ldb, beta, p->c, p->ldc);
}

static void fill_rows(const vd_real *row, vd_real *y, int rows, int n)
{
    for (int r = 0; r < rows; r++)
        memcpy(y + (size_t)r * (size_t)n, row, (size_t)n * sizeof *y);
}

static void linear(const vd_real *x, const vd_real *w, const vd_real *b, vd_real *y, int rows,
                   int in, int out)
{
    if (b)
        fill_rows(b, y, rows, out);
    gemm(false, true, rows, out, in, 1, x, in, w, in, b ? 1 : 0, y, out);
}

VD_WIDE static void sum_rows(const vd_real *x, int rows, int columns, vd_real *sum)
{
    for (int r = 0; r < rows; r++, x += columns)
        for (int i = 0; i < columns; i++)
            sum[i] += x[i];
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

void vd_backend_cpu_threads(int threads)
{
    openblas_set_num_threads(threads < 1 ? 1 : threads);
}
