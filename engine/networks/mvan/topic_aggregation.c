// Topic aggregation (word level): every question word gathers the history's words it is about.
//   S_rij = f_q(Q_i) . f_h(H_rj), softmax over j; u_i = sum_r a_r sum_j S_rij W_rj with W the word
//   embeddings and a from context matching; x_i = [word i ; u_i]
//   e_top,i = sigmoid(W x_i + b) * x_i
// Attention 2: S, question words -> history words.      (Park et al. 2021, section 3.2)
#include "engine/networks/pass.h"

// One dialog's words: rows of its questions, columns of its entries, and where its matrix begins.
typedef struct vd_block {
    int row, rows, column, columns;
    size_t at;
} vd_block;

static vd_block block_of(const vd_pass *pass, int dialog)
{
    const vd_geometry *span = &pass->span;
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
    pass->topic_start_at = vd_arena_upload(
        pass->arena, pass->topic_start, (size_t)pass->span.dialogs + 1, sizeof *pass->topic_start);
    pass->topic = vd_arena_reals(pass->arena, all);
    pass->weighted = vd_arena_reals(pass->arena, all);
    pass->gathered = vd_arena_reals(pass->arena, words * e);
    return pass->arena->failed ? vd_error_memory(err, "topic aggregation") : VD_OK;
}

// S = f_q(Q) f_h(H)^T of every dialog.
static void topic_scores(const vd_pass *pass, vd_product *list)
{
    int h = pass->config->hidden;
    for (int b = 0; b < pass->span.dialogs; b++) {
        vd_block k = block_of(pass, b);
        list[b] = vd_product_of(
            false, true, k.rows, k.columns, h, pass->topic_question.y + (size_t)k.row * (size_t)h,
            pass->topic_history.y + (size_t)k.column * (size_t)h, pass->topic + k.at);
    }
}

// u = (a S) W of every dialog.
static void topic_gathered(const vd_pass *pass, vd_product *list)
{
    int e = pass->config->embed;
    for (int b = 0; b < pass->span.dialogs; b++) {
        vd_block k = block_of(pass, b);
        list[b] = vd_product_of(false, false, k.rows, e, k.columns, pass->weighted + k.at,
                                pass->history.embedding + (size_t)k.column * (size_t)e,
                                pass->gathered + (size_t)k.row * (size_t)e);
    }
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
    vd_product *list = vd_arena_take_raw(pass->arena, (size_t)pass->span.dialogs, sizeof *list);
    if (!list)
        return vd_error_memory(err, "topic aggregation");
    topic_scores(pass, list);
    vd_pass_scores(pass, "history-words", list, pass->span.dialogs, pass->topic,
                   pass->topic_start[pass->span.dialogs]);
    pass->be->topic_attention(&pass->span, pass->topic_start_at, pass->context, pass->topic,
                              pass->weighted);
    topic_gathered(pass, list);
    pass->be->products(false, false, 0, list, pass->span.dialogs);
    return vd_pair_forward(pass, &pass->topic_pair, &w->topic_gate, pass->question.embedding,
                           pass->gathered, words, e, err);
}

// Four lists, one after the other: ds = du W^T, dW += (a S)^T du, and from the scores' gradient
// df_q += ds f_h, df_h += ds^T f_q.
static void topic_gradients(const vd_pass *pass, const vd_real *dgathered, vd_real *ds,
                            vd_product *list)
{
    int h = pass->config->hidden, e = pass->config->embed, dialogs = pass->span.dialogs;
    for (int b = 0; b < dialogs; b++) {
        vd_block k = block_of(pass, b);
        size_t qe = (size_t)k.row * (size_t)e, ce = (size_t)k.column * (size_t)e,
               qh = (size_t)k.row * (size_t)h, ch = (size_t)k.column * (size_t)h;
        const vd_real *weighted = pass->weighted + k.at, *du = dgathered + qe, *d = ds + k.at;
        list[b] = vd_product_of(false, true, k.rows, k.columns, e, du, pass->history.embedding + ce,
                                ds + k.at);
        list[dialogs + b] = vd_product_of(true, false, k.columns, e, k.rows, weighted, du,
                                          pass->history.dembedding + ce);
        list[2 * dialogs + b] =
            vd_product_of(false, false, k.rows, h, k.columns, d, pass->topic_history.y + ch,
                          pass->topic_question.dy + qh);
        list[3 * dialogs + b] =
            vd_product_of(true, false, k.columns, h, k.rows, d, pass->topic_question.y + qh,
                          pass->topic_history.dy + ch);
    }
}

vd_status vd_topic_aggregation_backward(vd_pass *pass, vd_error *err)
{
    const vd_weights *w = pass->w, *dw = pass->dw;
    vd_real *dgathered;
    vd_status status = vd_pair_backward(pass, &pass->topic_pair, &w->topic_gate, &dw->topic_gate,
                                        pass->question.dembedding, &dgathered, err);
    vd_real *ds = vd_arena_reals(pass->arena, pass->topic_start[pass->span.dialogs]);
    vd_product *list = vd_arena_take_raw(pass->arena, 4 * (size_t)pass->span.dialogs, sizeof *list);
    if (status == VD_OK && pass->arena->failed)
        status = vd_error_memory(err, "topic aggregation's gradient");
    if (status != VD_OK)
        return status;
    topic_gradients(pass, dgathered, ds, list);
    int dialogs = pass->span.dialogs;
    pass->be->products(false, true, 0, list, dialogs);
    pass->be->products(true, false, 1, list + dialogs, dialogs);
    pass->be->topic_attention_backward(&pass->span, pass->topic_start_at, pass->context,
                                       pass->topic, ds, pass->dcontext);
    pass->be->products(false, false, 1, list + 2 * dialogs, dialogs);
    pass->be->products(true, false, 1, list + 3 * dialogs, dialogs);
    status = vd_gated_backward(pass, &pass->topic_question, &w->topic_question, &dw->topic_question,
                               pass->question.recurrent.dy, err);
    if (status == VD_OK)
        status = vd_gated_backward(pass, &pass->topic_history, &w->topic_history,
                                   &dw->topic_history, pass->history.recurrent.dy, err);
    return status;
}
