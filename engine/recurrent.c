// Two LSTM layers over packed sequences, in one or two directions, with dropout between the layers.
#include "engine/pass.h"

static vd_status run_layer(vd_pass *pass, vd_recurrent_pass *r, int layer,
                           const vd_lstm_weights *weights, const vd_real *x, int in,
                           const vd_real *initial, vd_real *y, vd_error *err)
{
    int h = pass->config->hidden;
    size_t tokens = (size_t)r->packed->tokens, n = tokens * (size_t)h;
    for (int d = 0; d < r->directions; d++) {
        vd_lstm_pass *part = &r->part[layer][d];
        *part = (vd_lstm_pass){.packed = r->packed,
                               .map = d ? r->packed->rows.backward : r->packed->rows.forward,
                               .weights = weights + layer * r->directions + d,
                               .in = in,
                               .hidden = h,
                               .x = x,
                               .initial = initial,
                               .y_stride = r->directions * h,
                               .gate = vd_arena_reals(pass->arena, 4 * n),
                               .cell = vd_arena_reals(pass->arena, n),
                               .before = vd_arena_reals(pass->arena, n),
                               .scratch = vd_arena_reals(pass->arena, 4 * n)};
        if (pass->arena->failed)
            return vd_error_memory(err, "an LSTM layer");
        part->y = y + (size_t)d * (size_t)h;
    }
    pass->be->lstm(r->part[layer], r->directions);
    return VD_OK;
}

vd_status vd_recurrent_forward(vd_pass *pass, vd_recurrent_pass *r, const vd_lstm_weights *weights,
                               int directions, const vd_packed *packed, const vd_real *x, int in,
                               const vd_real *initial, vd_site site, vd_error *err)
{
    int wide = directions * pass->config->hidden;
    size_t n = (size_t)packed->tokens * (size_t)wide;
    r->packed = packed;
    r->directions = directions;
    r->site = site;
    vd_real *first = vd_arena_reals(pass->arena, n);
    r->y = vd_arena_reals(pass->arena, n);
    if (pass->dw)
        r->dy = vd_arena_zeros(pass->arena, n);
    if (pass->arena->failed)
        return vd_error_memory(err, "LSTM states");
    vd_status status = run_layer(pass, r, 0, weights, x, in, initial, first, err);
    if (status != VD_OK)
        return status;
    r->dropped = first;
    if (pass->lstm_dropout != 0)
        pass->be->dropout(first, first, n, pass->lstm_dropout, vd_pass_key(pass, site));
    return run_layer(pass, r, 1, weights, r->dropped, wide, initial, r->y, err);
}

// Rows of the scratch that an LSTM's backward pass needs (backend.h).
static size_t state_rows(const vd_packed *packed)
{
    int widest = 0;
    if (!packed->parent)
        return (size_t)packed->sequences;
    for (int step = 0; step < packed->longest; step++)
        widest = packed->active[step] > widest ? packed->active[step] : widest;
    return 2 * (size_t)widest;
}

static void layer_backward(vd_pass *pass, vd_recurrent_pass *r, int layer,
                           const vd_lstm_weights *gradients, const vd_real *dy, vd_real *dx,
                           vd_real *state, vd_real *dinitial)
{
    size_t n = state_rows(r->packed) * (size_t)pass->config->hidden;
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
        pass->be->add(dinitial, q[d].dinitial, n);
}

vd_status vd_recurrent_backward(vd_pass *pass, vd_recurrent_pass *r,
                                const vd_lstm_weights *gradients, vd_real *dx, vd_real *dinitial,
                                vd_error *err)
{
    int wide = r->directions * pass->config->hidden;
    size_t n = (size_t)r->packed->tokens * (size_t)wide;
    vd_real *dfirst = vd_arena_zeros(pass->arena, n);
    vd_real *state = vd_arena_zeros(pass->arena, 3 * state_rows(r->packed) * (size_t)wide);
    if (pass->arena->failed)
        return vd_error_memory(err, "LSTM gradients");
    layer_backward(pass, r, 1, gradients, r->dy, dfirst, state, dinitial);
    vd_pass_drop_backward(pass, dfirst, n, pass->lstm_dropout, r->site);
    layer_backward(pass, r, 0, gradients, dfirst, dx, state, dinitial);
    return VD_OK;
}
