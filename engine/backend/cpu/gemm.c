#include "engine/backend/cpu/gemm.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/backend/cpu/gemv.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/base/threads.h"
#include "engine/backend/cpu/transpose.h"

// A panel of a, 6 x DEPTH floats, stays in the first cache while parts of b's panels come from the
// second, where BLOCK_ROWS x DEPTH of a take about half of 512 KB. What is packed at a time finds
// room in the third. Up to AHEAD_ROWS of a block ask memory for the next part of b.
enum {
    DEPTH = 512,
    DEPTH_AVX512 = 384,
    BLOCK_ROWS = 144,
    BLOCK_COLUMNS = 256,
    ROUND_ROWS = 3072,
    ROUND_COLUMNS = 4096,
    MOST_WIDTH = 32,
    AHEAD_ROWS = 72,
    A_FLOATS = (ROUND_ROWS + MOST_WIDTH) * DEPTH,
    B_FLOATS = (ROUND_COLUMNS + MOST_WIDTH) * DEPTH
};

#if defined(__x86_64__)
#define LANES     8
#define TARGET    __attribute__((target("avx2,fma")))
#define TILE_ROWS 6
#define VECTORS   2
#define TILE      tile_avx2
#include "engine/backend/cpu/gemm_tile.h"
#undef LANES
#undef TARGET

#define LANES     16
#define TARGET    __attribute__((target("avx512f,avx2,fma")))
#define TILE_ROWS 14
#define VECTORS   2
#define TILE      tile_avx512
#include "engine/backend/cpu/gemm_tile.h"
#undef LANES
#undef TARGET
#endif

typedef struct gemm_tile {
    int rows, columns, depth; // of k in one part, at most
    void (*run)(const float *a, const float *b, int depth, float alpha, float beta, float *c,
                size_t ldc, const unsigned char *next, size_t step);
} gemm_tile;

static const gemm_tile tiles_of[VD_INSTRUCTIONS] = {
#if defined(__x86_64__)
    [VD_AVX2] = {6, 16, DEPTH, tile_avx2},
    [VD_AVX512] = {14, 32, DEPTH_AVX512, tile_avx512},
#endif
    [VD_PORTABLE] = {0, 0, 0, NULL},
};

// ---- memory for panels, a thread's own ----------------------------------------------------------

typedef struct gemm_panels {
    const void *held; // weights that stay as they are
    vd_gemm packed;   // whose panels `b` holds, all of them; b NULL = none
    float a[A_FLOATS], b[B_FLOATS];
} gemm_panels;

static pthread_key_t panels_key;
static pthread_once_t panels_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void free_panels(void *panels)
{
    munmap(panels, sizeof(gemm_panels));
}

static void make_panels_key(void)
{
    has_key = pthread_key_create(&panels_key, free_panels) == 0;
}

// NULL when there are none yet.
static gemm_panels *panels_of_thread(void)
{
    pthread_once(&panels_once, make_panels_key);
    return has_key ? pthread_getspecific(panels_key) : NULL;
}

