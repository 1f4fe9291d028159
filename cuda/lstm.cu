// LSTM over packed sequences and trees of prefixes, both directions of a layer in the same launches
// (engine/backend/cpu/lstm.c has the arithmetic). The inputs' products of all steps are one matrix
// product a direction, of the distinct inputs only. A step of many rows is a matrix product a
// direction and one launch for all gates, cells and states; one of few rows (a question) is a
// single launch: each warp makes one unit, its four gates' products with the states included.
//
// F is what factors of matrix products are kept as, at the precision set: float, or bfloat16 (the
// states that rows go on from, the gates and their gradients). Sums and cells are always float.
//
// Of the gradient everything is kept in step order: the gates become the gradients of their
// pre-activations in place, and instead of these, which are four times as wide as a state, the
// inputs are brought into that order.
#include "cuda/device.cuh"

enum { THREADS = 128, FEW = 8, MOST_DIRECTIONS = 2 };

// What kernels need of a direction.
struct vd_direction {
    const int *map;
    const float *b_ih, *b_hh, *w_hh;
    const float *initial, *input, *step;
    float *y, *cell;
    void *gate, *before;
    const float *dy;
    float *dh, *dc, *dinitial;
};

struct vd_directions {
    vd_direction d[MOST_DIRECTIONS];
    const int *order;
    const int *parent; // step order; NULL = row k follows row k of the step before
    const int *x_row;  // flat order; NULL = a row's input is its own
    int hidden, y_stride;
    bool keep; // gates, for the gradient
};

// A step's place: its rows, where they begin in step order, and where they begin in what is kept of
// the cells and of the states that rows go on from. Of a step that is not there: -1.
struct vd_step {
    int count, first, previous, next_count;
    int cell, cell_before, before, next_before;
};

// The previous row of a row, in step order.
static __device__ __forceinline__ int parent_of(const vd_directions &all, vd_step s, size_t k)
{
    return all.parent ? all.parent[static_cast<size_t>(s.first) + k]
                      : s.previous + static_cast<int>(k);
}

static vd_directions directions_of(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                                   int directions)
{
    vd_directions all = vd_directions();
    all.order = pass->packed->rows.order;
    all.parent = pass->packed->rows.parent;
    all.x_row = pass->x_row;
    all.hidden = pass->hidden;
    all.y_stride = pass->y_stride;
    all.keep = pass->keep;
    for (int i = 0; i < directions; i++) {
        const vd_lstm_pass *p = pass + i;
        vd_direction *d = &all.d[i];
        d->map = p->map;
        d->b_ih = p->weights->b_ih;
        d->b_hh = p->weights->b_hh;
        d->w_hh = vd_matrix_reals(&p->weights->w_hh);
        d->initial = p->initial;
        d->input = p->scratch;
        d->step = p->step;
        d->y = p->y;
        d->cell = p->cell;
        d->gate = p->gate;
        d->before = p->before;
        if (gradient) {
            d->dy = gradient[i].dy;
            d->dh = gradient[i].dh;
            d->dc = gradient[i].dc;
            d->dinitial = gradient[i].dinitial;
        }
    }
    return all;
}

// What is not kept alternates: one step in one half, the next step in the other.
static int kept_row(const vd_lstm_pass *pass, int step)
{
    return pass->keep ? pass->packed->offset[step] : step % 2 * pass->packed->widest;
}

static vd_step step_of(const vd_lstm_pass *pass, int step)
{
    const vd_packed *packed = pass->packed;
    bool last = step + 1 == packed->longest;
    vd_step s;
    s.count = packed->active[step];
    s.first = packed->offset[step];
    s.previous = step > 0 ? packed->offset[step - 1] : -1;
    s.next_count = last ? 0 : packed->active[step + 1];
    s.cell = s.before = kept_row(pass, step);
    s.cell_before = step > 0 ? kept_row(pass, step - 1) : -1;
    s.next_before = last ? -1 : kept_row(pass, step + 1);
    return s;
}

