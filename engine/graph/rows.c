// Rows: taken from tables, chosen, joined, put below each other.
#include "engine/graph/tape_private.h"

// ---- embeddings ---------------------------------------------------------------------------------

static void embed_backward(vd_tape *tape, const vd_node *node)
{
    tape->be->embed_backward(node->kept, node->list[0], node->y->rows, node->y->dx);
}

vd_value *vd_tape_embed(vd_tape *tape, const char *name, const int32_t *id, int rows, vd_axis axis)
{
    vd_matrix table, *dtable = vd_tape_kept(tape, 1, sizeof *dtable);
    if (!dtable || !vd_tape_matrix(tape, name, "", &table, dtable))
        return &tape->nothing;
    vd_value *y = vd_tape_take(tape, axis, rows, table.columns, true);
    if (tape->status != VD_OK)
        return y;
    tape->be->embed(&table, id, rows, y->x);
    return vd_tape_record(tape, y, (vd_node){embed_backward, .kept = dtable, .list = {id}});
}

// ---- rows of a list, columns --------------------------------------------------------------------

static void part_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *x = node->x[0], *y = node->y;
    tape->be->scatter_rows(y->dx, y->columns, node->list[0], y->rows, y->columns,
                           x->dx + node->count, x->columns);
}

// y = rows index[r] of x, or all of them, from column `from` on.
static vd_value *part(vd_tape *tape, const vd_value *x, const int *index, int from, vd_value *y)
{
    if (tape->status != VD_OK)
        return y;
    tape->be->copy_rows(x->x + from, x->columns, index, y->rows, y->columns, y->x, y->columns);
    return vd_tape_record(tape, y,
                          (vd_node){part_backward, .x = {x}, .list = {index}, .count = from});
}

vd_value *vd_tape_rows(vd_tape *tape, const vd_value *x, const int *index, int rows, vd_axis axis)
{
    return part(tape, x, index, 0, vd_tape_take(tape, axis, rows, x->columns, vd_wanted(x)));
}

vd_value *vd_tape_columns(vd_tape *tape, const vd_value *x, int from, int count)
{
    if (!vd_tape_fits(tape, from >= 0 && count > 0 && from + count <= x->columns, "columns", x,
                      NULL))
        return &tape->nothing;
    return part(tape, x, NULL, from, vd_tape_like(tape, x, count, vd_wanted(x)));
}

vd_value *vd_tape_choose(vd_tape *tape, const vd_value *x, const int *host, int rows, vd_axis axis)
{
    const int *list = vd_tape_upload(tape, host, (size_t)rows, sizeof *host);
    return vd_tape_rows(tape, x, list, rows, axis);
}

// A row that counts for all adds up what they get: the gradient of a bias.
static void repeat_backward(vd_tape *tape, const vd_node *node)
{
    const vd_matrix none = {.rows = node->y->columns};
    tape->be->linear_backward(NULL, &none, node->y->dx, NULL, 0, 0, NULL, node->x[0]->dx,
                              node->y->rows);
}

vd_value *vd_tape_repeat(vd_tape *tape, const vd_value *row, int rows, vd_axis axis)
{
    if (!vd_tape_fits(tape, row->rows == 1, "copies", row, NULL))
        return &tape->nothing;
    vd_value *y = vd_tape_take(tape, axis, rows, row->columns, vd_wanted(row));
    if (tape->status != VD_OK)
        return y;
    tape->be->copy_rows(row->x, 0, NULL, rows, row->columns, y->x, row->columns);
    return vd_tape_record(tape, y, (vd_node){repeat_backward, .x = {row}});
}

// ---- joined -------------------------------------------------------------------------------------

// A list of values whose columns lie in y, one after the other.
static void concat_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *const *list = node->kept, *y = node->y;
    for (int i = 0, from = 0; i < node->count; from += list[i++]->columns)
        if (vd_wanted(list[i]))
            tape->be->scatter_rows(y->dx + from, y->columns, NULL, y->rows, list[i]->columns,
                                   list[i]->dx, list[i]->columns);
}

