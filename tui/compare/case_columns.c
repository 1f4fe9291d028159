// What of a case belongs to one model: its column with the head, the ranking and the largest shares
// of its attentions; the picture with what it looked at.
#include <string.h>

#include "tui/screen/layout.h"
#include "tui/answer/rank_move.h"
#include "tui/base/shares.h"
#include "tui/screen/theme.h"
#include "tui/compare/cases_view.h"

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

// ---- columns ------------------------------------------------------------------------------------

enum { BETWEEN = 2 }; // columns of the terminal

void vd_case_columns_choose(vd_cases_view *view, vd_rect at, int least, int fewest)
{
    vd_case_columns *columns = &view->columns;
    int models = view->cases->models, most = (at.width + BETWEEN) / (least + BETWEEN);
    most = most < fewest ? fewest : most > models ? models : most;
    int from = view->side - (most - 2); // of the models behind the first one
    from = from < 1 ? 1 : from > models - most + 1 ? models - most + 1 : from;
    *columns = (vd_case_columns){.at = at};
    columns->side[columns->count++] = most == 1 ? view->side : 0;
    while (columns->count < most)
        columns->side[columns->count++] = from++;
}

vd_rect vd_case_column(const vd_case_columns *columns, int index)
{
    vd_rect at = columns->at;
    int width = (at.width - BETWEEN * (columns->count - 1)) / columns->count;
    return (vd_rect){at.x + index * (width + BETWEEN), at.y, width, at.height};
}

// ---- picture ------------------------------------------------------------------------------------

void vd_case_draw_picture(vd_cases_view *view, vd_grid *grid, vd_rect room, int side)
{
    vd_rect place = vd_panels_fit(room, view->picture.image.width, view->picture.image.height);
    if (view->picture_error[0] || vd_picture_draw(&view->picture, grid, place, NULL)) {
        vd_case_draw_wrapped(grid, room, view->picture_error, role(grid, VD_ROLE_NOTE));
        return;
    }
    const vd_answer *answer = &view->answers.reply[side].answer;
    if (!view->answers.boxes || answer->regions != view->answers.regions)
        return;
    enum { MOST = 9 };
    vd_share top[MOST];
    vd_outline outlines[MOST];
    int count = vd_shares_top(answer->region_attention, answer->regions, 0.9, top, MOST);
    for (int i = 0; i < count; i++) {
        outlines[i] = (vd_outline){.share = top[i].share, .number = i + 1};
        memcpy(outlines[i].box, view->answers.boxes + 4 * top[i].index, sizeof outlines[i].box);
    }
    vd_picture_outline(grid, place, outlines, count);
}

int vd_case_draw_name(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    return vd_grid_text(grid, at.x, at.y, at.width, view->cases->name[side],
                        role(grid, side == view->side ? VD_ROLE_SELECTED : VD_ROLE_TITLE));
}

// ---- head ---------------------------------------------------------------------------------------

void vd_case_draw_head(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    const vd_case *one = view->shown;
    const vd_visdial_round *round = vd_case_round(view->cases, one);
    bool right = vd_case_right(one, side, view->filter.by);
    char text[64];
    int x = at.x + vd_case_draw_name(view, grid, (vd_rect){at.x, at.y, at.width - 10, 1}, side);
    if (vd_case_group_of(view->cases, one, view->filter.by) != VD_CASE_UNKNOWN)
        vd_grid_put(grid, x + 1, at.y, right ? 0x2713 : 0x2717, right ? '+' : '-',
                    role(grid, right ? VD_ROLE_ANSWER : VD_ROLE_WRONG));
    x += 3;
    int end = at.x + at.width;
    text[0] = '\0';
    if (one->side[side].rank > 0)
        snprintf(text, sizeof text, at.width < 32 ? "*%g" : "human: place %g",
                 (double)one->side[side].rank);
    int note = (int)strlen(text);
    vd_grid_right(grid, end - note, at.y, note, text, role(grid, VD_ROLE_NOTE));
    x += vd_grid_text(grid, x, at.y, end - note - 1 - x,
                      vd_case_option(view->cases, one, one->side[side].first),
                      role(grid, VD_ROLE_FIRST));
    if (round->relevance && end - note - x > 16) {
        snprintf(text, sizeof text, "relevance %.2g",
                 (double)round->relevance[one->side[side].first]);
        vd_grid_text(grid, x + 1, at.y, end - note - 2 - x, text, role(grid, VD_ROLE_FAINT));
    }
}

// ---- ranking ------------------------------------------------------------------------------------

static int place_of(const vd_answer *answer, int index)
{
    for (int i = 0; i < answer->candidates; i++)
        if (answer->order[i] == index)
            return i;
    return -1;
}

