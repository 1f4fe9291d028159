// Numbers of tensors, and half precision: IEEE 754 binary16 by integer arithmetic on the bits
// (after F. Giesen's public domain conversions). Half-precision subnormals are normal numbers of
// float, so the results do not depend on whether the processor flushes subnormals to zero.
#include "engine/base/safetensors.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are used as the file has them");

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [VD_F32] = {"F32", 4}, [VD_F16] = {"F16", 2}, [VD_BF16] = {"BF16", 2}, [VD_F64] = {"F64", 8},
    [VD_I32] = {"I32", 4}, [VD_I64] = {"I64", 8}, [VD_U8] = {"U8", 1},
};

enum { DTYPES = sizeof dtypes / sizeof *dtypes };

size_t vd_dtype_size(vd_dtype dtype)
{
    return (unsigned)dtype < DTYPES ? dtypes[dtype].size : 0;
}

const char *vd_dtype_name(vd_dtype dtype)
{
    return (unsigned)dtype < DTYPES ? dtypes[dtype].name : "unknown";
}

// ---- half precision -----------------------------------------------------------------------------

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

// ---- many ---------------------------------------------------------------------------------------

// As many as the processor's own instruction converts, by eight; how many these are. Clang 14 does
// not know the name f16c; every processor with AVX2 has it.
#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static size_t narrow_by_eight(const float *values, size_t count,
                                                                  uint16_t *halves)
{
    size_t i = 0, end = __builtin_cpu_supports("avx2") ? count : 0;
    for (; i + 8 <= end; i += 8) {
        __m128i eight = _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(halves + i), eight);
    }
    return i;
}

__attribute__((target("avx,f16c"))) static size_t widen_by_eight(const void *halves, size_t count,
                                                                 float *values)
{
    size_t i = 0, end = __builtin_cpu_supports("avx2") ? count : 0;
    for (; i + 8 <= end; i += 8) {
        __m128i eight = _mm_loadu_si128((const __m128i *)halves + i / 8);
        _mm256_storeu_ps(values + i, _mm256_cvtph_ps(eight));
    }
    return i;
}
#else
#define narrow_by_eight(values, count, halves) 0
#define widen_by_eight(halves, count, values)  0
#endif

void vd_halves_from_floats(const float *values, size_t count, uint16_t *halves)
{
    for (size_t i = narrow_by_eight(values, count, halves); i < count; i++)
        halves[i] = vd_half_from_float(values[i]);
}

void vd_floats_from_halves(const void *halves, size_t count, float *values)
{
    uint16_t half;
    for (size_t i = widen_by_eight(halves, count, values); i < count; i++) {
        memcpy(&half, (const unsigned char *)halves + i * sizeof half, sizeof half);
        values[i] = vd_half_to_float(half);
    }
}

// ---- of a tensor --------------------------------------------------------------------------------

static vd_status check_range(const vd_tensor *tensor, size_t first, size_t count, vd_error *err)
{
    if (first <= tensor->elements && count <= tensor->elements - first)
        return VD_OK;
    return vd_error_set(err, VD_MISMATCH,
                        "tensor \"%s\": elements %zu to %zu asked for; it has %zu", tensor->name,
                        first, first + count, tensor->elements);
}

vd_status vd_tensor_floats(const vd_tensor *tensor, size_t first, size_t count, float *out,
                           vd_error *err)
{
    vd_status status = check_range(tensor, first, count, err);
    if (status || count == 0)
        return status;
    const unsigned char *data =
        (const unsigned char *)tensor->data + first * vd_dtype_size(tensor->dtype);
    switch (tensor->dtype) {
    case VD_F32:
        memcpy(out, data, count * sizeof *out);
        return VD_OK;
    case VD_F16:
        vd_floats_from_halves(data, count, out);
        return VD_OK;
    case VD_BF16:
        for (size_t i = 0; i < count; i++) {
            memset(&out[i], 0, 2);
            memcpy((unsigned char *)&out[i] + 2, data + i * 2, 2);
        }
        return VD_OK;
    case VD_F64:
        for (size_t i = 0; i < count; i++) {
            double value;
            memcpy(&value, data + i * sizeof value, sizeof value);
            out[i] = (float)value;
        }
        return VD_OK;
    default:
        return vd_error_set(err, VD_MISMATCH,
                            "tensor \"%s\" has dtype %s; F32, F16, BF16 or F64 is expected",
                            tensor->name, vd_dtype_name(tensor->dtype));
    }
}

vd_status vd_tensor_ints(const vd_tensor *tensor, size_t first, size_t count, int64_t *out,
                         vd_error *err)
{
    vd_status status = check_range(tensor, first, count, err);
    if (status || count == 0)
        return status;
    const unsigned char *data =
        (const unsigned char *)tensor->data + first * vd_dtype_size(tensor->dtype);
    switch (tensor->dtype) {
    case VD_I64:
        memcpy(out, data, count * sizeof *out);
        return VD_OK;
    case VD_I32:
        for (size_t i = 0; i < count; i++) {
            int32_t value;
            memcpy(&value, data + i * sizeof value, sizeof value);
            out[i] = value;
        }
        return VD_OK;
    default:
        return vd_error_set(err, VD_MISMATCH, "tensor \"%s\" has dtype %s; I32 or I64 is expected",
                            tensor->name, vd_dtype_name(tensor->dtype));
    }
}
