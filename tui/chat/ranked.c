// Rankings as they are shown: answers that are alike as one when that is wanted ("yes (+3 alike)"),
// and where the answer of one model stands in the ranking of another. What a row or a move needs is
// computed once an answer, so that keys and drawing find it here whatever the pool's size.
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/chat/chat.h"

static void ranking_free(vd_lane_ranking *own)
{
    vd_free(own->group);
    vd_free(own->same);
    vd_free(own->list);
    vd_free(own->row);
    *own = (vd_lane_ranking){0};
}

void vd_chat_fold_free(vd_chat_fold *fold)
{
    for (int lane = 0; lane < VD_MODELS; lane++)
        ranking_free(&fold->lane[lane]);
}

// ---- rows ---------------------------------------------------------------------------------------

static vd_status group_pool(vd_lane_ranking *own, const vd_take *take, vd_error *err)
{
    if (own->group && own->answers == take->answers)
        return VD_OK;
    size_t count = (size_t)take->answer_count;
    ranking_free(own);
    own->answers = take->answers;
    own->group = vd_alloc(count, sizeof *own->group);
    return own->group ? vd_fold_answers(take->answers, count, own->group, err)
                      : vd_error_memory(err, "answers that are alike");
}

static void forget_answer(vd_lane_ranking *own, const vd_take *take, bool folded)
{
    if (own->stamp == take->stamp && own->folded == folded)
        return;
    vd_free(own->list);
    vd_free(own->row);
    own->list = NULL;
    own->row = NULL;
    own->stamp = take->stamp;
    own->folded = folded;
}

static vd_status fold_take(vd_lane_ranking *own, const vd_take *take, vd_error *err)
{
    const vd_answer *answer = &take->reply.answer;
    vd_status status = group_pool(own, take, err);
    forget_answer(own, take, true);
    if (status || own->list)
        return status;
    own->list = vd_alloc((size_t)answer->candidates, sizeof *own->list);
    if (!own->list)
        return vd_error_memory(err, "answers that are alike");
    return vd_fold_ranking(answer, own->group, answer->candidates, own->list, &own->count, err);
}

static bool is_folded(const vd_chat *chat, int lane, const vd_take *take)
{
    const vd_lane_ranking *own = &chat->fold.lane[lane];
    return chat->fold.on && own->list && own->folded && own->stamp == take->stamp;
}

int vd_chat_ranked(vd_chat *chat, int lane, const vd_take *take)
{
    vd_lane_ranking *own = &chat->fold.lane[lane];
    if (chat->fold.on && take->answer_count >= take->reply.answer.candidates) {
        if (fold_take(own, take, NULL) == VD_OK)
            return own->count;
        ranking_free(own);
    }
    return take->reply.answer.candidates;
}

static vd_folded row_at(const vd_chat *chat, int lane, const vd_take *take, int row)
{
    const vd_answer *answer = &take->reply.answer;
    if (is_folded(chat, lane, take))
        return chat->fold.lane[lane].list[row];
    return (vd_folded){answer->order[row], row, 0, answer->probability[answer->order[row]]};
}

// Of a group the answer that the conversation goes on with is shown, where it is in it.
vd_folded vd_chat_ranked_at(const vd_chat *chat, int lane, const vd_take *take, int row)
{
    const vd_answer *answer = &take->reply.answer;
    const int32_t *group = chat->fold.lane[lane].group;
    vd_folded out = row_at(chat, lane, take, row);
    int chosen = take->chosen;
    if (out.alike == 0 || chosen < 0 || chosen >= answer->candidates ||
        group[chosen] != group[out.answer])
        return out;
    out.answer = chosen;
    while (answer->order[out.place] != chosen)
        out.place++;
    return out;
}

void vd_chat_fold_answers(vd_chat *chat, bool on)
{
    chat->fold.on = on;
    chat->list_at = 0;
    vd_chat_say(chat, "%s",
                on ? "answers that say the same are shown as one, with their shares together"
                   : "every answer is shown by itself");
}

// The row in which each answer of the pool stands; NULL: memory is out.
static const int32_t *rows_of(vd_chat *chat, int lane, const vd_take *take)
{
    vd_lane_ranking *own = &chat->fold.lane[lane];
    const vd_answer *answer = &take->reply.answer;
    int count = vd_chat_ranked(chat, lane, take);
    bool folded = is_folded(chat, lane, take);
    forget_answer(own, take, folded);
    if (own->row)
        return own->row;
    int32_t *first = vd_alloc((size_t)answer->candidates, sizeof *first); // of a group: its row
    own->row = vd_alloc((size_t)answer->candidates, sizeof *own->row);
    for (int i = 0; first && own->row && i < count; i++)
        first[folded ? own->group[own->list[i].answer] : answer->order[i]] = i;
    for (int i = 0; first && own->row && i < answer->candidates; i++)
        own->row[i] = first[folded ? own->group[i] : i];
    if (!first) {
        vd_free(own->row);
        own->row = NULL;
    }
    vd_free(first);
    return own->row;
}

int vd_chat_ranked_row(vd_chat *chat, int lane, const vd_take *take, int answer)
{
    const int32_t *rows = rows_of(chat, lane, take);
    return rows ? rows[answer] : -1;
}

// ---- between models -----------------------------------------------------------------------------

// For each answer of a lane's pool its number in the first lane's, -1 where it has none.
static const int32_t *same_answers(vd_lane_ranking *own, const vd_take *take, const vd_take *first)
{
    if (own->same && own->pool == take->answers && own->first == first->answers)
        return own->same;
    vd_free(own->same);
    own->pool = take->answers;
    own->first = first->answers;
    own->same = vd_alloc((size_t)take->answer_count, sizeof *own->same);
    for (int i = 0; own->same && i < take->answer_count; i++) {
        bool home = i < first->answer_count && strcmp(take->answers[i], first->answers[i]) == 0;
        own->same[i] = home ? i : vd_take_index(first, take->answers[i]);
    }
    return own->same;
}

int vd_chat_ranked_in_first(vd_chat *chat, int lane, const vd_take *take, const vd_take *first,
                            int row, vd_folded *now, vd_folded *there)
{
    const int32_t *same = same_answers(&chat->fold.lane[lane], take, first);
    const int32_t *rows = rows_of(chat, 0, first);
    *now = row_at(chat, lane, take, row);
    int32_t answer = same && now->answer < take->answer_count ? same[now->answer] : -1;
    if (!rows || answer < 0 || answer >= first->reply.answer.candidates)
        return -1;
    *there = row_at(chat, 0, first, rows[answer]);
    return rows[answer];
}
