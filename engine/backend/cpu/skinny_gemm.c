#include "engine/backend/cpu/skinny_gemm.h"

#include <stdint.h>
#include <string.h>

#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/cpu.h"
#include "engine/base/alloc.h"
#include "engine/base/threads.h"

// With AVX2, DEPTH numbers of three vectors of rows of a, and as many of a group of weights, find
// room in the first cache; sums of COLUMNS columns in the second.
enum {
    DEPTH = 192,
    COLUMNS = 48,
    MOST_GROUP = 24,
    MOST_VECTORS = 3,
    MOST_WIDTH = 32,
    DIRECT_ROWS = 6
};

_Static_assert(COLUMNS % MOST_GROUP == 0 && VD_SKINNY_ROWS % 16 == 0, "sums are of whole tiles");

// ---- tiles: vectors of sums that the registers hold beside a row of a and a weight --------------

#define LANES 4
#define GROUP 12
#define TARGET
#define TILE(shape) portable_##shape
#include "engine/backend/cpu/skinny_gemm_tile.h"

#if defined(__x86_64__)
#define LANES       8
#define GROUP       12
#define TARGET      __attribute__((target("avx2,fma")))
#define TILE(shape) avx2_##shape
#include "engine/backend/cpu/skinny_gemm_tile.h"

#define LANES       16
#define GROUP       24
#define TARGET      __attribute__((target("avx512f,avx2,fma")))
#define TILE(shape) avx512_##shape
#include "engine/backend/cpu/skinny_gemm_tile.h"
#endif

// The weights of a group of columns take as many tiles with a panel as that has vectors.
typedef struct tile_set {
    int lanes, group;
    void (*run[MOST_VECTORS])(const float *a, size_t lda, const float *b, int depth, bool add,
                              float *c, size_t ldc, const unsigned char *next, size_t stride,
                              size_t step); // with one, two, three vectors
} tile_set;

static const tile_set tiles_of[VD_INSTRUCTIONS] = {
    [VD_PORTABLE] = {4, 12, {portable_x1, portable_x2, portable_x3}},
#if defined(__x86_64__)
    [VD_AVX2] = {8, 12, {avx2_x1, avx2_x2, avx2_x3}},
    [VD_AVX512] = {16, 24, {avx512_x1, avx512_x2, avx512_x3}},
#endif
};

// How many of `left` vectors go to the next panel: three, but none is left alone.
static int vectors_of_panel(int left)
{
    return left == 4 ? 2 : left > MOST_VECTORS ? MOST_VECTORS : left;
}

static int at_most(int x, int most)
{
    return x < most ? x : most;
}

// How many parts of `size` there are in n.
static int count_of(int n, int size)
{
    return (n + size - 1) / size;
}

// k in as many parts as it takes, of about the same size.
static int depth_of_part(int k)
{
    return count_of(count_of(k, count_of(k, DEPTH)), VD_TILE_LINE) * VD_TILE_LINE;
}

// ---- rows that become columns -------------------------------------------------------------------

typedef float four_floats __attribute__((vector_size(16)));

// to (4, width apart) = the transpose of 4 x 4 numbers, whose rows are `stride` apart.
static void transpose_four(const float *from, size_t stride, float *to, size_t width)
{
    four_floats a, b, c, d;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + stride, sizeof b);
    memcpy(&c, from + 2 * stride, sizeof c);
    memcpy(&d, from + 3 * stride, sizeof d);
    four_floats ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    four_floats cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    four_floats AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four_floats CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
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
static void pack_lines(const float *from, size_t stride, int count, int depth, float *panel,
                       size_t width)
{
    enum { LINE = 16 }; // floats that the caches take at a time
    const size_t lines = (size_t)count;
    int quads = count >= 4 ? depth / 4 * 4 : 0;
    // Four lines at a time, for all of them may map to the same few sets of the first cache.
    for (int part = 0; part < quads; part += LINE)
        for (size_t i = 0; i < lines; i += 4) {
            size_t at = i + 4 > lines ? lines - 4 : i; // the last four again
            for (int k = part; k < part + LINE && k < quads; k += 4)
                transpose_four(from + at * stride + k, stride, panel + (size_t)k * width + at,
                               width);
        }
    for (int k = 0; k < quads && lines < width; k++)
        for (size_t i = lines; i < width; i++)
            panel[(size_t)k * width + i] = 0;
    for (int k = quads; k < depth; k++)
        for (size_t i = 0; i < width; i++)
            panel[(size_t)k * width + i] = i < lines ? from[i * stride + (size_t)k] : 0;
}

// ---- packed rows --------------------------------------------------------------------------------

