// GatedTrans, the nonlinear map of every view: f(x) = tanh(Wy x + by) * g(Wg x + bg); and the gate
// of a pair, sigmoid(W x + b) * x with x = [left ; right].
#include "engine/networks/pass.h"

vd_status vd_gated_forward(vd_pass *pass, vd_gated_pass *gated, const vd_gated_weights *w,
                           const vd_real *x, int rows, int in, vd_site site, vd_error *err)
{
    int h = pass->config->hidden;
    gated->rows = rows;
    gated->in = in;
    gated->site = site;
    gated->x = vd_pass_drop(pass, x, (size_t)rows * (size_t)in, pass->dropout, site);
    gated->saved = vd_arena_reals(pass->arena, (size_t)rows * 2 * (size_t)h);
    vd_pass_take(pass, (size_t)rows * (size_t)h, &gated->y, &gated->dy);
    if (pass->arena->failed)
        return vd_error_memory(err, "a gated transform");
    pass->be->linear(gated->x, &w->w, w->b, gated->saved, rows);
    pass->be->gated(pass->config->gate, gated->saved, gated->y, rows, h);
    return VD_OK;
}

vd_status vd_gated_backward(vd_pass *pass, vd_gated_pass *gated, const vd_gated_weights *w,
                            const vd_gated_weights *dw, vd_real *dx, vd_error *err)
{
    int h = pass->config->hidden, rows = gated->rows, in = gated->in;
    size_t n = (size_t)rows * (size_t)in;
    // Without dropout the gradient goes straight to dx.
    vd_real *dropped = dx && pass->dropout != 0 ? vd_arena_reals(pass->arena, n) : dx;
    if (pass->arena->failed)
        return vd_error_memory(err, "a gated transform's gradient");
    pass->be->gated_backward(pass->config->gate, gated->saved, gated->dy, rows, h);
    pass->be->linear_backward(gated->x, &w->w, gated->saved, dropped, in, dropped == dx ? 1 : 0,
                              &dw->w, dw->b, rows);
    if (dropped != dx) {
        vd_pass_drop_backward(pass, dropped, n, pass->dropout, gated->site);
        pass->be->add_scaled(dx, 1, dropped, n);
    }
    return VD_OK;
}

vd_status vd_pair_forward(vd_pass *pass, vd_pair_pass *pair, const vd_linear_weights *w,
                          const vd_real *left, const vd_real *right, int rows, int half,
                          vd_error *err)
{
    size_t n = (size_t)rows * 2 * (size_t)half;
    pair->rows = rows;
    pair->half = half;
    pair->x = vd_arena_reals(pass->arena, n);
    pair->gate = vd_arena_reals(pass->arena, n);
    vd_pass_take(pass, n, &pair->y, &pair->dy);
    if (pass->arena->failed)
        return vd_error_memory(err, "a gate");
    vd_concat(pass->be, left, NULL, half, right, NULL, half, pair->x, rows);
    pass->be->linear(pair->x, &w->w, w->b, pair->gate, rows);
    pass->be->sigmoid_gate(pair->gate, pair->x, pair->y, n);
    return VD_OK;
}

vd_status vd_pair_backward(vd_pass *pass, vd_pair_pass *pair, const vd_linear_weights *w,
                           const vd_linear_weights *dw, vd_real *dleft, vd_real **dright,
                           vd_error *err)
{
    int rows = pair->rows, half = pair->half;
    size_t n = (size_t)rows * (size_t)half;
    vd_real *dx = vd_arena_zeros(pass->arena, 2 * n);
    *dright = vd_arena_reals(pass->arena, n);
    if (pass->arena->failed)
        return vd_error_memory(err, "a gate's gradient");
    pass->be->sigmoid_gate_backward(pair->gate, pair->x, pair->dy, dx, 2 * n);
    pass->be->linear_backward(pair->x, &w->w, pair->gate, dx, 2 * half, 1, &dw->w, dw->b, rows);
    pass->be->scatter_rows(dx, 2 * half, NULL, rows, half, dleft, half);
    pass->be->copy_rows(dx + half, 2 * half, NULL, rows, half, *dright, half);
    return VD_OK;
}