template <typename F> static __global__ void initial_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(all.hidden);
    F *before = static_cast<F *>(d.before) + static_cast<size_t>(s.before) * h;
    for (VD_EACH_ROW(k, s.count))
        for (VD_EACH_COLUMN(j, all.hidden))
            before[k * h + j] = vd_to<F>(d.initial[static_cast<size_t>(all.order[k]) * h + j]);
}

// The previous states of the rows of a step, where several rows share one.
template <typename F> static __global__ void parents_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(all.hidden);
    F *before = static_cast<F *>(d.before) + static_cast<size_t>(s.before) * h;
    for (VD_EACH_ROW(k, s.count)) {
        size_t from = static_cast<size_t>(d.map[parent_of(all, s, k)]);
        for (VD_EACH_COLUMN(j, all.hidden))
            before[k * h + j] = vd_to<F>(d.y[from * all.y_stride + j]);
    }
}

// What the input and the biases give the four gates of one unit of row k.
static __device__ __forceinline__ void inputs_of(const vd_directions &all, const vd_direction &d,
                                                 vd_step s, size_t k, int j, float pre[4])
{
    size_t h = static_cast<size_t>(all.hidden);
    int flat = d.map[static_cast<size_t>(s.first) + k];
    const float *in = d.input + static_cast<size_t>(all.x_row ? all.x_row[flat] : flat) * 4 * h + j;
    for (int q = 0; q < 4; q++)
        pre[q] = in[q * h] + d.b_ih[q * h + j] + d.b_hh[q * h + j];
}

// The state of one unit of a row in step order, from its gates' pre-activations; its cell is
// brought forward.
template <typename F>
static __device__ __forceinline__ float cell_step(const vd_directions &all, const vd_direction &d,
                                                  size_t row, int j, const float pre[4], float *c)
{
    size_t h = static_cast<size_t>(all.hidden);
    float i = vd_sigmoidf(pre[0]), f = vd_sigmoidf(pre[1]), g = tanhf(pre[2]),
          o = vd_sigmoidf(pre[3]);
    if (all.keep) {
        F *gate = static_cast<F *>(d.gate) + row * 4 * h + j;
        gate[0] = vd_to<F>(i);
        gate[h] = vd_to<F>(f);
        gate[2 * h] = vd_to<F>(g);
        gate[3 * h] = vd_to<F>(o);
    }
    *c = i * g + f * *c;
    return o * tanhf(*c);
}

// One unit of row k.
template <typename F>
static __device__ __forceinline__ void unit(const vd_directions &all, const vd_direction &d,
                                            vd_step s, size_t k, int j, const float pre[4])
{
    size_t h = static_cast<size_t>(all.hidden), row = static_cast<size_t>(s.first) + k;
    float c = 0;
    if (s.previous >= 0) {
        size_t from = static_cast<size_t>(s.cell_before + parent_of(all, s, k) - s.previous);
        c = d.cell[from * h + j];
    }
    float y = cell_step<F>(all, d, row, j, pre, &c);
    d.cell[(static_cast<size_t>(s.cell) + k) * h + j] = c;
    d.y[static_cast<size_t>(d.map[row]) * all.y_stride + j] = y;
    if (!all.parent && k < static_cast<size_t>(s.next_count))
        static_cast<F *>(d.before)[(static_cast<size_t>(s.next_before) + k) * h + j] = vd_to<F>(y);
}

template <typename F>
static __global__ void cell_kernel(vd_directions all, vd_step s, bool multiplied)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH_ROW(k, s.count)) {
        const float *state = d.step + k * 4 * h;
        for (VD_EACH_COLUMN(j, all.hidden)) {
            float pre[4];
            inputs_of(all, d, s, k, j, pre);
            for (int q = 0; multiplied && q < 4; q++)
                pre[q] += state[q * h + j];
            unit<F>(all, d, s, k, j, pre);
        }
    }
}

