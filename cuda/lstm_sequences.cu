// Small LSTMs over chains, sequence by sequence.
//
// A step of a small network takes less time than its launches. No row of a step needs another, so a
// block makes all steps of a few rows: thread (q, j) keeps in registers what gate q of unit j is
// multiplied with, of all rows, and brings unit j of row q forward.
#include "cuda/lstm.cuh"

enum { TOGETHER = 4 }; // rows of a block, where there are many

template <int H, int ROWS>
static __global__ void __launch_bounds__(4 * H)
    sequences_kernel(vd_directions all, const int *active, const int *offset, int longest)
{
    __shared__ float state[ROWS][H], product[ROWS][4 * H];
    const vd_direction &d = all.d[blockIdx.z];
    int h = d.hidden, q = threadIdx.x / H, j = threadIdx.x % H;
    size_t first = static_cast<size_t>(blockIdx.x) * ROWS, k = first + q;
    bool whole = q < ROWS && j < h;
    float w[H];
    vd_wide<float, 1> c = {};
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
        vd_wide<float, 1> pre[4];
        if (mine)
            inputs_of<1>(d, s, k, j, pre);
        if (mine && d.keep && (step > 0 || d.initial))
            d.before[row * h + j] = state[q][j];
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
                pre[g].x[0] += product[q][g * H + j];
            float y = cell_step<float, 1>(d, row, j, pre, &c).x[0];
            if (d.keep)
                d.cell[row * h + j] = c.x[0];
            d.y[static_cast<size_t>(d.map[row]) * d.y_stride + j] = y;
            state[q][j] = y;
        }
        __syncthreads();
    }
}

// Whether a pass is made so, in float alone: not of trees, whose rows share states.
bool vd_lstm_by_sequences(const vd_lstm_pass *pass)
{
    return !vd_operands_are_narrow() && !pass->packed->parent && pass->hidden <= 96;
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

void vd_lstm_sequences(const vd_lstm_pass *pass, int directions)
{
    vd_directions all = vd_directions_of(pass, NULL, directions);
    const vd_packed *p = pass->packed;
#define FORWARD(H, ROWS)                                                                           \
    VD_LAUNCH((sequences_kernel<H, ROWS>), whole_grid(p->active[0], ROWS, directions), 4 * (H),    \
              all, p->rows.active, p->rows.offset, p->longest)
    VD_WHOLE(FORWARD, pass, directions);
#undef FORWARD
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
    int h = d.hidden, q = threadIdx.x / H, j = threadIdx.x % H;
    size_t first = static_cast<size_t>(blockIdx.x) * ROWS, k = first + q;
    float w[H];
    vd_wide<float, 1> dh = {}, dc = {};
    VD_UNROLL
    for (int i = 0; i < H; i++)
        w[i] = j < h && i < h ? d.w_hh[(static_cast<size_t>(q) * h + i) * h + j] : 0;
    for (int step = longest - 1; step >= 0; step--) {
        if (first >= static_cast<size_t>(active[step]))
            continue;
        bool mine = q < ROWS && j < h && k < static_cast<size_t>(active[step]);
        size_t row = static_cast<size_t>(offset[step]) + k;
        if (mine) {
            vd_wide<float, 1> before = {};
            if (step > 0)
                before = vd_load<1>(d.cell + (static_cast<size_t>(offset[step - 1]) + k) * h + j);
            cell_step_backward<float, 1>(d, row, j, before, dh, &dc);
        }
        for (int g = 0; q < ROWS && g < 4; g++)
            gradient[q][g * H + j] = mine ? d.gate[(row * 4 + g) * h + j] : 0;
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
        dh.x[0] = 0;
        for (int g = 0; q < ROWS && g < 4; g++)
            dh.x[0] += product[q][g * H + j];
    }
    if (d.dinitial && q < ROWS && j < h && k < static_cast<size_t>(sequences))
        d.dinitial[static_cast<size_t>(all.order[k]) * h + j] = dh.x[0];
}

void vd_lstm_sequences_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                                int directions)
{
    const vd_packed *p = pass->packed;
    vd_directions all = vd_directions_of(pass, gradient, directions);
#define BACKWARD(H, ROWS)                                                                          \
    VD_LAUNCH((sequences_backward_kernel<H, ROWS>), whole_grid(p->sequences, ROWS, directions),    \
              4 * (H), all, p->rows.active, p->rows.offset, p->longest, p->sequences)
    VD_WHOLE(BACKWARD, pass, directions);
#undef BACKWARD
}
