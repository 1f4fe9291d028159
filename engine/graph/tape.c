#include "engine/graph/tape_private.h"

#include <stdarg.h>
#include <stdio.h>

// ---- failures -----------------------------------------------------------------------------------

void vd_tape_fail(vd_tape *tape, vd_status status, const char *format, ...)
{
    va_list arguments;
    if (tape->status != VD_OK)
        return;
    va_start(arguments, format);
    vsnprintf(tape->error.text, sizeof tape->error.text, format, arguments);
    va_end(arguments);
    tape->status = tape->error.status = status;
}

vd_status vd_tape_status(const vd_tape *tape, vd_error *err)
{
    return tape->status == VD_OK ? VD_OK : vd_error_set(err, tape->status, "%s", tape->error.text);
}

// Memory that was asked for, which is there unless the tape fails.
static void *there(vd_tape *tape, void *memory)
{
    vd_error err;
    if (!memory) {
        vd_error_memory(&err, "what the network computes");
        vd_tape_fail(tape, VD_NO_MEMORY, "%s", err.text);
    }
    return memory;
}

bool vd_tape_fits(vd_tape *tape, bool fits, const char *operation, const vd_value *a,
                  const vd_value *b)
{
    if (fits && tape->status == VD_OK)
        return true;
    if (b)
        vd_tape_fail(tape, VD_USAGE, "%s of %d x %d and %d x %d numbers: their shapes do not match",
                     operation, a->rows, a->columns, b->rows, b->columns);
    else
        vd_tape_fail(tape, VD_USAGE, "%s of %d x %d numbers: their shapes do not match", operation,
                     a->rows, a->columns);
    return false;
}

// ---- values -------------------------------------------------------------------------------------

vd_real *vd_tape_reals(vd_tape *tape, size_t count)
{
    return there(tape, vd_arena_reals(tape->arena, count));
}

vd_real *vd_tape_zeros(vd_tape *tape, size_t count)
{
    return there(tape, vd_arena_zeros(tape->arena, count));
}

void *vd_tape_kept(vd_tape *tape, size_t count, size_t size)
{
    return there(tape, vd_arena_take(tape->arena, count, size));
}

const void *vd_tape_upload(vd_tape *tape, const void *host, size_t count, size_t size)
{
    return there(tape, (void *)(uintptr_t)vd_arena_upload(tape->arena, host, count, size));
}

static vd_value *take(vd_tape *tape, vd_value shape, bool wanted)
{
    vd_value *y = tape->status == VD_OK ? vd_tape_kept(tape, 1, sizeof *y) : NULL;
    if (!y)
        return &tape->nothing;
    size_t n = vd_value_size(&shape);
    *y = shape;
    y->x = vd_tape_reals(tape, n);
    y->dx = tape->dw && wanted && y->x ? vd_tape_zeros(tape, n) : NULL;
    return tape->status == VD_OK ? y : &tape->nothing;
}

vd_value *vd_tape_take(vd_tape *tape, vd_axis axis, int rows, int columns, bool wanted)
{
    return take(tape, (vd_value){.rows = rows, .columns = columns, .axis = axis}, wanted);
}

vd_value *vd_tape_like(vd_tape *tape, const vd_value *x, int columns, bool wanted)
{
    return take(
        tape,
        (vd_value){.rows = x->rows, .columns = columns, .axis = x->axis, .pairing = x->pairing},
        wanted);
}

vd_value *vd_tape_record(vd_tape *tape, vd_value *y, vd_node node)
{
    tape->operations++;
    vd_node *kept = y->dx ? vd_tape_kept(tape, 1, sizeof *kept) : NULL;
    if (kept) {
        node.before = tape->last;
        node.y = y;
        *kept = node;
        tape->last = kept;
    }
    return y;
}

vd_status vd_tape_backward(vd_tape *tape, vd_error *err)
{
    for (const vd_node *node = tape->last; node && tape->status == VD_OK; node = node->before)
        node->backward(tape, node);
    return vd_tape_status(tape, err);
}