// A warp a unit, for at most ROWS rows: its rows of W_hh are read once. Lane k then ends row k.
template <typename F, int ROWS> static __global__ void few_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(all.hidden);
    const F *before = static_cast<const F *>(d.before) + static_cast<size_t>(s.before) * h;
    int lane = threadIdx.x % VD_WARP;
    int j = blockIdx.x * (blockDim.x / VD_WARP) + threadIdx.x / VD_WARP;
    if (j >= all.hidden)
        return;
    float sum[ROWS][4] = {};
    for (int i = lane; i < all.hidden; i += VD_WARP) {
        float w[4];
        for (int q = 0; q < 4; q++)
            w[q] = d.w_hh[(q * h + j) * h + i];
        VD_UNROLL // so that the sums stay in registers
            for (int k = 0; k < ROWS; k++)
        {
            float x = k < s.count ? vd_from(before[k * h + i]) : 0;
            for (int q = 0; q < 4; q++)
                sum[k][q] += w[q] * x;
        }
    }
    float own[4] = {}, pre[4];
    VD_UNROLL
    for (int k = 0; k < ROWS; k++)
        for (int q = 0; q < 4; q++) {
            float of_row = vd_warp_sum(sum[k][q]);
            own[q] = lane == k ? of_row : own[q];
        }
    if (lane >= s.count)
        return;
    inputs_of(all, d, s, static_cast<size_t>(lane), j, pre);
    for (int q = 0; q < 4; q++)
        pre[q] += own[q];
    unit<F>(all, d, s, static_cast<size_t>(lane), j, pre);
}

template <typename F> static void step_of_few(const vd_directions &all, vd_step s, int directions)
{
    dim3 units(static_cast<unsigned>(vd_ceil(all.hidden, THREADS / VD_WARP)), 1,
               static_cast<unsigned>(directions));
    if (s.count <= FEW / 2)
        VD_LAUNCH((few_kernel<F, FEW / 2>), units, THREADS, all, s);
    else
        VD_LAUNCH((few_kernel<F, FEW>), units, THREADS, all, s);
}

// ---- whole sequences ----------------------------------------------------------------------------
//
// A step of a small network takes less time than its launches. No row of a step needs another, so a
// block makes all steps of a few rows: thread (q, j) keeps in registers what gate q of unit j is
// multiplied with, of all rows, and brings unit j of row q forward.

enum { TOGETHER = 4 }; // rows of a block, where there are many

template <int H, int ROWS>
static __global__ void __launch_bounds__(4 * H)
    sequences_kernel(vd_directions all, const int *active, const int *offset, int longest)
{
    __shared__ float state[ROWS][H], product[ROWS][4 * H];
    const vd_direction &d = all.d[blockIdx.z];
    int h = all.hidden, q = threadIdx.x / H, j = threadIdx.x % H;
    size_t first = static_cast<size_t>(blockIdx.x) * ROWS, k = first + q;
    bool whole = q < ROWS && j < h;
    float w[H], c = 0;
    VD_UNROLL
    for (int i = 0; i < H; i++)
        w[i] = j < h && i < h ? d.w_hh[(static_cast<size_t>(q) * h + j) * h + i] : 0;
    if (q < ROWS) {
        bool begun = d.initial && whole && k < static_cast<size_t>(active[0]);
        state[q][j] = begun ? d.initial[static_cast<size_t>(all.order[k]) * h + j] : 0;
    }
    __syncthreads();
    for (int step = 0; step < longest && first < static_cast<size_t>(active[step]); step++) {
        vd_step s = {};
        s.first = offset[step];
        size_t row = static_cast<size_t>(s.first) + k;
        bool mine = whole && k < static_cast<size_t>(active[step]);
        float pre[4];
        if (mine)
            inputs_of(all, d, s, k, j, pre);
        if (mine && all.keep && (step > 0 || d.initial))
            static_cast<float *>(d.before)[row * h + j] = state[q][j];
        VD_UNROLL
        for (int r = 0; r < ROWS; r++) {
            float sum = 0;
            VD_UNROLL
            for (int i = 0; i < H; i++)
                sum += w[i] * state[r][i];
            product[r][threadIdx.x] = sum;
        }
        __syncthreads();
        if (mine) {
            for (int g = 0; g < 4; g++)
                pre[g] += product[q][g * H + j];
            float y = cell_step<float>(all, d, row, j, pre, &c);
            if (all.keep)
                d.cell[row * h + j] = c;
            d.y[static_cast<size_t>(d.map[row]) * all.y_stride + j] = y;
            state[q][j] = y;
        }
        __syncthreads();
    }
}

