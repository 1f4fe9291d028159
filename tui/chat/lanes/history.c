// Whose answers a lane's history is made of.
#include <glib.h>

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

vd_turn *vd_lanes_history(const vd_lanes *lanes, int lane, size_t count)
{
    const vd_round *rounds = lanes->conversation->branch->rounds;
    vd_turn *history = g_new(vd_turn, count);
    for (size_t i = 0; i < count; i++) {
        const char *answer = vd_lanes_answer(lanes, lane, i);
        history[i] = (vd_turn){g_strdup(rounds[i].typed), g_strdup(answer ? answer : "")};
    }
    return history;
}