vd_value *vd_tape_constant(vd_tape *tape, vd_axis axis, const vd_real *x, int rows, int columns)
{
    vd_value *y = tape->status == VD_OK ? vd_tape_kept(tape, 1, sizeof *y) : NULL;
    if (!y)
        return &tape->nothing;
    // Values of operations are written, constants only read.
    *y = (vd_value){.rows = rows, .columns = columns, .axis = axis, .x = (vd_real *)(uintptr_t)x};
    return y;
}

vd_value *vd_tape_given(vd_tape *tape, vd_axis axis, const vd_real *host, int rows, int columns)
{
    size_t n = (size_t)rows * (size_t)columns;
    return vd_tape_constant(tape, axis, vd_tape_upload(tape, host, n, sizeof *host), rows, columns);
}

vd_value *vd_tape_given_pairs(vd_tape *tape, const vd_pairing *p, const vd_real *host)
{
    vd_value *y = vd_tape_given(tape, VD_AXIS_PAIRS, host, p ? p->pairs : 0, 1);
    y->pairing = p;
    return y;
}

// ---- parameters ---------------------------------------------------------------------------------

static const vd_parameter *find(vd_tape *tape, const char *name, const char *suffix, bool matrix,
                                bool optional)
{
    const vd_name whole = vd_name_of("%s%s", name, suffix);
    const vd_parameter *p =
        tape->status == VD_OK ? vd_layout_find(tape->w->layout, whole.text) : NULL;
    if (p && p->matrix == matrix)
        return p;
    if (!optional)
        vd_tape_fail(tape, VD_USAGE, "%s is not declared as a %s", whole.text,
                     matrix ? "matrix" : "vector");
    return NULL;
}

bool vd_tape_matrix(vd_tape *tape, const char *name, const char *suffix, vd_matrix *w,
                    vd_matrix *dw)
{
    const vd_parameter *p = find(tape, name, suffix, true, false);
    if (!p)
        return false;
    *w = vd_parameters_matrix(tape->w, p);
    *dw = tape->dw ? vd_parameters_matrix(tape->dw, p) : (vd_matrix){0};
    return true;
}

bool vd_tape_numbers(vd_tape *tape, const char *name, const char *suffix, bool optional,
                     vd_real **w, vd_real **dw, const vd_parameter **what)
{
    const vd_parameter *p = find(tape, name, suffix, false, optional);
    *w = p ? vd_parameters_vector(tape->w, p) : NULL;
    *dw = p && tape->dw ? vd_parameters_vector(tape->dw, p) : NULL;
    if (what)
        *what = p;
    return p != NULL;
}

vd_value *vd_tape_vector(vd_tape *tape, const char *name)
{
    const vd_parameter *p;
    vd_real *w, *dw;
    if (!vd_tape_numbers(tape, name, "", false, &w, &dw, &p))
        return &tape->nothing;
    int rows = p->dims > 1 ? (int)p->shape[0] : 1;
    vd_value *y = vd_tape_constant(tape, VD_AXIS_NONE, w, rows, (int)p->elements / rows);
    if (tape->status == VD_OK)
        y->dx = dw;
    return y;
}

// ---- for the views ------------------------------------------------------------------------------

void vd_tape_show(vd_tape *tape, const vd_value *attention, const char *name, int index)
{
    vd_tape_show_head(tape, attention, name, index, 0);
}

void vd_tape_show_head(vd_tape *tape, const vd_value *attention, const char *name, int index,
                       int heads)
{
    if (!vd_tape_fits(tape, attention->pairing != NULL, "an attention", attention, NULL))
        return;
    vd_shown *shown = vd_tape_kept(tape, 1, sizeof *shown), **end = &tape->shown;
    if (!shown)
        return;
    *shown = (vd_shown){NULL, name, index, heads, attention};
    while (*end)
        end = &(*end)->next;
    *end = shown;
}

void vd_tape_explain(vd_tape *tape, const vd_explained *stage)
{
    vd_explained *e = tape->status == VD_OK ? vd_tape_kept(tape, 1, sizeof *e) : NULL;
    vd_explained **end = &tape->explained;
    if (!e)
        return;
    *e = *stage;
    e->next = NULL;
    e->shown = 0;
    for (const vd_shown *shown = tape->shown; shown; shown = shown->next)
        e->shown++;
    while (*end)
        end = &(*end)->next;
    *end = e;
}
