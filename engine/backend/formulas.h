// Scalar formulas shared by all backends: dropout, the gates' slopes, the margin, copied words, the
// optimisers' steps. They compile as C and, with nvcc, for the GPU.
#ifndef VD_FORMULAS_H
#define VD_FORMULAS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/real.h"

#ifdef __CUDACC__
#define VD_FORMULA static inline __host__ __device__
#else
#define VD_FORMULA static inline
#endif

// The gate of a gated transform: what multiplies its tanh.
typedef enum vd_gate { VD_GATE_LEAKY_RELU, VD_GATE_SIGMOID, VD_GATE_ELU } vd_gate;

#define VD_LEAKY_SLOPE ((vd_real)0.01)

// The slope of a gate with value g.
VD_FORMULA vd_real vd_gate_slope(vd_gate gate, vd_real g)
{
    if (gate == VD_GATE_LEAKY_RELU)
        return g > 0 ? 1 : VD_LEAKY_SLOPE;
    return gate == VD_GATE_SIGMOID ? g * (1 - g) : g > 0 ? 1 : g + 1;
}

// Functions of one number. GELU is x times the normal distribution (Hendrycks, Gimpel 2016), as
// PyTorch has it.
typedef enum vd_function {
    VD_TANH,
    VD_SIGMOID,
    VD_RELU,
    VD_LEAKY_RELU,
    VD_ELU,
    VD_GELU,
    VD_ABSOLUTE
} vd_function;

// The slope of a function with value y at x. GELU's is from the density and the distribution.
VD_FORMULA vd_real vd_function_slope(vd_function f, vd_real x, vd_real y)
{
    switch (f) {
    case VD_TANH:
        return 1 - y * y;
    case VD_SIGMOID:
        return y * (1 - y);
    case VD_RELU:
        return y > 0 ? 1 : 0;
    case VD_LEAKY_RELU:
        return y > 0 ? 1 : VD_LEAKY_SLOPE;
    case VD_ELU:
        return y > 0 ? 1 : y + 1;
    case VD_ABSOLUTE:
        return x > 0 ? 1 : x < 0 ? -1 : 0;
    default:
        break;
    }
    vd_real density = (vd_real)0.39894228040143267794 * (vd_real)exp(-x * x / 2);
    return (vd_real)0.5 * (1 + (vd_real)erf(x * (vd_real)0.70710678118654752440)) + x * density;
}

// Whether element `index` survives dropout with this key; `threshold` = rate * 2^32.
VD_FORMULA bool vd_dropout_keeps(uint64_t key, uint32_t index, uint32_t threshold)
{
    // lowbias32 (Wellons): a good 32-bit mix that vectorises.
    uint32_t x = index ^ (uint32_t)key;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x += (uint32_t)(key >> 32);
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x >= threshold;
}

VD_FORMULA uint32_t vd_dropout_threshold(vd_real rate)
{
    return (uint32_t)((double)rate * 4294967296.0);
}

// cos(m theta) by its Chebyshev polynomial in cos(theta), and that polynomial's slope.
VD_FORMULA double vd_chebyshev(int m, double c, double *slope)
{
    double before = 1, t = c, dbefore = 0, dt = 1;
    for (int k = 1; k < m; k++) {
        double next = 2 * c * t - before, dnext = 2 * t + 2 * c * dt - dbefore;
        before = t;
        t = next;
        dbefore = dt;
        dt = dnext;
    }
    *slope = dt;
    return t;
}

// psi(theta) = (-1)^t cos(m theta) - 2t for theta in [t pi/m, (t+1) pi/m], as a function of
// cos(theta), held 1e-7 away from +-1; *slope = d psi / d cos (may be NULL).
VD_FORMULA double vd_margin_psi(int margin, double cosine, double *slope)
{
    const double edge = 1 - 1e-7;
    double inside = cosine > edge ? edge : cosine < -edge ? -edge : cosine, d;
    double value = vd_chebyshev(margin, inside, &d);
    int t = 0;
    while (t + 1 < margin && inside < cos((t + 1) * 3.14159265358979323846 / margin))
        t++;
    double sign = t % 2 ? -1 : 1;
    if (slope)
        *slope = inside == cosine ? sign * d : 0;
    return sign * value - 2 * t;
}

