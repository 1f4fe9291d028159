// Two LSTM layers over packed sequences, in one or two directions, with dropout between the layers.
#include "engine/networks/pass.h"

// What a layer reads: x (rows, in) and which of its rows a token's is (NULL = its own).
typedef struct layer_input {
    const vd_real *x;
    const int *row;
    int rows, in;
} layer_input;

static vd_status run_layer(vd_pass *pass, vd_recurrent_pass *r, int layer,
                           const vd_lstm_weights *weights, layer_input from, const vd_real *initial,
                           vd_real *y, vd_error *err)
{
    bool keep = pass->dw;
    const vd_packed *packed = r->packed[layer];
    int h = pass->config->hidden, widest = packed->widest;
    size_t n = (size_t)(keep ? packed->tokens : widest) * (size_t)h;
    size_t inputs = (size_t)(keep ? packed->tokens : from.rows) * 4 * (size_t)h;
    for (int d = 0; d < r->directions; d++) {
        vd_lstm_pass *part = &r->part[layer][d];
        *part = (vd_lstm_pass){.packed = packed,
                               .map = d ? packed->rows.backward : packed->rows.forward,
                               .weights = weights + layer * r->directions + d,
                               .in = from.in,
                               .hidden = h,
                               .x = from.x,
                               .x_row = from.row,
                               .x_rows = from.rows,
                               .initial = initial,
                               .y_stride = r->directions * h,
                               .keep = keep,
                               .gate = vd_arena_reals(pass->arena, 4 * n),
                               .cell = vd_arena_reals(pass->arena, keep ? n : 2 * n),
                               .before = vd_arena_reals(pass->arena, keep ? n : 2 * n),
                               .scratch = vd_arena_reals(pass->arena, inputs)};
        part->step = vd_arena_reals(pass->arena, 4 * (size_t)widest * (size_t)h);
        if (pass->arena->failed)
            return vd_error_memory(err, "an LSTM layer");
        part->y = y + (size_t)d * (size_t)h;
    }
    pass->be->lstm(r->part[layer], r->directions);
    return VD_OK;
}

vd_status vd_recurrent_forward(vd_pass *pass, vd_text_pass *text, const vd_lstm_weights *weights,
                               int directions, const vd_real *initial, vd_site site, vd_error *err)
{
    vd_recurrent_pass *r = &text->recurrent;
    const vd_packed *lower = text->packed, *upper = text->apart ? text->apart : lower;
    int wide = directions * pass->config->hidden;
    size_t n = (size_t)upper->tokens * (size_t)wide;
    r->packed[0] = lower;
    r->packed[1] = upper;
    r->row = text->apart_row;
    r->directions = directions;
    r->site = site;
    vd_real *first = vd_arena_reals(pass->arena, (size_t)lower->tokens * (size_t)wide);
    r->dropped = r->row ? vd_arena_reals(pass->arena, n) : first;
    vd_pass_take(pass, n, &r->y, &r->dy);
    if (pass->arena->failed)
        return vd_error_memory(err, "LSTM states");
    layer_input words = {text->input, text->input_row, text->inputs, text->wide};
    vd_status status = run_layer(pass, r, 0, weights, words, initial, first, err);
    if (status != VD_OK)
        return status;
    if (r->row)
        pass->be->copy_rows(first, wide, r->row, upper->tokens, wide, r->dropped, wide);
    if (pass->lstm_dropout != 0)
        pass->be->dropout(r->dropped, r->dropped, n, pass->lstm_dropout, vd_pass_key(pass, site));
    layer_input states = {r->dropped, NULL, upper->tokens, wide};
    return run_layer(pass, r, 1, weights, states, initial, r->y, err);
}

// Rows of the scratch that an LSTM's backward pass needs (backend.h).
static size_t state_rows(const vd_packed *packed)
{
    return packed->parent ? 2 * (size_t)packed->widest : (size_t)packed->sequences;
}

static void layer_backward(vd_pass *pass, vd_recurrent_pass *r, int layer,
                           const vd_lstm_weights *gradients, const vd_real *dy, vd_real *dx,
                           vd_real *state, vd_real *dinitial)
{
    size_t n = state_rows(r->packed[layer]) * (size_t)pass->config->hidden;
    vd_lstm_gradient q[2];
    for (int d = 0; d < r->directions; d++, state += 3 * n)
        q[d] = (vd_lstm_gradient){.weights = gradients + layer * r->directions + d,
                                  .dy = dy + (size_t)d * (size_t)pass->config->hidden,
                                  .dx = dx,
                                  .dh = state,
                                  .dc = state + n,
                                  .dinitial = dinitial ? state + 2 * n : NULL};
    pass->be->lstm_backward(r->part[layer], q, r->directions);
    for (int d = 0; dinitial && d < r->directions; d++)
        pass->be->add_scaled(dinitial, 1, q[d].dinitial, n);
}

vd_status vd_recurrent_backward(vd_pass *pass, vd_recurrent_pass *r,
                                const vd_lstm_weights *gradients, vd_real *dx, vd_real *dinitial,
                                vd_error *err)
{
    size_t wide = (size_t)r->directions * (size_t)pass->config->hidden;
    size_t below = state_rows(r->packed[0]), above = state_rows(r->packed[1]);
    size_t n = (size_t)r->packed[1]->tokens * wide;
    vd_real *dropped = vd_arena_zeros(pass->arena, n), *dfirst = dropped;
    vd_real *state = vd_arena_zeros(pass->arena, 3 * (above > below ? above : below) * wide);
    if (r->row)
        dfirst = vd_arena_zeros(pass->arena, (size_t)r->packed[0]->tokens * wide);
    if (pass->arena->failed)
        return vd_error_memory(err, "LSTM gradients");
    layer_backward(pass, r, 1, gradients, r->dy, dropped, state, dinitial);
    vd_pass_drop_backward(pass, dropped, n, pass->lstm_dropout, r->site);
    if (r->row)
        pass->be->scatter_rows(dropped, (int)wide, r->row, r->packed[1]->tokens, (int)wide, dfirst,
                               (int)wide);
    layer_backward(pass, r, 0, gradients, dfirst, dx, state, dinitial);
    return VD_OK;
}
