// The attention view: the heat maps of the answer that is looked at (tui/answer/heat_maps.h).
#include "tui/answer/heat_maps.h"
#include "tui/chat/chat.h"

static void words_of_entry(const void *context, int entry, vd_entry_words *out)
{
    const vd_chat *chat = context;
    if (entry == 0) {
        vd_entry_words_caption(out, chat->source.caption(chat->source.context, chat->index));
        return;
    }
    out->count = 0;
    const char *heard =
        entry <= (int)chat->round_count ? vd_chat_heard(chat, chat->lane, (size_t)entry - 1) : NULL;
    if (!heard)
        return;
    const vd_take *take = &chat->rounds[entry - 1].take[chat->lane];
    vd_entry_words_round(out, (const char *const *)take->reply.word, take->reply.words, heard);
}

static void draw_detail(vd_chat *chat, vd_grid *grid)
{
    const vd_take *take = vd_chat_take(chat);
    vd_rect at = chat->layout.picture;
    if (!take || at.height <= 0)
        return;
    if (chat->word >= take->reply.words || chat->word >= take->reply.answer.question_length)
        chat->word = 0;
    const vd_heat_maps maps = {.reply = &take->reply,
                               .word = chat->word,
                               .words_of = words_of_entry,
                               .context = chat,
                               .pending = vd_chat_recalls(chat, take)};
    int total = vd_heat_maps_draw(&maps, grid, (vd_rect){at.x + 1, at.y, at.width - 2, at.height},
                                  chat->top[VD_PLACE_DETAIL]);
    chat->page = at.height;
    chat->scroll_most = total > at.height ? total - at.height : 0;
    vd_chat_draw_more(grid, at, 0, chat->scroll_most - chat->top[VD_PLACE_DETAIL]);
}

// ---- keys --------------------------------------------------------------------------------------

static void open_detail(vd_chat *chat)
{
    chat->word = 0;
}

static bool act_detail(vd_chat *chat, vd_action action, vd_key key)
{
    (void)key;
    const vd_take *take = vd_chat_take(chat);
    if ((action != VD_ACTION_LEFT && action != VD_ACTION_RIGHT) || !take || take->reply.words < 1)
        return false;
    int words = take->reply.words, to = chat->word + (action == VD_ACTION_LEFT ? -1 : 1);
    chat->word = (to + words) % words;
    return true;
}

const vd_view vd_view_detail = {.title = "Keys in the attention view",
                                .of_round = true,
                                .open = open_detail,
                                .draw = draw_detail,
                                .act = act_detail};
