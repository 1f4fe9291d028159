// The attention view: the heat maps of the answer that is looked at (tui/answer/heat_maps.h).
#include "tui/answer/heat_maps.h"
#include "tui/chat/views/draw.h"

static void words_of_entry(const void *context, int entry, vd_entry_words *out)
{
    const vd_chat *chat = context;
    if (entry == 0) {
        vd_entry_words_caption(out, vd_conversation_caption(&chat->conversation));
        return;
    }
    out->count = 0;
    const char *answer = entry <= (int)chat->conversation.branch->count
                             ? vd_lanes_answer(&chat->lanes, chat->nav.lane, (size_t)entry - 1)
                             : NULL;
    if (!answer)
        return;
    const vd_response *response =
        &chat->conversation.branch->rounds[entry - 1].response[chat->nav.lane];
    vd_entry_words_round(out, (const char *const *)response->reply.word, response->reply.words,
                         answer);
}

static void draw_detail(vd_chat *chat, vd_grid *grid)
{
    const vd_response *response = vd_chat_response(chat);
    vd_rect at = chat->nav.layout.picture;
    if (!response || at.height <= 0)
        return;
    if (chat->nav.word >= response->reply.words ||
        chat->nav.word >= response->reply.answer.question_length)
        chat->nav.word = 0;
    const vd_heat_maps maps = {.reply = &response->reply,
                               .word = chat->nav.word,
                               .words_of = words_of_entry,
                               .context = chat,
                               .pending = vd_lanes_recalls(&chat->lanes, response)};
    int total = vd_heat_maps_draw(&maps, grid, (vd_rect){at.x + 1, at.y, at.width - 2, at.height},
                                  chat->nav.top[VD_PLACE_DETAIL]);
    chat->nav.seen = at.height;
    chat->nav.scroll_most = total > at.height ? total - at.height : 0;
    vd_draw_more(grid, at, 0, chat->nav.scroll_most - chat->nav.top[VD_PLACE_DETAIL]);
}

// ---- keys --------------------------------------------------------------------------------------

static void open_detail(vd_chat *chat)
{
    chat->nav.word = 0;
}

static bool act_detail(vd_chat *chat, vd_action action, vd_key key)
{
    (void)key;
    const vd_response *response = vd_chat_response(chat);
    if ((action != VD_ACTION_LEFT && action != VD_ACTION_RIGHT) || !response ||
        response->reply.words < 1)
        return false;
    int words = response->reply.words, to = chat->nav.word + (action == VD_ACTION_LEFT ? -1 : 1);
    chat->nav.word = (to + words) % words;
    return true;
}

const vd_view vd_view_detail = {
    .of_round = true, .open = open_detail, .draw = draw_detail, .act = act_detail};
