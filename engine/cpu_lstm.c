// LSTM over packed sequences (Hochreiter, Schmidhuber 1997; PyTorch's gate order i, f, g, o).
//
// The input products of all steps are one matrix product; each step then multiplies the states of
// the sequences still running, which are the first rows because the longest come first.
#include "engine/cpu.h"

#include <string.h>

#include "engine/cpu_threads.h"
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
        // `before` being NULL says nothing about c. NOLINTNEXTLINE(clang-analyzer-core.*)
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

typedef struct lstm_step {
    const vd_lstm_pass *pass;
    int step;
} lstm_step;

// The states that rows from..to-1 of a step go on from.
static void gather_before(void *data, size_t from, size_t to)
{
    const lstm_step *s = data;
    const vd_lstm_pass *p = s->pass;
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    vd_real *before = p->before + ((size_t)packed->offset[s->step] + from) * h;
    for (size_t k = from; k < to; k++, before += h) {
        const vd_real *state =
            s->step
                ? p->y + (size_t)p->map[row_before(packed, s->step, (int)k)] * (size_t)p->y_stride
            : p->initial ? p->initial + (size_t)packed->order[k] * h
                         : NULL;
        if (state)
            memcpy(before, state, h * sizeof *before);
        else
            memset(before, 0, h * sizeof *before);
    }
}

static void step_cells(void *data, size_t from, size_t to)
{
    const lstm_step *s = data;
    const vd_lstm_pass *p = s->pass;
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    for (size_t k = from; k < to; k++) {
        size_t row = (size_t)packed->offset[s->step] + k;
        const vd_real *before =
            s->step ? p->cell + (size_t)row_before(packed, s->step, (int)k) * h : NULL;
        cell(p->gate + row * 4 * h, before, &p->cell[row * h],
             p->y + (size_t)p->map[row] * (size_t)p->y_stride, p->hidden);
    }
}

// The input's share of the gates, from flat to step order.
static void order_gates(void *data, size_t from, size_t to)
{
    const vd_lstm_pass *p = data;
    size_t g = 4 * (size_t)p->hidden;
    for (size_t row = from; row < to; row++)
        add_two(p->gate + row * g, p->scratch + (size_t)p->map[row] * g, p->weights->b_ih,
                p->weights->b_hh, 4 * p->hidden);
}

static void lstm_direction(const vd_lstm_pass *p)
{
    const vd_packed *packed = p->packed;
    int g = 4 * p->hidden;
    double row = p->hidden; // nanoseconds, roughly
    const vd_backend *be = vd_backend_cpu();

    be->gemm(false, true, packed->tokens, g, p->in, 1, p->x, p->in, p->weights->w_ih, p->in, 0,
             p->scratch, g);
    vd_cpu_ranges((size_t)packed->tokens, row, order_gates, (void *)(uintptr_t)p);
    for (int step = 0; step < packed->longest; step++) {
        lstm_step s = {p, step};
        size_t n = (size_t)packed->active[step], first = (size_t)packed->offset[step];
        vd_cpu_ranges(n, row / 4, gather_before, &s);
        if (step > 0 || p->initial)
            be->gemm(false, true, (int)n, g, p->hidden, 1, p->before + first * (size_t)p->hidden,
                     p->hidden, p->weights->w_hh, p->hidden, 1, p->gate + first * (size_t)g, g);
        vd_cpu_ranges(n, 2 * row, step_cells, &s);
    }
}

static void lstm_piece(void *pass, int direction)
{
    lstm_direction((const vd_lstm_pass *)pass + direction);
}

