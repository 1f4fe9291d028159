#include "features/regions/parts.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/safetensors.h"

// The header's dictionary, whose keys NumPy writes in this order: {'descr': '<f4',
// 'fortran_order': False, 'shape': (4, 6), }. NULL, or where it is something else.
static const char *read_dictionary(const char *text, vd_npy *out)
{
    int end = 0, comma = 0;
    sscanf(text, " { 'descr' : '<%c%1zu' , 'fortran_order' : False , 'shape' : (%n", &out->kind,
           &out->size, &end);
    if (!end || !strchr("fiu", out->kind) || (out->size != 2 && out->size != 4 && out->size != 8))
        return text;
    text += end;
    for (out->count = 1; text += strspn(text, " "), *text != ')'; out->dims++) {
        size_t *side = &out->shape[out->dims];
        if (out->dims == VD_NPY_DIMS || *text < '0' || *text > '9' ||
            sscanf(text, "%14zu%n", side, &end) != 1 ||
            __builtin_mul_overflow(out->count, *side, &out->count))
            return text;
        comma = 0;
        sscanf(text += end, " ,%n", &comma);
        text += comma;
        if (!comma && text[strspn(text, " ")] != ')')
            return text;
    }
    end = 0;
    sscanf(text, ") , }%n", &end);
    if (!end)
        sscanf(text, ") }%n", &end);
    return end ? NULL : text;
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
    char text[VD_NPY_HEADER + 1];
    snprintf(text, sizeof text, "%.*s", (int)length, (const char *)start + before);
    const char *wrong = read_dictionary(text, out);
    if (wrong)
        return vd_error_set(err, VD_FORMAT,
                            "%s: byte %zu: the header is not {'descr': '<f4', 'fortran_order': "
                            "False, 'shape': (rows, numbers)} or the like",
                            where, before + (size_t)(wrong - text));
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