typedef struct skinny_product {
    const vd_cpu_product *p;
    tile_set tiles;
    int vectors;   // that hold a number of every row of a
    int depth;     // of a part of k
    size_t size;   // of a weight, bytes
    bool direct;   // tiles read the weights where they lie
    float *panels; // (parts of k, panels, depth, vectors of the panel)
} skinny_product;

static float *panels_of(const skinny_product *s, int from)
{
    return s->panels + (size_t)(s->vectors * s->tiles.lanes) * (size_t)from;
}

// Parts from..to-1 of k.
static void pack_parts(void *data, size_t from, size_t to)
{
    const skinny_product *s = data;
    const vd_cpu_product *p = s->p;
    for (int k = (int)from * s->depth; k < at_most((int)to * s->depth, p->k); k += s->depth) {
        const int depth = at_most(p->k - k, s->depth);
        float *panel = panels_of(s, k);
        for (int v = 0, vectors; v < s->vectors; v += vectors) {
            vectors = vectors_of_panel(s->vectors - v);
            const int row = v * s->tiles.lanes, width = vectors * s->tiles.lanes;
            pack_lines(p->a + (size_t)row * (size_t)p->lda + k, (size_t)p->lda,
                       at_most(p->m - row, width), depth, panel, (size_t)width);
            panel += width * depth;
        }
    }
}

static const unsigned char *weights_at(const skinny_product *s, int column, int from)
{
    return (const unsigned char *)s->p->b +
           ((size_t)column * (size_t)s->p->ldb + (size_t)from) * s->size;
}

// A part of the weights of `columns` <= group columns; those at `next` are asked for meanwhile.
typedef struct weights_part {
    const unsigned char *first, *next;
    int columns, from, depth;
} weights_part;

// The weights as floats (group, DEPTH), zeros for columns that are not there.
static void widen_group(const skinny_product *s, const weights_part *w, float *wide)
{
    const size_t stride = (size_t)s->p->ldb * s->size, rest = (size_t)(s->tiles.group - w->columns);
    for (int r = 0; r < w->columns; r++)
        vd_cpu_widen(w->first + (size_t)r * stride, s->p->type, (size_t)w->depth, wide + r * DEPTH);
    memset(wide + w->columns * DEPTH, 0, rest * DEPTH * sizeof *wide);
}

// Sums (group, VD_SKINNY_ROWS apart) over a part of k, added to those over the parts before.
static void multiply_group(const skinny_product *s, const weights_part *w, float *sums)
{
    float wide[MOST_GROUP * DEPTH];
    const tile_set *t = &s->tiles;
    const float *panel = panels_of(s, w->from), *a = wide;
    const size_t stride = (size_t)s->p->ldb * s->size;
    size_t lda = DEPTH;
    if (s->direct && w->columns == t->group) {
        a = (const float *)(const void *)w->first;
        lda = (size_t)s->p->ldb;
    } else {
        widen_group(s, w, wide);
    }
    for (int v = 0, vectors; v < s->vectors; v += vectors) {
        vectors = vectors_of_panel(s->vectors - v);
        for (int r = 0, rows = t->group / vectors; r < t->group; r += rows)
            t->run[vectors - 1](a + (size_t)r * lda, lda, panel, w->depth, w->from > 0,
                                sums + r * VD_SKINNY_ROWS + v * t->lanes, VD_SKINNY_ROWS,
                                w->next + (size_t)r * stride, stride, VD_TILE_LINE * s->size);
        panel += vectors * t->lanes * w->depth;
    }
}

// count <= 4 numbers.
static void write_four(float *y, const float *sums, int count, bool add)
{
    four_floats now, before = {0};
    if (count < 4) {
        for (int i = 0; i < count; i++)
            y[i] = sums[i] + (add ? y[i] : 0);
        return;
    }
    memcpy(&now, sums, sizeof now);
    if (add)
        memcpy(&before, y, sizeof before);
    now += before;
    memcpy(y, &now, sizeof now);
}

// Columns first.. of c get sums (count, VD_SKINNY_ROWS apart), a column after the other.
static void write_columns(const vd_cpu_product *p, const float *sums, int first, int count)
{
    for (int r = 0; r < p->m; r += 4)
        for (int j = 0; j < count; j += 4) {
            float four[16];
            float *y = p->c + (size_t)r * (size_t)p->ldc + first + j;
            transpose_four(sums + j * VD_SKINNY_ROWS + r, VD_SKINNY_ROWS, four, 4);
            for (int i = 0; i < 4 && r + i < p->m; i++, y += p->ldc)
                write_four(y, four + (ptrdiff_t)4 * i, at_most(count - j, 4), p->beta != 0);
        }
}

