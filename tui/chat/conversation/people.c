// What people asked and answered about the picture, and metrics by their candidates.
#include <string.h>
#include <strings.h>

#include "tui/chat/conversation/conversation.h"

const vd_visdial_round *vd_people_dialog(const vd_conversation *conversation, int round)
{
    const vd_visdial_dialog *dialog =
        vd_world_dialog(conversation->world, conversation->branches.picture);
    return dialog && round >= 0 && round < dialog->round_count ? &dialog->rounds[round] : NULL;
}

// Whether people's question of their round `i` means the same as the conversation's round `at`: the
// rounds that it refers to ("what color is it?") were asked here, too. All rounds before it are
// needed where the data do not say which.
static bool same_context(const vd_conversation *conversation, const vd_visdial_round *human, int i,
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
    const char *const *questions = conversation->world->dialogs->questions;
    const vd_visdial_round *human;
    for (int i = 0; (human = vd_people_dialog(conversation, i)) != NULL; i++)
        if (strcasecmp(questions[human->question], question) == 0 &&
            same_context(conversation, human, i, at))
            return i;
    return -1;
}

const char *vd_people_answer(const vd_conversation *conversation, const vd_round *round)
{
    const vd_visdial_round *human = vd_people_dialog(conversation, round->human);
    return human && human->answer >= 0 ? conversation->world->dialogs->answers[human->answer]
                                       : NULL;
}

float vd_people_relevance(const vd_conversation *conversation, const vd_round *round,
                          const char *answer)
{
    const vd_visdial_round *human = vd_people_dialog(conversation, round->human);
    for (int i = 0; human && human->relevance && i < human->option_count; i++)
        if (strcmp(conversation->world->dialogs->answers[human->options[i]], answer) == 0)
            return human->relevance[i];
    return -1;
}

vd_metrics vd_people_metrics(const vd_conversation *conversation, const vd_round *round,
                             const vd_response *response)
{
    const vd_visdial_round *human = vd_people_dialog(conversation, round->human);
    const char *said = vd_people_answer(conversation, round);
    int count = said ? human->option_count : 0, truth = -1;
    vd_metrics metrics = {0};
    float *score = g_new(float, 2 * (size_t)count);
    bool known = count > 0;
    for (int i = 0; known && i < count; i++) {
        const char *text = conversation->world->dialogs->answers[human->options[i]];
        int index = vd_response_index(response, text);
        known = index >= 0 && index < response->reply.answer.candidates;
        score[i] = known ? response->reply.answer.score[index] : 0;
        truth = strcmp(text, said) == 0 ? i : truth;
    }
    if (known) {
        vd_metrics_ranks(score, count, score + count);
        vd_metrics_add(&metrics, score + count, count, truth, human->relevance);
    }
    g_free(score);
    return metrics;
}
