// What people said about the picture: suggesting their questions, measuring by their answers.
#include <string.h>
#include <strings.h>

#include "engine/base/alloc.h"
#include "tui/chat/chat.h"

// ---- suggestions -------------------------------------------------------------------------------

void vd_chat_suggest(vd_chat *chat)
{
    vd_human human;
    void *context = chat->source.context;
    int round = (int)chat->round_count + chat->suggestion;
    if (!chat->source.human(context, chat->index, round, &human)) {
        chat->suggestion = -(int)chat->round_count; // from the first one again
        round = 0;
        if (!chat->source.human(context, chat->index, round, &human)) {
            vd_chat_say(chat, "nobody's questions about this picture are known");
            return;
        }
    }
    chat->suggestion++;
    snprintf(chat->suggested, sizeof chat->suggested, "%s?", human.question);
    vd_line_set(&chat->line, chat->suggested);
    vd_chat_say(chat, "people's question %d about this picture; Tab: another, Enter: ask it",
                round + 1);
}

// Whether people's question of their round `i` means the same before the chat's round `at`: what it
// is about ("what color is it?") was said here too. All that was said is needed where the data do
// not say what it is about.
static bool same_context(const vd_chat *chat, const vd_human *human, int i, size_t at)
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
        if (chat->rounds[at - (size_t)k].human != i - k)
            return false;
    return true;
}

int vd_chat_human_round(const vd_chat *chat, const char *question, size_t at)
{
    vd_human human;
    for (int i = 0; chat->source.human(chat->source.context, chat->index, i, &human); i++)
        if (strcasecmp(human.question, question) == 0 && same_context(chat, &human, i, at))
            return i;
    return -1;
}

const char *vd_chat_human_answer(const vd_chat *chat, const vd_round *round)
{
    vd_human human;
    if (round->human < 0 ||
        !chat->source.human(chat->source.context, chat->index, round->human, &human))
        return NULL;
    return human.answer;
}

// ---- by their candidates -----------------------------------------------------------------------

static const char *candidate(const vd_chat *chat, const vd_round *round, int which,
                             float *relevance)
{
    *relevance = -1;
    if (round->human < 0)
        return NULL;
    return chat->source.candidate(chat->source.context, chat->index, round->human, which,
                                  relevance);
}

float vd_chat_relevance(const vd_chat *chat, const vd_round *round, const char *answer)
{
    float relevance;
    const char *text;
    for (int i = 0; (text = candidate(chat, round, i, &relevance)) != NULL; i++)
        if (strcmp(text, answer) == 0)
            return relevance;
    return -1;
}

vd_metrics vd_chat_measure(const vd_chat *chat, const vd_round *round, const vd_take *take)
{
    enum { MOST = 1000 };
    const char *human = vd_chat_human_answer(chat, round);
    vd_metrics metrics = {0};
    float *memory = human ? vd_alloc(3 * (size_t)MOST, sizeof *memory) : NULL;
    if (!memory)
        return metrics;
    float *score = memory, *ranks = memory + MOST, *relevance = memory + 2 * MOST;
    int count = 0, truth = -1;
    bool judged = true, known = true;
    const char *text;
    while (known && count < MOST &&
           (text = candidate(chat, round, count, &relevance[count])) != NULL) {
        int index = vd_take_index(take, text);
        known = index >= 0 && index < take->reply.answer.candidates;
        score[count] = known ? take->reply.answer.score[index] : 0;
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