// Groups from..to-1 of columns.
static void multiply_columns(void *data, size_t from_group, size_t to_group)
{
    const skinny_product *s = data;
    const vd_cpu_product *p = s->p;
    const int group = s->tiles.group, last = at_most((int)to_group * group, p->n);
    float sums[COLUMNS * VD_SKINNY_ROWS];
    for (int column = (int)from_group * group; column < last; column += COLUMNS) {
        const int columns = at_most(last - column, COLUMNS);
        for (int from = 0; from < p->k; from += s->depth)
            for (int c = 0; c < columns; c += group) {
                weights_part w = {.first = weights_at(s, column + c, from),
                                  .next = weights_at(s, column + c + group, from),
                                  .columns = at_most(columns - c, group),
                                  .from = from,
                                  .depth = at_most(p->k - from, s->depth)};
                if (c + group >= columns && from + s->depth < p->k)
                    w.next = weights_at(s, column, from + s->depth);
                else if (c + group >= columns)
                    w.next = weights_at(s, column + columns, 0);
                multiply_group(s, &w, sums + c * VD_SKINNY_ROWS);
            }
        write_columns(p, sums, column, columns);
    }
}

// Of one vector, or where more of its lanes would be empty, AVX-512 is slower than AVX2, whose sums
// have the same bits.
static vd_instructions instructions_for(int rows)
{
    enum { WIDE = 16, NARROW = 8 };
    const vd_instructions set = vd_cpu_instructions();
    const bool wide = rows > WIDE && count_of(rows, WIDE) * WIDE <= count_of(rows, NARROW) * NARROW;
    return set == VD_AVX512 && !wide ? VD_AVX2 : set;
}

bool vd_cpu_skinny_gemm(const vd_cpu_product *p)
{
    skinny_product s = {.p = p, .tiles = tiles_of[instructions_for(p->m)]};
    const int group = s.tiles.group;
    s.vectors = count_of(p->m, s.tiles.lanes);
    s.depth = depth_of_part(p->k);
    s.size = vd_matrix_number_size(p->type);
    // Of tiles with more rows, registers do not hold the rows' addresses.
    s.direct = p->type == VD_F32 && s.vectors > 1 && group <= 2 * DIRECT_ROWS;
    if (s.vectors * s.tiles.lanes > VD_SKINNY_ROWS)
        return false;
    s.panels = vd_cpu_scratch((size_t)(s.vectors * s.tiles.lanes) * (size_t)p->k);
    if (!s.panels)
        return false;
    vd_threads_ranges((size_t)count_of(p->k, s.depth), s.depth * p->m / 2.0, pack_parts, &s);
    // Nanoseconds, roughly: reading a weight takes about as long as eight multiplications with it.
    vd_threads_ranges((size_t)count_of(p->n, group), group * p->k * (8.0 + p->m) / 64,
                      multiply_columns, &s);
    return true;
}

// ---- packed weights -----------------------------------------------------------------------------

// Rows of weights, `width` in a panel (columns, width), zeros beside the last ones.
struct vd_packed_matrix {
    int width, columns;
    size_t bytes; // of the panels
    float *panels;
};

typedef struct packing {
    const vd_matrix *m;
    vd_packed_matrix *packed;
} packing;

static void pack_panels(void *data, size_t from, size_t to)
{
    enum { PART = 96 }; // its floats and what they become stay in the first cache
    float wide[MOST_WIDTH * PART];
    const packing *j = data;
    const vd_matrix *m = j->m;
    const int width = j->packed->width;
    const size_t size = vd_matrix_number_size(m->type);
    for (size_t panel = from; panel < to; panel++) {
        const size_t first = panel * (size_t)width;
        const int count = at_most(m->rows - (int)first, width);
        float *out = j->packed->panels + first * (size_t)m->columns;
        for (int k = 0; k < m->columns; k += PART) {
            const int part = at_most(m->columns - k, PART);
            for (size_t r = 0; r < (size_t)count; r++)
                vd_cpu_widen((const unsigned char *)m->data +
                                 ((first + r) * (size_t)m->stride + (size_t)k) * size,
                             m->type, (size_t)part, wide + r * PART);
            pack_lines(wide, PART, count, part, out + (size_t)k * (size_t)width, (size_t)width);
        }
    }
}

vd_packed_matrix *vd_cpu_pack(const vd_matrix *m)
{
    const int width = 2 * tiles_of[vd_cpu_instructions()].lanes;
    const int panels = count_of(m->rows, width);
    const size_t bytes = (size_t)panels * (size_t)width * (size_t)m->columns * sizeof(float);
    packing job = {m, vd_alloc(1, sizeof *job.packed)};
    if (!job.packed)
        return NULL;
    *job.packed = (vd_packed_matrix){width, m->columns, bytes, vd_cpu_map(bytes)};
    if (!job.packed->panels) {
        vd_free(job.packed);
        return NULL;
    }
    vd_threads_ranges((size_t)panels, m->columns * width / 4.0, pack_panels, &job);
    return job.packed;
}

