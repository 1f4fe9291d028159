// LSTM over packed sequences and trees of prefixes, both directions of a layer in the same launches
// (engine/backend/cpu/lstm.c has the arithmetic). The inputs' products of all steps are one matrix
// product a direction, of the distinct inputs only. A step of many rows is a matrix product a
// direction and one launch for all gates, cells and states; one of few rows (a question) is a
// single launch: each warp makes one unit, its four gates' products with the states included.
// In a tree a row gives its state to the rows that go on from it, which lie together; their
// gradients are added up there.
//
// Of the gradient everything is kept in step order: the gates become the gradients of their
// pre-activations in place, and instead of these, which are four times as wide as a state, the
// inputs are brought into that order.
#include "cuda/lstm.cuh"

enum { THREADS = 128, FEW = 8 };

// The previous row of a row, in step order.
static __device__ __forceinline__ int parent_of(const vd_directions &all, vd_step s, size_t k)
{
    return all.parent ? all.parent[static_cast<size_t>(s.first) + k]
                      : s.previous + static_cast<int>(k);
}

// The rows of the next step that go on from a row, counted from that step's first.
struct vd_children {
    int first, end;
};

static __device__ __forceinline__ vd_children children_of(const vd_directions &all, vd_step s,
                                                          size_t k)
{
    int own = static_cast<int>(k);
    if (!all.child)
        return {own, own < s.next_count ? own + 1 : own};
    const int *child = all.child + s.first + k;
    return {child[0] - s.next_first, child[1] - s.next_first};
}

vd_directions vd_directions_of(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                               int directions)
{
    vd_directions all = vd_directions();
    all.order = pass->packed->rows.order;
    all.parent = pass->packed->rows.parent;
    all.child = pass->packed->rows.child;
    for (int i = 0; i < directions; i++) {
        const vd_lstm_weights *w = pass[i].weights;
        vd_lstm_gradient none = vd_lstm_gradient(), q = gradient ? gradient[i] : none;
        all.d[i] = {pass[i], q, w->b_ih, w->b_hh, vd_matrix_reals(&w->w_hh), q.dc};
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
    s.next_first = packed->offset[step + 1];
    s.cell = s.before = kept_row(pass, step);
    s.cell_before = step > 0 ? kept_row(pass, step - 1) : -1;
    s.next_before = last ? -1 : kept_row(pass, step + 1);
    return s;
}

template <typename F> static __global__ void initial_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(d.hidden);
    F *before = reinterpret_cast<F *>(d.before) + static_cast<size_t>(s.before) * h;
    for (VD_EACH_ROW(k, s.count))
        for (VD_EACH_COLUMN(j, d.hidden))
            before[k * h + j] = vd_to<F>(d.initial[static_cast<size_t>(all.order[k]) * h + j]);
}

// WIDE units of row k; the rows that go on from it get their state.
template <typename F, int WIDE>
static __device__ __forceinline__ void units(const vd_directions &all, const vd_direction &d,
                                             vd_step s, size_t k, int j,
                                             const vd_wide<float, WIDE> pre[4])
{
    size_t h = static_cast<size_t>(d.hidden), row = static_cast<size_t>(s.first) + k;
    vd_wide<float, WIDE> c = {};
    if (s.previous >= 0) {
        size_t from = static_cast<size_t>(s.cell_before + parent_of(all, s, k) - s.previous);
        c = vd_load<WIDE>(d.cell + from * h + j);
    }
    vd_wide<float, WIDE> y = cell_step<F, WIDE>(d, row, j, pre, &c);
    vd_store<WIDE>(d.cell + (static_cast<size_t>(s.cell) + k) * h + j, c);
    vd_store<WIDE>(d.y + static_cast<size_t>(d.map[row]) * d.y_stride + j, y);
    vd_wide<F, WIDE> state;
    for (int n = 0; n < WIDE; n++)
        state.x[n] = vd_to<F>(y.x[n]);
    vd_children next = children_of(all, s, k);
    for (int i = next.first; i < next.end; i++)
        vd_store<WIDE>(reinterpret_cast<F *>(d.before) +
                           static_cast<size_t>(s.next_before + i) * h + j,
                       state);
}

