// What question words look at in the history grows with the square of a conversation: 3 kB a round
// for every answer, 1.6 GB after 1,000 rounds. The newest answers keep it; of an older one it is
// computed again when it is looked at.
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/chat/chat.h"

size_t vd_chat_topic_bytes(const vd_take *take)
{
    const vd_answer *answer = &take->reply.answer;
    return take->ready && answer->topic_attention
               ? sizeof(float) * (size_t)answer->rounds * (size_t)answer->question_length *
                     (size_t)answer->history_width
               : 0;
}

static size_t trim_rounds(vd_round *rounds, size_t count, const vd_take *keep, size_t used)
{
    for (size_t i = count; i-- > 0;)
        for (int lane = 0; lane < VD_MODELS; lane++) {
            vd_take *take = &rounds[i].take[lane];
            size_t bytes = take == keep ? 0 : vd_chat_topic_bytes(take);
            if (bytes && used + bytes > VD_TOPIC_BYTES) {
                vd_free(take->reply.answer.topic_attention);
                take->reply.answer.topic_attention = NULL;
            } else {
                used += bytes;
            }
        }
    return used;
}

void vd_chat_recall_trim(vd_chat *chat, const vd_take *keep)
{
    size_t used = trim_rounds(chat->rounds, chat->round_count, keep, vd_chat_topic_bytes(keep));
    for (int b = chat->branch_count; b-- > 0;)
        used = trim_rounds(chat->branches[b].rounds, chat->branches[b].count, keep, used);
}

bool vd_chat_recalls(const vd_chat *chat, const vd_take *take)
{
    return chat->recall.serial && chat->recall.stamp == take->stamp;
}

void vd_chat_recall_pump(vd_chat *chat)
{
    vd_chat_recall *own = &chat->recall;
    const vd_take *take = vd_chat_take(chat);
    const vd_lane *lane = &chat->lanes[chat->lane];
    if (chat->place != VD_PLACE_DETAIL || !take || take->reply.answer.topic_attention ||
        own->serial || lane->serial || lane->loading[0] || own->stamp == take->stamp ||
        strcmp(take->model, lane->model) != 0)
        return;
    size_t round = (size_t)(vd_chat_shown(chat) - chat->rounds);
    vd_request request = {.kind = VD_REQUEST_ASK,
                          .lane = chat->lane,
                          .text = vd_strdup(chat->rounds[round].typed),
                          .index = chat->index,
                          .history = round ? vd_chat_history(chat, chat->lane, round) : NULL,
                          .turns = (int)round};
    *own = (vd_chat_recall){.round = round, .stamp = take->stamp};
    if (!request.text || (round && !request.history)) {
        vd_request_clear(&request);
        vd_chat_complain(chat, "out of memory: what its words looked at is not computed again");
    } else if (vd_chat_post_request(chat, &request)) {
        own->serial = chat->serial;
    }
}

bool vd_chat_recall_came(vd_chat *chat, vd_event *event)
{
    vd_chat_recall *own = &chat->recall;
    if (!own->serial || own->serial != event->serial)
        return false;
    own->serial = 0;
    vd_take *take =
        own->round < chat->round_count ? &chat->rounds[own->round].take[event->lane] : NULL;
    if (!take || !take->ready || take->stamp != own->stamp)
        return true; // it was asked again meanwhile
    vd_answer *to = &take->reply.answer, *from = &event->reply.answer;
    if (event->status) {
        vd_chat_complain(chat, "%s", event->error.text);
    } else if (from->rounds == to->rounds && from->question_length == to->question_length &&
               from->history_width == to->history_width) {
        to->topic_attention = from->topic_attention;
        from->topic_attention = NULL;
        *own = (vd_chat_recall){0};
        vd_chat_recall_trim(chat, take);
    }
    return true;
}
