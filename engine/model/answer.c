#include <string.h>

#include "engine/base/alloc.h"
#include "engine/model/dialog.h"

void vd_answer_clear(vd_answer *answer)
{
    vd_free(answer->score);
    vd_free(answer->probability);
    vd_free(answer->order);
    vd_free(answer->history_start);
    vd_attentions_free(answer->attention, answer->attentions);
    *answer = (vd_answer){0};
}

// A copy of n bytes; NULL of NULL, and where memory is out, which *whole then says.
static void *copied(const void *from, size_t n, bool *whole)
{
    void *to = from ? vd_alloc_raw(n) : NULL;
    *whole &= to || !from;
    return to ? memcpy(to, from, n) : NULL;
}

vd_status vd_answer_copy(const vd_answer *from, vd_answer *to, vd_error *err)
{
    size_t o = (size_t)from->candidates, starts = (size_t)from->rounds + 1;
    bool whole = true;
    *to = *from;
    to->score = copied(from->score, o * sizeof *to->score, &whole);
    to->probability = copied(from->probability, o * sizeof *to->probability, &whole);
    to->order = copied(from->order, o * sizeof *to->order, &whole);
    to->history_start = copied(from->history_start, starts * sizeof *to->history_start, &whole);
    vd_status status = vd_attentions_copy(from->attention, from->attentions, &to->attention, err);
    if (status == VD_OK && !whole)
        status = vd_error_memory(err, "an answer");
    if (status)
        vd_answer_clear(to);
    return status;
}

bool vd_answer_whole(const vd_answer *answer)
{
    int i = 0;
    while (i < answer->attentions && answer->attention[i].share)
        i++;
    return i == answer->attentions;
}

const vd_attention *vd_answer_attention(const vd_answer *answer, vd_axis query, vd_axis key)
{
    return vd_attention_last(answer->attention, answer->attentions, query, key);
}

const float *vd_answer_shares(const vd_answer *answer, vd_axis key)
{
    const vd_attention *found = vd_answer_attention(answer, VD_AXIS_QUESTIONS, key);
    return found ? found->share : NULL;
}
