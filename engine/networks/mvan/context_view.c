// Context view: which regions the question in its context is about.
//   y_k = [m_k ; e_ctx], z_k = l2norm(f_m(y_k) * f_c(e_ctx)), g = softmax_k(w . z_k + b),
//   y = sum_k g_k y_k = [sum_k g_k m_k ; e_ctx]           (Park et al. 2021, section 3.3)
// Attention 4: g, the answer's regions.
#include "engine/networks/pass.h"

// f_m's pre-activation with the context's half computed once a question.
static vd_status fused_split(vd_pass *pass, vd_error *err)
{
    const vd_gated_weights *w = &pass->w->region_fused;
    int h = pass->config->hidden, d = pass->config->region;
    int n = pass->span.questions, rows = pass->rows;
    vd_matrix of_view = vd_matrix_columns(&w->w, 0, d);
    vd_matrix of_context = vd_matrix_columns(&w->w, d, 4 * h);
    vd_gated_pass *gated = &pass->region_fused;
    vd_real *half = vd_arena_reals(pass->arena, (size_t)n * 2 * (size_t)h);
    gated->saved = vd_arena_reals(pass->arena, (size_t)rows * 2 * (size_t)h);
    gated->y = vd_arena_reals(pass->arena, (size_t)rows * (size_t)h);
    if (pass->arena->failed)
        return vd_error_memory(err, "the context view");
    pass->be->linear(pass->context_pair.y, &of_context, w->b, half, n);
    pass->be->linear(pass->view, &of_view, NULL, gated->saved, rows);
    pass->be->add_rows(half, pass->rows_at.question, rows, 2 * h, gated->saved);
    pass->be->gated(pass->config->gate, gated->saved, gated->y, rows, h);
    return VD_OK;
}

static vd_status fused_joined(vd_pass *pass, vd_error *err)
{
    int h = pass->config->hidden, d = pass->config->region, wide = d + 4 * h;
    vd_real *y = vd_arena_reals(pass->arena, (size_t)pass->rows * (size_t)wide);
    if (!y)
        return vd_error_memory(err, "the context view");
    vd_concat(pass->be, pass->view, NULL, d, pass->context_pair.y, pass->rows_at.question, 4 * h, y,
              pass->rows);
    return vd_gated_forward(pass, &pass->region_fused, &pass->w->region_fused, y, pass->rows, wide,
                            VD_SITE_REGION_FUSED, err);
}

vd_status vd_context_view_forward(vd_pass *pass, vd_error *err)
{
    int h = pass->config->hidden, d = pass->config->region, wide = d + 4 * h;
    int n = pass->span.questions;
    vd_status status = pass->dw ? fused_joined(pass, err) : fused_split(pass, err);
    if (status == VD_OK)
        status = vd_gated_forward(pass, &pass->region_context, &pass->w->region_context,
                                  pass->context_pair.y, n, 4 * h, VD_SITE_REGION_CONTEXT, err);
    if (status != VD_OK)
        return status;
    vd_real *view = vd_arena_reals(pass->arena, (size_t)n * (size_t)d);
    pass->fused = vd_arena_reals(pass->arena, (size_t)pass->rows * (size_t)h);
    pass->fused_norm = vd_arena_reals(pass->arena, (size_t)pass->rows);
    pass->region = vd_arena_reals(pass->arena, (size_t)pass->rows);
    vd_pass_take(pass, (size_t)n * (size_t)wide, &pass->pooled, &pass->dpooled);
    vd_score_weights flat;
    const vd_score_weights *score = vd_pass_score(pass, "regions", &pass->w->region_score, &flat);
    if (pass->arena->failed)
        return vd_error_memory(err, "the context view");
    pass->be->region_attention(&pass->span, h, pass->region_fused.y, pass->region_context.y, score,
                               pass->dropout, vd_pass_key(pass, VD_SITE_REGION_SCORE), pass->fused,
                               pass->fused_norm, pass->region);
    pass->be->region_pool(&pass->span, pass->region, pass->view, d, view, d);
    vd_concat(pass->be, view, NULL, d, pass->context_pair.y, NULL, 4 * h, pass->pooled, n);
    return VD_OK;
}

vd_status vd_context_view_backward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w, *dw = pass->dw;
    int h = pass->config->hidden, d = pass->config->region, wide = d + 4 * h;
    int n = pass->span.questions;
    vd_real *dregion = vd_arena_zeros(pass->arena, (size_t)pass->rows);
    vd_real *dy = vd_arena_zeros(pass->arena, (size_t)pass->rows * (size_t)wide);
    if (pass->arena->failed)
        return vd_error_memory(err, "the context view's gradient");
    // The e_ctx half of y is e_ctx itself: the weights g sum to one.
    pass->be->region_pool_backward(&pass->span, pass->region, pass->view, d, pass->dpooled, wide,
                                   dregion, pass->dview);
    pass->be->scatter_rows(pass->dpooled + d, wide, NULL, n, 4 * h, pass->context_pair.dy, 4 * h);
    pass->be->region_attention_backward(
        &pass->span, h, pass->region_fused.y, pass->region_context.y, &w->region_score,
        &dw->region_score, pass->dropout, vd_pass_key(pass, VD_SITE_REGION_SCORE), pass->fused,
        pass->fused_norm, pass->region, dregion, pass->region_fused.dy, pass->region_context.dy);
    vd_status status = vd_gated_backward(pass, &pass->region_context, &w->region_context,
                                         &dw->region_context, pass->context_pair.dy, err);
    if (status == VD_OK)
        status = vd_gated_backward(pass, &pass->region_fused, &w->region_fused, &dw->region_fused,
                                   dy, err);
    if (status != VD_OK)
        return status;
    pass->be->scatter_rows(dy, wide, NULL, pass->rows, d, pass->dview, d);
    pass->be->scatter_rows(dy + d, wide, pass->rows_at.question, pass->rows, 4 * h,
                           pass->context_pair.dy, 4 * h);
    return VD_OK;
}