template <typename F, int WIDE>
static __global__ void cell_kernel(vd_directions all, vd_step s, bool multiplied)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(d.hidden);
    for (VD_EACH_ROW(k, s.count)) {
        const float *state = d.step + k * 4 * h;
        for (VD_EACH_COLUMN(vector, d.hidden / WIDE)) {
            int j = vector * WIDE;
            vd_wide<float, WIDE> pre[4];
            inputs_of<WIDE>(d, s, k, j, pre);
            VD_UNROLL
            for (int q = 0; multiplied && q < 4; q++) {
                vd_wide<float, WIDE> of = vd_load<WIDE>(state + q * h + j);
                VD_UNROLL
                for (int n = 0; n < WIDE; n++)
                    pre[q].x[n] += of.x[n];
            }
            units<F, WIDE>(all, d, s, k, j, pre);
        }
    }
}

// How many units a thread makes together: as many as are aligned.
static int units_together(const vd_directions &all, int directions)
{
    bool four = all.d[0].hidden % VD_FOUR == 0 && all.d[0].y_stride % VD_FOUR == 0;
    for (int i = 0; i < directions; i++)
        four &= vd_fits_four(all.d[i].y) && (!all.d[i].dy || vd_fits_four(all.d[i].dy));
    return four ? VD_FOUR : 1;
}

// A lane's part of the products of a unit's four rows of W_hh (w: that of the first gate) with the
// states of `count` rows, WIDE columns at a time.
template <int WIDE, typename F, int ROWS>
static __device__ __forceinline__ void multiply_few(const float *w, const F *before, int count,
                                                    int hidden, int lane, float sum[ROWS][4])
{
    size_t h = static_cast<size_t>(hidden);
    VD_UNROLL_BY(4)
    for (int i = lane * WIDE; i < hidden; i += VD_WARP * WIDE) {
        vd_wide<float, WIDE> of[4];
        VD_UNROLL
        for (int q = 0; q < 4; q++)
            of[q] = vd_load<WIDE>(w + q * h * h + i);
        VD_UNROLL // so that the sums stay in registers
        for (int k = 0; k < ROWS; k++) {
            vd_wide<F, WIDE> x = vd_load<WIDE>(before + (k < count ? k : count - 1) * h + i);
            VD_UNROLL
            for (int q = 0; q < 4; q++) {
                VD_UNROLL
                for (int n = 0; n < WIDE; n++)
                    sum[k][q] += of[q].x[n] * vd_from(x.x[n]);
            }
        }
    }
}

// A warp a unit, for at most ROWS rows: its rows of W_hh are read once. Lane k then ends row k.
template <typename F, int ROWS> static __global__ void few_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(d.hidden);
    const F *before = reinterpret_cast<const F *>(d.before) + static_cast<size_t>(s.before) * h;
    int lane = threadIdx.x % VD_WARP;
    int j = blockIdx.x * (blockDim.x / VD_WARP) + threadIdx.x / VD_WARP;
    if (j >= d.hidden)
        return;
    float sum[ROWS][4] = {};
    if (d.hidden % VD_FOUR == 0)
        multiply_few<VD_FOUR, F, ROWS>(d.w_hh + j * h, before, s.count, d.hidden, lane, sum);
    else
        multiply_few<1, F, ROWS>(d.w_hh + j * h, before, s.count, d.hidden, lane, sum);
    float own[4] = {};
    VD_UNROLL
    for (int k = 0; k < ROWS; k++) {
        VD_UNROLL
        for (int q = 0; q < 4; q++) {
            float of_row = vd_warp_sum(sum[k][q]);
            own[q] = lane == k ? of_row : own[q];
        }
    }
    if (lane >= s.count)
        return;
    vd_wide<float, 1> pre[4];
    inputs_of<1>(d, s, static_cast<size_t>(lane), j, pre);
    for (int q = 0; q < 4; q++)
        pre[q].x[0] += own[q];
    units<F, 1>(all, d, s, static_cast<size_t>(lane), j, pre);
}

template <typename F> static void step_of_few(const vd_directions &all, vd_step s, int directions)
{
    dim3 units(static_cast<unsigned>(vd_ceil(all.d[0].hidden, THREADS / VD_WARP)), 1,
               static_cast<unsigned>(directions));
    if (s.count <= FEW / 2)
        VD_LAUNCH((few_kernel<F, FEW / 2>), units, THREADS, all, s);
    else
        VD_LAUNCH((few_kernel<F, FEW>), units, THREADS, all, s);
}

