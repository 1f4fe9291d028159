#include "engine/graph/layout.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/token.h"

vd_name vd_name_of(const char *format, ...)
{
    vd_name name;
    va_list values;
    va_start(values, format);
    vsnprintf(name.text, sizeof name.text, format, values);
    va_end(values);
    return name;
}

static size_t aligned(size_t elements)
{
    return (elements + VD_LAYOUT_ALIGNMENT - 1) / VD_LAYOUT_ALIGNMENT * VD_LAYOUT_ALIGNMENT;
}

vd_parameter *vd_layout_add(vd_layout *layout, const char *prefix, const char *suffix, bool matrix,
                            int rows, int columns, vd_init init)
{
    if (layout->count == VD_MAX_PARAMETERS)
        return NULL;
    vd_parameter *p = &layout->parameter[layout->count++];
    *p = (vd_parameter){.dims = columns ? 2 : 1,
                        .shape = {(size_t)rows, (size_t)columns},
                        .elements = (size_t)rows * (size_t)(columns ? columns : 1),
                        .offset = layout->elements,
                        .in_file = layout->numbers,
                        .matrix = matrix,
                        .vector = layout->vectors,
                        .init = init};
    snprintf(p->name, sizeof p->name, "%s%s", prefix, suffix);
    layout->elements = aligned(p->offset + p->elements);
    layout->numbers += p->elements;
    if (!matrix)
        layout->vectors += p->elements;
    return p;
}

void vd_layout_no_gap(vd_layout *layout)
{
    vd_parameter *p = &layout->parameter[layout->count - 1];
    p->offset = p[-1].offset + p[-1].elements;
    layout->elements = aligned(p->offset + p->elements);
}

const vd_parameter *vd_layout_find(const vd_layout *layout, const char *name)
{
    for (int k = 0; k < layout->count; k++)
        if (strcmp(layout->parameter[k].name, name) == 0)
            return &layout->parameter[k];
    return NULL;
}

static vd_real first_value(vd_init init, vd_rng *rng)
{
    switch (init.kind) {
    case VD_INIT_VALUE:
        return (vd_real)init.scale;
    case VD_INIT_UNIFORM:
        return (vd_real)vd_rng_range(rng, -init.scale, init.scale);
    case VD_INIT_ORTHOGONAL:
        return (vd_real)vd_rng_normal(rng);
    default:
        return (vd_real)(init.scale * vd_rng_normal(rng));
    }
}

// Rows of a block of n x n numbers, one after the other less what lies along those before.
static void make_orthogonal(vd_real *block, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        vd_real *row = block + r * n;
        double norm = 0;
        for (size_t k = 0; k < r; k++) {
            const vd_real *before = block + k * n;
            double along = 0;
            for (size_t i = 0; i < n; i++)
                along += (double)row[i] * (double)before[i];
            for (size_t i = 0; i < n; i++)
                row[i] -= (vd_real)(along * (double)before[i]);
        }
        for (size_t i = 0; i < n; i++)
            norm += (double)row[i] * (double)row[i];
        for (size_t i = 0; i < n; i++)
            row[i] = (vd_real)((double)row[i] / sqrt(norm));
    }
}

void vd_layout_init(const vd_layout *layout, vd_real *block, vd_rng *rng)
{
    for (int k = 0; k < layout->count; k++) {
        const vd_parameter *p = &layout->parameter[k];
        vd_real *w = block + p->offset;
        for (size_t i = 0; i < p->elements; i++)
            w[i] = first_value(p->init, rng);
        for (size_t r = 0; p->init.kind == VD_INIT_ORTHOGONAL && r < p->shape[0]; r += p->shape[1])
            make_orthogonal(w + r * p->shape[1], p->shape[1]);
        if (p->init.kind == VD_INIT_WORDS)
            memset(w + (size_t)VD_PAD * p->shape[1], 0, p->shape[1] * sizeof *w);
    }
}

vd_init vd_init_kaiming(int fan_in)
{
    return (vd_init){VD_INIT_UNIFORM, sqrt(6.0 / fan_in)};
}

vd_init vd_init_recurrent(int hidden)
{
    return (vd_init){VD_INIT_UNIFORM, 1.0 / sqrt(hidden)};
}

void vd_layout_linear(vd_layout *layout, const char *name, int in, int out, bool bias)
{
    vd_layout_add(layout, name, ".weight", true, out, in, vd_init_kaiming(in));
    if (bias)
        vd_layout_add(layout, name, ".bias", false, out, 0, vd_init_zero());
}

void vd_layout_score(vd_layout *layout, const char *name, int in, bool bias)
{
    vd_layout_add(layout, name, ".weight", false, 1, in, vd_init_kaiming(in));
    if (bias)
        vd_layout_add(layout, name, ".bias", false, 1, 0, vd_init_zero());
}

void vd_layout_norm(vd_layout *layout, const char *name, int size)
{
    vd_layout_add(layout, name, ".weight", false, size, 0, (vd_init){VD_INIT_VALUE, 1});
    vd_layout_add(layout, name, ".bias", false, size, 0, vd_init_zero());
}

void vd_layout_recurrent(vd_layout *layout, const char *name, int parts, int layers, int directions,
                         int in, int hidden)
{
    static const char *const what[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    for (int layer = 0; layer < layers; layer++)
        for (int i = 0; i < 4 * directions; i++) {
            int columns = i % 4 > 1 ? 0 : i % 4 ? hidden : layer ? directions * hidden : in;
            vd_name suffix = vd_name_of(".%s_l%d%s", what[i % 4], layer, i < 4 ? "" : "_reverse");
            vd_layout_add(layout, name, suffix.text, i % 4 < 2, parts * hidden, columns,
                          vd_init_recurrent(hidden));
        }
}

static void *address_of(const vd_parameters *at, const vd_parameter *p)
{
    size_t offset = at->in_file ? p->in_file : p->offset;
    return at->block ? at->block + offset * vd_dtype_size(at->type) : NULL;
}

vd_matrix vd_parameters_matrix(const vd_parameters *at, const vd_parameter *p)
{
    int columns = (int)(p->elements / p->shape[0]);
    return (vd_matrix){.data = address_of(at, p),
                       .type = at->type,
                       .rows = (int)p->shape[0],
                       .columns = columns,
                       .stride = columns};
}

vd_real *vd_parameters_vector(const vd_parameters *at, const vd_parameter *p)
{
    return at->vectors ? at->vectors + p->vector : address_of(at, p);
}
