// The ranking with answers that are alike folded together: "yes (+3 alike)".
#include "engine/alloc.h"
#include "tui/view_chat.h"

void vd_chat_fold_free(vd_chat_fold *fold)
{
    vd_free(fold->group);
    vd_free(fold->list);
    *fold = (vd_chat_fold){.on = fold->on};
}

static vd_status group_pool(vd_chat_fold *fold, const vd_take *take, vd_error *err)
{
    if (fold->group && fold->answers == take->answers)
        return VD_OK;
    size_t count = (size_t)take->answer_count;
    vd_chat_fold_free(fold);
    fold->answers = take->answers;
    fold->group = vd_alloc(count, sizeof *fold->group);
    return fold->group ? vd_fold_answers(take->answers, count, fold->group, err)
                       : vd_error_memory(err, "answers that are alike");
}

// Once an answer: keys and drawing then find it here.
static vd_status fold_take(vd_chat_fold *fold, const vd_take *take, vd_error *err)
{
    const vd_answer *answer = &take->reply.answer;
    vd_status status = group_pool(fold, take, err);
    if (status || (fold->list && fold->stamp == take->stamp))
        return status;
    vd_free(fold->list);
    fold->stamp = take->stamp;
    fold->list = vd_alloc((size_t)answer->candidates, sizeof *fold->list);
    if (!fold->list)
        return vd_error_memory(err, "answers that are alike");
    return vd_fold_ranking(answer, fold->group, answer->candidates, fold->list, &fold->count, err);
}

int vd_chat_ranked(vd_chat *chat, const vd_take *take)
{
    vd_chat_fold *fold = &chat->fold;
    if (fold->on && take->answer_count >= take->reply.answer.candidates) {
        if (fold_take(fold, take, NULL) == VD_OK)
            return fold->count;
        vd_chat_fold_free(fold);
    }
    return take->reply.answer.candidates;
}

vd_folded vd_chat_ranked_at(const vd_chat *chat, const vd_take *take, int row)
{
    const vd_answer *answer = &take->reply.answer;
    const vd_chat_fold *fold = &chat->fold;
    if (fold->on && fold->list && fold->stamp == take->stamp)
        return fold->list[row];
    return (vd_folded){answer->order[row], row, 0, answer->probability[answer->order[row]]};
}

void vd_chat_fold_answers(vd_chat *chat, bool on)
{
    chat->fold.on = on;
    chat->list_at = 0;
    vd_chat_say(chat, "%s",
                on ? "answers that say the same are shown as one, with their shares together"
                   : "every answer is shown by itself");
}
