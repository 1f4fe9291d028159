// Layers: linear, functions of a number, sums and products, normalisation, dropout.
#include "engine/graph/tape_private.h"

#include "engine/base/rng.h"

// ---- linear -------------------------------------------------------------------------------------

typedef struct linear_kept {
    vd_linear_weights w, dw;
} linear_kept;

static void linear_backward(vd_tape *tape, const vd_node *node)
{
    const linear_kept *k = node->kept;
    const vd_value *x = node->x[0], *y = node->y;
    tape->be->linear_backward(x->x, &k->w.w, y->dx, x->dx, x->columns, 1, &k->dw.w, k->dw.b,
                              y->rows);
}

vd_value *vd_tape_layer(vd_tape *tape, const vd_value *x, const vd_linear_weights *w,
                        const vd_linear_weights *dw, const char *name)
{
    const vd_value shape = {.rows = w->w.rows, .columns = w->w.columns};
    linear_kept *k = vd_tape_kept(tape, 1, sizeof *k);
    if (!vd_tape_fits(tape, x->columns == w->w.columns, name, x, &shape))
        return &tape->nothing;
    vd_value *y = vd_tape_like(tape, x, w->w.rows, true);
    if (tape->status != VD_OK)
        return y;
    *k = (linear_kept){*w, *dw};
    tape->be->linear(x->x, &w->w, w->b, y->x, x->rows);
    return vd_tape_record(tape, y, (vd_node){linear_backward, .x = {x}, .kept = k});
}

// A score layer has one result, and its weights are a vector.
vd_value *vd_tape_linear(vd_tape *tape, const vd_value *x, const char *name)
{
    vd_linear_weights w = {0}, dw = {0};
    vd_real *row, *drow;
    const vd_parameter *p;
    if (vd_tape_numbers(tape, name, ".weight", true, &row, &drow, &p)) {
        w.w = vd_matrix_of(row, (int)p->shape[0], (int)(p->elements / p->shape[0]));
        dw.w = vd_matrix_of(drow, w.w.rows, w.w.columns);
    } else {
        vd_tape_matrix(tape, name, ".weight", &w.w, &dw.w);
    }
    vd_tape_numbers(tape, name, ".bias", true, &w.b, &dw.b, NULL);
    return vd_tape_layer(tape, x, &w, &dw, name);
}

// ---- number by number ---------------------------------------------------------------------------

static void map_backward(vd_tape *tape, const vd_node *node)
{
    tape->be->map_backward((vd_function)node->count, node->x[0]->x, node->y->x, node->y->dx,
                           node->x[0]->dx, vd_value_size(node->y));
}

vd_value *vd_tape_map(vd_tape *tape, vd_function f, const vd_value *x)
{
    vd_value *y = vd_tape_like(tape, x, x->columns, vd_wanted(x));
    if (tape->status != VD_OK)
        return y;
    tape->be->map(f, x->x, y->x, vd_value_size(y));
    return vd_tape_record(tape, y, (vd_node){map_backward, .x = {x}, .count = (int)f});
}

static void dropout_backward(vd_tape *tape, const vd_node *node)
{
    size_t n = vd_value_size(node->y);
    tape->be->dropout(node->y->dx, node->y->dx, n, node->factor, node->key);
    tape->be->add_scaled(node->x[0]->dx, 1, node->y->dx, n);
}

vd_value *vd_tape_dropout(vd_tape *tape, const vd_value *x, vd_real rate)
{
    uint64_t key = vd_rng_mix(tape->key + 0x9e3779b97f4a7c15u * (tape->operations + 64));
    if (rate == 0)
        return (vd_value *)(uintptr_t)x;
    vd_value *y = vd_tape_like(tape, x, x->columns, vd_wanted(x));
    if (tape->status != VD_OK)
        return y;
    tape->be->dropout(x->x, y->x, vd_value_size(x), rate, key);
    return vd_tape_record(tape, y,
                          (vd_node){dropout_backward, .x = {x}, .factor = rate, .key = key});
}

static void scale_backward(vd_tape *tape, const vd_node *node)
{
    tape->be->add_scaled(node->x[0]->dx, node->factor, node->y->dx, vd_value_size(node->y));
}

vd_value *vd_tape_scale(vd_tape *tape, const vd_value *x, vd_real factor)
{
    vd_value *y = vd_tape_like(tape, x, x->columns, vd_wanted(x));
    if (tape->status != VD_OK)
        return y;
    tape->be->memory->zero(y->x, vd_value_size(y) * sizeof *y->x);
    tape->be->add_scaled(y->x, factor, x->x, vd_value_size(y));
    return vd_tape_record(tape, y, (vd_node){scale_backward, .x = {x}, .factor = factor});
}

// ---- two values ---------------------------------------------------------------------------------

static bool single(const vd_value *a, const vd_value *b)
{
    return a->rows == 1 && b->rows != 1;
}

// The list that reads row 0 every time, for a value that counts for all rows.
static const int *zeros(vd_tape *tape, int rows)
{
    const int *list = vd_tape_kept(tape, (size_t)rows, sizeof *list);
    return vd_tape_upload(tape, list, (size_t)rows, sizeof *list);
}

