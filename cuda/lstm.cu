// LSTM over packed sequences, both directions of a layer in the same launches (engine/cpu_lstm.c
// has the arithmetic). The input products of all steps are one matrix product a direction. A step
// of many sequences is a matrix product a direction and one launch for all gates, cells and states;
// one of few sequences (a question) is a single launch: each warp makes one unit, its four gates'
// products with the states included.
#include "cuda/device.cuh"

enum { THREADS = 256, FEW = 4, MOST_DIRECTIONS = 2 };

// What kernels need of a direction.
struct vd_direction {
    const int *map;
    const float *b_ih, *b_hh, *w_hh;
    const float *initial;
    float *y, *gate, *cell, *before, *scratch;
    const float *dy;
    float *dh, *dc, *dinitial;
};

struct vd_directions {
    vd_direction d[MOST_DIRECTIONS];
    const int *order;
    const int *parent; // step order; NULL = row k goes on from row k of the step before
    int hidden, y_stride;
};

static vd_directions directions_of(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                                   int directions)
{
    vd_directions all = vd_directions();
    all.order = pass->packed->rows.order;
    all.parent = pass->packed->rows.parent;
    all.hidden = pass->hidden;
    all.y_stride = pass->y_stride;
    for (int i = 0; i < directions; i++) {
        const vd_lstm_pass *p = pass + i;
        vd_direction *d = &all.d[i];
        d->map = p->map;
        d->b_ih = p->weights->b_ih;
        d->b_hh = p->weights->b_hh;
        d->w_hh = p->weights->w_hh;
        d->initial = p->initial;
        d->y = p->y;
        d->gate = p->gate;
        d->cell = p->cell;
        d->before = p->before;
        d->scratch = p->scratch;
        if (gradient) {
            d->dy = gradient[i].dy;
            d->dh = gradient[i].dh;
            d->dc = gradient[i].dc;
            d->dinitial = gradient[i].dinitial;
        }
    }
    return all;
}

static dim3 grid_of(size_t n, int directions)
{
    return dim3(vd_blocks(n, THREADS), static_cast<unsigned>(directions));
}

// A step's place: its sequences, its first row, the first rows of the steps around it (-1 = none).
struct vd_step {
    int count, first, previous, next, next_count;
};

static vd_step step_of(const vd_packed *packed, int step)
{
    vd_step s;
    bool last = step + 1 == packed->longest;
    s.count = packed->active[step];
    s.first = packed->offset[step];
    s.previous = step > 0 ? packed->offset[step - 1] : -1;
    s.next = last ? -1 : packed->offset[step + 1];
    s.next_count = last ? 0 : packed->active[step + 1];
    return s;
}

// ---- forward ------------------------------------------------------------------------------------

// Rows from flat to step order, with both biases.
static __global__ void gates_kernel(vd_directions all, size_t n)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t wide = 4 * static_cast<size_t>(all.hidden);
    for (VD_EACH(i, n)) {
        size_t row = i / wide, column = i % wide;
        d.gate[i] = d.scratch[static_cast<size_t>(d.map[row]) * wide + column] + d.b_ih[column] +
                    d.b_hh[column];
    }
}

static __global__ void initial_kernel(vd_directions all, size_t n)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH(i, n))
        d.before[i] =
            d.initial ? d.initial[static_cast<size_t>(all.order[i / h]) * h + i % h] : 0.0f;
}

// The states that the rows of a step go on from, where several go on from one.
static __global__ void parents_kernel(vd_directions all, vd_step s, size_t n)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH(i, n)) {
        size_t row = static_cast<size_t>(s.first) + i / h;
        size_t from = static_cast<size_t>(d.map[all.parent[row]]);
        d.before[row * h + i % h] = d.y[from * all.y_stride + i % h];
    }
}