// Whether a pass is made so, in float alone: not of trees, whose rows share states.
static bool by_sequences(const vd_lstm_pass *pass)
{
    return !vd_factors_are_narrow() && !pass->packed->parent && pass->hidden <= 96;
}

// launch(H, rows) for constants of these names.
#define VD_WHOLE(launch, pass, directions)                                                         \
    do {                                                                                           \
        bool many = (pass)->packed->active[0] * (directions) > 256;                                \
        if ((pass)->hidden <= 64 && many)                                                          \
            launch(64, TOGETHER);                                                                  \
        else if ((pass)->hidden <= 64)                                                             \
            launch(64, 1);                                                                         \
        else if (many)                                                                             \
            launch(96, TOGETHER);                                                                  \
        else                                                                                       \
            launch(96, 1);                                                                         \
    } while (0)

static dim3 whole_grid(int rows, int together, int directions)
{
    return dim3(static_cast<unsigned>(vd_ceil(rows, together)), 1,
                static_cast<unsigned>(directions));
}

static void run_sequences(const vd_lstm_pass *pass, const vd_directions &all, int directions)
{
    const vd_packed *p = pass->packed;
#define FORWARD(H, ROWS)                                                                           \
    VD_LAUNCH((sequences_kernel<H, ROWS>), whole_grid(p->active[0], ROWS, directions), 4 * (H),    \
              all, p->rows.active, p->rows.offset, p->longest)
    VD_WHOLE(FORWARD, pass, directions);
#undef FORWARD
}

// ---- forward ------------------------------------------------------------------------------------

// scratch = x W_ih^T of every direction; w_hh: the factors of the steps. False on error.
static bool factors_of(const vd_lstm_pass *pass, int directions, vd_factor *w_hh)
{
    int h = pass->hidden, g = 4 * h, in = pass->in;
    vd_lane *lane = vd_lane_get();
    size_t room = vd_factor_room(pass->x_rows, in) +
                  static_cast<size_t>(directions) * (vd_factor_room(g, in) + vd_factor_room(g, h));
    unsigned char *at = NULL;
    if (!lane || (room && !(at = static_cast<unsigned char *>(vd_lane_scratch(lane, room)))))
        return false;
    vd_factor x = vd_factor_of(pass->x, pass->x_rows, in, in, &at);
    for (int i = 0; i < directions; i++) {
        vd_factor w = vd_factor_of(vd_matrix_reals(&pass[i].weights->w_ih), g, in, in, &at);
        vd_cuda_multiply(false, true, pass->x_rows, g, in, x, w, 0, pass[i].scratch, g);
        w_hh[i] = vd_factor_of(vd_matrix_reals(&pass[i].weights->w_hh), g, h, h, &at);
    }
    return true;
}

