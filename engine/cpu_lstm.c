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

// The row (step order) of the step before that row k of a step > 0 goes on from.
static int row_before(const vd_packed *packed, int step, int k)
{
    return packed->parent ? packed->parent[packed->offset[step] + k] : packed->offset[step - 1] + k;
}

static void lstm_direction(const vd_lstm_pass *p)
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
        for (int k = 0; k < n; k++) {
            const vd_real *state =
                step ? p->y + (size_t)p->map[row_before(packed, step, k)] * (size_t)p->y_stride
                : p->initial ? p->initial + (size_t)packed->order[k] * h
                             : NULL;
            if (state)
                memcpy(before + (size_t)k * h, state, h * sizeof *before);
            else
                memset(before + (size_t)k * h, 0, h * sizeof *before);
        }
        if (step > 0 || p->initial)
            be->gemm(false, true, n, g, p->hidden, 1, before, p->hidden, p->weights->w_hh,
                     p->hidden, 1, p->gate + (size_t)first * 4 * h, g);
        for (int k = 0; k < n; k++) {
            size_t row = (size_t)(first + k);
            const vd_real *c = step ? p->cell + (size_t)row_before(packed, step, k) * h : NULL;
            cell(p->gate + row * 4 * h, c, p->cell + row * h,
                 p->y + (size_t)p->map[row] * (size_t)p->y_stride, p->hidden);
        }
    }
}

static void lstm(const vd_lstm_pass *pass, int directions)
{
    for (int d = 0; d < directions; d++)
        lstm_direction(pass + d);
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

static void lstm_direction_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q)
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

static void lstm_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                          int directions)
{
    for (int d = 0; d < directions; d++)
        lstm_direction_backward(pass + d, gradient + d);
}

static size_t last_word(const vd_packed *packed, int s)
{
    return (size_t)(packed->start[s + 1] - 1);
}

static void ends(const vd_packed *packed, int directions, int hidden, const vd_real *y,
                 vd_real *sentence)
{
    size_t h = (size_t)hidden, wide = (size_t)directions * h;
    for (int s = 0; s < packed->sequences; s++, sentence += wide) {
        if (packed->length[s] == 0) {
            memset(sentence, 0, wide * sizeof *sentence);
            continue;
        }
        memcpy(sentence, y + last_word(packed, s) * wide, h * sizeof *sentence);
        if (directions == 2)
            memcpy(sentence + h, y + (size_t)packed->start[s] * wide + h, h * sizeof *sentence);
    }
}

static void ends_backward(const vd_packed *packed, int directions, int hidden,
                          const vd_real *dsentence, vd_real *dy)
{
    const vd_backend *be = vd_backend_cpu();
    size_t h = (size_t)hidden, wide = (size_t)directions * h;
    for (int s = 0; s < packed->sequences; s++, dsentence += wide) {
        if (packed->length[s] == 0)
            continue;
        be->add(dy + last_word(packed, s) * wide, dsentence, h);
        if (directions == 2)
            be->add(dy + (size_t)packed->start[s] * wide + h, dsentence + h, h);
    }
}

void vd_cpu_lstm(vd_backend *table)
{
    table->lstm = lstm;
    table->lstm_backward = lstm_backward;
    table->ends = ends;
    table->ends_backward = ends_backward;
}