void vd_cpu_unpack(vd_packed_matrix *packed)
{
    if (packed)
        vd_cpu_unmap(packed->panels, packed->bytes);
    vd_free(packed);
}

typedef struct packed_product {
    const vd_cpu_product *p;
    const tile_set *tiles;
    const vd_packed_matrix *packed;
    int column; // of the packed matrix
    int rows;   // of a tile
    int depth;  // of a part of k
} packed_product;

// Row `first` and those after it, as many as a tile has, of the columns of a panel over a part of
// k. Of the last rows and columns only those are written that belong to y and come after `first`.
static void multiply_edge(const packed_product *j, const float *panel, int k, int depth, int first,
                          int column)
{
    const vd_cpu_product *p = j->p;
    const int start = p->m < j->rows ? 0 : at_most(first, p->m - j->rows);
    const int width = j->packed->width;
    float sums[MOST_WIDTH * MOST_GROUP];
    j->tiles->run[1](p->a + (size_t)start * (size_t)p->lda + k, (size_t)p->lda, panel, depth, false,
                     sums, (size_t)width, (const unsigned char *)panel, 0, 0);
    for (int r = first; r < at_most(first + j->rows, p->m); r++) {
        float *y = p->c + (size_t)r * (size_t)p->ldc + column;
        for (int c = 0; c < at_most(p->n - column, width); c++)
            y[c] = sums[(r - start) * width + c] + (p->beta != 0 || k > 0 ? y[c] : 0);
    }
}

// All rows of the columns of a panel. What is read of it next is asked for meanwhile.
static void multiply_panel(const packed_product *j, const float *panel, int column)
{
    enum { LINE_BYTES = VD_TILE_LINE * sizeof(float) };
    const vd_cpu_product *p = j->p;
    const size_t width = (size_t)j->packed->width, step = (size_t)j->rows * LINE_BYTES;
    for (int k = 0, depth; k < p->k; k += depth, panel += width * (size_t)depth) {
        depth = at_most(p->k - k, j->depth);
        const unsigned char *next = (const unsigned char *)(panel + width * (size_t)depth);
        for (int r = 0; r < p->m; r += j->rows) {
            if (p->m - r < j->rows || p->n - column < (int)width)
                multiply_edge(j, panel, k, depth, r, column);
            else
                j->tiles->run[1](p->a + (size_t)r * (size_t)p->lda + k, (size_t)p->lda, panel,
                                 depth, p->beta != 0 || k > 0,
                                 p->c + (size_t)r * (size_t)p->ldc + column, (size_t)p->ldc, next,
                                 LINE_BYTES, step);
            next += (size_t)count_of(depth, VD_TILE_LINE) * step;
        }
    }
}

static void multiply_panels(void *data, size_t from, size_t to)
{
    const packed_product *j = data;
    const size_t width = (size_t)j->packed->width;
    for (size_t panel = from; panel < to; panel++)
        multiply_panel(
            j, j->packed->panels + width * (panel * (size_t)j->packed->columns + (size_t)j->column),
            (int)(panel * width));
}

// Rows of a that are fewer than a tile's, with zeros for those that are not there; NULL when there
// is no memory.
static const float *pad_rows(const vd_cpu_product *p, int rows)
{
    const size_t k = (size_t)p->k;
    float *padded = vd_cpu_scratch((size_t)rows * k);
    for (size_t r = 0; padded && r < (size_t)rows; r++)
        if (r < (size_t)p->m)
            memcpy(padded + r * k, p->a + r * (size_t)p->lda, k * sizeof *padded);
        else
            memset(padded + r * k, 0, k * sizeof *padded);
    return padded;
}

bool vd_cpu_packed_gemm(const vd_cpu_product *product, const vd_packed_matrix *packed, int column)
{
    const tile_set *tiles = &tiles_of[vd_cpu_instructions()];
    vd_cpu_product rows = *product, *p = &rows;
    const packed_product job = {p, tiles, packed, column, tiles->group / 2, depth_of_part(p->k)};
    if (packed->width != 2 * tiles->lanes)
        return false;
    if (p->m < job.rows) {
        p->a = pad_rows(product, job.rows);
        p->lda = p->k;
    }
    if (!p->a)
        return false;
    vd_threads_ranges((size_t)count_of(p->n, packed->width),
                      packed->width * p->k * (8.0 + p->m) / 64, multiply_panels,
                      (void *)(uintptr_t)&job);
    return true;
}
