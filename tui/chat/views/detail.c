// The attention view: the heat maps of the answer that is looked at (tui/answer/heat_maps.h).
#include "tui/answer/heat_maps.h"
#include "tui/chat/views/draw.h"

// The rounds as the lane heard them, questions as it saw them (g_free).
static vd_turn *rounds_heard(const vd_chat *chat, int count)
{
    const vd_branch *branch = chat->conversation.branch;
    vd_turn *said = g_new0(vd_turn, count);
    for (int i = 0; i < count && i < (int)branch->count; i++) {
        said[i].question = branch->rounds[i].response[chat->nav.lane].reply.question;
        said[i].answer = (char *)vd_lanes_answer(&chat->lanes, chat->nav.lane, (size_t)i);
    }
    return said;
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
    int rounds = MAX(response->reply.answer.rounds - 1, 0);
    g_autofree vd_turn *said = rounds_heard(chat, rounds);
    vd_sheet sheet = vd_chat_sheet(chat);
    sheet.history = said;
    sheet.rounds = rounds;
    const vd_heat_maps maps = {.sheet = &sheet,
                               .word = chat->nav.word,
                               .pending = vd_lanes_recalls(&chat->lanes, response)};
    int total = vd_heat_maps_draw(&maps, grid, (vd_rect){at.x + 1, at.y, at.width - 2, at.height},
                                  chat->nav.places.top[VD_PLACE_DETAIL]);
    vd_places_drawn(&chat->nav.places, total, at.height);
    vd_draw_more(grid, at, 0, chat->nav.places.most - chat->nav.places.top[VD_PLACE_DETAIL]);
}

// ---- keys --------------------------------------------------------------------------------------

static void open_detail(vd_chat *chat)
{
    chat->nav.word = 0;
}

static bool act_detail(vd_chat *chat, vd_action action, const char *argument)
{
    (void)argument;
    const vd_response *response = vd_chat_response(chat);
    if ((action != VD_ACTION_LEFT && action != VD_ACTION_RIGHT) || !response ||
        response->reply.words < 1)
        return false;
    int words = response->reply.words, to = chat->nav.word + (action == VD_ACTION_LEFT ? -1 : 1);
    chat->nav.word = (to + words) % words;
    return true;
}

const vd_view vd_view_detail = {.action = VD_ACTION_DETAIL,
                                .of_round = true,
                                .hides = true,
                                .open = open_detail,
                                .draw = draw_detail,
                                .act = act_detail};
