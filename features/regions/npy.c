#include "features/regions/npy.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/safetensors.h"

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
}

static bool take(cursor *c, const char *text)
{
    size_t length = strlen(text);
    skip_spaces(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool take_number(cursor *c, size_t *out)
{
    size_t value = 0;
    int digits = 0;
    skip_spaces(c);
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9' && digits < 15; c->at++, digits++)
        value = 10 * value + (size_t)(*c->at - '0');
    *out = value;
    return digits > 0 && digits < 15;
}

static bool take_type(cursor *c, vd_npy *out)
{
    size_t size;
    if (!take(c, "'<"))
        return false;
    out->kind = c->at < c->end ? *c->at++ : 0;
    if ((out->kind != 'f' && out->kind != 'i' && out->kind != 'u') || !take_number(c, &size))
        return false;
    out->size = size;
    return (size == 2 || size == 4 || size == 8) && take(c, "'");
}

static bool take_shape(cursor *c, vd_npy *out)
{
    if (!take(c, "("))
        return false;
    out->count = 1;
    while (!take(c, ")")) {
        if (out->dims == VD_NPY_DIMS || !take_number(c, &out->shape[out->dims]) ||
            __builtin_mul_overflow(out->count, out->shape[out->dims], &out->count))
            return false;
        out->dims++;
        if (!take(c, ",") && !(take(c, ")") && (c->at--, true)))
            return false;
    }
    return true;
}

// NumPy writes the keys in this order.
static bool take_dictionary(cursor *c, vd_npy *out)
{
    return take(c, "{") && take(c, "'descr':") && take_type(c, out) && take(c, ",") &&
           take(c, "'fortran_order':") && take(c, "False") && take(c, ",") && take(c, "'shape':") &&
           take_shape(c, out) && (take(c, ",") || true) && take(c, "}");
}

vd_status vd_npy_header(const char *where, const void *bytes, size_t size, size_t whole,
                        vd_npy *out, vd_error *err)
{
    const unsigned char *start = bytes;
    *out = (vd_npy){0};
    if (size < 12 || memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
        return vd_error_set(err, VD_FORMAT, "%s: byte 0: not an array as NumPy writes it", where);
    size_t length = start[8] | (size_t)start[9] << 8, before = 10;
    if (start[6] > 1) {
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
        before = 12;
    }
    if (length > size - before)
        return vd_error_set(err, VD_FORMAT, "%s: byte 8: a header of %zu bytes in %zu", where,
                            length, size);
    cursor c = {(const char *)start + before, (const char *)start + before + length};
    if (!take_dictionary(&c, out))
        return vd_error_set(err, VD_FORMAT,
                            "%s: byte %zu: the header is not {'descr': '<f4', 'fortran_order': "
                            "False, 'shape': (rows, numbers)} or the like",
                            where, (size_t)(c.at - (const char *)start));
    out->offset = before + length;
    size_t data;
    if (__builtin_mul_overflow(out->count, out->size, &data) || whole < out->offset ||
        whole - out->offset != data)
        return vd_error_set(err, VD_FORMAT,
                            "%s: %zu bytes after the header; its shape needs %zu of %zu", where,
                            whole < out->offset ? 0 : whole - out->offset, out->count, out->size);
    return VD_OK;
}

static float float_at(const vd_npy *npy, const unsigned char *at)
{
    union {
        uint16_t half;
        int16_t i2;
        float f4;
        double f8;
        int32_t i4;
        int64_t i8;
        uint32_t u4;
        uint64_t u8;
    } number;
    memcpy(&number, at, npy->size);
    if (npy->kind == 'f')
        return npy->size == 2   ? vd_half_to_float(number.half)
               : npy->size == 4 ? number.f4
                                : (float)number.f8;
    if (npy->kind == 'i')
        return npy->size == 2   ? (float)number.i2
               : npy->size == 4 ? (float)number.i4
                                : (float)number.i8;
    return npy->size == 2 ? (float)number.half
                          : (npy->size == 4 ? (float)number.u4 : (float)number.u8);
}

void vd_npy_floats(const vd_npy *npy, const void *data, size_t count, float *out)
{
    const unsigned char *at = data;
    if (npy->kind == 'f' && npy->size == sizeof *out) {
        memcpy(out, data, count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < count; i++, at += npy->size)
        out[i] = float_at(npy, at);
}
