// IEEE 754 binary16, by integer arithmetic on the bits (after F. Giesen's public domain
// conversions). Half-precision subnormals are normal numbers of float, so the results do not depend
// on whether the processor flushes subnormals to zero.
#include "engine/base/safetensors.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float vd_half_to_float(uint16_t half)
{
    uint32_t sign = (half & 0x8000u) << 16, magnitude = (half & 0x7fffu) << 13;
    uint32_t exponent = magnitude & (0x1fu << 23);
    magnitude += (127u - 15u) << 23;
    if (exponent == 0x1fu << 23) // infinity, NaN
        magnitude += (128u - 16u) << 23;
    else if (exponent == 0) // zero, subnormal: 2^-14 too much, taken off again
        magnitude = bits_of(float_of(magnitude + (1u << 23)) - 0x1p-14f);
    return float_of(sign | magnitude);
}

uint16_t vd_half_from_float(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    uint32_t half;
    if (magnitude > 0x7f800000u) { // NaN stays NaN, and quiet
        half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    } else if (magnitude >= bits_of(0x1p16f)) {
        half = 0x7c00u;
    } else if (magnitude < bits_of(0x1p-14f)) {
        // Adding 1/2 moves the bits that remain to the bottom; the addition rounds to even.
        half = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    } else {
        uint32_t odd = magnitude >> 13 & 1u;
        half = (magnitude - ((127u - 15u) << 23) + 0xfffu + odd) >> 13;
    }
    return (uint16_t)(sign | half);
}

static void convert_plainly(const float *values, size_t count, uint16_t *halves)
{
    for (size_t i = 0; i < count; i++)
        halves[i] = vd_half_from_float(values[i]);
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static void convert_by_eight(const float *values, size_t count,
                                                                 uint16_t *halves)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i eight = _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(halves + i), eight);
    }
    convert_plainly(values + i, count - i, halves + i);
}
#endif

void vd_halves_from_floats(const float *values, size_t count, uint16_t *halves)
{
#if defined(__x86_64__)
    // clang 14 does not know the name f16c; every processor with AVX2 has it.
    if (__builtin_cpu_supports("avx2")) {
        convert_by_eight(values, count, halves);
        return;
    }
#endif
    convert_plainly(values, count, halves);
}

static void widen_plainly(const uint16_t *halves, size_t count, float *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = vd_half_to_float(halves[i]);
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static void widen_by_eight(const uint16_t *halves, size_t count,
                                                               float *values)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)(halves + i));
        _mm256_storeu_ps(values + i, _mm256_cvtph_ps(eight));
    }
    widen_plainly(halves + i, count - i, values + i);
}
#endif

void vd_floats_from_halves(const uint16_t *halves, size_t count, float *values)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        widen_by_eight(halves, count, values);
        return;
    }
#endif
    widen_plainly(halves, count, values);
}