// One unit of one sequence, from the gates' pre-activations to its state.
static __device__ __forceinline__ void unit(const vd_directions &all, const vd_direction &d,
                                            vd_step s, int k, int j, float i, float f, float g,
                                            float o)
{
    size_t h = static_cast<size_t>(all.hidden), row = static_cast<size_t>(s.first + k);
    float *gate = d.gate + row * 4 * h + j;
    i = vd_sigmoidf(i);
    f = vd_sigmoidf(f);
    g = tanhf(g);
    o = vd_sigmoidf(o);
    gate[0] = i;
    gate[h] = f;
    gate[2 * h] = g;
    gate[3 * h] = o;
    float c = i * g;
    if (s.previous >= 0) {
        size_t from = static_cast<size_t>(all.parent ? all.parent[row] : s.previous + k);
        c += f * d.cell[from * h + j];
    }
    float y = o * tanhf(c);
    d.cell[row * h + j] = c;
    d.y[static_cast<size_t>(d.map[row]) * all.y_stride + j] = y;
    if (k < s.next_count && !all.parent)
        d.before[static_cast<size_t>(s.next + k) * h + j] = y;
}

static __global__ void cell_kernel(vd_directions all, vd_step s, size_t n)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH(at, n)) {
        int k = static_cast<int>(at / h), j = static_cast<int>(at % h);
        const float *gate = d.gate + static_cast<size_t>(s.first + k) * 4 * h + j;
        unit(all, d, s, k, j, gate[0], gate[h], gate[2 * h], gate[3 * h]);
    }
}

// A warp a unit, for at most FEW sequences: its rows of W_hh are read once.
static __global__ void few_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t h = static_cast<size_t>(all.hidden);
    int lane = threadIdx.x % VD_WARP;
    int j = blockIdx.x * (blockDim.x / VD_WARP) + threadIdx.x / VD_WARP;
    if (j >= all.hidden)
        return;
    float sum[FEW][4];
    for (int k = 0; k < FEW; k++)
        for (int q = 0; q < 4; q++)
            sum[k][q] = 0;
    for (int i = lane; i < all.hidden; i += VD_WARP) {
        float w[4];
        for (int q = 0; q < 4; q++)
            w[q] = d.w_hh[(q * h + j) * h + i];
        for (int k = 0; k < s.count; k++) {
            float x = d.before[static_cast<size_t>(s.first + k) * h + i];
            for (int q = 0; q < 4; q++)
                sum[k][q] += w[q] * x;
        }
    }
    for (int k = 0; k < s.count; k++) {
        float pre[4];
        const float *gate = d.gate + static_cast<size_t>(s.first + k) * 4 * h + j;
        for (int q = 0; q < 4; q++)
            pre[q] = vd_warp_sum(sum[k][q]) + gate[q * h];
        __syncwarp();
        if (lane == 0)
            unit(all, d, s, k, j, pre[0], pre[1], pre[2], pre[3]);
    }
}

static void lstm(const vd_lstm_pass *pass, int directions)
{
    const vd_packed *packed = pass->packed;
    int h = pass->hidden, g = 4 * h;
    if (packed->tokens == 0)
        return;
    vd_directions all = directions_of(pass, NULL, directions);
    size_t numbers = static_cast<size_t>(packed->tokens) * static_cast<size_t>(g);
    for (int i = 0; i < directions; i++)
        vd_cuda_gemm(false, true, packed->tokens, g, pass[i].in, 1, pass[i].x, pass[i].in,
                     pass[i].weights->w_ih, pass[i].in, 0, pass[i].scratch, g);
    VD_LAUNCH(gates_kernel, grid_of(numbers, directions), THREADS, all, numbers);
    size_t states = static_cast<size_t>(packed->active[0]) * static_cast<size_t>(h);
    VD_LAUNCH(initial_kernel, grid_of(states, directions), THREADS, all, states);

    for (int step = 0; step < packed->longest; step++) {
        vd_step s = step_of(packed, step);
        bool multiply = step > 0 || pass->initial;
        size_t n = static_cast<size_t>(s.count) * static_cast<size_t>(h);
        if (step > 0 && all.parent)
            VD_LAUNCH(parents_kernel, grid_of(n, directions), THREADS, all, s, n);
        if (multiply && s.count <= FEW) {
            VD_LAUNCH(few_kernel,
                      dim3(static_cast<unsigned>(vd_ceil(h, THREADS / VD_WARP)),
                           static_cast<unsigned>(directions)),
                      THREADS, all, s);
            continue;
        }
        for (int i = 0; multiply && i < directions; i++)
            vd_cuda_gemm(
                false, true, s.count, g, h, 1, pass[i].before + static_cast<size_t>(s.first) * h, h,
                pass[i].weights->w_hh, h, 1, pass[i].gate + static_cast<size_t>(s.first) * g, g);
        VD_LAUNCH(cell_kernel, grid_of(n, directions), THREADS, all, s, n);
    }
}

