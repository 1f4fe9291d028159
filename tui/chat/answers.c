// The list of answers: the whole pool as it was ranked, filtered by typing, one to pick.
#include "tui/screen/theme.h"
#include "tui/chat/chat.h"

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

// What is typed is looked for in every answer by itself, also where alike ones are shown as one.
static int list_rows(vd_chat *chat, const vd_take *take)
{
    return chat->filter.length ? take->reply.answer.candidates
                               : vd_chat_ranked(chat, chat->lane, take);
}

static vd_folded list_row(const vd_chat *chat, const vd_take *take, int row)
{
    const vd_answer *answer = &take->reply.answer;
    if (!chat->filter.length)
        return vd_chat_ranked_at(chat, chat->lane, take, row);
    return (vd_folded){answer->order[row], row, 0, answer->probability[answer->order[row]]};
}

static bool matches_filter(const vd_chat *chat, const vd_take *take, const vd_folded *row)
{
    return vd_text_contains(vd_take_answer(take, row->answer), chat->filter.text);
}

static int filtered(vd_chat *chat, const vd_take *take)
{
    int rows = list_rows(chat, take), count = 0;
    if (!chat->filter.length)
        return rows;
    for (int i = 0; i < rows; i++) {
        vd_folded row = list_row(chat, take, i);
        count += matches_filter(chat, take, &row);
    }
    return count;
}

static void draw_list(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->layout.picture;
    const vd_take *take = vd_chat_take(chat);
    if (!take || at.height < 3)
        return;
    vd_rect inner = {at.x + 1, at.y, at.width - 2, at.height};
    vd_chat_draw_ranking_title(chat, grid, inner);
    int rows = inner.height - 2, all = list_rows(chat, take);
    int total = filtered(chat, take);
    chat->list_at = vd_clamp(chat->list_at, total - 1);
    int top = chat->list_at - rows / 2;
    top = top > total - rows ? total - rows : top;
    top = top < 0 ? 0 : top;
    int matches = 0;
    chat->page = rows;
    // Walk the ranking once; only the rows in sight are drawn.
    for (int i = 0, shown = 0; i < all && shown < rows; i++) {
        vd_folded row = list_row(chat, take, i);
        if (!matches_filter(chat, take, &row))
            continue;
        if (matches >= top) {
            if (inner.y + 1 + shown < VD_GRID_MAX)
                chat->row_round[inner.y + 1 + shown] = matches;
            vd_chat_draw_candidate(grid, (vd_rect){inner.x, inner.y + 1 + shown, inner.width, 1},
                                   take, &row, matches == chat->list_at);
            shown++;
        }
        matches++;
    }
    char text[128];
    if (total == 0)
        snprintf(text, sizeof text, "no answer of the pool has \"%.60s\"", chat->filter.text);
    else
        snprintf(text, sizeof text, "%d of %d answers%s%s", chat->list_at + 1, total,
                 total < take->reply.answer.candidates && !chat->filter.length
                     ? " that differ (Alt-a shows each)"
                     : "",
                 chat->filter.length ? " that match" : "; typing filters");
    vd_grid_text(grid, inner.x, inner.y + inner.height - 1, inner.width, text,
                 role(grid, VD_ROLE_NOTE));
}

// ---- keys --------------------------------------------------------------------------------------

static void scroll_list(vd_chat *chat, int lines)
{
    const vd_take *take = vd_chat_take(chat);
    if (take)
        chat->list_at = vd_clamp(chat->list_at + lines, filtered(chat, take) - 1);
}

// The answer under the cursor becomes the one the conversation goes on with.
static void pick(vd_chat *chat)
{
    const vd_take *take = vd_chat_take(chat);
    int matches = 0, all = take ? list_rows(chat, take) : 0;
    for (int i = 0; i < all; i++) {
        vd_folded row = list_row(chat, take, i);
        if (!matches_filter(chat, take, &row) || matches++ < chat->list_at)
            continue;
        vd_chat_back(chat);
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
    if (chat->row_round[y] < 0)
        return;
    bool again = chat->row_round[y] == chat->list_at;
    chat->list_at = chat->row_round[y];
    if (again)
        pick(chat);
}

const vd_view vd_view_answers = {.title = "Keys in the list of answers",
                                 .filter = " filter> ",
                                 .of_round = true,
                                 .draw = draw_list,
                                 .scroll = scroll_list,
                                 .act = act_in_list,
                                 .click = click_in_list};