template <typename F> static void run(const vd_lstm_pass *pass, int directions)
{
    const vd_packed *packed = pass->packed;
    int h = pass->hidden, g = 4 * h;
    vd_directions all = directions_of(pass, NULL, directions);
    vd_factor w_hh[MOST_DIRECTIONS];
    if (!factors_of(pass, directions, w_hh))
        return;
    if (by_sequences(pass)) {
        run_sequences(pass, all, directions);
        return;
    }
    for (int step = 0; step < packed->longest; step++) {
        vd_step s = step_of(pass, step);
        bool multiply = step > 0 || pass->initial;
        dim3 rows = vd_row_grid(s.count, h, THREADS, directions);
        if (step == 0 && pass->initial)
            VD_LAUNCH(initial_kernel<F>, rows, THREADS, all, s);
        if (step > 0 && all.parent)
            VD_LAUNCH(parents_kernel<F>, rows, THREADS, all, s);
        if (multiply && s.count <= FEW) {
            step_of_few<F>(all, s, directions);
            continue;
        }
        for (int i = 0; multiply && i < directions; i++) {
            const F *before = reinterpret_cast<const F *>(pass[i].before) +
                              static_cast<size_t>(s.before) * static_cast<size_t>(h);
            vd_cuda_multiply(false, true, s.count, g, h, vd_factor_at(before, h), w_hh[i], 0,
                             pass[i].step, g);
        }
        VD_LAUNCH(cell_kernel<F>, rows, THREADS, all, s, multiply);
    }
}

static void lstm(const vd_lstm_pass *pass, int directions)
{
    if (pass->packed->tokens == 0)
        return;
    if (vd_factors_are_narrow())
        run<__nv_bfloat16>(pass, directions);
    else
        run<float>(pass, directions);
}

// ---- backward -----------------------------------------------------------------------------------

// Of one unit of a row in step order: gate becomes the gradient of the pre-activations, dc that of
// the cell one step earlier, which was `before`.
template <typename F>
static __device__ __forceinline__ void cell_step_backward(const vd_directions &all,
                                                          const vd_direction &d, size_t row, int j,
                                                          float before, float dh, float *dc)
{
    size_t h = static_cast<size_t>(all.hidden);
    F *gate = static_cast<F *>(d.gate) + row * 4 * h + j;
    float i = vd_from(gate[0]), f = vd_from(gate[h]), g = vd_from(gate[2 * h]),
          o = vd_from(gate[3 * h]);
    float t = tanhf(d.cell[row * h + j]);
    dh += d.dy[static_cast<size_t>(d.map[row]) * all.y_stride + j];
    float dcell = *dc + dh * o * (1 - t * t);
    gate[0] = vd_to<F>(dcell * g * i * (1 - i));
    gate[h] = vd_to<F>(dcell * before * f * (1 - f));
    gate[2 * h] = vd_to<F>(dcell * i * (1 - g * g));
    gate[3 * h] = vd_to<F>(dh * t * o * (1 - o));
    *dc = dcell * f;
}

template <typename F> static __global__ void cell_backward_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH_ROW(k, s.count)) {
        size_t row = static_cast<size_t>(s.first) + k;
        size_t from = s.previous >= 0 ? static_cast<size_t>(parent_of(all, s, k)) : 0;
        for (VD_EACH_COLUMN(j, all.hidden))
            cell_step_backward<F>(all, d, row, j, s.previous >= 0 ? d.cell[from * h + j] : 0.0f,
                                  d.dh[k * h + j], d.dc + k * h + j);
    }
}

