// What happens element by element: activations, gates, dropout, optimiser steps.
#include "cuda/device.cuh"

#include <algorithm>

static void gated(vd_gate gate, vd_real *pre, vd_real *y, int rows, int hidden)
{
    vd_for_rows(__func__, rows, hidden, [=] __device__(size_t r) {
        float *row = pre + r * 2 * hidden;
        for (VD_EACH_COLUMN(j, hidden)) {
            float t = tanhf(row[j]), g = row[hidden + j];
            if (gate == VD_GATE_LEAKY_RELU)
                g = g > 0 ? g : VD_LEAKY_SLOPE * g;
            else if (gate == VD_GATE_SIGMOID)
                g = vd_sigmoidf(g);
            else
                g = g > 0 ? g : expm1f(g);
            row[j] = t;
            row[hidden + j] = g;
            y[r * hidden + j] = t * g;
        }
    });
}

static void gated_backward(vd_gate gate, vd_real *saved, const vd_real *dy, int rows, int hidden)
{
    vd_for_rows(__func__, rows, hidden, [=] __device__(size_t r) {
        float *row = saved + r * 2 * hidden;
        for (VD_EACH_COLUMN(j, hidden)) {
            float t = row[j], g = row[hidden + j], d = dy[r * hidden + j];
            row[j] = d * g * (1 - t * t);
            row[hidden + j] = d * t * vd_gate_slope(gate, g);
        }
    });
}

static void sigmoid_gate(vd_real *pre, const vd_real *x, vd_real *y, size_t n)
{
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        float g = vd_sigmoidf(pre[i]);
        pre[i] = g;
        y[i] = g * x[i];
    });
}

static void sigmoid_gate_backward(vd_real *saved, const vd_real *x, const vd_real *dy, vd_real *dx,
                                  size_t n)
{
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        float g = saved[i];
        dx[i] += dy[i] * g;
        saved[i] = dy[i] * x[i] * g * (1 - g);
    });
}

static void relu_backward(const vd_real *y, vd_real *dy, size_t n)
{
    vd_for_each(__func__, n, [=] __device__(size_t i) { dy[i] = y[i] > 0 ? dy[i] : 0; });
}

static void add(vd_real *x, const vd_real *y, size_t n)
{
    vd_for_each(__func__, n, [=] __device__(size_t i) { x[i] += y[i]; });
}

static void dropout(const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key)
{
    vd_drop drop = vd_drop_make(rate, key);
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        float factor = vd_drop_factor(drop, static_cast<uint32_t>(i));
        y[i] = factor != 0 ? x[i] * factor : 0;
    });
}

// ---- the optimiser ------------------------------------------------------------------------------

static void adam(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale,
                 double rate, const vd_moments *o, int64_t step)
{
    float step_size = vd_adam_step_size(rate, o->first, step);
    float correction = vd_adam_correction(o->second, step);
    float b1 = static_cast<float>(o->first), b2 = static_cast<float>(o->second);
    float epsilon = static_cast<float>(o->epsilon);
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        vd_adam_weight(w + i, g[i] * scale, m + i, v + i, step_size, correction, b1, b2, epsilon);
    });
}

static void adamax(vd_real *w, const vd_real *g, vd_real *m, vd_real *u, size_t n, vd_real scale,
                   double rate, const vd_moments *o, int64_t step)
{
    float step_size = vd_adam_step_size(rate, o->first, step);
    float b1 = static_cast<float>(o->first), b2 = static_cast<float>(o->second);
    float epsilon = static_cast<float>(o->epsilon);
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        vd_adamax_weight(w + i, g[i] * scale, m + i, u + i, step_size, b1, b2, epsilon);
    });
}

static void rmsprop(vd_real *w, const vd_real *g, vd_real *v, size_t n, vd_real scale, double rate)
{
    float factor = static_cast<float>(rate);
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        vd_rmsprop_weight(w + i, g[i] * scale, v + i, factor);
    });
}

enum { THREADS = 256, WARPS = THREADS / VD_WARP, PIECES = 512 };

static __global__ void square_kernel(const float *x, double *sums, size_t n)
{
    __shared__ double room[WARPS];
    double sum = 0;
    for (VD_EACH(i, n))
        sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    sum = vd_block_sum(sum, room);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

// Sums of PIECES blocks, added on the host in their order: the same result every time.
static double square_sum(const vd_real *x, size_t n)
{
    double sums[PIECES] = {0}, sum = 0;
    unsigned blocks = std::min(vd_blocks(n, THREADS), static_cast<unsigned>(PIECES));
    vd_lane *lane = vd_lane_get();
    double *there = lane ? static_cast<double *>(vd_lane_scratch(lane, sizeof sums)) : NULL;
    if (!there)
        return 0;
    VD_LAUNCH(square_kernel, blocks, THREADS, x, there, n);
    vd_lane_download(lane, sums, there, blocks * sizeof *sums);
    for (unsigned i = 0; i < blocks; i++)
        sum += sums[i];
    return sum;
}

void vd_cuda_pointwise(vd_backend *table)
{
    table->gated = gated;
    table->gated_backward = gated_backward;
    table->sigmoid_gate = sigmoid_gate;
    table->sigmoid_gate_backward = sigmoid_gate_backward;
    table->relu_backward = relu_backward;
    table->add = add;
    table->dropout = dropout;
    table->adam = adam;
    table->rmsprop = rmsprop;
    table->adamax = adamax;
    table->square_sum = square_sum;
}
