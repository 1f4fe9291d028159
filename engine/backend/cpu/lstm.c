// LSTM over packed sequences (Hochreiter, Schmidhuber 1997; PyTorch's gate order i, f, g, o).
//
// A gate's pre-activation is a product of the input, one of the state before, and the biases. What
// rows have in common is multiplied once: the input's product is made for the distinct rows of x
// (words come again), all steps at once; the state's for every state that rows go on from, whether
// one row or, in a tree of prefixes, several. The gradient is linear in the same way: those of rows
// that share a product are summed first, then multiplied.
#include "engine/backend/cpu/cpu.h"

#include <string.h>

#include "engine/base/threads.h"
#include "engine/base/elementary.h"

// Rows of a step that go on from the same state, and that state's row (-1 = none). Those of step 0
// stand alone.
typedef struct row_group {
    int first, end, from;
} row_group;

static int group_count(const vd_packed *packed, int step)
{
    const int *start = packed->inner.start;
    return step ? start[step] - start[step - 1] : packed->active[0];
}

static row_group group_of(const vd_packed *packed, int step, size_t j)
{
    const vd_packed_inner *inner = &packed->inner;
    if (step == 0)
        return (row_group){(int)j, (int)j + 1, -1};
    size_t at = (size_t)inner->start[step - 1] + j;
    return (row_group){inner->child[at], inner->child[at + 1], inner->row[at]};
}

// Where a step's rows begin in what is kept, or only until the next step is there.

static vd_real *gates_of(const vd_lstm_pass *p, int step)
{
    return p->gate + (p->keep ? (size_t)p->packed->offset[step] * 4 * (size_t)p->hidden : 0);
}

static vd_real *cells_of(const vd_lstm_pass *p, int step)
{
    int row = p->keep ? p->packed->offset[step] : step % 2 * p->packed->widest;
    return p->cell + (size_t)row * (size_t)p->hidden;
}

// States that the rows of a step go on from, one a group; those of step 0 are given, if any.
static vd_real *before_of(const vd_lstm_pass *p, int step)
{
    int row = 0;
    if (p->keep && step > 0)
        row = p->packed->inner.start[step - 1] + (p->initial ? p->packed->active[0] : 0);
    return p->before + (size_t)row * (size_t)p->hidden;
}

static vd_real *state_of(const vd_lstm_pass *p, int row)
{
    return p->y + (size_t)p->map[row] * (size_t)p->y_stride;
}

// ---- forward ------------------------------------------------------------------------------------

// What is added up to a gate's pre-activation; NULL = nothing.
typedef struct gate_parts {
    const vd_real *input, *state, *b_ih, *b_hh;
} gate_parts;

// Every loop is one that the compiler makes vector code of: no condition in it, and `restrict`, for
// there are more arrays than it would tell apart at run time.
VD_TARGET_CLONES static void cell(gate_parts from, const vd_real *before, vd_real *restrict gate,
                                  vd_real *restrict c, vd_real *restrict h, int n)
{
    vd_real *i = gate, *f = gate + n, *g = gate + 2 * n, *o = gate + 3 * n;
    for (int k = 0; k < 4 * n; k++)
        gate[k] = from.input[k] + from.b_ih[k] + from.b_hh[k];
    if (from.state)
        for (int k = 0; k < 4 * n; k++)
            gate[k] += from.state[k];
    for (int k = 0; k < 2 * n; k++)
        i[k] = vd_sigmoid(i[k]);
    for (int k = 0; k < n; k++)
        g[k] = vd_tanh(g[k]);
    for (int k = 0; k < n; k++)
        o[k] = vd_sigmoid(o[k]);
    for (int k = 0; k < n; k++)
        c[k] = i[k] * g[k];
    if (before)
        for (int k = 0; k < n; k++)
            c[k] += f[k] * before[k];
    for (int k = 0; k < n; k++)
        h[k] = o[k] * vd_tanh(c[k]);
}