// ---- backward -----------------------------------------------------------------------------------

// gate becomes the gradient of the pre-activations; dc that of the cell one step earlier.
static __global__ void cell_backward_kernel(vd_directions all, vd_step s, size_t n)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH(at, n)) {
        size_t k = at / h, j = at % h, row = static_cast<size_t>(s.first) + k;
        float *gate = d.gate + row * 4 * h + j;
        float i = gate[0], f = gate[h], g = gate[2 * h], o = gate[3 * h];
        float t = tanhf(d.cell[row * h + j]);
        float dh = d.dh[at] + d.dy[static_cast<size_t>(d.map[row]) * all.y_stride + j];
        float dcell = d.dc[at] + dh * o * (1 - t * t);
        float before =
            s.previous >= 0 ? d.cell[(static_cast<size_t>(s.previous) + k) * h + j] : 0.0f;
        gate[0] = dcell * g * i * (1 - i);
        gate[h] = dcell * before * f * (1 - f);
        gate[2 * h] = dcell * i * (1 - g * g);
        gate[3 * h] = dh * t * o * (1 - o);
        d.dc[at] = dcell * f;
    }
}

static __global__ void initial_backward_kernel(vd_directions all, size_t n)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH(i, n))
        d.dinitial[static_cast<size_t>(all.order[i / h]) * h + i % h] = d.dh[i];
}

// Gate gradients from step to flat order.
static __global__ void flatten_kernel(vd_directions all, size_t n)
{
    const vd_direction &d = all.d[blockIdx.y];
    size_t wide = 4 * static_cast<size_t>(all.hidden);
    for (VD_EACH(i, n))
        d.scratch[static_cast<size_t>(d.map[i / wide]) * wide + i % wide] = d.gate[i];
}

// In a tree of prefixes several rows go on from one: its gradient is their sum.
static __global__ void add_to_parents_kernel(vd_directions all, vd_step s, float *dh, float *dc,
                                             size_t n)
{
    const vd_direction &d = all.d[0];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH(i, n)) {
        size_t row = static_cast<size_t>(s.first) + i / h;
        size_t to = static_cast<size_t>(all.parent[row] - s.previous) * h + i % h;
        atomicAdd(dh + to, d.dh[i]);
        atomicAdd(dc + to, d.dc[i]);
    }
}

// The halves of dh and dc take turns: one is read while the other is added to.
static void add_to_parents(const vd_packed *packed, int step, size_t half, vd_lstm_gradient q,
                           vd_directions *all)
{
    vd_step s = step_of(packed, step);
    vd_direction *d = &all->d[0];
    float *dh = d->dh == q.dh ? q.dh + half : q.dh, *dc = d->dc == q.dc ? q.dc + half : q.dc;
    size_t h = static_cast<size_t>(all->hidden), n = static_cast<size_t>(s.count) * h;
    size_t bytes = static_cast<size_t>(packed->active[step - 1]) * h * sizeof(float);
    vd_cuda_zero(dh, bytes);
    vd_cuda_zero(dc, bytes);
    VD_LAUNCH(add_to_parents_kernel, vd_blocks(n, THREADS), THREADS, *all, s, dh, dc, n);
    d->dh = dh;
    d->dc = dc;
}

// Rows of states that dh and dc hold, of which there are two for a tree.
static size_t state_rows(const vd_packed *packed)
{
    int widest = packed->sequences;
    for (int step = 0; packed->parent && step < packed->longest; step++)
        widest = packed->active[step] > widest ? packed->active[step] : widest;
    return static_cast<size_t>(widest);
}

