// Of an old answer the attention of its question's words to the history is not kept
// (vd_conversation_trim_topics): it is being computed when it is looked at.

#include "tui/chat/lanes/lanes.h"

bool vd_lanes_recalls(const vd_lanes *lanes, const vd_response *response)
{
    return lanes->recall.serial && lanes->recall.stamp == response->stamp;
}

void vd_lanes_recall(vd_lanes *lanes, int lane, size_t round)
{
    vd_recall *own = &lanes->recall;
    const vd_lane *from = &lanes->lane[lane];
    const vd_response *response = &lanes->conversation->branch->rounds[round].response[lane];
    if (vd_answer_whole(&response->reply.answer) || own->serial || from->serial || from->loading ||
        own->stamp == response->stamp || !vd_answerer_same(&response->by, &from->by))
        return;
    vd_request request = vd_lanes_prepare(lanes, VD_REQUEST_ASK, lane, round);
    *own = (vd_recall){vd_lanes_post(lanes, request), response->stamp, round};
}

// Takes the shares that are missing. False: they are of something else.
static bool take_shares(vd_answer *to, vd_answer *from)
{
    bool same = to->attentions == from->attentions;
    for (int i = 0; i < to->attentions && same; i++)
        same = to->attention[i].rows == from->attention[i].rows &&
               to->attention[i].columns == from->attention[i].columns;
    for (int i = 0; i < to->attentions && same; i++) {
        if (to->attention[i].share)
            continue;
        to->attention[i].share = from->attention[i].share;
        from->attention[i].share = NULL;
    }
    return same;
}

bool vd_lanes_recall_came(vd_lanes *lanes, vd_event *event)
{
    vd_recall *own = &lanes->recall;
    const vd_branch *branch = lanes->conversation->branch;
    if (!own->serial || own->serial != event->serial)
        return false;
    own->serial = 0;
    vd_response *response =
        own->round < branch->count ? &branch->rounds[own->round].response[event->lane] : NULL;
    if (!response || !response->ready || response->stamp != own->stamp)
        return true; // it was asked again in the meantime
    vd_answer *to = &response->reply.answer, *from = &event->reply.answer;
    if (event->status) {
        vd_notice_complain(lanes->notice, "%s", event->error.text);
    } else if (take_shares(to, from)) {
        *own = (vd_recall){0};
        vd_conversation_trim_topics(lanes->conversation, response);
    }
    return true;
}
