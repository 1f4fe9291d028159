// Context matching (sentence level): which history entries a question is about.
//   s_r = w . (f_q(q) * f_h(h_r)) + b, a = softmax_r(s), c = sum_r a_r h_r,
//   x = [q ; c], e_ctx = sigmoid(W x + b) * x          (Park et al. 2021, section 3.2)
// Attention 1: a, question -> history rounds.
#include "engine/networks/mvan/pass.h"

vd_status vd_context_matching_forward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w;
    int h = pass->config->hidden, n = pass->span.questions;
    size_t wide = (size_t)n * 4 * (size_t)h;
    vd_status status =
        vd_gated_forward(pass, &pass->context_question, &w->context_question,
                         pass->question.sentence, n, 2 * h, VD_SITE_CONTEXT_QUESTION, err);
    if (status == VD_OK && !pass->context_history.y)
        status = vd_gated_forward(pass, &pass->context_history, &w->context_history,
                                  pass->history.sentence, pass->history.packed->sequences, 2 * h,
                                  VD_SITE_CONTEXT_HISTORY, err);
    if (status != VD_OK)
        return status;
    vd_pass_take(pass, (size_t)n * (size_t)pass->span.most, &pass->context, &pass->dcontext);
    pass->matched = vd_arena_reals(pass->arena, (size_t)n * 2 * (size_t)h);
    pass->context_pair = vd_arena_reals(pass->arena, wide);
    pass->context_gate = vd_arena_reals(pass->arena, wide);
    vd_pass_take(pass, wide, &pass->e_context, &pass->de_context);
    vd_score_weights flat;
    const vd_score_weights *score =
        vd_pass_score(pass, VD_ATTENTION_ROUNDS, &w->context_score, &flat);
    if (pass->arena->failed)
        return vd_error_memory(err, "context matching");
    pass->be->context_attention(&pass->span, h, pass->context_question.y, pass->context_history.y,
                                pass->history.sentence, score, pass->dropout,
                                vd_pass_key(pass, VD_SITE_CONTEXT_SCORE), pass->context,
                                pass->matched);
    pass->be->concat(pass->question.sentence, NULL, 2 * h, pass->matched, NULL, 2 * h,
                     pass->context_pair, n);
    pass->be->linear(pass->context_pair, &w->context_gate.w, w->context_gate.b, pass->context_gate,
                     n);
    pass->be->sigmoid_gate(pass->context_gate, pass->context_pair, pass->e_context, wide);
    return VD_OK;
}

vd_status vd_context_matching_backward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w, *dw = pass->dw;
    int h = pass->config->hidden, n = pass->span.questions;
    size_t wide = (size_t)n * 4 * (size_t)h;
    vd_real *dpair = vd_arena_zeros(pass->arena, wide);
    vd_real *dmatched = vd_arena_zeros(pass->arena, wide / 2);
    if (pass->arena->failed)
        return vd_error_memory(err, "context matching's gradient");
    pass->be->sigmoid_gate_backward(pass->context_gate, pass->context_pair, pass->de_context, dpair,
                                    wide);
    pass->be->linear_backward(pass->context_pair, &w->context_gate.w, pass->context_gate, dpair,
                              4 * h, 1, &dw->context_gate.w, dw->context_gate.b, n);
    pass->be->concat_backward(dpair, n, pass->question.dsentence, NULL, 2 * h, dmatched, NULL,
                              2 * h);
    pass->be->context_attention_backward(
        &pass->span, h, pass->context_question.y, pass->context_history.y, pass->history.sentence,
        &w->context_score, &dw->context_score, pass->dropout,
        vd_pass_key(pass, VD_SITE_CONTEXT_SCORE), pass->context, pass->dcontext, dmatched,
        pass->context_question.dy, pass->context_history.dy, pass->history.dsentence);
    vd_status status = vd_gated_backward(pass, &pass->context_question, &w->context_question,
                                         &dw->context_question, pass->question.dsentence, err);
    if (status == VD_OK)
        status = vd_gated_backward(pass, &pass->context_history, &w->context_history,
                                   &dw->context_history, pass->history.dsentence, err);
    return status;
}