// All steps of a few rows, as sequences_kernel: thread (q, j) keeps what unit j is multiplied with
// in gate q.
template <int H, int ROWS>
static __global__ void __launch_bounds__(4 * H)
    sequences_backward_kernel(vd_directions all, const int *active, const int *offset, int longest,
                              int sequences)
{
    __shared__ float gradient[ROWS][4 * H], product[ROWS][4 * H];
    const vd_direction &d = all.d[blockIdx.z];
    int h = all.hidden, q = threadIdx.x / H, j = threadIdx.x % H;
    size_t first = static_cast<size_t>(blockIdx.x) * ROWS, k = first + q;
    float w[H], dh = 0, dc = 0;
    VD_UNROLL
    for (int i = 0; i < H; i++)
        w[i] = j < h && i < h ? d.w_hh[(static_cast<size_t>(q) * h + i) * h + j] : 0;
    for (int step = longest - 1; step >= 0; step--) {
        if (first >= static_cast<size_t>(active[step]))
            continue;
        bool mine = q < ROWS && j < h && k < static_cast<size_t>(active[step]);
        size_t row = static_cast<size_t>(offset[step]) + k;
        if (mine) {
            size_t from = step > 0 ? static_cast<size_t>(offset[step - 1]) + k : 0;
            cell_step_backward<float>(all, d, row, j, step > 0 ? d.cell[from * h + j] : 0.0f, dh,
                                      &dc);
        }
        for (int g = 0; q < ROWS && g < 4; g++)
            gradient[q][g * H + j] =
                mine ? static_cast<const float *>(d.gate)[(row * 4 + g) * h + j] : 0;
        __syncthreads();
        VD_UNROLL
        for (int r = 0; r < ROWS; r++) {
            float sum = 0;
            VD_UNROLL
            for (int i = 0; i < H; i++)
                sum += w[i] * gradient[r][q * H + i];
            product[r][threadIdx.x] = sum;
        }
        __syncthreads();
        dh = 0;
        for (int g = 0; q < ROWS && g < 4; g++)
            dh += product[q][g * H + j];
    }
    if (d.dinitial && q < ROWS && j < h && k < static_cast<size_t>(sequences))
        d.dinitial[static_cast<size_t>(all.order[k]) * h + j] = dh;
}

static void sequences_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                               int directions)
{
    const vd_packed *p = pass->packed;
    vd_directions all = directions_of(pass, gradient, directions);
#define BACKWARD(H, ROWS)                                                                          \
    VD_LAUNCH((sequences_backward_kernel<H, ROWS>), whole_grid(p->sequences, ROWS, directions),    \
              4 * (H), all, p->rows.active, p->rows.offset, p->longest, p->sequences)
    VD_WHOLE(BACKWARD, pass, directions);
#undef BACKWARD
}

static void initial_backward(const int *order, const float *dh, float *dinitial, int hidden, int n)
{
    size_t h = static_cast<size_t>(hidden);
    vd_for_rows(__func__, n, hidden, [=] __device__(size_t k) {
        for (VD_EACH_COLUMN(j, hidden))
            dinitial[static_cast<size_t>(order[k]) * h + j] = dh[k * h + j];
    });
}

// In a tree of prefixes several rows share a previous row: its gradient is their sum. The halves of
// dh and dc alternate: one is read while the other is added to.
static void add_to_parents(const vd_lstm_pass *pass, int step, const vd_lstm_gradient *q,
                           vd_directions *all)
{
    vd_step s = step_of(pass, step);
    vd_direction *d = &all->d[0];
    size_t h = static_cast<size_t>(all->hidden),
           half = static_cast<size_t>(pass->packed->widest) * h;
    float *dh = d->dh == q->dh ? q->dh + half : q->dh, *dc = d->dc == q->dc ? q->dc + half : q->dc;
    size_t bytes = static_cast<size_t>(pass->packed->active[step - 1]) * h * sizeof(float);
    vd_cuda_zero(dh, bytes);
    vd_cuda_zero(dc, bytes);
    const vd_directions old = *all;
    vd_for_rows(__func__, s.count, all->hidden, [=] __device__(size_t k) {
        size_t to = static_cast<size_t>(parent_of(old, s, k) - s.previous) * h;
        for (VD_EACH_COLUMN(j, old.hidden)) {
            atomicAdd(dh + to + j, old.d[0].dh[k * h + j]);
            atomicAdd(dc + to + j, old.d[0].dc[k * h + j]);
        }
    });
    d->dh = dh;
    d->dc = dc;
}

