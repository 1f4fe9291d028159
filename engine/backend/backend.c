#include "engine/backend/backend.h"

vd_status vd_backend_status(const vd_backend *be, vd_error *err)
{
    const char *what = be->last_error();
    return what ? vd_error_set(err, VD_UNAVAILABLE, "%s", what) : VD_OK;
}

void vd_multiply(const vd_backend *be, bool ta, bool tb, int m, int n, int k, const vd_real *a,
                 const vd_real *b, vd_real beta, vd_real *c)
{
    const vd_product p = vd_product_of(ta, tb, m, n, k, a, b, c);
    be->products(ta, tb, beta, &p, 1);
}

void vd_concat(const vd_backend *be, const vd_real *left, const int *left_row, int left_size,
               const vd_real *right, const int *right_row, int right_size, vd_real *y, int rows)
{
    int wide = left_size + right_size;
    be->copy_rows(left, left_size, left_row, rows, left_size, y, wide);
    be->copy_rows(right, right_size, right_row, rows, right_size, y + left_size, wide);
}

void vd_last_states(const vd_backend *be, const vd_packed *packed, int directions, int hidden,
                    const vd_real *y, vd_real *sentence)
{
    int rows = packed->sequences, wide = directions * hidden;
    be->copy_rows(y, wide, packed->rows.last, rows, hidden, sentence, wide);
    if (directions == 2)
        be->copy_rows(y + hidden, wide, packed->rows.first, rows, hidden, sentence + hidden, wide);
}

void vd_last_states_backward(const vd_backend *be, const vd_packed *packed, int directions,
                             int hidden, const vd_real *dsentence, vd_real *dy)
{
    int rows = packed->sequences, wide = directions * hidden;
    be->scatter_rows(dsentence, wide, packed->rows.last, rows, hidden, dy, wide);
    if (directions == 2)
        be->scatter_rows(dsentence + hidden, wide, packed->rows.first, rows, hidden, dy + hidden,
                         wide);
}
