// Fusion: e = relu(W y + b), the encoder's vector that candidates are compared with.
#include "engine/networks/pass.h"

vd_status vd_fusion_forward(vd_pass *pass, vd_error *err)
{
    int h = pass->config->hidden, wide = pass->config->region + 4 * h, n = pass->span.questions;
    pass->fusion_input =
        vd_pass_drop(pass, pass->pooled, (size_t)n * (size_t)wide, pass->dropout, VD_SITE_FUSION);
    vd_pass_take(pass, (size_t)n * (size_t)h, &pass->encoded, &pass->dencoded);
    if (pass->arena->failed)
        return vd_error_memory(err, "the fusion layer");
    pass->be->linear(pass->fusion_input, &pass->w->fusion.w, pass->w->fusion.b, pass->encoded, n);
    pass->be->map(VD_RELU, pass->encoded, pass->encoded, (size_t)n * (size_t)h);
    return VD_OK;
}

vd_status vd_fusion_backward(vd_pass *pass, vd_error *err)
{
    int h = pass->config->hidden, wide = pass->config->region + 4 * h, n = pass->span.questions;
    (void)err;
    pass->be->relu_backward(pass->encoded, pass->dencoded, (size_t)n * (size_t)h);
    pass->be->linear_backward(pass->fusion_input, &pass->w->fusion.w, pass->dencoded, pass->dpooled,
                              wide, 0, &pass->dw->fusion.w, pass->dw->fusion.b, n);
    vd_pass_drop_backward(pass, pass->dpooled, (size_t)n * (size_t)wide, pass->dropout,
                          VD_SITE_FUSION);
    return VD_OK;
}