template <typename F>
static void steps_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                           const vd_factor *w_hh, int directions)
{
    const vd_packed *packed = pass->packed;
    vd_directions all = directions_of(pass, gradient, directions);
    int h = pass->hidden, g = 4 * h;
    int states = packed->sequences > packed->widest ? packed->sequences : packed->widest;
    size_t bytes = static_cast<size_t>(states) * static_cast<size_t>(h) * sizeof(float);
    for (int i = 0; i < directions; i++) {
        vd_cuda_zero(all.d[i].dh, bytes);
        vd_cuda_zero(all.d[i].dc, bytes);
    }
    for (int step = packed->longest - 1; step >= 0; step--) {
        vd_step s = step_of(pass, step);
        VD_LAUNCH(cell_backward_kernel<F>, vd_row_grid(s.count, h, THREADS, directions), THREADS,
                  all, s);
        for (int i = 0; i < directions; i++)
            if (step > 0 || gradient[i].dinitial) {
                const F *gate = reinterpret_cast<const F *>(pass[i].gate) +
                                static_cast<size_t>(s.first) * static_cast<size_t>(g);
                vd_cuda_multiply(false, false, s.count, h, g, vd_factor_at(gate, g), w_hh[i], 0,
                                 all.d[i].dh, h);
            }
        if (step > 0 && packed->parent)
            add_to_parents(pass, step, gradient, &all);
    }
    for (int i = 0; i < directions; i++)
        if (gradient[i].dinitial)
            initial_backward(all.order, all.d[i].dh, gradient[i].dinitial, h, packed->sequences);
}

// ---- inputs -------------------------------------------------------------------------------------

static __device__ __forceinline__ size_t input_row(const int *map, const int *x_row, size_t row)
{
    return static_cast<size_t>(x_row ? x_row[map[row]] : map[row]);
}

// One direction's weights, biases and inputs. x_step (T, in) and dx_step (T, in): room.
template <typename F>
static void inputs_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q, vd_factor w_ih,
                            F *x_step, float *dx_step)
{
    const vd_packed *packed = p->packed;
    int h = p->hidden, g = 4 * h, in = p->in, tokens = packed->tokens, ld = vd_factor_ld<F>(in);
    // The first rows have no previous state where there is no initial state.
    int first = p->initial ? 0 : packed->active[0];
    const F *gate = reinterpret_cast<const F *>(p->gate);
    const F *before = reinterpret_cast<const F *>(p->before);
    if (tokens > first)
        vd_cuda_multiply(true, false, g, h, tokens - first,
                         vd_factor_at(gate + static_cast<size_t>(first) * g, g),
                         vd_factor_at(before + static_cast<size_t>(first) * h, h), 1,
                         vd_matrix_reals(&q->weights->w_hh), h);
    const float *x = p->x;
    const int *map = p->map, *x_row = p->x_row;
    vd_for_rows("an input in step order", tokens, in, [=] __device__(size_t r) {
        const float *from = x + input_row(map, x_row, r) * in;
        for (VD_EACH_COLUMN(j, in))
            x_step[r * ld + j] = vd_to<F>(from[j]);
    });
    vd_cuda_multiply(true, false, g, in, tokens, vd_factor_at(gate, g), vd_factor_at(x_step, ld), 1,
                     vd_matrix_reals(&q->weights->w_ih), in);
    vd_cuda_sum_columns(gate, tokens, g, q->weights->b_ih, q->weights->b_hh);
    if (!q->dx)
        return;
    vd_cuda_multiply(false, false, tokens, in, g, vd_factor_at(gate, g), w_ih, 0, dx_step, in);
    // Rows of x may be shared where x_row says which they are; without it each is one row's alone.
    float *dx = q->dx;
    vd_for_rows("an input's gradient", tokens, in, [=] __device__(size_t r) {
        float *to = dx + input_row(map, x_row, r) * in;
        for (VD_EACH_COLUMN(j, in))
            if (x_row)
                atomicAdd(to + j, dx_step[r * in + j]);
            else
                to[j] += dx_step[r * in + j];
    });
}