// The probability of a word that is generated or copied, in its parts.
typedef struct vd_copied_word {
    double p_gen;     // G: the share that is generated, not copied
    double generated; // p of the target in the vocabulary, 0 where it is not there
    double copied;    // the share of the words attended to that are the target
    double p;         // G generated + (1 - G) copied, at least 1e-37
} vd_copied_word;

VD_FORMULA vd_copied_word vd_copied_of(double p_gen, double generated, double copied)
{
    double p = p_gen * generated + (1 - p_gen) * copied;
    vd_copied_word w = {p_gen, generated, copied, p > 1e-37 ? p : 1e-37};
    return w;
}

// Derivatives of -log P: by the logit of G; with a gate, by a copied word's share; without one,
// by its score.
VD_FORMULA double vd_copied_dgate(vd_copied_word w)
{
    return -(w.generated - w.copied) / w.p * w.p_gen * (1 - w.p_gen);
}

VD_FORMULA double vd_copied_dshare(vd_copied_word w, bool hit)
{
    return hit ? -(1 - w.p_gen) / w.p : 0;
}

VD_FORMULA double vd_copied_dscore(vd_copied_word w, vd_real share, bool hit)
{
    return (double)share * (1 - w.p_gen + vd_copied_dshare(w, hit));
}

// sum_i min(x_i, sum_{i' < i} x_i') of n numbers `stride` apart; dx, unless it is NULL, is added
// scale times the gradient, which goes to the smaller of both.
VD_FORMULA double vd_cover(const vd_real *x, int n, int stride, vd_real scale, vd_real *dx)
{
    double before = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        double now = (double)x[(size_t)i * (size_t)stride];
        bool less = now < before;
        sum += less ? now : before;
        for (int k = less ? i : 0; dx && k < i + less; k++)
            dx[(size_t)k * (size_t)stride] += scale;
        before += now;
    }
    return sum;
}

// One weight's step with gradient d (Kingma, Ba 2015, alg. 1), b1, b2, eps of vd_moments.
// step_size, correction: of the step, below.
VD_FORMULA void vd_adam_weight(vd_real *w, vd_real d, vd_real *m, vd_real *v, vd_real step_size,
                               vd_real correction, vd_real b1, vd_real b2, vd_real eps)
{
    *m = b1 * *m + (1 - b1) * d;
    *v = b2 * *v + (1 - b2) * d * d;
    *w -= step_size * *m / ((vd_real)sqrt(*v) * correction + eps);
}

static inline vd_real vd_adam_step_size(double rate, double b1, int64_t step)
{
    return (vd_real)(rate / (1 - pow(b1, (double)step)));
}

static inline vd_real vd_adam_correction(double b2, int64_t step)
{
    return (vd_real)(1 / sqrt(1 - pow(b2, (double)step)));
}

// AdaMax (alg. 2, as PyTorch): u, the decayed maximum of |d|, replaces the second moment.
VD_FORMULA void vd_adamax_weight(vd_real *w, vd_real d, vd_real *m, vd_real *u, vd_real step_size,
                                 vd_real b1, vd_real b2, vd_real eps)
{
    vd_real size = (d < 0 ? -d : d) + eps, before = b2 * *u;
    *m = b1 * *m + (1 - b1) * d;
    *u = before > size ? before : size;
    *w -= step_size * *m / *u;
}

// One weight's step (Hinton 2012, as PyTorch).
VD_FORMULA void vd_rmsprop_weight(vd_real *w, vd_real d, vd_real *v, vd_real rate)
{
    const vd_real alpha = (vd_real)0.99, eps = (vd_real)1e-8;
    *v = alpha * *v + (1 - alpha) * d * d;
    *w -= rate * d / ((vd_real)sqrt(*v) + eps);
}

#endif
