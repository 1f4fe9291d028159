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
    vd_for_numbers(__func__, n, y, dy, dy,
                   [=] __device__(size_t, float of, float d) { return of > 0 ? d : 0; });
}

static void dropout(const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key)
{
    vd_dropout drop = vd_dropout_make(rate, key);
    vd_for_numbers(__func__, n, x, x, y, [=] __device__(size_t i, float of, float) {
        float factor = vd_dropout_factor(drop, static_cast<uint32_t>(i));
        return factor != 0 ? of * factor : 0;
    });
}

// ---- the optimiser ------------------------------------------------------------------------------

// f(&w[i], g[i], &m[i], &v[i]) for 0 <= i < n.
template <typename F>
static __global__ void moments_kernel(size_t n, float *w, const float *g, float *m, float *v, F f)
{
    bool four = vd_fits_four(w) && vd_fits_four(g) && vd_fits_four(m) && vd_fits_four(v);
    size_t fours = four ? n / VD_FOUR : 0;
    for (VD_EACH(i, fours)) {
        size_t at = VD_FOUR * i;
        vd_wide<float, VD_FOUR> weight = vd_load<VD_FOUR>(w + at), slope = vd_load<VD_FOUR>(g + at),
                                first = vd_load<VD_FOUR>(m + at), second = vd_load<VD_FOUR>(v + at);
        VD_UNROLL
        for (int k = 0; k < VD_FOUR; k++)
            f(&weight.x[k], slope.x[k], &first.x[k], &second.x[k]);
        vd_store<VD_FOUR>(w + at, weight);
        vd_store<VD_FOUR>(m + at, first);
        vd_store<VD_FOUR>(v + at, second);
    }
    for (VD_EACH(i, n - VD_FOUR * fours)) {
        size_t at = VD_FOUR * fours + i;
        f(w + at, g[at], m + at, v + at);
    }
}

template <typename F>
static void for_moments(const char *name, size_t n, float *w, const float *g, float *m, float *v,
                        F f)
{
    VD_LAUNCH_AS(name, moments_kernel<F>, vd_blocks((n + VD_FOUR - 1) / VD_FOUR, VD_EACH_THREADS),
                 VD_EACH_THREADS, n, w, g, m, v, f);
}

static void adam(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale,
                 double rate, const vd_moments *o, int64_t step)
{
    float step_size = vd_adam_step_size(rate, o->first, step);
    float correction = vd_adam_correction(o->second, step);
    float b1 = static_cast<float>(o->first), b2 = static_cast<float>(o->second);
    float epsilon = static_cast<float>(o->epsilon);
    for_moments(__func__, n, w, g, m, v, [=] __device__(float *x, float d, float *p, float *q) {
        vd_adam_weight(x, d * scale, p, q, step_size, correction, b1, b2, epsilon);
    });
}

static void adamax(vd_real *w, const vd_real *g, vd_real *m, vd_real *u, size_t n, vd_real scale,
                   double rate, const vd_moments *o, int64_t step)
{
    float step_size = vd_adam_step_size(rate, o->first, step);
    float b1 = static_cast<float>(o->first), b2 = static_cast<float>(o->second);
    float epsilon = static_cast<float>(o->epsilon);
    for_moments(__func__, n, w, g, m, u, [=] __device__(float *x, float d, float *p, float *q) {
        vd_adamax_weight(x, d * scale, p, q, step_size, b1, b2, epsilon);
    });
}

static void rmsprop(vd_real *w, const vd_real *g, vd_real *v, size_t n, vd_real scale, double rate)
{
    float factor = static_cast<float>(rate);
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        vd_rmsprop_weight(w + i, g[i] * scale, v + i, factor);
    });
}

enum { THREADS = 256, WARPS = THREADS / VD_WARP, BLOCKS = 512 };

static __global__ void square_kernel(const float *x, double *sums, size_t n)
{
    __shared__ double room[WARPS];
    double sum = 0;
    size_t fours = vd_fits_four(x) ? n / VD_FOUR : 0;
    for (VD_EACH(i, fours)) {
        vd_wide<float, VD_FOUR> of = vd_load<VD_FOUR>(x + VD_FOUR * i);
        for (int k = 0; k < VD_FOUR; k++)
            sum += static_cast<double>(of.x[k]) * static_cast<double>(of.x[k]);
    }
    for (VD_EACH(i, n - VD_FOUR * fours)) {
        double of = static_cast<double>(x[VD_FOUR * fours + i]);
        sum += of * of;
    }
    sum = vd_block_sum(sum, room);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

// Sums of BLOCKS blocks, added on the host in their order: the same result every time.
static double square_sum(const vd_real *x, size_t n)
{
    double sums[BLOCKS] = {0}, sum = 0;
    unsigned blocks = std::min(vd_blocks(n, THREADS), static_cast<unsigned>(BLOCKS));
    vd_stream *stream = vd_stream_get();
    double *there = stream ? static_cast<double *>(vd_stream_scratch(stream, sizeof sums)) : NULL;
    if (!there)
        return 0;
    VD_LAUNCH(square_kernel, blocks, THREADS, x, there, n);
    vd_stream_download(stream, sums, there, blocks * sizeof *sums);
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
    table->dropout = dropout;
    table->adam = adam;
    table->rmsprop = rmsprop;
    table->adamax = adamax;
    table->square_sum = square_sum;
}
