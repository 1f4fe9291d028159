// Topic aggregation (word level): every question word gathers the history's words it is about.
//   S_rij = f_q(Q_i) . f_h(H_rj), softmax over j; u_i = sum_r a_r sum_j S_rij W_rj with W the word
//   embeddings and a from context matching; x_i = [word i ; u_i], e_top,i = sigmoid(W x_i + b) *
//   x_i
// Attention 2: S, question words -> history words.      (Park et al. 2021, section 3.2)
#include "engine/pass.h"

// One dialog's words: rows of its questions, columns of its entries, and where its matrix begins.
typedef struct vd_block {
    int row, rows, column, columns;
    size_t at;
} vd_block;

static vd_block block_of(const vd_pass *pass, int dialog)
{
    const vd_span *span = &pass->span;
    const int *row = span->question->start + span->question_start[dialog];
    const int *column = span->history->start + span->entry_start[dialog];
    int questions = span->question_start[dialog + 1] - span->question_start[dialog];
    int entries = span->entry_start[dialog + 1] - span->entry_start[dialog];
    return (vd_block){row[0], row[questions] - row[0], column[0], column[entries] - column[0],
                      pass->topic_start[dialog]};
}

static vd_status allocate_topics(vd_pass *pass, vd_error *err)
{
    size_t e = (size_t)pass->config->embed, words = (size_t)pass->span.question->tokens, all = 0;
    pass->topic_start =
        vd_arena_take(pass->arena, (size_t)pass->span.dialogs + 1, sizeof *pass->topic_start);
    if (!pass->topic_start)
        return vd_error_memory(err, "topic aggregation");
    for (int b = 0; b < pass->span.dialogs; b++) {
        pass->topic_start[b] = all;
        vd_block k = block_of(pass, b);
        all += (size_t)k.rows * (size_t)k.columns;
    }
    pass->topic_start[pass->span.dialogs] = all;
    pass->topic = vd_arena_reals(pass->arena, all);
    pass->weighted = vd_arena_reals(pass->arena, all);
    pass->gathered = vd_arena_reals(pass->arena, words * e);
    pass->topic_pair = vd_arena_reals(pass->arena, words * 2 * e);
    pass->topic_gate = vd_arena_reals(pass->arena, words * 2 * e);
    pass->e_topic = vd_arena_reals(pass->arena, words * 2 * e);
    if (pass->dw)
        pass->de_topic = vd_arena_zeros(pass->arena, words * 2 * e);
    return pass->arena->failed ? vd_error_memory(err, "topic aggregation") : VD_OK;
}

vd_status vd_topic_aggregation_forward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w;
    int h = pass->config->hidden, e = pass->config->embed, words = pass->span.question->tokens;
    vd_status status =
        vd_gated_forward(pass, &pass->topic_question, &w->topic_question,
                         pass->question.recurrent.y, words, 2 * h, VD_SITE_TOPIC_QUESTION, err);
    if (status == VD_OK && !pass->topic_history.y)
        status = vd_gated_forward(pass, &pass->topic_history, &w->topic_history,
                                  pass->history.recurrent.y, pass->history.packed->tokens, 2 * h,
                                  VD_SITE_TOPIC_HISTORY, err);
    if (status == VD_OK)
        status = allocate_topics(pass, err);
    if (status != VD_OK)
        return status;
    for (int b = 0; b < pass->span.dialogs; b++) {
        vd_block k = block_of(pass, b);
        vd_real *s = pass->topic + k.at, *weighted = pass->weighted + k.at;
        if (k.rows == 0)
            continue;
        pass->be->gemm(false, true, k.rows, k.columns, h, 1,
                       pass->topic_question.y + (size_t)k.row * (size_t)h, h,
                       pass->topic_history.y + (size_t)k.column * (size_t)h, h, 0, s, k.columns);
        pass->be->topic_attention(&pass->span, b, pass->context, s, weighted);
        pass->be->gemm(false, false, k.rows, e, k.columns, 1, weighted, k.columns,
                       pass->history.embedding + (size_t)k.column * (size_t)e, e, 0,
                       pass->gathered + (size_t)k.row * (size_t)e, e);
    }
    pass->be->join(pass->question.embedding, NULL, e, pass->gathered, NULL, e, pass->topic_pair,
                   words);
    pass->be->linear(pass->topic_pair, w->topic_gate.w, w->topic_gate.b, pass->topic_gate, words,
                     2 * e, 2 * e);
    pass->be->sigmoid_gate(pass->topic_gate, pass->topic_pair, pass->e_topic,
                           (size_t)words * 2 * (size_t)e);
    return VD_OK;
}

vd_status vd_topic_aggregation_backward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w, *dw = pass->dw;
    int h = pass->config->hidden, e = pass->config->embed, words = pass->span.question->tokens;
    size_t wide = (size_t)words * 2 * (size_t)e;
    vd_real *dpair = vd_arena_zeros(pass->arena, wide);
    vd_real *dgathered = vd_arena_zeros(pass->arena, wide / 2);
    vd_real *ds = vd_arena_reals(pass->arena, pass->topic_start[pass->span.dialogs]);
    if (pass->arena->failed)
        return vd_error_memory(err, "topic aggregation's gradient");
    pass->be->sigmoid_gate_backward(pass->topic_gate, pass->topic_pair, pass->de_topic, dpair,
                                    wide);
    pass->be->linear_backward(pass->topic_pair, w->topic_gate.w, pass->topic_gate, dpair, 1,
                              dw->topic_gate.w, dw->topic_gate.b, words, 2 * e, 2 * e);
    pass->be->split_add(dpair, words, pass->question.dembedding, NULL, e, dgathered, NULL, e);
    for (int b = 0; b < pass->span.dialogs; b++) {
        vd_block k = block_of(pass, b);
        size_t q = (size_t)k.row, c = (size_t)k.column;
        vd_real *d = ds + k.at;
        if (k.rows == 0)
            continue;
        pass->be->gemm(false, true, k.rows, k.columns, e, 1, dgathered + q * (size_t)e, e,
                       pass->history.embedding + c * (size_t)e, e, 0, d, k.columns);
        pass->be->gemm(true, false, k.columns, e, k.rows, 1, pass->weighted + k.at, k.columns,
                       dgathered + q * (size_t)e, e, 1, pass->history.dembedding + c * (size_t)e,
                       e);
        pass->be->topic_attention_backward(&pass->span, b, pass->context, pass->topic + k.at, d,
                                           pass->dcontext);
        pass->be->gemm(false, false, k.rows, h, k.columns, 1, d, k.columns,
                       pass->topic_history.y + c * (size_t)h, h, 1,
                       pass->topic_question.dy + q * (size_t)h, h);
        pass->be->gemm(true, false, k.columns, h, k.rows, 1, d, k.columns,
                       pass->topic_question.y + q * (size_t)h, h, 1,
                       pass->topic_history.dy + c * (size_t)h, h);
    }
    vd_status status = vd_gated_backward(pass, &pass->topic_question, &w->topic_question,
                                         &dw->topic_question, pass->question.recurrent.dy, err);
    if (status == VD_OK)
        status = vd_gated_backward(pass, &pass->topic_history, &w->topic_history,
                                   &dw->topic_history, pass->history.recurrent.dy, err);
    return status;
}
