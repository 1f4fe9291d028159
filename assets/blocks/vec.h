// Vectors of three floats.
#ifndef BLOCKS_VEC_H
#define BLOCKS_VEC_H

#include <math.h>

typedef struct vec {
    float x, y, z;
} vec;

static inline vec vec_add(vec a, vec b)
{
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec vec_sub(vec a, vec b)
{
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec vec_scale(vec a, float s)
{
    return (vec){a.x * s, a.y * s, a.z * s};
}

static inline vec vec_mul(vec a, vec b)
{
    return (vec){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline float vec_dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec vec_cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline vec vec_unit(vec a)
{
    return vec_scale(a, 1.0f / sqrtf(vec_dot(a, a)));
}

// a where t is 0, b where t is 1.
static inline vec vec_mix(vec a, vec b, float t)
{
    return (vec){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}

static inline float clamp01(float v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

// 0 below low, 1 above high, smooth in between.
static inline float smooth_step(float low, float high, float v)
{
    float t = clamp01((v - low) / (high - low));
    return t * t * (3 - 2 * t);
}

#endif
