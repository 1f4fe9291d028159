// The list of answers: the whole pool as it was ranked, filtered by typing, one to pick.
#include "tui/screen/theme.h"
#include "tui/chat/views/draw.h"

// What is typed is looked for in every answer by itself, also where alike ones are shown as one.
static vd_sheet listed(vd_chat *chat)
{
    vd_sheet sheet = vd_chat_sheet(chat);
    if (chat->nav.filter.length)
        sheet.side[0].folded = NULL, sheet.side[0].row = NULL;
    return sheet;
}

static bool matches_filter(const vd_chat *chat, const vd_sheet_side *side, const vd_folded *row)
{
    return vd_text_contains(vd_sheet_text(side, row->answer), chat->nav.filter.text);
}

static int filtered(const vd_chat *chat, const vd_sheet_side *side)
{
    int rows = vd_sheet_rows(side), count = 0;
    if (!chat->nav.filter.length)
        return rows;
    for (int i = 0; i < rows; i++) {
        vd_folded row = vd_sheet_row(side, i);
        count += matches_filter(chat, side, &row);
    }
    return count;
}

static void draw_list(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture;
    const vd_sheet sheet = listed(chat);
    const vd_sheet_side *side = &sheet.side[0];
    if (!sheet.sides || at.height < 3)
        return;
    vd_rect inner = {at.x + 1, at.y, at.width - 2, at.height};
    vd_draw_ranking_title(chat, grid, inner);
    int rows = inner.height - 2, all = vd_sheet_rows(side);
    int total = filtered(chat, side);
    chat->nav.list_at = vd_clamp(chat->nav.list_at, total - 1);
    int top = chat->nav.list_at - rows / 2;
    top = top > total - rows ? total - rows : top;
    top = top < 0 ? 0 : top;
    int matches = 0, last = top + rows < all ? top + rows : all;
    vd_ranking_columns columns =
        vd_ranking_columns_of(inner.width, chat->nav.filter.length ? all : last, false, false);
    chat->nav.seen = rows;
    // Walk the ranking once; only the rows in sight are drawn.
    for (int i = 0, shown = 0; i < all && shown < rows; i++) {
        vd_folded row = vd_sheet_row(side, i);
        if (!matches_filter(chat, side, &row))
            continue;
        if (matches >= top) {
            if (inner.y + 1 + shown < VD_GRID_MAX)
                chat->nav.row_round[inner.y + 1 + shown] = matches;
            vd_ranking_draw_row(grid, (vd_rect){inner.x, inner.y + 1 + shown, inner.width, 1},
                                &columns, side, &row, NULL, matches == chat->nav.list_at);
            shown++;
        }
        matches++;
    }
    char text[128];
    if (total == 0)
        snprintf(text, sizeof text, "no answer of the pool has \"%.60s\"", chat->nav.filter.text);
    else
        snprintf(text, sizeof text, "%d of %d answers%s%s", chat->nav.list_at + 1, total,
                 total < side->reply->answer.candidates && !chat->nav.filter.length
                     ? " that differ (Alt-a shows each)"
                     : "",
                 chat->nav.filter.length ? " that match" : "; typing filters");
    vd_grid_text(grid, inner.x, inner.y + inner.height - 1, inner.width, text,
                 vd_style_of(grid, VD_ROLE_NOTE));
}

// ---- keys --------------------------------------------------------------------------------------

static void scroll_list(vd_chat *chat, int lines)
{
    const vd_sheet sheet = listed(chat);
    if (sheet.sides)
        chat->nav.list_at = vd_clamp(chat->nav.list_at + lines, filtered(chat, &sheet.side[0]) - 1);
}

// The answer under the cursor becomes the one the conversation goes on with.
static void pick(vd_chat *chat)
{
    const vd_sheet sheet = listed(chat);
    int matches = 0, all = sheet.sides ? vd_sheet_rows(&sheet.side[0]) : 0;
    for (int i = 0; i < all; i++) {
        vd_folded row = vd_sheet_row(&sheet.side[0], i);
        if (!matches_filter(chat, &sheet.side[0], &row) || matches++ < chat->nav.list_at)
            continue;
        vd_navigation_back(&chat->nav);
        vd_chat_choose(chat, row.place);
        return;
    }
}

static bool act_in_list(vd_chat *chat, vd_action action, vd_key key)
{
    (void)key;
    if (action == VD_ACTION_PICK)
        pick(chat);
    return action == VD_ACTION_PICK;
}

// The first click selects, the second one takes.
static void click_in_list(vd_chat *chat, int x, int y)
{
    (void)x;
    if (chat->nav.row_round[y] < 0)
        return;
    bool again = chat->nav.row_round[y] == chat->nav.list_at;
    chat->nav.list_at = chat->nav.row_round[y];
    if (again)
        pick(chat);
}

const vd_view vd_view_answers = {.filter = " filter> ",
                                 .of_round = true,
                                 .draw = draw_list,
                                 .scroll = scroll_list,
                                 .act = act_in_list,
                                 .click = click_in_list};
