// LSTM over packed sequences (Hochreiter, Schmidhuber 1997; PyTorch's gate order i, f, g, o).
//
// The input products of all steps are one matrix product; each step then multiplies the states of
// the sequences still running, which are the first rows because the longest come first.
#include "engine/cpu.h"

#include <string.h>

#include "engine/elementary.h"

VD_WIDE static void cell(vd_real *gate, const vd_real *before, vd_real *c, vd_real *h, int n)
{
    vd_real *i = gate, *f = gate + n, *g = gate + 2 * n, *o = gate + 3 * n;
    for (int k = 0; k < 2 * n; k++)
        i[k] = vd_sigmoid(i[k]);
    for (int k = 0; k < n; k++)
        g[k] = vd_tanh(g[k]);
    for (int k = 0; k < n; k++)
        o[k] = vd_sigmoid(o[k]);
    for (int k = 0; k < n; k++) {
        c[k] = i[k] * g[k] + (before ? f[k] * before[k] : 0);
        h[k] = o[k] * vd_tanh(c[k]);
    }
}

VD_WIDE static void add_two(vd_real *y, const vd_real *x, const vd_real *a, const vd_real *b, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] + a[i] + b[i];
}

static void lstm(const vd_lstm_pass *p)
{
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    int g = 4 * p->hidden;
    const vd_backend *be = vd_backend_cpu();

    be->gemm(false, true, packed->tokens, g, p->in, 1, p->x, p->in, p->weights->w_ih, p->in, 0,
             p->scratch, g);
    for (int row = 0; row < packed->tokens; row++)
        add_two(p->gate + (size_t)row * 4 * h, p->scratch + (size_t)p->map[row] * 4 * h,
                p->weights->b_ih, p->weights->b_hh, g);

    for (int step = 0; step < packed->longest; step++) {
        int n = packed->active[step], first = packed->offset[step];
        vd_real *before = p->before + (size_t)first * h;
        if (step == 0) {
            for (int k = 0; k < n; k++)
                if (p->initial)
                    memcpy(before + (size_t)k * h, p->initial + (size_t)packed->order[k] * h,
                           h * sizeof *before);
                else
                    memset(before + (size_t)k * h, 0, h * sizeof *before);
        }
        if (step > 0 || p->initial)
            be->gemm(false, true, n, g, p->hidden, 1, before, p->hidden, p->weights->w_hh,
                     p->hidden, 1, p->gate + (size_t)first * 4 * h, g);
        int next = step + 1 < packed->longest ? packed->active[step + 1] : 0;
        for (int k = 0; k < n; k++) {
            size_t row = (size_t)(first + k);
            const vd_real *c = step ? p->cell + (size_t)(packed->offset[step - 1] + k) * h : NULL;
            vd_real *y = p->y + (size_t)p->map[row] * (size_t)p->y_stride;
            cell(p->gate + row * 4 * h, c, p->cell + row * h, y, p->hidden);
            if (k < next)
                memcpy(p->before + (size_t)(packed->offset[step + 1] + k) * h, y, h * sizeof *y);
        }
    }
}

// gate becomes the gradient of the pre-activations; dc that of the cell one step earlier.
VD_WIDE static void cell_backward(vd_real *gate, const vd_real *before, const vd_real *c,
                                  const vd_real *dh, const vd_real *dy, vd_real *dc, int n)
{
    vd_real *i = gate, *f = gate + n, *g = gate + 2 * n, *o = gate + 3 * n;
    for (int k = 0; k < n; k++) {
        vd_real t = vd_tanh(c[k]), d = dh[k] + dy[k];
        vd_real dcell = dc[k] + d * o[k] * (1 - t * t);
        vd_real di = dcell * g[k] * i[k] * (1 - i[k]);
        vd_real df = before ? dcell * before[k] * f[k] * (1 - f[k]) : 0;
        vd_real dg = dcell * i[k] * (1 - g[k] * g[k]);
        dc[k] = dcell * f[k];
        o[k] = d * t * o[k] * (1 - o[k]);
        i[k] = di;
        f[k] = df;
        g[k] = dg;
    }
}

static void lstm_steps_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q)
{
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    const vd_backend *be = vd_backend_cpu();

    memset(q->dh, 0, (size_t)packed->sequences * h * sizeof *q->dh);
    memset(q->dc, 0, (size_t)packed->sequences * h * sizeof *q->dc);
    for (int step = packed->longest - 1; step >= 0; step--) {
        int n = packed->active[step], first = packed->offset[step];
        for (int k = 0; k < n; k++) {
            size_t row = (size_t)(first + k);
            const vd_real *c = step ? p->cell + (size_t)(packed->offset[step - 1] + k) * h : NULL;
            cell_backward(p->gate + row * 4 * h, c, p->cell + row * h, q->dh + (size_t)k * h,
                          q->dy + (size_t)p->map[row] * (size_t)p->y_stride, q->dc + (size_t)k * h,
                          p->hidden);
        }
        if (step > 0 || q->dinitial)
            be->gemm(false, false, n, p->hidden, 4 * p->hidden, 1, p->gate + (size_t)first * 4 * h,
                     4 * p->hidden, p->weights->w_hh, p->hidden, 0, q->dh, p->hidden);
    }
    if (q->dinitial)
        for (int k = 0; k < packed->sequences; k++)
            memcpy(q->dinitial + (size_t)packed->order[k] * h, q->dh + (size_t)k * h,
                   h * sizeof *q->dh);
}

static void lstm_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q)
{
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    int g = 4 * p->hidden, tokens = packed->tokens;
    const vd_backend *be = vd_backend_cpu();

    if (tokens == 0)
        return;
    lstm_steps_backward(p, q);
    be->gemm(true, false, g, p->hidden, tokens, 1, p->gate, g, p->before, p->hidden, 1,
             q->weights->w_hh, p->hidden);
    for (int row = 0; row < tokens; row++)
        memcpy(p->scratch + (size_t)p->map[row] * 4 * h, p->gate + (size_t)row * 4 * h,
               4 * h * sizeof *p->gate);
    be->linear_backward(p->x, p->weights->w_ih, p->scratch, q->dx, 1, q->weights->w_ih,
                        q->weights->b_ih, tokens, p->in, g);
    be->linear_backward(p->x, p->weights->w_ih, p->scratch, NULL, 0, NULL, q->weights->b_hh, tokens,
                        p->in, g);
}

void vd_cpu_lstm(vd_backend *table)
{
    table->lstm = lstm;
    table->lstm_backward = lstm_backward;
}
