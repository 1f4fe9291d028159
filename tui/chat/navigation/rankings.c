#include "tui/chat/navigation/rankings.h"

static void ranking_free(vd_lane_ranking *own)
{
    g_free(own->group);
    g_free(own->same);
    g_free(own->list);
    g_free(own->row);
    *own = (vd_lane_ranking){0};
}

void vd_rankings_clear(vd_rankings *rankings)
{
    for (int lane = 0; lane < VD_RANKINGS; lane++)
        ranking_free(&rankings->lane[lane]);
}

// ---- rows ---------------------------------------------------------------------------------------

static void group_pool(vd_lane_ranking *own, const vd_response *response)
{
    if (own->group && own->answers == response->pool.text)
        return;
    ranking_free(own);
    own->answers = response->pool.text;
    own->group = vd_fold_answers(own->answers, (size_t)response->pool.count);
}

static void forget_answer(vd_lane_ranking *own, const vd_response *response, bool folded)
{
    if (own->stamp == response->stamp && own->folded == folded)
        return;
    g_clear_pointer(&own->list, g_free);
    g_clear_pointer(&own->row, g_free);
    own->stamp = response->stamp;
    own->folded = folded;
}

// Of a lane's answer; folded: alike ones are one in it.
static void make_list(vd_lane_ranking *own, const vd_response *response, bool folded)
{
    const vd_answer *answer = &response->reply.answer;
    if (folded)
        group_pool(own, response);
    forget_answer(own, response, folded);
    if (!folded || own->list)
        return;
    own->list = g_new(vd_answer_group, answer->candidates);
    own->count = vd_fold_ranking(answer, own->group, answer->candidates, own->list);
}

// The row in which each answer of the pool stands.
static const int32_t *rows_of(vd_lane_ranking *own, const vd_response *response, bool folded)
{
    const vd_answer *answer = &response->reply.answer;
    int count = folded ? own->count : answer->candidates;
    if (own->row)
        return own->row;
    int32_t *first = g_new(int32_t, answer->candidates); // of a group: its row
    own->row = g_new(int32_t, answer->candidates);
    for (int i = 0; i < count; i++)
        first[folded ? own->group[own->list[i].answer] : answer->order[i]] = i;
    for (int i = 0; i < answer->candidates; i++)
        own->row[i] = first[folded ? own->group[i] : i];
    g_free(first);
    return own->row;
}

// ---- between models -----------------------------------------------------------------------------

// For each answer of a lane's pool its number in the first lane's, -1 where it has none.
static const int32_t *same_answers(vd_lane_ranking *own, const vd_response *response,
                                   const vd_response *first)
{
    const vd_pool_texts *pool = &response->pool;
    if (own->same && own->pool == pool->text && own->first == first->pool.text)
        return own->same;
    g_free(own->same);
    own->pool = pool->text;
    own->first = first->pool.text;
    own->same = g_new(int32_t, pool->count);
    for (int i = 0; i < pool->count; i++)
        own->same[i] = vd_response_index(first, pool->text[i]);
    return own->same;
}

vd_sheet_side vd_rankings_side(vd_rankings *rankings, int lane, const vd_response *response,
                               const vd_response *first)
{
    vd_lane_ranking *own = &rankings->lane[lane];
    vd_sheet_side side = {.lane = lane,
                          .model = response->model,
                          .reply = &response->reply,
                          .texts = response->pool.text,
                          .human = -1,
                          .chosen = response->chosen};
    bool folded = rankings->folded && response->pool.count >= response->reply.answer.candidates;
    make_list(own, response, folded);
    side.folded = own->list;
    side.folded_count = own->count;
    side.row = rows_of(own, response, folded);
    if (first && first->pool.text != response->pool.text)
        side.same = same_answers(own, response, first);
    return side;
}
