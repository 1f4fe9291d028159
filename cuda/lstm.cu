// LSTM over packed sequences and trees of prefixes, both directions of a layer in the same launches
// (engine/backend/cpu/lstm.c has the arithmetic). The inputs' products of all steps are one matrix
// product a direction, of the distinct inputs only. A step of many rows is a matrix product a
// direction and one launch for all gates, cells and states; one of few rows (a question) is a
// single launch: each warp makes one unit, its four gates' products with the states included.
#include "cuda/lstm.cuh"

enum { THREADS = VD_LSTM_THREADS, FEW = 4, FEW_THREADS = 256 };

vd_directions vd_directions_of(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
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
        }
    }
    return all;
}

// What is not kept alternates: one step in one half, the next step in the other.
static int kept_row(const vd_lstm_pass *pass, int step)
{
    return pass->keep ? pass->packed->offset[step] : step % 2 * pass->packed->widest;
}

vd_step vd_step_of(const vd_lstm_pass *pass, int step)
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
        size_t from = static_cast<size_t>(d.map[vd_parent_of(all, s, k)]);
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

// One unit of row k, from the gates' pre-activations to its state.
template <typename F>
static __device__ __forceinline__ void unit(const vd_directions &all, const vd_direction &d,
                                            vd_step s, size_t k, int j, const float pre[4])
{
    size_t h = static_cast<size_t>(all.hidden), row = static_cast<size_t>(s.first) + k;
    float i = vd_sigmoidf(pre[0]), f = vd_sigmoidf(pre[1]), g = tanhf(pre[2]),
          o = vd_sigmoidf(pre[3]);
    if (all.keep) {
        F *gate = static_cast<F *>(d.gate) + row * 4 * h + j;
        gate[0] = vd_to<F>(i);
        gate[h] = vd_to<F>(f);
        gate[2 * h] = vd_to<F>(g);
        gate[3 * h] = vd_to<F>(o);
    }
    float c = i * g;
    if (s.previous >= 0) {
        size_t from = static_cast<size_t>(s.cell_before + vd_parent_of(all, s, k) - s.previous);
        c += f * d.cell[from * h + j];
    }
    float y = o * tanhf(c);
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

// A warp a unit, for at most FEW rows: its rows of W_hh are read once.
template <typename F> static __global__ void few_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(all.hidden);
    const F *before = static_cast<const F *>(d.before) + static_cast<size_t>(s.before) * h;
    int lane = threadIdx.x % VD_WARP;
    int j = blockIdx.x * (blockDim.x / VD_WARP) + threadIdx.x / VD_WARP;
    if (j >= all.hidden)
        return;
    float sum[FEW][4] = {};
    for (int i = lane; i < all.hidden; i += VD_WARP) {
        float w[4];
        for (int q = 0; q < 4; q++)
            w[q] = d.w_hh[(q * h + j) * h + i];
        VD_UNROLL // so that the sums stay in registers
            for (int k = 0; k < FEW; k++)
        {
            float x = k < s.count ? vd_from(before[k * h + i]) : 0;
            for (int q = 0; q < 4; q++)
                sum[k][q] += w[q] * x;
        }
    }
    VD_UNROLL
    for (int k = 0; k < FEW; k++) {
        if (k >= s.count)
            break;
        float pre[4];
        inputs_of(all, d, s, static_cast<size_t>(k), j, pre);
        for (int q = 0; q < 4; q++)
            pre[q] += vd_warp_sum(sum[k][q]);
        if (lane == 0)
            unit<F>(all, d, s, static_cast<size_t>(k), j, pre);
    }
}

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
    vd_directions all = vd_directions_of(pass, NULL, directions);
    vd_factor w_hh[VD_MOST_DIRECTIONS];
    if (!factors_of(pass, directions, w_hh))
        return;
    for (int step = 0; step < packed->longest; step++) {
        vd_step s = vd_step_of(pass, step);
        bool multiply = step > 0 || pass->initial;
        dim3 rows = vd_row_grid(s.count, h, THREADS, directions);
        if (step == 0 && pass->initial)
            VD_LAUNCH(initial_kernel<F>, rows, THREADS, all, s);
        if (step > 0 && all.parent)
            VD_LAUNCH(parents_kernel<F>, rows, THREADS, all, s);
        if (multiply && s.count <= FEW) {
            VD_LAUNCH(few_kernel<F>,
                      dim3(static_cast<unsigned>(vd_ceil(h, FEW_THREADS / VD_WARP)), 1,
                           static_cast<unsigned>(directions)),
                      FEW_THREADS, all, s);
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
    table->last_states = last_states;
    table->last_states_backward = last_states_backward;
    vd_cuda_lstm_backward(table);
}
