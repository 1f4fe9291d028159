// Random numbers that are the same on every machine: splitmix64 (Steele, Lea, Flood 2014).
#ifndef VD_RNG_H
#define VD_RNG_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vd_rng {
    uint64_t state;
} vd_rng;

static inline uint64_t vd_rng_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t vd_rng_next(vd_rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15u;
    return vd_rng_mix(rng->state);
}

// An independent stream for (seed, stream): picture 7 of the val split is the same whatever was
// drawn before it.
static inline vd_rng vd_rng_seed(uint64_t seed, uint64_t stream)
{
    return (vd_rng){vd_rng_mix(seed + 0x9e3779b97f4a7c15u) ^ vd_rng_mix(~stream)};
}

// Uniform in [0, 1).
static inline double vd_rng_uniform(vd_rng *rng)
{
    return (double)(vd_rng_next(rng) >> 11) * 0x1.0p-53;
}

// Uniform in [low, high).
static inline double vd_rng_range(vd_rng *rng, double low, double high)
{
    return low + (high - low) * vd_rng_uniform(rng);
}

// Uniform in 0..n-1, n >= 1.
static inline int vd_rng_below(vd_rng *rng, int n)
{
    return (int)(vd_rng_uniform(rng) * n);
}

// A random order of the list (Fisher, Yates 1938; Durstenfeld 1964).
static inline void vd_rng_shuffle(vd_rng *rng, size_t *list, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)(vd_rng_uniform(rng) * (double)i), last = list[i - 1];
        list[i - 1] = list[j];
        list[j] = last;
    }
}

// Standard normal (Box and Muller 1958).
static inline double vd_rng_normal(vd_rng *rng)
{
    double u = 1.0 - vd_rng_uniform(rng), v = vd_rng_uniform(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

#endif
