#include "tui/chat/navigation/rankings.h"

#include <string.h>

#include "engine/base/alloc.h"

static void ranking_free(vd_lane_ranking *own)
{
    vd_free(own->group);
    vd_free(own->same);
    vd_free(own->list);
    vd_free(own->row);
    *own = (vd_lane_ranking){0};
}

void vd_rankings_clear(vd_rankings *rankings)
{
    for (int lane = 0; lane < VD_MODELS; lane++)
        ranking_free(&rankings->lane[lane]);
}

// ---- rows ---------------------------------------------------------------------------------------

static vd_status group_pool(vd_lane_ranking *own, const vd_response *response, vd_error *err)
{
    if (own->group && own->answers == response->answers)
        return VD_OK;
    size_t count = (size_t)response->answer_count;
    ranking_free(own);
    own->answers = response->answers;
    own->group = vd_alloc(count, sizeof *own->group);
    return own->group ? vd_fold_answers(response->answers, count, own->group, err)
                      : vd_error_memory(err, "answers that mean the same");
}

static void forget_answer(vd_lane_ranking *own, const vd_response *response, bool folded)
{
    if (own->stamp == response->stamp && own->folded == folded)
        return;
    vd_free(own->list);
    vd_free(own->row);
    own->list = NULL;
    own->row = NULL;
    own->stamp = response->stamp;
    own->folded = folded;
}

static vd_status fold_response(vd_lane_ranking *own, const vd_response *response, vd_error *err)
{
    const vd_answer *answer = &response->reply.answer;
    vd_status status = group_pool(own, response, err);
    forget_answer(own, response, true);
    if (status || own->list)
        return status;
    own->list = vd_alloc((size_t)answer->candidates, sizeof *own->list);
    if (!own->list)
        return vd_error_memory(err, "answers that mean the same");
    return vd_fold_ranking(answer, own->group, answer->candidates, own->list, &own->count, err);
}

static bool is_folded(const vd_rankings *rankings, int lane, const vd_response *response)
{
    const vd_lane_ranking *own = &rankings->lane[lane];
    return rankings->folded && own->list && own->folded && own->stamp == response->stamp;
}

int vd_rankings_count(vd_rankings *rankings, int lane, const vd_response *response)
{
    vd_lane_ranking *own = &rankings->lane[lane];
    if (rankings->folded && response->answer_count >= response->reply.answer.candidates) {
        if (fold_response(own, response, NULL) == VD_OK)
            return own->count;
        ranking_free(own);
    }
    return response->reply.answer.candidates;
}

static vd_folded row_at(const vd_rankings *rankings, int lane, const vd_response *response, int row)
{
    const vd_answer *answer = &response->reply.answer;
    if (is_folded(rankings, lane, response))
        return rankings->lane[lane].list[row];
    return (vd_folded){answer->order[row], row, 0, answer->probability[answer->order[row]]};
}

// Of a group the answer that the conversation goes on with is shown, where it is in it.
vd_folded vd_rankings_at(const vd_rankings *rankings, int lane, const vd_response *response,
                         int row)
{
    const vd_answer *answer = &response->reply.answer;
    const int32_t *group = rankings->lane[lane].group;
    vd_folded out = row_at(rankings, lane, response, row);
    int chosen = response->chosen;
    if (out.alike == 0 || chosen < 0 || chosen >= answer->candidates ||
        group[chosen] != group[out.answer])
        return out;
    out.answer = chosen;
    while (answer->order[out.place] != chosen)
        out.place++;
    return out;
}

// The row in which each answer of the pool stands; NULL: memory is out.
static const int32_t *rows_of(vd_rankings *rankings, int lane, const vd_response *response)
{
    vd_lane_ranking *own = &rankings->lane[lane];
    const vd_answer *answer = &response->reply.answer;
    int count = vd_rankings_count(rankings, lane, response);
    bool folded = is_folded(rankings, lane, response);
    forget_answer(own, response, folded);
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

int vd_rankings_row(vd_rankings *rankings, int lane, const vd_response *response, int answer)
{
    const int32_t *rows = rows_of(rankings, lane, response);
    return rows ? rows[answer] : -1;
}

// ---- between models -----------------------------------------------------------------------------

// For each answer of a lane's pool its number in the first lane's, -1 where it has none.
static const int32_t *same_answers(vd_lane_ranking *own, const vd_response *response,
                                   const vd_response *first)
{
    if (own->same && own->pool == response->answers && own->first == first->answers)
        return own->same;
    vd_free(own->same);
    own->pool = response->answers;
    own->first = first->answers;
    own->same = vd_alloc((size_t)response->answer_count, sizeof *own->same);
    for (int i = 0; own->same && i < response->answer_count; i++) {
        bool home = i < first->answer_count && strcmp(response->answers[i], first->answers[i]) == 0;
        own->same[i] = home ? i : vd_response_index(first, response->answers[i]);
    }
    return own->same;
}

int vd_rankings_in_first(vd_rankings *rankings, int lane, const vd_response *response,
                         const vd_response *first, int row, vd_folded *now, vd_folded *there)
{
    const int32_t *same = same_answers(&rankings->lane[lane], response, first);
    const int32_t *rows = rows_of(rankings, 0, first);
    *now = row_at(rankings, lane, response, row);
    int32_t answer = same && now->answer < response->answer_count ? same[now->answer] : -1;
    if (!rows || answer < 0 || answer >= first->reply.answer.candidates)
        return -1;
    *there = row_at(rankings, 0, first, rows[answer]);
    return rows[answer];
}
