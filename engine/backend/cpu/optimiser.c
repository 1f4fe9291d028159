// Optimiser steps. scale multiplies the gradient first (clipping, averaging).
#include "engine/backend/cpu/cpu.h"

#include <math.h>

#include "engine/base/threads.h"

typedef struct update_job {
    vd_real *w, *m, *v;
    const vd_real *g;
    vd_real scale, rate, correction, b1, b2, epsilon;
} update_job;

// The step of Adam or AdaMax with the moments m and v.
static update_job job_of(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, vd_real scale,
                         double rate, const vd_moments *o, int64_t step)
{
    return (update_job){w,
                        m,
                        v,
                        g,
                        scale,
                        vd_adam_step_size(rate, o->first, step),
                        vd_adam_correction(o->second, step),
                        (vd_real)o->first,
                        (vd_real)o->second,
                        (vd_real)o->epsilon};
}

VD_TARGET_CLONES static void adam_range(void *data, size_t from, size_t to)
{
    const update_job j = *(const update_job *)data;
    for (size_t i = from; i < to; i++)
        vd_adam_weight(j.w + i, j.g[i] * j.scale, j.m + i, j.v + i, j.rate, j.correction, j.b1,
                       j.b2, j.epsilon);
}

static void adam(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale,
                 double rate, const vd_moments *o, int64_t step)
{
    update_job job = job_of(w, g, m, v, scale, rate, o, step);
    vd_threads_ranges(n, 1, adam_range, &job);
}

VD_TARGET_CLONES static void adamax_range(void *data, size_t from, size_t to)
{
    const update_job j = *(const update_job *)data;
    for (size_t i = from; i < to; i++)
        vd_adamax_weight(j.w + i, j.g[i] * j.scale, j.m + i, j.v + i, j.rate, j.b1, j.b2,
                         j.epsilon);
}

static void adamax(vd_real *w, const vd_real *g, vd_real *m, vd_real *u, size_t n, vd_real scale,
                   double rate, const vd_moments *o, int64_t step)
{
    update_job job = job_of(w, g, m, u, scale, rate, o, step);
    vd_threads_ranges(n, 1, adamax_range, &job);
}

VD_TARGET_CLONES static void rmsprop_range(void *data, size_t from, size_t to)
{
    const update_job j = *(const update_job *)data;
    for (size_t i = from; i < to; i++)
        vd_rmsprop_weight(j.w + i, j.g[i] * j.scale, j.v + i, j.rate);
}

static void rmsprop(vd_real *w, const vd_real *g, vd_real *v, size_t n, vd_real scale, double rate)
{
    update_job job = {.w = w, .v = v, .g = g, .scale = scale, .rate = (vd_real)rate};
    vd_threads_ranges(n, 1, rmsprop_range, &job);
}

// As many sums side by side as a vector has numbers. Of parts of x: so the sum of many small
// squares keeps its digits.
VD_TARGET_CLONES static double squares(const vd_real *x, size_t n)
{
    enum { LANES = 16 };
    double sum[LANES] = {0}, total = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sum[k] += (double)x[i + k] * (double)x[i + k];
    for (; i < n; i++)
        total += (double)x[i] * (double)x[i];
    for (size_t k = 0; k < LANES; k++)
        total += sum[k];
    return total;
}

enum { SQUARE_SUMS = 64 };

typedef struct square_job {
    const vd_real *x;
    size_t n;
    double sum[SQUARE_SUMS];
} square_job;

static void square_range(void *data, size_t from, size_t to)
{
    square_job *j = data;
    for (size_t i = from; i < to; i++) {
        size_t first = j->n * i / SQUARE_SUMS, last = j->n * (i + 1) / SQUARE_SUMS;
        j->sum[i] = squares(j->x + first, last - first);
    }
}

static double square_sum(const vd_real *x, size_t n)
{
    square_job job = {.x = x, .n = n};
    double total = 0;
    vd_threads_ranges(SQUARE_SUMS, (double)n / SQUARE_SUMS * 0.3, square_range, &job);
    for (int i = 0; i < SQUARE_SUMS; i++)
        total += job.sum[i];
    return total;
}

void vd_cpu_optimiser(vd_backend *table)
{
    table->adam = adam;
    table->rmsprop = rmsprop;
    table->adamax = adamax;
    table->square_sum = square_sum;
}
