// What lstm.cu and lstm_backward.cu share.
//
// F is what factors of matrix products are kept as, at the precision set: float, or bfloat16 (the
// states that rows go on from, the gates and their gradients). Sums and cells are always float.
#ifndef VD_CUDA_LSTM_CUH
#define VD_CUDA_LSTM_CUH

#include "cuda/device.cuh"

enum { VD_LSTM_THREADS = 128, VD_MOST_DIRECTIONS = 2 };

// What kernels need of a direction.
struct vd_direction {
    const int *map;
    const float *b_ih, *b_hh, *w_hh;
    const float *initial, *input, *step;
    float *y, *cell;
    void *gate, *before;
    const float *dy;
    float *dh, *dc;
};

struct vd_directions {
    vd_direction d[VD_MOST_DIRECTIONS];
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

vd_directions vd_directions_of(const vd_lstm_pass *pass, const vd_lstm_gradient *gradient,
                               int directions);
vd_step vd_step_of(const vd_lstm_pass *pass, int step);

// The previous row of a row, in step order.
static __device__ __forceinline__ int vd_parent_of(const vd_directions &all, vd_step s, size_t k)
{
    return all.parent ? all.parent[static_cast<size_t>(s.first) + k]
                      : s.previous + static_cast<int>(k);
}

void vd_cuda_lstm_backward(vd_backend *table);

#endif
