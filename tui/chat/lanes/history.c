// Whose answers a lane's history is made of.
#include <glib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/chat/lanes/lanes.h"

const char *vd_follow_name(vd_follow follow)
{
    static const char *const names[VD_FOLLOWS] = {"shared", "own", "data"};
    return names[follow];
}

bool vd_follow_named(const char *word, vd_follow *out)
{
    for (int i = 0; i < VD_FOLLOWS && *word; i++)
        if (g_str_has_prefix(vd_follow_name((vd_follow)i), word)) {
            *out = (vd_follow)i;
            return true;
        }
    *out = VD_FOLLOW_DATA;
    return *word && g_str_has_prefix("people's", word);
}

const char *vd_follow_answers(vd_follow follow)
{
    static const char *const answers[VD_FOLLOWS] = {"shared answers", "own answers",
                                                    "answers in the data"};
    return answers[follow];
}

int vd_lanes_source(const vd_lanes *lanes, int lane, size_t at)
{
    const vd_round *round = &lanes->conversation->branch->rounds[at];
    vd_follow follow = lanes->lane[lane].follow;
    if (follow == VD_FOLLOW_DATA && vd_people_answer(lanes->conversation, round))
        return -1;
    return follow == VD_FOLLOW_OWN ? lane : 0;
}

const char *vd_lanes_answer(const vd_lanes *lanes, int lane, size_t at)
{
    const vd_round *round = &lanes->conversation->branch->rounds[at];
    int from = vd_lanes_source(lanes, lane, at);
    if (from < 0)
        return vd_people_answer(lanes->conversation, round);
    const vd_response *response = &round->response[from];
    return response->ready ? vd_response_text(response, response->chosen) : NULL;
}

static const char *answer_or_nothing(const vd_lanes *lanes, int lane, size_t at)
{
    const char *answer = vd_lanes_answer(lanes, lane, at);
    return answer ? answer : "";
}

vd_turn *vd_lanes_history(const vd_lanes *lanes, int lane, size_t count)
{
    const vd_round *rounds = lanes->conversation->branch->rounds;
    size_t bytes = count * sizeof(vd_turn);
    for (size_t i = 0; i < count; i++)
        bytes += strlen(rounds[i].typed) + strlen(answer_or_nothing(lanes, lane, i)) + 2;
    vd_turn *history = vd_alloc(bytes, 1);
    char *to = history ? (char *)(history + count) : NULL;
    for (size_t i = 0; to && i < count; i++) {
        const char *texts[2] = {rounds[i].typed, answer_or_nothing(lanes, lane, i)};
        char *copy[2];
        for (int part = 0; part < 2; part++) {
            size_t size = strlen(texts[part]) + 1;
            copy[part] = memcpy(to, texts[part], size);
            to += size;
        }
        history[i] = (vd_turn){copy[0], copy[1]};
    }
    return history;
}
