// exp, tanh and the logistic function as straight-line code, so that the compiler turns a loop over
// them into vector instructions. Relative error below 2e-7 in float; libm's own in double.
#ifndef VD_ELEMENTARY_H
#define VD_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/real.h"

#ifdef VD_DOUBLE

static inline vd_real vd_exp(vd_real x)
{
    return exp(x);
}

static inline vd_real vd_tanh(vd_real x)
{
    return tanh(x);
}

#else

// Cephes' expf: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial in r, times 2^n. Rounding to n by
// adding 1.5 * 2^23 leaves n in the low bits of the sum.
static inline vd_real vd_exp(vd_real x)
{
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
    float sum = x * 1.44269504f + 12582912.0f;
    int32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    float n = sum - 12582912.0f;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    uint32_t power = ((uint32_t)bits << 23) + 0x3f800000u;
    float scale;
    memcpy(&scale, &power, sizeof scale);
    return p * scale;
}

// Cephes' tanhf: an odd polynomial near zero, where 1 - 2 / (e^2x + 1) would cancel.
static inline vd_real vd_tanh(vd_real x)
{
    float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float near = p * z * x + x;
    float far = 1.0f - 2.0f / (vd_exp(2.0f * x) + 1.0f);
    return z < 0.390625f ? near : far;
}

#endif

static inline vd_real vd_sigmoid(vd_real x)
{
    return 1 / (1 + vd_exp(-x));
}

#endif