typedef struct lstm_step {
    const vd_lstm_pass *pass;
    int step;
} lstm_step;

// The states that groups from..to-1 of a step go on from.
static void gather_before(void *data, size_t from, size_t to)
{
    const lstm_step *s = data;
    const vd_lstm_pass *p = s->pass;
    size_t h = (size_t)p->hidden;
    vd_real *before = before_of(p, s->step);
    for (size_t j = from; j < to; j++)
        memcpy(before + j * h,
               s->step ? state_of(p, group_of(p->packed, s->step, j).from)
                       : p->initial + (size_t)p->packed->order[j] * h,
               h * sizeof *before);
}

static void step_cells(void *data, size_t from, size_t to)
{
    const lstm_step *s = data;
    const vd_lstm_pass *p = s->pass;
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    gate_parts parts = {NULL, NULL, p->weights->b_ih, p->weights->b_hh};
    for (size_t j = from; j < to; j++) {
        row_group group = group_of(packed, s->step, j);
        const vd_real *before = NULL;
        if (s->step > 0)
            before =
                cells_of(p, s->step - 1) + (size_t)(group.from - packed->offset[s->step - 1]) * h;
        parts.state = s->step > 0 || p->initial ? p->step + j * 4 * h : NULL;
        for (int row = group.first; row < group.end; row++) {
            size_t k = (size_t)(row - packed->offset[s->step]), flat = (size_t)p->map[row];
            parts.input = p->scratch + (p->x_row ? (size_t)p->x_row[flat] : flat) * 4 * h;
            cell(parts, before, gates_of(p, s->step) + k * 4 * h, cells_of(p, s->step) + k * h,
                 state_of(p, row), p->hidden);
        }
    }
}

// The weights that the products of all steps read: packed where they are more than the first cache
// holds and are read by many rows, more than a few of them a step.
static vd_matrix step_weights(const vd_lstm_pass *p)
{
    enum { MANY = 24, FEW = 6, LARGE = 1 << 13 };
    vd_matrix w = p->weights->w_hh;
    if (!w.packed && w.rows * w.columns > LARGE && p->packed->inner.count >= MANY &&
        p->packed->widest > FEW)
        vd_backend_cpu()->pack(&w);
    return w;
}

static void lstm_steps(void *passes, int direction)
{
    const vd_lstm_pass *p = (const vd_lstm_pass *)passes + direction;
    const vd_packed *packed = p->packed;
    vd_matrix w_hh = step_weights(p);
    int h = p->hidden;
    for (int step = 0; step < packed->longest; step++) {
        lstm_step s = {p, step};
        int groups = group_count(packed, step);
        double rows = (double)packed->active[step] / groups; // of a group
        if (step > 0 || p->initial) {
            vd_threads_ranges((size_t)groups, h / 4.0, gather_before, &s);
            vd_backend_cpu()->linear(before_of(p, step), &w_hh, NULL, p->step, groups);
        }
        vd_threads_ranges((size_t)groups, rows * 3 * h, step_cells, &s); // nanoseconds, roughly
    }
    if (w_hh.packed != p->weights->w_hh.packed)
        vd_backend_cpu()->unpack(&w_hh);
}

// All threads share the products of the inputs; of the steps, which come one after the other, each
// direction is worth a thread of its own. One alone shares its products out.
static void lstm(const vd_lstm_pass *pass, int directions)
{
    for (const vd_lstm_pass *p = pass; p < pass + directions; p++)
        vd_backend_cpu()->linear(p->x, &p->weights->w_ih, NULL, p->scratch, p->x_rows);
    vd_threads_run(directions, lstm_steps, (void *)(uintptr_t)pass);
}

// ---- backward -----------------------------------------------------------------------------------

// The gradient that reaches a state and its cell from those that go on from it.
typedef struct later_gradient {
    const vd_real *dh, *dc;
} later_gradient;