// NULL when memory is out.
static gemm_panels *make_panels(void)
{
    gemm_panels *panels = panels_of_thread();
    if (panels || !has_key)
        return panels;
    void *there =
        mmap(NULL, sizeof *panels, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (there == MAP_FAILED)
        return NULL;
    madvise(there, sizeof *panels, MADV_HUGEPAGE);
    if (pthread_setspecific(panels_key, there) == 0)
        return there;
    free_panels(there);
    return NULL;
}

float *vd_cpu_gemm_memory(size_t floats)
{
    gemm_panels *panels = floats <= A_FLOATS ? make_panels() : NULL;
    return panels ? panels->a : NULL;
}

void vd_cpu_gemm_hold(const void *b)
{
    gemm_panels *panels = b ? make_panels() : panels_of_thread();
    if (!panels)
        return;
    panels->held = b;
    panels->packed.b = NULL;
}

bool vd_cpu_gemm_holds(const void *b)
{
    const gemm_panels *panels = panels_of_thread();
    return b && panels && panels->held == b && tiles_of[vd_cpu_instructions()].run;
}

// ---- numbers ------------------------------------------------------------------------------------

static int at_most(int x, int most)
{
    return x < most ? x : most;
}

static int panels_in(int count, int width)
{
    return (count + width - 1) / width;
}

// ---- packing ------------------------------------------------------------------------------------

// As vd_cpu_pack_lines, of lines whose first numbers lie one after the other, then their second
// ones; for as many panels, `apart`, as `count` lines fill: what lies together is read together.
static void pack_across(const float *from, size_t stride, int count, int depth, float *panels,
                        size_t apart, size_t width)
{
    size_t whole = (size_t)count / width, rest = (size_t)count % width;
    for (size_t k = 0; k < (size_t)depth; k++, from += stride) {
        float *to = panels + k * width;
        const float *x = from;
        for (size_t i = 0; i < whole; i++, x += width, to += apart)
            for (size_t j = 0; j < width; j += 4) {
                size_t at = j + 4 > width ? width - 4 : j; // the last four again
                memcpy(to + at, x + at, sizeof(vd_four_floats));
            }
        for (size_t i = 0; rest && i < width; i++)
            to[i] = i < rest ? x[i] : 0;
    }
}

// Lines first.. of 16-bit weights, from number `from` on.
static void pack_halves(const vd_gemm *p, size_t first, size_t from, int count, int depth,
                        float *panel, size_t width)
{
    enum { PART = 96 }; // its floats and what they become stay in the first cache
    float wide[MOST_WIDTH * PART];
    for (int k = 0; k < depth; k += PART) {
        int part = at_most(depth - k, PART);
        for (size_t i = 0; i < (size_t)count; i++)
            vd_cpu_widen((const uint16_t *)p->b + (first + i) * (size_t)p->ldb + from + (size_t)k,
                         p->type, (size_t)part, wide + i * PART);
        vd_cpu_pack_lines(wide, PART, 0, count, part, panel + (size_t)k * width, width);
    }
}

// ---- a round: what is packed at a time ----------------------------------------------------------

typedef struct gemm_round {
    const vd_gemm *p;
    gemm_tile tile;
    int row, rows, column, columns; // rows x columns of c
    int from, deep, depth;          // over `deep` of k, in parts of `depth`
    float *a;                       // (panels, deep, tile.rows)
    const float *b;                 // b's panels, number `from` of their first lines
    size_t b_apart;                 // from one of them to the next
    float *pack_b;                  // b, to be filled; NULL: it is
    int block_rows;                 // blocks of rows
    int block_columns;              // columns of a block
} gemm_round;

// Panels panel..end-1 of a.
static void pack_a(const gemm_round *r, int panel, int end)
{
    const vd_gemm *p = r->p;
    const size_t width = (size_t)r->tile.rows, from = (size_t)r->from, lda = (size_t)p->lda;
    const size_t apart = width * (size_t)r->deep;
    int row = panel * r->tile.rows, left = at_most(r->rows, end * r->tile.rows) - row;
    const float *a = p->a + (size_t)(r->row + row) * (p->ta ? 1 : lda) + from * (p->ta ? lda : 1);
    float *to = r->a + (size_t)panel * apart;
    if (p->ta)
        pack_across(a, lda, left, r->deep, to, apart, width);
    for (; !p->ta && left > 0; left -= r->tile.rows, a += width * lda, to += apart)
        vd_cpu_pack_lines(a, lda, width * lda, at_most(left, r->tile.rows), r->deep, to, width);
}

// Panels panel..end-1 of b.
static void pack_b(const gemm_round *r, int panel, int end)
{
    const vd_gemm *p = r->p;
    const size_t width = (size_t)r->tile.columns, from = (size_t)r->from, ldb = (size_t)p->ldb;
    int column = panel * r->tile.columns,
        left = at_most(r->columns, end * r->tile.columns) - column;
    size_t first = (size_t)(r->column + column);
    float *to = r->pack_b + (size_t)panel * r->b_apart;
    if (!p->tb)
        pack_across((const float *)p->b + from * ldb + first, ldb, left, r->deep, to, r->b_apart,
                    width);
    for (; p->tb && left > 0; left -= r->tile.columns, first += width, to += r->b_apart) {
        int count = at_most(left, r->tile.columns);
        if (p->type == VD_F32)
            vd_cpu_pack_lines((const float *)p->b + first * ldb + from, ldb, width * ldb, count,
                              r->deep, to, width);
        else
            pack_halves(p, first, from, count, r->deep, to, width);
    }
}

// The panels of a, then those of b.
static void pack_range(void *data, size_t from, size_t to)
{
    const gemm_round *r = data;
    const int of_a = panels_in(r->rows, r->tile.rows), first = (int)from, end = (int)to;
    if (first < of_a)
        pack_a(r, first, at_most(end, of_a));
    if (end > of_a)
        pack_b(r, first > of_a ? first - of_a : 0, end - of_a);
}

// A part of k of a panel of b.
typedef struct gemm_part {
    int from, depth, column; // in the round
    const float *b;
    const unsigned char *next; // memory to be asked for during a tile with it,
    size_t step;               // so many bytes for every VD_TILE_LINE of k
} gemm_part;

static gemm_part part_at(const gemm_round *r, int from, int column)
{
    const float *panel = r->b + (size_t)(column / r->tile.columns) * r->b_apart;
    return (gemm_part){.from = from,
                       .depth = at_most(r->deep - from, r->depth),
                       .column = column,
                       .b = panel + (size_t)(from * r->tile.columns)};
}

// The one after `part` among those of columns column..end-1; one of no depth after the last.
static gemm_part part_after(const gemm_round *r, const gemm_part *part, int column, int end)
{
    if (part->column + r->tile.columns < end)
        return part_at(r, part->from, part->column + r->tile.columns);
    if (part->from + r->depth < r->deep)
        return part_at(r, part->from + r->depth, column);
    return (gemm_part){.b = part->b};
}

// A tile's sums over a part of k.
static void multiply_tile(const gemm_round *r, const gemm_part *part, int row)
{
    const vd_gemm *p = r->p;
    const gemm_tile *t = &r->tile;
    const float beta = r->from + part->from > 0 ? 1 : p->beta;
    const float *a = r->a + (size_t)row * (size_t)r->deep + (size_t)(part->from * t->rows);
    float *c = p->c + (size_t)(r->row + row) * (size_t)p->ldc + r->column + part->column;
    int rows = r->rows - row, columns = r->columns - part->column;
    if (rows >= t->rows && columns >= t->columns) {
        t->run(a, part->b, part->depth, p->alpha, beta, c, (size_t)p->ldc, part->next, part->step);
        return;
    }
    float edge[MOST_WIDTH * MOST_WIDTH];
    t->run(a, part->b, part->depth, p->alpha, 0, edge, MOST_WIDTH, part->next, part->step);
    for (int i = 0; i < rows && i < t->rows; i++)
        for (int j = 0; j < columns && j < t->columns; j++) {
            float *to = c + (size_t)i * (size_t)p->ldc + j;
            *to = edge[i * MOST_WIDTH + j] + (beta == 0 ? 0 : beta * *to);
        }
}

// Tiles of a's panels first..last-1 with one part of b, which the first of them reads from memory.
// Among few tiles that is a long wait, so these ask for the next part meanwhile.
static void multiply_panels(const gemm_round *r, int first, int last, gemm_part part,
                            const gemm_part *next)
{
    const size_t bytes = (size_t)(next->depth * r->tile.columns) * sizeof(float);
    const size_t times = (size_t)panels_in(part.depth, VD_TILE_LINE);   // that a tile asks
    const size_t line = VD_LINE_BYTES * times * (size_t)(last - first); // a line each time
    const unsigned char *end = (const unsigned char *)next->b + bytes;
    part.next = (const unsigned char *)next->b;
    if ((last - first) * r->tile.rows <= AHEAD_ROWS)
        part.step = (bytes + line - 1) / line * VD_LINE_BYTES;
    for (int panel = first; panel < last; panel++, part.next += times * part.step) {
        if (part.next >= end)
            part.step = 0;
        multiply_tile(r, &part, panel * r->tile.rows);
    }
}

static void multiply_block(void *data, int index)
{
    const gemm_round *r = data;
    const int panels = panels_in(r->rows, r->tile.rows);
    const int block = index % r->block_rows, column = index / r->block_rows * r->block_columns;
    const int first = panels * block / r->block_rows, last = panels * (block + 1) / r->block_rows;
    const int end = at_most(column + r->block_columns, r->columns);
    for (gemm_part part = part_at(r, 0, column), next; part.depth > 0; part = next) {
        next = part_after(r, &part, column, end);
        multiply_panels(r, first, last, part, &next);
    }
}

static void multiply_round(gemm_round *r)
{
    int of_a = panels_in(r->rows, r->tile.rows), of_b = panels_in(r->columns, r->tile.columns);
    r->block_rows = panels_in(r->rows, BLOCK_ROWS);
    // Few rows have something to do for all threads, too.
    r->block_columns = r->block_rows > 1 ? BLOCK_COLUMNS : 4 * r->tile.columns;
    vd_threads_ranges((size_t)(of_a + (r->pack_b ? of_b : 0)), r->deep * r->tile.columns / 4.0,
                      pack_range, r);
    vd_threads_run(r->block_rows * panels_in(r->columns, r->block_columns), multiply_block, r);
}

int vd_cpu_gemm_width(void)
{
    return tiles_of[vd_cpu_instructions()].columns;
}

void vd_cpu_gemm_pack(const void *b, vd_dtype type, int n, int k, float *panels)
{
    const vd_gemm p = {.tb = true, .n = n, .k = k, .b = b, .type = type, .ldb = k};
    gemm_round r = {.p = &p,
                    .tile = tiles_of[vd_cpu_instructions()],
                    .columns = n,
                    .deep = k,
                    .pack_b = panels};
    r.b_apart = (size_t)r.tile.columns * (size_t)k;
    vd_threads_ranges((size_t)panels_in(n, r.tile.columns), k * r.tile.columns / 4.0, pack_range,
                      &r);
}

static bool same_factor(const vd_gemm *x, const vd_gemm *y)
{
    return x->b == y->b && x->tb == y->tb && x->n == y->n && x->k == y->k && x->ldb == y->ldb;
}

// How much of k is packed at a time: for few rows, whose pieces of work are small, as many parts as
// there is room for.
static int deep_of(const vd_gemm *p, const gemm_tile *t, int depth, bool whole_b)
{
    const int rows = panels_in(at_most(p->m, ROUND_ROWS), t->rows) * t->rows;
    const int columns = panels_in(at_most(p->n, ROUND_COLUMNS), t->columns) * t->columns;
    int parts = A_FLOATS / rows / depth;
    if (!whole_b)
        parts = at_most(parts, B_FLOATS / columns / depth);
    return p->m <= BLOCK_ROWS && parts > 1 ? depth * parts : depth;
}

bool vd_cpu_gemm(const vd_gemm *p)
{
    const gemm_tile tile = tiles_of[vd_cpu_instructions()];
    gemm_panels *panels = tile.run ? make_panels() : NULL;
    if (!panels)
        return false;
    const size_t width = (size_t)tile.columns, wide = (size_t)panels_in(p->n, tile.columns) * width;
    const bool hold = p->held && !p->panels && wide * (size_t)p->k <= B_FLOATS;
    const bool whole_b = hold || p->panels;
    const bool is_packed = p->panels || (hold && same_factor(&panels->packed, p));
    gemm_round r = {.p = p, .tile = tile, .a = panels->a};
    r.depth = panels_in(p->k, panels_in(p->k, tile.depth));
    const int deep = deep_of(p, &tile, r.depth, whole_b);
    if (!is_packed)
        panels->packed.b = NULL;
    for (r.column = 0; r.column < p->n; r.column += r.columns) {
        r.columns = whole_b ? p->n : at_most(p->n - r.column, ROUND_COLUMNS);
        for (r.from = 0; r.from < p->k; r.from += r.deep) {
            r.deep = at_most(p->k - r.from, deep);
            float *b = panels->b + (hold ? width * (size_t)r.from : 0);
            r.b = p->panels ? p->panels + width * (size_t)r.from : b;
            r.b_apart = p->panels ? p->panels_apart : width * (size_t)(hold ? p->k : r.deep);
            for (r.row = 0; r.row < p->m; r.row += r.rows) {
                r.rows = at_most(p->m - r.row, ROUND_ROWS);
                r.pack_b = is_packed || r.row > 0 ? NULL : b;
                multiply_round(&r);
            }
        }
    }
    if (hold)
        panels->packed = *p;
    return true;
}
