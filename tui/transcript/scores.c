// The scores in a transcript's line: all of them, or the best of a large pool.
#include <math.h>
#include <stdlib.h>

#include "engine/base/alloc.h"
#include "tui/base/output.h"
#include "tui/transcript/lines.h"

// ---- writing ------------------------------------------------------------------------------------

void vd_scores_emit(yajl_gen json, const vd_answer *answer)
{
    if (answer->candidates <= VD_RECORDED_SCORES) {
        vd_member_numbers(json, "scores", answer->score, (size_t)answer->candidates);
        return;
    }
    int first = answer->order[0];
    vd_member_list(json, "best");
    for (int i = 0; i < VD_RECORDED_SCORES; i++)
        yajl_gen_integer(json, answer->order[i]);
    yajl_gen_array_close(json);
    vd_member_number(json, "log_sum",
                     (double)answer->score[first] - log((double)answer->probability[first]));
    vd_member_list(json, "scores");
    for (int i = 0; i < VD_RECORDED_SCORES; i++)
        vd_output_number(json, (double)answer->score[answer->order[i]]);
    yajl_gen_array_close(json);
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct ranked {
    float score;
    int32_t index;
} ranked;

// Equal ones stay in the pool's order, as the engine has it.
static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score ? 1 : x->index - y->index;
}

static vd_status rank_scores(const vd_reading *r, vd_answer *answer)
{
    size_t n = (size_t)answer->candidates;
    answer->order = vd_alloc(n, sizeof *answer->order);
    ranked *list = vd_alloc(n, sizeof *list);
    for (size_t i = 0; list && i < n; i++) // what is no number comes last
        list[i] = (ranked){isnan(answer->score[i]) ? -INFINITY : answer->score[i], (int32_t)i};
    if (list)
        qsort(list, n, sizeof *list, compare_ranked);
    for (size_t i = 0; list && answer->order && i < n; i++)
        answer->order[i] = list[i].index;
    bool whole = list && answer->order;
    vd_free(list);
    return whole ? VD_OK : vd_error_memory(r->err, r->where);
}

// Probabilities follow from the scores; log_sum: NAN where that is of the scores at hand.
static vd_status share_scores(const vd_reading *r, vd_answer *answer, double log_sum)
{
    int n = answer->candidates;
    answer->probability = vd_alloc((size_t)n, sizeof *answer->probability);
    if (!answer->probability)
        return vd_error_memory(r->err, r->where);
    if (isnan(log_sum)) {
        float most = n ? answer->score[answer->order[0]] : 0;
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += exp((double)(answer->score[i] - most));
        log_sum = (double)most + log(sum);
    }
    for (int i = 0; i < n; i++)
        answer->probability[i] = (float)exp((double)answer->score[i] - log_sum);
    return VD_OK;
}

// The scores of the best of a large pool become as many as the pool has answers.
static vd_status spread_best(const vd_reading *r, const vd_json_value *best, size_t count,
                             vd_answer *answer)
{
    float *all = vd_alloc(count, sizeof *all);
    if (!all)
        return vd_error_memory(r->err, r->where);
    for (size_t i = 0; i < count; i++)
        all[i] = -INFINITY;
    const vd_json_value *place = best->first;
    const float *score = answer->score;
    for (; place; place = place->next, score++) {
        if (place->type != VD_JSON_NUMBER || place->whole < 0 || place->whole >= (int64_t)count)
            break;
        all[place->whole] = *score;
    }
    if (place) {
        vd_free(all);
        return vd_reading_refuse(r, "\"best\" holds something that is not a place in the pool");
    }
    vd_free(answer->score);
    answer->score = all;
    return VD_OK;
}

vd_status vd_scores_read(const vd_reading *r, const vd_json_value *map, size_t pool,
                         vd_answer *answer)
{
    const vd_json_value *best = vd_json_member(map, "best", VD_JSON_LIST);
    const vd_json_value *log_sum = vd_json_member(map, "log_sum", VD_JSON_NUMBER);
    size_t count = 0;
    vd_status status = vd_reading_numbers(r, vd_json_member(map, "scores", VD_JSON_LIST), "scores",
                                          best ? best->count : SIZE_MAX, &answer->score, &count);
    if (status == VD_OK && best && (!log_sum || count > pool))
        status = vd_reading_refuse(r, "\"best\" without \"log_sum\", or more than the pool has");
    if (status == VD_OK && best)
        status = spread_best(r, best, pool, answer);
    if (status == VD_OK && !best && count != pool)
        status = vd_reading_refuse(
            r, "its pool was not written before it, or has another number of answers "
               "than \"scores\"");
    if (status)
        return status;
    answer->candidates = (int)pool;
    status = rank_scores(r, answer);
    return status ? status
                  : share_scores(r, answer, best && log_sum ? log_sum->number : (double)NAN);
}
