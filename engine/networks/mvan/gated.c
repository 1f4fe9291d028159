// GatedTrans, the nonlinear map of every view: f(x) = tanh(Wy x + by) * g(Wg x + bg).
#include "engine/networks/mvan/pass.h"

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
        pass->be->add(dx, dropped, n);
    }
    return VD_OK;
}
