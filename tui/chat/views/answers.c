// The list of answers: the whole pool as it was ranked, filtered by typing, one to pick.
#include "tui/chat/views/draw.h"

static bool matches_filter(const vd_list *list, int index)
{
    const vd_sheet_side *side = &list->sheet.side[0];
    const char *text = vd_sheet_text(side, vd_sheet_row(side, index).answer);
    return vd_text_find(text, list->chat->nav.filter.text);
}

static void draw_row(const vd_list *list, vd_grid *grid, vd_rect at, int index, bool selected)
{
    bool all = list->chat->nav.filter.length || list->top + list->rows > list->count;
    const vd_ranking_columns columns =
        vd_ranking_columns_of(at.width, all ? list->count : list->top + list->rows, false, false);
    const vd_answer_group row = vd_sheet_row(&list->sheet.side[0], index);
    vd_ranking_draw_row(grid, at, &columns, &list->sheet.side[0], &row, NULL, selected);
}

// The answer becomes the one the conversation goes on with.
static void pick_answer(const vd_list *list, int index)
{
    vd_places_back(&list->chat->nav.places);
    vd_chat_choose(list->chat, vd_sheet_row(&list->sheet.side[0], index).place);
}

// What is typed is looked for in every answer by itself, also where alike ones are shown as one.
static vd_list list_answers(vd_chat *chat)
{
    vd_list list = {.chat = chat,
                    .at = &chat->nav.list_at,
                    .sheet = vd_chat_sheet(chat),
                    .matches = matches_filter,
                    .draw_row = draw_row,
                    .pick = pick_answer};
    if (chat->nav.filter.length)
        list.sheet.side[0].folded = NULL, list.sheet.side[0].row = NULL;
    list.count = list.sheet.sides ? vd_sheet_rows(&list.sheet.side[0]) : 0;
    return list;
}

static void draw_answers(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture;
    vd_list list = list_answers(chat);
    if (!list.sheet.sides || at.height < 3)
        return;
    vd_rect inner = {at.x + 1, at.y + 1, at.width - 2, at.height - 2};
    vd_draw_ranking_title(chat, grid, (vd_rect){inner.x, at.y, inner.width, 1}, &list.sheet);
    int total = vd_list_draw(&list, grid, inner);
    bool folded = total < list.sheet.side[0].reply->answer.candidates;
    chat->nav.places.seen = inner.height;
    char text[128];
    if (total == 0)
        snprintf(text, sizeof text, "no answer of the pool has \"%.60s\"", chat->nav.filter.text);
    else
        snprintf(text, sizeof text, "answer %d of %d%s%s", chat->nav.list_at + 1, total,
                 folded && !chat->nav.filter.length ? " that differ (Alt-a shows each)" : "",
                 chat->nav.filter.length ? " that match" : "; typing filters");
    vd_grid_text(grid, inner.x, at.y + at.height - 1, inner.width, text, VD_ROLE_NOTE);
}

const vd_view vd_view_answers = {.action = VD_ACTION_ANSWERS,
                                 .filter = " filter> ",
                                 .of_round = true,
                                 .draw = draw_answers,
                                 .list = list_answers};
