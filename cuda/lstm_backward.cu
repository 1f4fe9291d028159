// The LSTM's gradient (lstm.cu, engine/backend/cpu/lstm.c). Everything is kept in step order: the
// gates become the gradients of their pre-activations in place, and instead of these, which are
// four times as wide as a state, the inputs are brought into that order.
#include "cuda/lstm.cuh"

enum { THREADS = VD_LSTM_THREADS };

// gate becomes the gradient of the pre-activations; dc that of the cell one step earlier.
template <typename F> static __global__ void cell_backward_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(all.hidden);
    for (VD_EACH_ROW(k, s.count)) {
        size_t row = static_cast<size_t>(s.first) + k;
        const float *dy = d.dy + static_cast<size_t>(d.map[row]) * all.y_stride;
        size_t from = s.previous >= 0 ? static_cast<size_t>(vd_parent_of(all, s, k)) : 0;
        for (VD_EACH_COLUMN(j, all.hidden)) {
            F *gate = static_cast<F *>(d.gate) + row * 4 * h + j;
            float i = vd_from(gate[0]), f = vd_from(gate[h]), g = vd_from(gate[2 * h]),
                  o = vd_from(gate[3 * h]);
            float t = tanhf(d.cell[row * h + j]);
            float dh = d.dh[k * h + j] + dy[j];
            float dcell = d.dc[k * h + j] + dh * o * (1 - t * t);
            float before = s.previous >= 0 ? d.cell[from * h + j] : 0.0f;
            gate[0] = vd_to<F>(dcell * g * i * (1 - i));
            gate[h] = vd_to<F>(dcell * before * f * (1 - f));
            gate[2 * h] = vd_to<F>(dcell * i * (1 - g * g));
            gate[3 * h] = vd_to<F>(dh * t * o * (1 - o));
            d.dc[k * h + j] = dcell * f;
        }
    }
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
    vd_step s = vd_step_of(pass, step);
    vd_direction *d = &all->d[0];
    size_t h = static_cast<size_t>(all->hidden),
           half = static_cast<size_t>(pass->packed->widest) * h;
    float *dh = d->dh == q->dh ? q->dh + half : q->dh, *dc = d->dc == q->dc ? q->dc + half : q->dc;
    size_t bytes = static_cast<size_t>(pass->packed->active[step - 1]) * h * sizeof(float);
    vd_cuda_zero(dh, bytes);
    vd_cuda_zero(dc, bytes);
    const vd_directions old = *all;
    vd_for_rows(__func__, s.count, all->hidden, [=] __device__(size_t k) {
        size_t to = static_cast<size_t>(vd_parent_of(old, s, k) - s.previous) * h;
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
    vd_directions all = vd_directions_of(pass, gradient, directions);
    int h = pass->hidden, g = 4 * h;
    int states = packed->sequences > packed->widest ? packed->sequences : packed->widest;
    size_t bytes = static_cast<size_t>(states) * static_cast<size_t>(h) * sizeof(float);
    for (int i = 0; i < directions; i++) {
        vd_cuda_zero(all.d[i].dh, bytes);
        vd_cuda_zero(all.d[i].dc, bytes);
    }
    for (int step = packed->longest - 1; step >= 0; step--) {
        vd_step s = vd_step_of(pass, step);
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
    vd_factor w_ih[VD_MOST_DIRECTIONS], w_hh[VD_MOST_DIRECTIONS];
    at += x_bytes + dx_bytes;
    for (int i = 0; i < directions; i++) {
        w_ih[i] = vd_factor_of(vd_matrix_reals(&pass[i].weights->w_ih), g, in, in, &at);
        w_hh[i] = vd_factor_of(vd_matrix_reals(&pass[i].weights->w_hh), g, h, h, &at);
    }
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

void vd_cuda_lstm_backward(vd_backend *table)
{
    table->lstm_backward = lstm_backward;
}
