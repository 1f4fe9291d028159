#include "engine/backend/cpu/packed_weights.h"

#include <stdbool.h>

#include "engine/base/alloc.h"
#include "engine/backend/cpu/gemm.h"
#include "engine/backend/cpu/fp16_weights.h"
#include "engine/backend/cpu/places.h"

// A matrix and where its panels are.
typedef struct packed_matrix {
    vd_matrix of;
    float *panels;
} packed_matrix;

struct vd_cpu_panels {
    int width, count;
    packed_matrix *matrix;
    float *memory;
};

static vd_places known = VD_NO_PLACES;

static const float *end_of(const vd_matrix *m)
{
    return m->w + (size_t)m->rows * (size_t)m->columns;
}

static size_t floats_of(const vd_matrix *m, int width)
{
    return (size_t)((m->rows + width - 1) / width * width) * (size_t)m->columns;
}

// Matrices that lie one after the other are one, for a product may be with several.
static void join(vd_cpu_panels *p, const vd_matrix *matrix, int count)
{
    for (int i = 0; i < count; i++) {
        vd_matrix *last = p->count ? &p->matrix[p->count - 1].of : NULL;
        if (last && end_of(last) == matrix[i].w && last->columns == matrix[i].columns)
            last->rows += matrix[i].rows;
        else
            p->matrix[p->count++].of = matrix[i];
    }
}

static void pack(vd_cpu_panels *p)
{
    float *to = p->memory;
    for (packed_matrix *m = p->matrix; m < p->matrix + p->count; m++) {
        vd_dtype type;
        const void *w = vd_cpu_halves_find(m->of.w, &type);
        vd_cpu_gemm_pack(w, type, m->of.rows, m->of.columns, to);
        m->panels = to;
        to += floats_of(&m->of, p->width);
    }
}

// False when memory is out.
static bool copy(vd_cpu_panels *p, const vd_matrix *matrix, int count)
{
    size_t floats = 0;
    p->matrix = vd_alloc((size_t)count, sizeof *p->matrix);
    if (!p->matrix)
        return false;
    join(p, matrix, count);
    for (int i = 0; i < p->count; i++)
        floats += floats_of(&p->matrix[i].of, p->width);
    p->memory = vd_alloc_raw(floats * sizeof *p->memory);
    if (p->memory)
        pack(p);
    return p->memory;
}

vd_status vd_cpu_panels_new(const vd_matrix *matrix, int count, vd_cpu_panels **out, vd_error *err)
{
    int width = vd_cpu_gemm_width();
    *out = NULL;
    if (count == 0 || width == 0)
        return VD_OK;
    vd_cpu_panels *p = vd_alloc(1, sizeof *p);
    if (p)
        p->width = width;
    if (!p || !copy(p, matrix, count)) {
        vd_cpu_panels_free(p);
        return vd_error_memory(err, "a copy of the weights");
    }
    if (vd_places_add(&known, matrix[0].w, end_of(&matrix[count - 1]), p))
        *out = p;
    else
        vd_cpu_panels_free(p);
    return VD_OK;
}

void vd_cpu_panels_free(vd_cpu_panels *panels)
{
    if (!panels)
        return;
    if (panels->memory)
        vd_places_remove(&known, panels->matrix[0].of.w);
    vd_free(panels->memory);
    vd_free(panels->matrix);
    vd_free(panels);
}

// The last matrix that begins at w or before.
static const packed_matrix *matrix_at(const vd_cpu_panels *p, const float *w)
{
    int first = 0, end = p->count;
    while (end - first > 1) {
        int middle = (first + end) / 2;
        if (p->matrix[middle].of.w <= w)
            first = middle;
        else
            end = middle;
    }
    return &p->matrix[first];
}

const float *vd_cpu_panels_find(const float *w, int n, int ldw, size_t *apart)
{
    const vd_cpu_panels *p = vd_places_find(&known, w);
    if (!p || p->width != vd_cpu_gemm_width())
        return NULL;
    const packed_matrix *m = matrix_at(p, w);
    const size_t width = (size_t)p->width, columns = (size_t)m->of.columns;
    const size_t at = (size_t)(w - m->of.w), row = at / columns;
    if (ldw != m->of.columns || row % width != 0 || row + (size_t)n > (size_t)m->of.rows)
        return NULL;
    *apart = columns * width;
    return m->panels + row / width * *apart + at % columns * width;
}