template <typename F>
static void run_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient, int directions)
{
    int h = pass->hidden, g = 4 * h, in = pass->in;
    size_t tokens = static_cast<size_t>(pass->packed->tokens);
    size_t x_bytes =
        (tokens * static_cast<size_t>(vd_factor_ld<F>(in)) * sizeof(F) + 255) / 256 * 256;
    size_t dx_bytes = tokens * static_cast<size_t>(in) * sizeof(float);
    size_t weights = vd_factor_room(g, in) + vd_factor_room(g, h);
    vd_lane *lane = vd_lane_get();
    dx_bytes = (dx_bytes + 255) / 256 * 256;
    unsigned char *at =
        lane ? static_cast<unsigned char *>(vd_lane_scratch(
                   lane, x_bytes + dx_bytes + static_cast<size_t>(directions) * weights))
             : NULL;
    if (!at)
        return;
    F *x_step = reinterpret_cast<F *>(at);
    float *dx_step = reinterpret_cast<float *>(at + x_bytes);
    vd_factor w_ih[MOST_DIRECTIONS], w_hh[MOST_DIRECTIONS];
    at += x_bytes + dx_bytes;
    for (int i = 0; i < directions; i++) {
        w_ih[i] = vd_factor_of(vd_matrix_reals(&pass[i].weights->w_ih), g, in, in, &at);
        w_hh[i] = vd_factor_of(vd_matrix_reals(&pass[i].weights->w_hh), g, h, h, &at);
    }
    if (by_sequences(pass))
        sequences_backward(pass, gradient, directions);
    else
        steps_backward<F>(pass, gradient, w_hh, directions);
    for (int i = 0; i < directions; i++)
        inputs_backward<F>(pass + i, gradient + i, w_ih[i], x_step, dx_step);
}

static void lstm_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                          int directions)
{
    if (pass->packed->tokens == 0)
        return;
    if (vd_factors_are_narrow())
        run_backward<__nv_bfloat16>(pass, gradient, directions);
    else
        run_backward<float>(pass, gradient, directions);
}

// ---- last states --------------------------------------------------------------------------------

// Where a column of the sentence vector of s stands in y, or -1 for an empty sequence.
static __device__ __forceinline__ long long place_of_last(const int *start, int hidden, int wide,
                                                          size_t s, int column)
{
    int from = start[s], to = start[s + 1];
    return from == to ? -1 : (column < hidden ? to - 1LL : from) * wide + column;
}

static void last_states(const vd_packed *packed, int directions, int hidden, const vd_real *y,
                        vd_real *sentence)
{
    const int *start = packed->rows.start, wide = directions * hidden;
    vd_for_rows(__func__, packed->sequences, wide, [=] __device__(size_t s) {
        for (VD_EACH_COLUMN(j, wide)) {
            long long at = place_of_last(start, hidden, wide, s, j);
            sentence[s * wide + j] = at < 0 ? 0.0f : y[at];
        }
    });
}

static void last_states_backward(const vd_packed *packed, int directions, int hidden,
                                 const vd_real *dsentence, vd_real *dy)
{
    const int *start = packed->rows.start, wide = directions * hidden;
    vd_for_rows(__func__, packed->sequences, wide, [=] __device__(size_t s) {
        for (VD_EACH_COLUMN(j, wide)) {
            long long at = place_of_last(start, hidden, wide, s, j);
            if (at >= 0)
                dy[at] += dsentence[s * wide + j];
        }
    });
}

void vd_cuda_lstm(vd_backend *table)
{
    table->lstm = lstm;
    table->lstm_backward = lstm_backward;
    table->last_states = last_states;
    table->last_states_backward = last_states_backward;
}
