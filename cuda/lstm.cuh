// What both ways of running an LSTM share: step by step (lstm.cu) and sequence by sequence
// (lstm_sequences.cu); the arithmetic of one unit.
//
// F is the type that operands of matrix products are kept in, at the precision set: float, or
// bfloat16 (the states that rows go on from, the gates and their gradients). Sums and cells are
// always float.
#ifndef VD_LSTM_CUH
#define VD_LSTM_CUH

#include "cuda/device.cuh"

enum { VD_MOST_DIRECTIONS = 2 };

// A direction by value, as kernels get it. dh, dc: of the next step's rows, in a tree; else of
// these rows. The inputs' products are in `scratch`.
struct vd_direction : vd_lstm_pass, vd_lstm_gradient {
    const float *b_ih, *b_hh, *w_hh;
    float *to_dc; // of the step before
};

struct vd_directions {
    vd_direction d[VD_MOST_DIRECTIONS];
    const int *order;
    const int *parent; // step order; NULL = row k follows row k of the step before
    const int *child;  // of a tree: the first row that goes on from a row or a later one
};

// A step: its rows, where they begin in step order, and where they begin in what is kept of
// the cells and of the states that rows go on from. Where there is no step before or next: -1, and
// next_first the number of rows.
struct vd_step {
    int count, first, previous, next_count, next_first;
    int cell, cell_before, before, next_before;
};

vd_directions vd_directions_of(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                               int directions);
// Whether a pass is made sequence by sequence, and how.
bool vd_lstm_by_sequences(const vd_lstm_pass *pass);
void vd_lstm_sequences(const vd_lstm_pass *pass, int directions);
void vd_lstm_sequences_backward(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                                int directions);

// What the input and the biases give the four gates of WIDE units of row k.
template <int WIDE>
static __device__ __forceinline__ void inputs_of(const vd_direction &d, vd_step s, size_t k, int j,
                                                 vd_wide<float, WIDE> pre[4])
{
    size_t h = static_cast<size_t>(d.hidden);
    int flat = d.map[static_cast<size_t>(s.first) + k];
    const float *in = d.scratch + static_cast<size_t>(d.x_row ? d.x_row[flat] : flat) * 4 * h + j;
    VD_UNROLL
    for (int q = 0; q < 4; q++) {
        pre[q] = vd_load<WIDE>(in + q * h);
        vd_wide<float, WIDE> b_ih = vd_load<WIDE>(d.b_ih + q * h + j),
                             b_hh = vd_load<WIDE>(d.b_hh + q * h + j);
        VD_UNROLL
        for (int n = 0; n < WIDE; n++)
            pre[q].x[n] += b_ih.x[n] + b_hh.x[n];
    }
}

// The states of WIDE units of a row in step order, from their gates' pre-activations; their cells
// are brought forward.
template <typename F, int WIDE>
static __device__ __forceinline__ vd_wide<float, WIDE>
cell_step(const vd_direction &d, size_t row, int j, const vd_wide<float, WIDE> pre[4],
          vd_wide<float, WIDE> *c)
{
    size_t h = static_cast<size_t>(d.hidden);
    vd_wide<float, WIDE> y;
    vd_wide<F, WIDE> gate[4];
    VD_UNROLL
    for (int n = 0; n < WIDE; n++) {
        float i = vd_sigmoidf(pre[0].x[n]), f = vd_sigmoidf(pre[1].x[n]), g = tanhf(pre[2].x[n]),
              o = vd_sigmoidf(pre[3].x[n]);
        gate[0].x[n] = vd_to<F>(i);
        gate[1].x[n] = vd_to<F>(f);
        gate[2].x[n] = vd_to<F>(g);
        gate[3].x[n] = vd_to<F>(o);
        c->x[n] = i * g + f * c->x[n];
        y.x[n] = o * tanhf(c->x[n]);
    }
    VD_UNROLL
    for (int q = 0; d.keep && q < 4; q++)
        vd_store<WIDE>(reinterpret_cast<F *>(d.gate) + (row * 4 + q) * h + j, gate[q]);
    return y;
}

// Of WIDE units of a row in step order: gate becomes the gradient of the pre-activations, dc that
// of the cells one step earlier, which were `before`.
template <typename F, int WIDE>
static __device__ __forceinline__ void
cell_step_backward(const vd_direction &d, size_t row, int j, const vd_wide<float, WIDE> &before,
                   const vd_wide<float, WIDE> &dh, vd_wide<float, WIDE> *dc)
{
    size_t h = static_cast<size_t>(d.hidden);
    F *at = reinterpret_cast<F *>(d.gate) + row * 4 * h + j;
    vd_wide<F, WIDE> gate[4];
    VD_UNROLL
    for (int q = 0; q < 4; q++)
        gate[q] = vd_load<WIDE>(at + q * h);
    vd_wide<float, WIDE> cell = vd_load<WIDE>(d.cell + row * h + j),
                         dy =
                             vd_load<WIDE>(d.dy + static_cast<size_t>(d.map[row]) * d.y_stride + j);
    VD_UNROLL
    for (int n = 0; n < WIDE; n++) {
        float i = vd_from(gate[0].x[n]), f = vd_from(gate[1].x[n]), g = vd_from(gate[2].x[n]),
              o = vd_from(gate[3].x[n]);
        float t = tanhf(cell.x[n]), dstate = dh.x[n] + dy.x[n];
        float dcell = dc->x[n] + dstate * o * (1 - t * t);
        gate[0].x[n] = vd_to<F>(dcell * g * i * (1 - i));
        gate[1].x[n] = vd_to<F>(dcell * before.x[n] * f * (1 - f));
        gate[2].x[n] = vd_to<F>(dcell * i * (1 - g * g));
        gate[3].x[n] = vd_to<F>(dstate * t * o * (1 - o));
        dc->x[n] = dcell * f;
    }
    VD_UNROLL
    for (int q = 0; q < 4; q++)
        vd_store<WIDE>(at + q * h, gate[q]);
}

#endif