// ---- forward ------------------------------------------------------------------------------------

// scratch = x W_ih^T of every direction; w_hh: the operands of the steps. False on error.
static bool operands_of(const vd_lstm_pass *pass, int directions, vd_operand *w_hh)
{
    int h = pass->hidden, g = 4 * h, in = pass->in;
    vd_stream *stream = vd_stream_get();
    size_t room =
        vd_operand_room(pass->x_rows, in) +
        static_cast<size_t>(directions) * (vd_operand_room(g, in) + vd_operand_room(g, h));
    unsigned char *at = NULL;
    if (!stream || (room && !(at = static_cast<unsigned char *>(vd_stream_scratch(stream, room)))))
        return false;
    vd_operand x = vd_operand_of(pass->x, pass->x_rows, in, in, &at);
    for (int i = 0; i < directions; i++) {
        vd_operand w = vd_operand_of(vd_matrix_reals(&pass[i].weights->w_ih), g, in, in, &at);
        vd_cuda_multiply(false, true, pass->x_rows, g, in, x, w, 0, pass[i].scratch, g);
        w_hh[i] = vd_operand_of(vd_matrix_reals(&pass[i].weights->w_hh), g, h, h, &at);
    }
    return true;
}

template <typename F> static void run(const vd_lstm_pass *pass, int directions)
{
    const vd_packed *packed = pass->packed;
    int h = pass->hidden, g = 4 * h;
    vd_operand w_hh[VD_MOST_DIRECTIONS];
    if (!operands_of(pass, directions, w_hh))
        return;
    if (vd_lstm_by_sequences(pass)) {
        vd_lstm_sequences(pass, directions);
        return;
    }
    vd_directions all = vd_directions_of(pass, NULL, directions);
    int wide = units_together(all, directions);
    for (int step = 0; step < packed->longest; step++) {
        vd_step s = step_of(pass, step);
        bool multiply = step > 0 || pass->initial;
        if (step == 0 && pass->initial)
            VD_LAUNCH(initial_kernel<F>, vd_row_grid(s.count, h, THREADS, directions), THREADS, all,
                      s);
        if (multiply && s.count <= FEW) {
            step_of_few<F>(all, s, directions);
            continue;
        }
        for (int i = 0; multiply && i < directions; i++) {
            const F *before = reinterpret_cast<const F *>(pass[i].before) +
                              static_cast<size_t>(s.before) * static_cast<size_t>(h);
            vd_cuda_multiply(false, true, s.count, g, h, vd_operand_at(before, h), w_hh[i], 0,
                             pass[i].step, g);
        }
        dim3 rows = vd_row_grid(s.count, h / wide, THREADS, directions);
        if (wide == VD_FOUR)
            VD_LAUNCH((cell_kernel<F, VD_FOUR>), rows, THREADS, all, s, multiply);
        else
            VD_LAUNCH((cell_kernel<F, 1>), rows, THREADS, all, s, multiply);
    }
}

static void lstm(const vd_lstm_pass *pass, int directions)
{
    if (pass->packed->tokens == 0)
        return;
    if (vd_operands_are_narrow())
        run<__nv_bfloat16>(pass, directions);
    else
        run<float>(pass, directions);
}

// ---- backward -----------------------------------------------------------------------------------
// Sum of the numbers at `j` of the rows that go on from row k.
template <int WIDE>
static __device__ __forceinline__ vd_wide<float, WIDE> sum_children(const float *x, size_t h, int j,
                                                                    vd_children of)
{
    vd_wide<float, WIDE> sum = {};
    VD_UNROLL_BY(4)
    for (int i = of.first; i < of.end; i++) {
        vd_wide<float, WIDE> add = vd_load<WIDE>(x + static_cast<size_t>(i) * h + j);
        VD_UNROLL
        for (int n = 0; n < WIDE; n++)
            sum.x[n] += add.x[n];
    }
    return sum;
}