vd_value *vd_tape_concat_all(vd_tape *tape, const vd_value *const *list, int count)
{
    const vd_value **kept = vd_tape_kept(tape, (size_t)count, sizeof *kept);
    int columns = 0;
    bool wanted = false, fits = count > 0 && kept;
    for (int i = 0; i < count && kept; i++) {
        kept[i] = list[i];
        columns += list[i]->columns;
        wanted |= vd_wanted(list[i]);
        fits &= list[i]->rows == list[0]->rows;
    }
    if (!vd_tape_fits(tape, fits, "concatenating", list[0], list[count - 1]))
        return &tape->nothing;
    vd_value *y = vd_tape_like(tape, list[0], columns, wanted);
    if (tape->status != VD_OK)
        return y;
    for (int i = 0, from = 0; i < count; from += list[i++]->columns)
        tape->be->copy_rows(list[i]->x, list[i]->columns, NULL, y->rows, list[i]->columns,
                            y->x + from, columns);
    return vd_tape_record(tape, y, (vd_node){concat_backward, .kept = kept, .count = count});
}

vd_value *vd_tape_concat(vd_tape *tape, const vd_value *a, const vd_value *b)
{
    const vd_value *const list[] = {a, b};
    return vd_tape_concat_all(tape, list, 2);
}

static void stack_backward(vd_tape *tape, const vd_node *node)
{
    const vd_real *dy = node->y->dx;
    for (int i = 0; i < 2; dy += vd_value_size(node->x[i++]))
        if (vd_wanted(node->x[i]))
            tape->be->add_scaled(node->x[i]->dx, 1, dy, vd_value_size(node->x[i]));
}

vd_value *vd_tape_stack(vd_tape *tape, const vd_value *a, const vd_value *b)
{
    if (!vd_tape_fits(tape, a->columns == b->columns, "stacking", a, b))
        return &tape->nothing;
    vd_value *y =
        vd_tape_take(tape, a->axis, a->rows + b->rows, a->columns, vd_wanted(a) || vd_wanted(b));
    if (tape->status != VD_OK)
        return y;
    tape->be->memory->copy(y->x, a->x, vd_value_size(a) * sizeof *y->x);
    tape->be->memory->copy(y->x + vd_value_size(a), b->x, vd_value_size(b) * sizeof *y->x);
    return vd_tape_record(tape, y, (vd_node){stack_backward, .x = {a, b}});
}

// ---- neighbours ---------------------------------------------------------------------------------

// For each position in the window, which row a word reads there; -1 outside its sequence.
static const int *list_neighbours(vd_tape *tape, const vd_packed *packed, int width, int dilation,
                                  int before)
{
    size_t n = (size_t)packed->tokens;
    int *list = vd_tape_kept(tape, (size_t)width * n, sizeof *list);
    for (int w = 0; w < width && list; w++)
        for (size_t t = 0; t < n; t++) {
            int position = packed->position[t] + (w - before) * dilation;
            bool inside = position >= 0 && position < packed->length[packed->owner[t]];
            list[(size_t)w * n + t] = inside ? (int)t + (w - before) * dilation : -1;
        }
    return vd_tape_upload(tape, list, (size_t)width * n, sizeof *list);
}

static void window_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *x = node->x[0], *y = node->y;
    for (int w = 0; w < node->count; w++)
        tape->be->scatter_rows(y->dx + w * x->columns, y->columns,
                               node->list[0] + (size_t)w * (size_t)x->rows, x->rows, x->columns,
                               x->dx, x->columns);
}

vd_value *vd_tape_window(vd_tape *tape, const vd_value *x, const vd_packed *packed, int width,
                         int dilation, bool backwards)
{
    if (!vd_tape_fits(tape,
                      width > 0 && (backwards || width % 2) && dilation > 0 &&
                          x->rows == packed->tokens,
                      "a window", x, NULL))
        return &tape->nothing;
    const int *list =
        list_neighbours(tape, packed, width, dilation, backwards ? width - 1 : width / 2);
    vd_value *y = vd_tape_like(tape, x, width * x->columns, vd_wanted(x));
    if (tape->status != VD_OK)
        return y;
    for (int w = 0; w < width; w++)
        tape->be->copy_rows(x->x, x->columns, list + (size_t)w * (size_t)x->rows, x->rows,
                            x->columns, y->x + w * x->columns, y->columns);
    return vd_tape_record(tape, y,
                          (vd_node){window_backward, .x = {x}, .list = {list}, .count = width});
}