// A row for the answer at a place. moves: columns for how it moved against the first model, 0:
// none.
static void draw_candidate(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side,
                           int place, int moves)
{
    const vd_answer *answer = &view->answers.reply[side].answer;
    const vd_answer *first = &view->answers.reply[0].answer;
    int index = answer->order[place], right = at.x + at.width - (moves ? moves + 1 : 0);
    int bar = at.width >= 54 ? at.width / 5 : 0;
    double probability = (double)answer->probability[index];
    bool human = index == vd_case_round(view->cases, view->shown)->truth;
    char text[16];
    snprintf(text, sizeof text, "%d", place + 1);
    vd_grid_right(grid, at.x, at.y, 3, text, role(grid, VD_ROLE_FAINT));
    if (human)
        vd_grid_put(grid, at.x + 3, at.y, '*', '*', role(grid, VD_ROLE_NOTE));
    vd_grid_text(grid, at.x + 5, at.y, right - at.x - 5 - 7 - (bar ? bar + 1 : 0),
                 vd_case_option(view->cases, view->shown, index),
                 role(grid, place == 0 ? VD_ROLE_FIRST
                            : human    ? VD_ROLE_NOTE
                                       : VD_ROLE_TEXT));
    if (bar)
        vd_grid_bar(grid, right - 7 - bar, at.y, bar, probability,
                    role(grid, place == 0 ? VD_ROLE_BAR_FIRST : VD_ROLE_BAR),
                    role(grid, VD_ROLE_RULE));
    vd_percent(text, sizeof text, probability);
    vd_grid_right(grid, right - 6, at.y, 6, text, role(grid, VD_ROLE_TEXT));
    if (moves)
        vd_rank_move_draw(grid, (vd_rect){right + 1, at.y, moves, 1}, place_of(first, index), place,
                          probability - (double)first->probability[index]);
}

void vd_case_draw_ranking(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    const vd_answer *answer = &view->answers.reply[side].answer;
    int moves = side == 0 || at.width < 30 ? 0 : at.width < 36 ? VD_RANK_MOVE : VD_RANK_MOVE_CHANGE;
    for (int row = 0; row < at.height && row < answer->candidates; row++) {
        int place = row;
        if (row == at.height - 1) { // the human answer's, where it would not be seen
            int human = place_of(answer, vd_case_round(view->cases, view->shown)->truth);
            place = human > row ? human : row;
        }
        draw_candidate(view, grid, (vd_rect){at.x, at.y + row, at.width, 1}, side, place, moves);
    }
}

// ---- attention ----------------------------------------------------------------------------------

// "looked at  1 57 %  2 27 %": the largest of some shares in one row; numbered without names.
static void draw_shares(vd_grid *grid, vd_rect at, const char *title, const vd_share *top,
                        int count, const char *const *names)
{
    enum { TITLE = 10 };
    int x = at.x + TITLE, end = at.x + at.width;
    vd_grid_text(grid, at.x, at.y, TITLE - 1, title, role(grid, VD_ROLE_FAINT));
    for (int i = 0; i < count; i++) {
        char name[48], percent[16];
        vd_percent(percent, sizeof percent, top[i].share);
        snprintf(name, sizeof name, "%d", i + 1);
        if (names)
            snprintf(name, sizeof name, "%.40s", names[i]);
        int own = vd_text_width(name, strlen(name)), share = (int)strlen(percent);
        if (x + own + 1 + share > end)
            break;
        vd_grid_text(grid, x, at.y, own, name, role(grid, names ? VD_ROLE_TEXT : VD_ROLE_REGION));
        vd_grid_text(grid, x + own + 1, at.y, share, percent, role(grid, VD_ROLE_TEXT));
        x += own + 1 + share + 2;
    }
}

enum { MOST_SHARES = 9 };

void vd_case_draw_regions(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    const vd_answer *answer = &view->answers.reply[side].answer;
    vd_share top[MOST_SHARES];
    int count = vd_shares_top(answer->region_attention, answer->regions, 0.9, top, MOST_SHARES);
    draw_shares(grid, at, "looked at", top, count, NULL);
}

void vd_case_draw_shares(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    const vd_reply *reply = &view->answers.reply[side];
    const vd_answer *answer = &reply->answer;
    vd_share top[MOST_SHARES];
    char rounds[MOST_SHARES][16];
    const char *names[MOST_SHARES];
    vd_case_draw_regions(view, grid, at, side);
    int count = vd_shares_top(answer->context_attention, answer->rounds, 0.9, top, MOST_SHARES);
    for (int i = 0; i < count; i++) {
        snprintf(rounds[i], sizeof rounds[i], "round %d", top[i].index);
        names[i] = top[i].index ? rounds[i] : "caption";
    }
    at.y++;
    draw_shares(grid, at, "drew on", top, count, names);
    float share[VD_MAX_QUESTION];
    for (int i = 0; i < reply->words; i++)
        share[i] = (float)vd_word_share(answer, i);
    count = vd_shares_top(share, reply->words, 0.9, top, MOST_SHARES);
    for (int i = 0; i < count; i++)
        names[i] = reply->word[top[i].index];
    at.y++;
    draw_shares(grid, at, "words", top, count, names);
}
