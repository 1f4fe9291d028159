// A model's answer to a round: its texts, and what it was before.
#include <string.h>

#include "tui/answer/sheet.h"
#include "tui/base/shares.h"
#include "tui/chat/conversation/conversation.h"

void vd_response_clear(vd_response *response)
{
    vd_reply_clear(&response->reply);
    g_free(response->before.answer);
    g_free(response->wanted);
    *response = (vd_response){0};
}

void vd_response_replace(vd_response *response)
{
    const vd_answer *answer = &response->reply.answer;
    int chosen = response->chosen;
    vd_replaced before = {.answer = g_strdup(vd_response_text(response, chosen)),
                          .probability = -1};
    if (chosen >= 0 && chosen < answer->candidates)
        before.probability = answer->probability[chosen];
    memcpy(before.model, response->model, sizeof before.model);
    vd_response_clear(response);
    response->before = before;
}

const char *vd_response_text(const vd_response *response, int pool_index)
{
    bool known = pool_index >= 0 && pool_index < response->pool.count;
    return known ? response->pool.text[pool_index] : "?";
}

int vd_response_index(const vd_response *response, const char *text)
{
    GHashTable *index = response->pool.index;
    return index ? GPOINTER_TO_INT(g_hash_table_lookup(index, text)) - 1 : -1;
}

int vd_response_rank(const vd_response *response, const char *text)
{
    return vd_answer_place(&response->reply.answer, vd_response_index(response, text));
}

bool vd_response_changed(const vd_response *response)
{
    const char *before = response->before.answer;
    return before && strcmp(before, vd_response_text(response, response->chosen)) != 0;
}

void vd_response_before(const vd_response *response, char *out, size_t size)
{
    const vd_replaced *before = &response->before;
    snprintf(out, size, "%.150s (%s, %s)", before->answer ? before->answer : "",
             vd_percent((double)before->probability).text, before->model);
    if ((!before->answer || before->other_question) && size)
        out[0] = '\0';
}
