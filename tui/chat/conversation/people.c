// What people asked and answered about the picture, and metrics by their candidates.
#include <string.h>
#include <strings.h>

#include "engine/base/alloc.h"
#include "tui/chat/conversation/conversation.h"

static bool find_human(const vd_conversation *conversation, int round, vd_human *out)
{
    const vd_chat_source *source = &conversation->source;
    return round >= 0 && source->human(source->context, conversation->branches.picture, round, out);
}

// Whether people's question of their round `i` means the same as the conversation's round `at`: the
// rounds that it refers to ("what color is it?") were asked here, too. All rounds before it are
// needed where the data do not say which.
static bool same_context(const vd_conversation *conversation, const vd_human *human, int i,
                         size_t at)
{
    int back = human->coreference;
    if (back < 0 || back > i) { // all of it, and the caption
        back = i;
        if (at != (size_t)i)
            return false;
    }
    if ((size_t)back > at)
        return false;
    for (int k = 1; k <= back; k++)
        if (conversation->branch->rounds[at - (size_t)k].human != i - k)
            return false;
    return true;
}

int vd_people_round(const vd_conversation *conversation, const char *question, size_t at)
{
    vd_human human;
    for (int i = 0; find_human(conversation, i, &human); i++)
        if (strcasecmp(human.question, question) == 0 && same_context(conversation, &human, i, at))
            return i;
    return -1;
}

const char *vd_people_answer(const vd_conversation *conversation, const vd_round *round)
{
    vd_human human;
    return find_human(conversation, round->human, &human) ? human.answer : NULL;
}

// ---- by their candidates -----------------------------------------------------------------------

static const char *candidate(const vd_conversation *conversation, const vd_round *round, int which,
                             float *relevance)
{
    *relevance = -1;
    if (round->human < 0)
        return NULL;
    const vd_chat_source *source = &conversation->source;
    return source->candidate(source->context, conversation->branches.picture, round->human, which,
                             relevance);
}

float vd_people_relevance(const vd_conversation *conversation, const vd_round *round,
                          const char *answer)
{
    float relevance;
    const char *text;
    for (int i = 0; (text = candidate(conversation, round, i, &relevance)) != NULL; i++)
        if (strcmp(text, answer) == 0)
            return relevance;
    return -1;
}

vd_metrics vd_people_metrics(const vd_conversation *conversation, const vd_round *round,
                             const vd_response *response)
{
    enum { MOST = 1000 };
    const char *human = vd_people_answer(conversation, round);
    vd_metrics metrics = {0};
    float *memory = human ? vd_alloc(3 * (size_t)MOST, sizeof *memory) : NULL;
    if (!memory)
        return metrics;
    float *score = memory, *ranks = memory + MOST, *relevance = memory + 2 * MOST;
    int count = 0, truth = -1;
    bool judged = true, known = true;
    const char *text;
    while (known && count < MOST &&
           (text = candidate(conversation, round, count, &relevance[count])) != NULL) {
        int index = vd_response_index(response, text);
        known = index >= 0 && index < response->reply.answer.candidates;
        score[count] = known ? response->reply.answer.score[index] : 0;
        judged = judged && relevance[count] >= 0;
        if (strcmp(text, human) == 0)
            truth = count;
        count++;
    }
    if (known && count > 0) {
        vd_metrics_ranks(score, count, ranks);
        vd_metrics_add(&metrics, ranks, count, truth, judged ? relevance : NULL);
    }
    vd_free(memory);
    return metrics;
}