template <typename F, int WIDE>
static __global__ void cell_backward_kernel(vd_directions all, vd_step s)
{
    const vd_direction &d = all.d[blockIdx.z];
    size_t h = static_cast<size_t>(d.hidden);
    for (VD_EACH_ROW(k, s.count)) {
        size_t from = s.previous >= 0 ? static_cast<size_t>(parent_of(all, s, k)) : 0;
        vd_children next = children_of(all, s, k);
        for (VD_EACH_COLUMN(vector, d.hidden / WIDE)) {
            int j = vector * WIDE;
            vd_wide<float, WIDE> before = {}, dh, dc;
            if (s.previous >= 0)
                before = vd_load<WIDE>(d.cell + from * h + j);
            if (all.child) {
                dh = sum_children<WIDE>(d.dh, h, j, next);
                dc = sum_children<WIDE>(d.dc, h, j, next);
            } else {
                dh = vd_load<WIDE>(d.dh + k * h + j);
                dc = vd_load<WIDE>(d.dc + k * h + j);
            }
            cell_step_backward<F, WIDE>(d, static_cast<size_t>(s.first) + k, j, before, dh, &dc);
            vd_store<WIDE>(d.to_dc + k * h + j, dc);
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

// In a tree, which has one direction, the cells' gradients of a step and of the rows that go on
// from it alternate between two halves.
static void turn_halves(const vd_lstm_pass *pass, int step, const vd_lstm_gradient *q,
                        vd_directions *all)
{
    size_t half = static_cast<size_t>(pass->packed->widest) * static_cast<size_t>(pass->hidden);
    all->d[0].dc = q->dc + (step % 2 ? 0 : half);
    all->d[0].to_dc = q->dc + (step % 2 ? half : 0);
}

enum { MANY_CHILDREN = 8 };

// Where many rows go on from a step's only one, many blocks add up their gradients: that row's own.
static vd_directions sum_of_all(const vd_lstm_pass *pass, vd_step s, const vd_lstm_gradient *q,
                                const vd_directions &all)
{
    vd_directions own = all;
    int h = pass->hidden;
    float *sum = q->dh + static_cast<size_t>(pass->packed->widest) * static_cast<size_t>(h);
    vd_cuda_zero(sum, 2 * static_cast<size_t>(h) * sizeof *sum);
    vd_cuda_sum_columns(q->dh, s.next_count, h, sum, NULL);
    vd_cuda_sum_columns(all.d[0].dc, s.next_count, h, sum + h, NULL);
    own.child = NULL;
    own.d[0].dh = sum;
    own.d[0].dc = sum + h;
    return own;
}

template <typename F>
static void step_backward(const vd_lstm_pass *pass, vd_step s, const vd_lstm_gradient *gradient,
                          const vd_directions &all, int directions)
{
    int wide = units_together(all, directions);
    dim3 rows = vd_row_grid(s.count, pass->hidden / wide, THREADS, directions);
    bool alone = all.child && s.count == 1 && s.next_count > MANY_CHILDREN;
    const vd_directions from = alone ? sum_of_all(pass, s, gradient, all) : all;
    if (wide == VD_FOUR)
        VD_LAUNCH((cell_backward_kernel<F, VD_FOUR>), rows, THREADS, from, s);
    else
        VD_LAUNCH((cell_backward_kernel<F, 1>), rows, THREADS, from, s);
}

template <typename F>
static void steps_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                           const vd_operand *w_hh, int directions)
{
    const vd_packed *packed = pass->packed;
    vd_directions all = vd_directions_of(pass, gradient, directions);
    int h = pass->hidden, g = 4 * h;
    size_t bytes = static_cast<size_t>(packed->sequences) * static_cast<size_t>(h) * sizeof(float);
    for (int i = 0; i < directions && !packed->parent; i++) {
        vd_cuda_zero(gradient[i].dh, bytes);
        vd_cuda_zero(gradient[i].dc, bytes);
    }
    for (int step = packed->longest - 1; step >= 0; step--) {
        vd_step s = step_of(pass, step);
        if (packed->parent)
            turn_halves(pass, step, gradient, &all);
        step_backward<F>(pass, s, gradient, all, directions);
        for (int i = 0; i < directions; i++)
            if (step > 0 || gradient[i].dinitial) {
                const F *gate = reinterpret_cast<const F *>(pass[i].gate) +
                                static_cast<size_t>(s.first) * static_cast<size_t>(g);
                vd_cuda_multiply(false, false, s.count, h, g, vd_operand_at(gate, g), w_hh[i], 0,
                                 gradient[i].dh, h);
            }
    }
    for (int i = 0; i < directions; i++)
        if (gradient[i].dinitial)
            initial_backward(all.order, gradient[i].dh, gradient[i].dinitial, h, packed->sequences);
}

// ---- inputs -------------------------------------------------------------------------------------

static __device__ __forceinline__ size_t input_row(const int *map, const int *x_row, size_t row)
{
    return static_cast<size_t>(x_row ? x_row[map[row]] : map[row]);
}

// One direction's weights, biases and inputs. x_step (T, in) and dx_step (T, in): room.
template <typename F>
static void inputs_backward(const vd_lstm_pass *p, const vd_lstm_gradient *q, vd_operand w_ih,
                            F *x_step, float *dx_step)
{
    const vd_packed *packed = p->packed;
    int h = p->hidden, g = 4 * h, in = p->in, tokens = packed->tokens, ld = vd_operand_ld<F>(in);
    // The first rows have no previous state where there is no initial state.
    int first = p->initial ? 0 : packed->active[0];
    const F *gate = reinterpret_cast<const F *>(p->gate);
    const F *before = reinterpret_cast<const F *>(p->before);
    if (tokens > first)
        vd_cuda_multiply(true, false, g, h, tokens - first,
                         vd_operand_at(gate + static_cast<size_t>(first) * g, g),
                         vd_operand_at(before + static_cast<size_t>(first) * h, h), 1,
                         vd_matrix_reals(&q->weights->w_hh), h);
    const float *x = p->x;
    const int *map = p->map, *x_row = p->x_row;
    vd_for_rows("an input in step order", tokens, in, [=] __device__(size_t r) {
        const float *from = x + input_row(map, x_row, r) * in;
        for (VD_EACH_COLUMN(j, in))
            x_step[r * ld + j] = vd_to<F>(from[j]);
    });
    vd_cuda_multiply(true, false, g, in, tokens, vd_operand_at(gate, g), vd_operand_at(x_step, ld),
                     1, vd_matrix_reals(&q->weights->w_ih), in);
    vd_cuda_sum_columns(gate, tokens, g, q->weights->b_ih, q->weights->b_hh);
    if (!q->dx)
        return;
    vd_cuda_multiply(false, false, tokens, in, g, vd_operand_at(gate, g), w_ih, 0, dx_step, in);
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
        (tokens * static_cast<size_t>(vd_operand_ld<F>(in)) * sizeof(F) + 255) / 256 * 256;
    size_t dx_bytes = tokens * static_cast<size_t>(in) * sizeof(float);
    size_t weights = vd_operand_room(g, in) + vd_operand_room(g, h);
    vd_stream *stream = vd_stream_get();
    dx_bytes = (dx_bytes + 255) / 256 * 256;
    unsigned char *at =
        stream ? static_cast<unsigned char *>(vd_stream_scratch(
                     stream, x_bytes + dx_bytes + static_cast<size_t>(directions) * weights))
               : NULL;
    if (!at)
        return;
    F *x_step = reinterpret_cast<F *>(at);
    float *dx_step = reinterpret_cast<float *>(at + x_bytes);
    vd_operand w_ih[VD_MOST_DIRECTIONS], w_hh[VD_MOST_DIRECTIONS];
    at += x_bytes + dx_bytes;
    for (int i = 0; i < directions; i++) {
        w_ih[i] = vd_operand_of(vd_matrix_reals(&pass[i].weights->w_ih), g, in, in, &at);
        w_hh[i] = vd_operand_of(vd_matrix_reals(&pass[i].weights->w_hh), g, h, h, &at);
    }
    if (vd_lstm_by_sequences(pass))
        vd_lstm_sequences_backward(pass, gradient, directions);
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
    if (vd_operands_are_narrow())
        run_backward<__nv_bfloat16>(pass, gradient, directions);
    else
        run_backward<float>(pass, gradient, directions);
}

void vd_cuda_lstm(vd_backend *table)
{
    table->lstm = lstm;
    table->lstm_backward = lstm_backward;
}
