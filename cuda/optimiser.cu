// Optimiser steps (engine/backend/cpu/optimiser.c), and the sum of squares.
#include "cuda/device.cuh"

#include <algorithm>

enum { THREADS = 256, WARPS = THREADS / VD_WARP, PIECES = 512 };

static __global__ void adam_kernel(float *w, const float *g, float *m, float *v, float scale,
                                   float step_size, float correction, size_t n)
{
    const float b1 = 0.9f, b2 = 0.999f, eps = 1e-8f;
    for (VD_EACH(i, n)) {
        float d = g[i] * scale;
        float first = b1 * m[i] + (1 - b1) * d, second = b2 * v[i] + (1 - b2) * d * d;
        m[i] = first;
        v[i] = second;
        w[i] -= step_size * first / (sqrtf(second) * correction + eps);
    }
}

static void adam(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale,
                 double rate, int64_t step)
{
    double c1 = 1 - pow(0.9, static_cast<double>(step)),
           c2 = 1 - pow(0.999, static_cast<double>(step));
    VD_LAUNCH(adam_kernel, vd_blocks(n, THREADS), THREADS, w, g, m, v, scale,
              static_cast<float>(rate / c1), static_cast<float>(1 / sqrt(c2)), n);
}

static __global__ void rmsprop_kernel(float *w, const float *g, float *v, float scale, float rate,
                                      size_t n)
{
    const float alpha = 0.99f, eps = 1e-8f;
    for (VD_EACH(i, n)) {
        float d = g[i] * scale, second = alpha * v[i] + (1 - alpha) * d * d;
        v[i] = second;
        w[i] -= rate * d / (sqrtf(second) + eps);
    }
}

static void rmsprop(vd_real *w, const vd_real *g, vd_real *v, size_t n, vd_real scale, double rate)
{
    VD_LAUNCH(rmsprop_kernel, vd_blocks(n, THREADS), THREADS, w, g, v, scale,
              static_cast<float>(rate), n);
}

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

void vd_cuda_optimiser(vd_backend *table)
{
    table->adam = adam;
    table->rmsprop = rmsprop;
    table->square_sum = square_sum;
}