static void add_backward(vd_tape *tape, const vd_node *node)
{
    for (int i = 0; i < 2; i++)
        if (vd_wanted(node->x[i]))
            tape->be->add_scaled(node->x[i]->dx, 1, node->y->dx, vd_value_size(node->y));
}

vd_value *vd_tape_add(vd_tape *tape, const vd_value *a, const vd_value *b)
{
    if (single(a, b))
        a = vd_tape_repeat(tape, a, b->rows, b->axis);
    else if (single(b, a))
        b = vd_tape_repeat(tape, b, a->rows, a->axis);
    if (!vd_tape_fits(tape, a->rows == b->rows && a->columns == b->columns, "a sum", a, b))
        return &tape->nothing;
    vd_value *y = vd_tape_like(tape, a->pairing ? a : b, a->columns, vd_wanted(a) || vd_wanted(b));
    if (tape->status != VD_OK)
        return y;
    tape->be->memory->copy(y->x, a->x, vd_value_size(y) * sizeof *y->x);
    tape->be->add_scaled(y->x, 1, b->x, vd_value_size(y));
    return vd_tape_record(tape, y, (vd_node){add_backward, .x = {a, b}});
}

static void multiply_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *y = node->y;
    for (int i = 0; i < 2; i++)
        if (vd_wanted(node->x[i]))
            tape->be->multiply_rows_backward(y->dx, node->x[!i]->x, node->list[!i], y->rows,
                                             y->columns, node->x[i]->dx, node->list[i]);
}

vd_value *vd_tape_multiply_rows(vd_tape *tape, vd_value *y, const vd_value *a, const int *a_row,
                                const vd_value *b, const int *b_row)
{
    if (tape->status != VD_OK)
        return y;
    tape->be->multiply_rows(a->x, a_row, b->x, b_row, y->rows, y->columns, y->x);
    return vd_tape_record(tape, y,
                          (vd_node){multiply_backward, .x = {a, b}, .list = {a_row, b_row}});
}

vd_value *vd_tape_multiply(vd_tape *tape, const vd_value *a, const vd_value *b)
{
    const int *list[2] = {single(a, b) ? zeros(tape, b->rows) : NULL,
                          single(b, a) ? zeros(tape, a->rows) : NULL};
    bool fits = a->columns == b->columns && (a->rows == b->rows || list[0] || list[1]);
    if (!vd_tape_fits(tape, fits, "a product", a, b))
        return &tape->nothing;
    const vd_value *shape = list[0] || b->pairing ? b : a;
    vd_value *y = vd_tape_like(tape, shape, a->columns, vd_wanted(a) || vd_wanted(b));
    return vd_tape_multiply_rows(tape, y, a, list[0], b, list[1]);
}

// ---- normalisation ------------------------------------------------------------------------------

typedef struct norm_kept {
    const vd_real *gain, *normal, *inverse;
    vd_real *dgain, *dbias;
} norm_kept;

static void layer_norm_backward(vd_tape *tape, const vd_node *node)
{
    const norm_kept *k = node->kept;
    const vd_value *y = node->y;
    tape->be->layer_norm_backward(y->dx, k->gain, k->normal, k->inverse, y->rows, y->columns,
                                  node->x[0]->dx, k->dgain, k->dbias);
}

vd_value *vd_tape_layer_norm(vd_tape *tape, const vd_value *x, const char *name)
{
    norm_kept *k = vd_tape_kept(tape, 1, sizeof *k);
    vd_real *gain, *bias;
    const vd_parameter *p;
    if (!k || !vd_tape_numbers(tape, name, ".weight", false, &gain, &k->dgain, &p) ||
        !vd_tape_numbers(tape, name, ".bias", false, &bias, &k->dbias, NULL) ||
        !vd_tape_fits(tape, p->elements == (size_t)x->columns, name, x, NULL))
        return &tape->nothing;
    vd_value *y = vd_tape_like(tape, x, x->columns, true);
    vd_real *normal = vd_tape_reals(tape, vd_value_size(x)),
            *inverse = vd_tape_reals(tape, (size_t)x->rows);
    if (tape->status != VD_OK)
        return y;
    tape->be->layer_norm(x->x, gain, bias, x->rows, x->columns, normal, inverse, y->x);
    k->gain = gain;
    k->normal = normal;
    k->inverse = inverse;
    return vd_tape_record(tape, y, (vd_node){layer_norm_backward, .x = {x}, .kept = k});
}

static void unit_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *y = node->y;
    tape->be->unit_rows_backward(y->dx, y->x, node->number, y->rows, y->columns, node->x[0]->dx);
}

vd_value *vd_tape_unit(vd_tape *tape, const vd_value *x)
{
    vd_value *y = vd_tape_like(tape, x, x->columns, vd_wanted(x));
    vd_real *norm = vd_tape_reals(tape, (size_t)x->rows);
    if (tape->status != VD_OK)
        return y;
    tape->be->unit_rows(x->x, x->rows, x->columns, y->x, norm);
    return vd_tape_record(tape, y, (vd_node){unit_backward, .x = {x}, .number = norm});
}
