// Rows that become columns, four by four: what matrix products copy their factors with.
#ifndef VD_CPU_TRANSPOSE_H
#define VD_CPU_TRANSPOSE_H

#include <stddef.h>
#include <string.h>

typedef float vd_four_floats __attribute__((vector_size(16)));

// to (4, width apart) = the transpose of 4 x 4 numbers, whose rows are `stride` apart.
static inline void vd_cpu_transpose_four(const float *from, size_t stride, float *to, size_t width)
{
    vd_four_floats a, b, c, d;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + stride, sizeof b);
    memcpy(&c, from + 2 * stride, sizeof c);
    memcpy(&d, from + 3 * stride, sizeof d);
    vd_four_floats ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    vd_four_floats cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    vd_four_floats AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    vd_four_floats CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    c = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
    d = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
    memcpy(to, &a, sizeof a);
    memcpy(to + width, &b, sizeof b);
    memcpy(to + 2 * width, &c, sizeof c);
    memcpy(to + 3 * width, &d, sizeof d);
}

// A panel (depth, width) of `count` <= width lines, zeros beside them: a line's numbers lie one
// after the other, lines `stride` apart.
static inline void vd_cpu_pack_lines(const float *from, size_t stride, int count, int depth,
                                     float *panel, size_t width)
{
    enum { LINE = 16 }; // floats that the caches take at a time
    const size_t lines = (size_t)count;
    int quads = count >= 4 ? depth / 4 * 4 : 0;
    // Four lines at a time, for all of them may have to share a few places of the first cache.
    for (int part = 0; part < quads; part += LINE)
        for (size_t i = 0; i < lines; i += 4) {
            size_t at = i + 4 > lines ? lines - 4 : i; // the last four again
            for (int k = part; k < part + LINE && k < quads; k += 4)
                vd_cpu_transpose_four(from + at * stride + k, stride,
                                      panel + (size_t)k * width + at, width);
        }
    for (int k = 0; k < quads && lines < width; k++)
        for (size_t i = lines; i < width; i++)
            panel[(size_t)k * width + i] = 0;
    for (int k = quads; k < depth; k++)
        for (size_t i = 0; i < width; i++)
            panel[(size_t)k * width + i] = i < lines ? from[i * stride + (size_t)k] : 0;
}

#endif