// gate becomes the gradient of the pre-activations; dbefore (added to if `add`) gets that of the
// cell before, and may be later.dc. What is not there is multiplied by zero: a loop without
// conditions, whose steps do not meet, becomes vector code.
VD_TARGET_CLONES static void cell_backward(vd_real *gate, const vd_real *before, const vd_real *c,
                                           later_gradient later, const vd_real *dy,
                                           vd_real *dbefore, bool add, int n)
{
    vd_real *i = gate, *f = gate + n, *g = gate + 2 * n, *o = gate + 3 * n;
    const vd_real more = later.dh ? 1 : 0, was = before ? 1 : 0, plus = add ? 1 : 0;
    const vd_real *dh = later.dh ? later.dh : dy, *dc = later.dc ? later.dc : dy;
    const vd_real *sum = add ? dbefore : dy;
    before = before ? before : c;
    VD_IVDEP for (int k = 0; k < n; k++)
    {
        vd_real t = vd_tanh(c[k]), d = dy[k] + more * dh[k];
        vd_real dcell = d * o[k] * (1 - t * t) + more * dc[k];
        vd_real di = dcell * g[k] * i[k] * (1 - i[k]);
        vd_real df = was * dcell * before[k] * f[k] * (1 - f[k]);
        vd_real dg = dcell * i[k] * (1 - g[k] * g[k]);
        dbefore[k] = dcell * f[k] + plus * sum[k];
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
    const vd_real *dc; // (inner rows of the step, H); dh lies in gradient->dh
    vd_real *dbefore;  // (groups, H)
    vd_real *sum;      // (groups, 4H) gate gradients of a group, where groups have several rows
} lstm_back_step;

static void step_cells_backward(void *data, size_t from, size_t to)
{
    const lstm_back_step *s = data;
    const vd_lstm_pass *p = s->pass;
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden;
    for (size_t j = from; j < to; j++) {
        row_group group = group_of(packed, s->step, j);
        const vd_real *before = s->step ? p->cell + (size_t)group.from * h : NULL;
        for (int row = group.first; row < group.end; row++) {
            vd_real *gate = p->gate + (size_t)row * 4 * h;
            int at = packed->inner.at[row];
            later_gradient later = {NULL, NULL};
            if (at >= 0) {
                size_t index = (size_t)(at - packed->inner.start[s->step]);
                later = (later_gradient){s->gradient->dh + index * h, s->dc + index * h};
            }
            cell_backward(gate, before, p->cell + (size_t)row * h, later,
                          s->gradient->dy + (size_t)p->map[row] * (size_t)p->y_stride,
                          s->dbefore + j * h, row > group.first, p->hidden);
            if (s->sum && row > group.first)
                vd_cpu_add(s->sum + j * 4 * h, gate, 4 * h);
            else if (s->sum)
                memcpy(s->sum + j * 4 * h, gate, 4 * h * sizeof *gate);
        }
    }
}

// What the states that rows go on from get of the gate gradients, which are kept at *sums: one row
// for each of before's.
static void lstm_steps_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q,
                                const vd_real **sums)
{
    const vd_packed *packed = p->packed;
    size_t h = (size_t)p->hidden, half = (size_t)packed->widest * h;
    bool tree = packed->parent;
    const vd_backend *be = vd_backend_cpu();
    lstm_back_step s = {.pass = p, .gradient = q, .dc = q->dc, .dbefore = q->dc};

    for (s.step = packed->longest - 1; s.step >= 0; s.step--) {
        int groups = group_count(packed, s.step);
        const vd_real *gates = p->gate + (size_t)packed->offset[s.step] * 4 * h;
        // In a chain a group is a row and what it gets may replace what it passes on.
        if (tree) {
            s.dbefore = s.dc == q->dc ? q->dc + half : q->dc;
            s.sum = s.step ? p->scratch + (size_t)packed->inner.start[s.step - 1] * 4 * h : NULL;
        }
        vd_threads_ranges((size_t)groups, 2.0 * p->hidden * packed->active[s.step] / groups,
                          step_cells_backward, &s);
        if (s.step > 0 || q->dinitial)
            be->linear_backward(NULL, &p->weights->w_hh, tree ? s.sum : gates, q->dh, p->hidden, 0,
                                NULL, NULL, groups);
        s.dc = s.dbefore;
    }
    *sums = tree ? p->scratch : p->gate + (p->initial ? 0 : (size_t)packed->active[0] * 4 * h);
    if (!q->dinitial)
        return;
    memset(q->dinitial, 0, (size_t)packed->sequences * h * sizeof *q->dinitial);
    for (int k = 0; k < packed->active[0]; k++)
        memcpy(q->dinitial + (size_t)packed->order[k] * h, q->dh + (size_t)k * h,
               h * sizeof *q->dh);
}

