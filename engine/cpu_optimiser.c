// Optimiser steps. scale multiplies the gradient first (clipping, averaging).
#include "engine/cpu.h"

#include <math.h>

VD_WIDE static void adam_update(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, size_t n,
                                vd_real scale, vd_real step_size, vd_real correction)
{
    const vd_real b1 = (vd_real)0.9, b2 = (vd_real)0.999, eps = (vd_real)1e-8;
    for (size_t i = 0; i < n; i++) {
        vd_real d = g[i] * scale;
        m[i] = b1 * m[i] + (1 - b1) * d;
        v[i] = b2 * v[i] + (1 - b2) * d * d;
        w[i] -= step_size * m[i] / ((vd_real)sqrt(v[i]) * correction + eps);
    }
}

static void adam(vd_real *w, const vd_real *g, vd_real *m, vd_real *v, size_t n, vd_real scale,
                 double rate, int64_t step)
{
    double c1 = 1 - pow(0.9, (double)step), c2 = 1 - pow(0.999, (double)step);
    adam_update(w, g, m, v, n, scale, (vd_real)(rate / c1), (vd_real)(1 / sqrt(c2)));
}

VD_WIDE static void rmsprop_update(vd_real *w, const vd_real *g, vd_real *v, size_t n,
                                   vd_real scale, vd_real rate)
{
    const vd_real alpha = (vd_real)0.99, eps = (vd_real)1e-8;
    for (size_t i = 0; i < n; i++) {
        vd_real d = g[i] * scale;
        v[i] = alpha * v[i] + (1 - alpha) * d * d;
        w[i] -= rate * d / ((vd_real)sqrt(v[i]) + eps);
    }
}

static void rmsprop(vd_real *w, const vd_real *g, vd_real *v, size_t n, vd_real scale, double rate)
{
    rmsprop_update(w, g, v, n, scale, (vd_real)rate);
}

// In pieces, so that the sum of many small squares keeps its digits.
static double square_sum(const vd_real *x, size_t n)
{
    enum { PIECE = 1024 };
    double sum = 0;
    for (size_t from = 0; from < n; from += PIECE) {
        size_t to = n - from < PIECE ? n : from + PIECE;
        double piece = 0;
        for (size_t i = from; i < to; i++)
            piece += (double)x[i] * (double)x[i];
        sum += piece;
    }
    return sum;
}

void vd_cpu_optimiser(vd_backend *table)
{
    table->adam = adam;
    table->rmsprop = rmsprop;
    table->square_sum = square_sum;
}