// A direction is worth a thread of its own; one alone shares its products out.
static void lstm(const vd_lstm_pass *pass, int directions)
{
    vd_cpu_pieces(directions, lstm_piece, (void *)(uintptr_t)pass);
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

typedef struct lstm_back_step {
    const vd_lstm_pass *pass;
    const vd_lstm_gradient *gradient;
    int step;
    vd_real *dh, *dc; // of the step's states
} lstm_back_step;

static void step_cells_backward(void *data, size_t from, size_t to)
{
    const lstm_back_step *s = data;
    const vd_lstm_pass *p = s->pass;
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    for (size_t k = from; k < to; k++) {
        size_t row = (size_t)packed->offset[s->step] + k;
        const vd_real *c =
            s->step ? p->cell + (size_t)row_before(packed, s->step, (int)k) * h : NULL;
        cell_backward(p->gate + row * 4 * h, c, p->cell + row * h, s->dh + k * h,
                      s->gradient->dy + (size_t)p->map[row] * (size_t)p->y_stride, s->dc + k * h,
                      p->hidden);
    }
}

VD_WIDE static void add_to(vd_real *y, const vd_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

// The gradients of a step's states become those of the states they go on from, in the other half of
// the scratch.
static void add_to_parents(const vd_packed *packed, lstm_back_step *s, size_t h, size_t half)
{
    int first = packed->offset[s->step], before = packed->offset[s->step - 1];
    const vd_real *dh = s->dh, *dc = s->dc;
    size_t rows = (size_t)packed->active[s->step - 1];
    s->dh = dh == s->gradient->dh ? s->gradient->dh + half : s->gradient->dh;
    s->dc = dc == s->gradient->dc ? s->gradient->dc + half : s->gradient->dc;
    memset(s->dh, 0, rows * h * sizeof *dh);
    memset(s->dc, 0, rows * h * sizeof *dc);
    for (int k = 0; k < packed->active[s->step]; k++) {
        size_t to = (size_t)(packed->parent[first + k] - before) * h;
        add_to(s->dh + to, dh + (size_t)k * h, h);
        add_to(s->dc + to, dc + (size_t)k * h, h);
    }
}

static size_t state_count(const vd_packed *packed)
{
    int widest = packed->sequences;
    for (int step = 0; packed->parent && step < packed->longest; step++)
        widest = packed->active[step] > widest ? packed->active[step] : widest;
    return (size_t)widest;
}

static void lstm_steps_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q)
{
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden, all = state_count(packed) * h;
    const vd_backend *be = vd_backend_cpu();
    lstm_back_step s = {p, q, 0, q->dh, q->dc};

    memset(q->dh, 0, all * sizeof *q->dh);
    memset(q->dc, 0, all * sizeof *q->dc);
    for (s.step = packed->longest - 1; s.step >= 0; s.step--) {
        int n = packed->active[s.step], first = packed->offset[s.step];
        vd_cpu_ranges((size_t)n, 2.0 * p->hidden, step_cells_backward, &s);
        if (s.step > 0 || q->dinitial)
            be->gemm(false, false, n, p->hidden, 4 * p->hidden, 1, p->gate + (size_t)first * 4 * h,
                     4 * p->hidden, p->weights->w_hh, p->hidden, 0, s.dh, p->hidden);
        if (s.step > 0 && packed->parent)
            add_to_parents(packed, &s, h, all);
    }
    if (q->dinitial)
        for (int k = 0; k < packed->sequences; k++)
            memcpy(q->dinitial + (size_t)packed->order[k] * h, q->dh + (size_t)k * h,
                   h * sizeof *q->dh);
}

// From step to flat order.
static void order_gate_gradients(void *data, size_t from, size_t to)
{
    const vd_lstm_pass *p = data;
    size_t g = 4 * (size_t)p->hidden;
    for (size_t row = from; row < to; row++)
        memcpy(p->scratch + (size_t)p->map[row] * g, p->gate + row * g, g * sizeof *p->gate);
}

static void lstm_direction_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q)
{
    int g = 4 * p->hidden, tokens = p->packed->tokens;
    const vd_backend *be = vd_backend_cpu();

    if (tokens == 0)
        return;
    lstm_steps_backward(p, q);
    be->gemm(true, false, g, p->hidden, tokens, 1, p->gate, g, p->before, p->hidden, 1,
             q->weights->w_hh, p->hidden);
    vd_cpu_ranges((size_t)tokens, p->hidden, order_gate_gradients, (void *)(uintptr_t)p);
    be->linear_backward(p->x, p->weights->w_ih, p->scratch, NULL, 0, q->weights->w_ih,
                        q->weights->b_ih, tokens, p->in, g);
    be->linear_backward(p->x, p->weights->w_ih, p->scratch, NULL, 0, NULL, q->weights->b_hh, tokens,
                        p->in, g);
}

typedef struct lstm_back {
    const vd_lstm_pass *pass;
    const vd_lstm_gradient *gradient;
} lstm_back;

static void lstm_back_piece(void *data, int direction)
{
    const lstm_back *b = data;
    lstm_direction_backward(b->pass + direction, b->gradient + direction);
}

static void lstm_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                          int directions)
{
    lstm_back back = {pass, gradient};
    vd_cpu_pieces(directions, lstm_back_piece, &back);
    // Both directions add to the same dx: one after the other.
    for (int d = 0; d < directions; d++)
        if (gradient[d].dx)
            vd_backend_cpu()->linear_backward(pass[d].x, pass[d].weights->w_ih, pass[d].scratch,
                                              gradient[d].dx, 1, NULL, NULL, pass[d].packed->tokens,
                                              pass[d].in, 4 * pass[d].hidden);
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