// Gate gradients from step order to those of the rows of x, summed where rows share one; columns
// from..to-1 of 4H.
static void input_gradients(void *data, size_t from, size_t to)
{
    const vd_lstm_pass *p = data;
    size_t g = 4 * (size_t)p->hidden, n = to - from;
    for (int row = 0; p->x_row && row < p->x_rows; row++)
        memset(p->scratch + (size_t)row * g + from, 0, n * sizeof *p->scratch);
    for (int row = 0; row < p->packed->tokens; row++) {
        const vd_real *gate = p->gate + (size_t)row * g + from;
        size_t flat = (size_t)p->map[row];
        if (p->x_row)
            vd_cpu_add(p->scratch + (size_t)p->x_row[flat] * g + from, gate, n);
        else
            memcpy(p->scratch + flat * g + from, gate, n * sizeof *gate);
    }
}

// A direction's passes back through the steps, then (below) what weights and inputs get.
typedef struct lstm_back {
    const vd_lstm_pass *pass;
    const vd_lstm_gradient *gradient;
    const vd_real *sums[2]; // of the directions, see lstm_steps_backward
} lstm_back;

static void lstm_back_task(void *data, int direction)
{
    lstm_back *b = data;
    if (b->pass[direction].packed->tokens > 0)
        lstm_steps_backward(b->pass + direction, b->gradient + direction, &b->sums[direction]);
}

static void lstm_weights_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q,
                                  const vd_real *sums)
{
    const vd_packed *packed = p->packed;
    int g = 4 * p->hidden, befores = packed->inner.count + (p->initial ? packed->active[0] : 0);
    const vd_real *gates = p->scratch;
    const vd_backend *be = vd_backend_cpu();

    if (packed->tokens == 0)
        return;
    be->linear_backward(p->before, &p->weights->w_hh, sums, NULL, 0, 0, &q->weights->w_hh, NULL,
                        befores);
    if (packed->parent && !p->x_row)
        gates = p->gate; // a tree's rows lie in the order of x
    else
        vd_threads_ranges((size_t)g, packed->tokens / 4.0, input_gradients, (void *)(uintptr_t)p);
    memset(p->step, 0, (size_t)g * sizeof *p->step);
    be->linear_backward(p->x, &p->weights->w_ih, gates, q->dx, p->in, 1, &q->weights->w_ih, p->step,
                        p->x_rows);
    be->add_scaled(q->weights->b_ih, 1, p->step, (size_t)g);
    be->add_scaled(q->weights->b_hh, 1, p->step, (size_t)g);
}

static void lstm_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                          int directions)
{
    lstm_back back = {.pass = pass, .gradient = gradient};
    vd_threads_run(directions, lstm_back_task, &back);
    for (int d = 0; d < directions; d++)
        lstm_weights_backward(pass + d, gradient + d, back.sums[d]);
}

void vd_cpu_lstm(vd_backend *table)
{
    table->lstm = lstm;
    table->lstm_backward = lstm_backward;
}