static void steps_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                           vd_directions all, int directions)
{
    const vd_packed *packed = pass->packed;
    int h = pass->hidden, g = 4 * h;
    size_t states = state_rows(packed) * static_cast<size_t>(h);
    for (int i = 0; i < directions; i++) {
        vd_cuda_zero(all.d[i].dh, states * sizeof(float));
        vd_cuda_zero(all.d[i].dc, states * sizeof(float));
    }
    for (int step = packed->longest - 1; step >= 0; step--) {
        vd_step s = step_of(packed, step);
        size_t n = static_cast<size_t>(s.count) * static_cast<size_t>(h);
        VD_LAUNCH(cell_backward_kernel, grid_of(n, directions), THREADS, all, s, n);
        for (int i = 0; i < directions; i++)
            if (step > 0 || all.d[i].dinitial)
                vd_cuda_gemm(false, false, s.count, h, g, 1,
                             pass[i].gate + static_cast<size_t>(s.first) * g, g,
                             pass[i].weights->w_hh, h, 0, all.d[i].dh, h);
        if (step > 0 && packed->parent)
            add_to_parents(packed, step, states, *gradient, &all);
    }
    if (all.d[0].dinitial)
        VD_LAUNCH(initial_backward_kernel, grid_of(states, directions), THREADS, all, states);
}

static void lstm_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                          int directions)
{
    const vd_packed *packed = pass->packed;
    int h = pass->hidden, g = 4 * h, tokens = packed->tokens;
    if (tokens == 0)
        return;
    vd_directions all = directions_of(pass, gradient, directions);
    steps_backward(pass, gradient, all, directions);
    size_t numbers = static_cast<size_t>(tokens) * static_cast<size_t>(g);
    VD_LAUNCH(flatten_kernel, grid_of(numbers, directions), THREADS, all, numbers);
    for (int i = 0; i < directions; i++) {
        const vd_lstm_pass *p = pass + i;
        const vd_lstm_weights *dw = gradient[i].weights;
        vd_cuda_gemm(true, false, g, h, tokens, 1, p->gate, g, p->before, h, 1, dw->w_hh, h);
        vd_cuda_linear_backward(p->x, p->weights->w_ih, p->scratch, gradient[i].dx, 1, dw->w_ih,
                                dw->b_ih, tokens, p->in, g);
        vd_cuda_linear_backward(p->x, p->weights->w_ih, p->scratch, NULL, 0, NULL, dw->b_hh, tokens,
                                p->in, g);
    }
}

// ---- ends ---------------------------------------------------------------------------------------

// Where number `i` of the sentence vectors stands in y, or -1 for an empty sequence.
static __device__ __forceinline__ long long end_of(const int *start, int hidden, int wide, size_t i)
{
    size_t s = i / wide, column = i % wide;
    int from = start[s], to = start[s + 1];
    if (from == to)
        return -1;
    int row = column < static_cast<size_t>(hidden) ? to - 1 : from;
    return static_cast<long long>(row) * wide + static_cast<long long>(column);
}

static __global__ void ends_kernel(const int *start, int hidden, int wide, const float *y,
                                   float *sentence, size_t n)
{
    for (VD_EACH(i, n)) {
        long long at = end_of(start, hidden, wide, i);
        sentence[i] = at < 0 ? 0.0f : y[at];
    }
}

static void ends(const vd_packed *packed, int directions, int hidden, const vd_real *y,
                 vd_real *sentence)
{
    size_t n = static_cast<size_t>(packed->sequences) * static_cast<size_t>(directions * hidden);
    VD_LAUNCH(ends_kernel, vd_blocks(n, THREADS), THREADS, packed->rows.start, hidden,
              directions * hidden, y, sentence, n);
}

static __global__ void ends_backward_kernel(const int *start, int hidden, int wide,
                                            const float *dsentence, float *dy, size_t n)
{
    for (VD_EACH(i, n)) {
        long long at = end_of(start, hidden, wide, i);
        if (at >= 0)
            dy[at] += dsentence[i];
    }
}

static void ends_backward(const vd_packed *packed, int directions, int hidden,
                          const vd_real *dsentence, vd_real *dy)
{
    size_t n = static_cast<size_t>(packed->sequences) * static_cast<size_t>(directions * hidden);
    VD_LAUNCH(ends_backward_kernel, vd_blocks(n, THREADS), THREADS, packed->rows.start, hidden,
              directions * hidden, dsentence, dy, n);
}

void vd_cuda_lstm(vd_backend *table)
{
    table->lstm = lstm;
    table->lstm_backward = lstm_backward;
    table->ends = ends;
    table->ends_backward = ends_backward;
}
