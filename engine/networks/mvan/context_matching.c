// Context matching (sentence level): which history entries a question is about.
//   s_r = w . (f_q(q) * f_h(h_r)) + b, a = softmax_r(s), c = sum_r a_r h_r,
//   x = [q ; c], e_ctx = sigmoid(W x + b) * x          (Park et al. 2021, section 3.2)
// Attention 1: a, question -> history rounds.
#include "engine/networks/pass.h"

vd_status vd_context_matching_forward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w;
    int h = pass->config->hidden, n = pass->span.questions;
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
    vd_score_weights flat;
    const vd_score_weights *score = vd_pass_score(pass, "rounds", &w->context_score, &flat);
    if (pass->arena->failed)
        return vd_error_memory(err, "context matching");
    pass->be->context_attention(&pass->span, h, pass->context_question.y, pass->context_history.y,
                                pass->history.sentence, score, pass->dropout,
                                vd_pass_key(pass, VD_SITE_CONTEXT_SCORE), pass->context,
                                pass->matched);
    return vd_pair_forward(pass, &pass->context_pair, &w->context_gate, pass->question.sentence,
                           pass->matched, n, 2 * h, err);
}

vd_status vd_context_matching_backward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w, *dw = pass->dw;
    vd_real *dmatched;
    vd_status status =
        vd_pair_backward(pass, &pass->context_pair, &w->context_gate, &dw->context_gate,
                         pass->question.dsentence, &dmatched, err);
    if (status != VD_OK)
        return status;
    pass->be->context_attention_backward(
        &pass->span, pass->config->hidden, pass->context_question.y, pass->context_history.y,
        pass->history.sentence, &w->context_score, &dw->context_score, pass->dropout,
        vd_pass_key(pass, VD_SITE_CONTEXT_SCORE), pass->context, pass->dcontext, dmatched,
        pass->context_question.dy, pass->context_history.dy, pass->history.dsentence);
    status = vd_gated_backward(pass, &pass->context_question, &w->context_question,
                               &dw->context_question, pass->question.dsentence, err);
    if (status == VD_OK)
        status = vd_gated_backward(pass, &pass->context_history, &w->context_history,
                                   &dw->context_history, pass->history.dsentence, err);
    return status;
}
