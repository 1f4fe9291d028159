#include "tui/answer/ranking.h"

#include <string.h>

#include "tui/base/shares.h"
#include "tui/screen/theme.h"

// ---- where the parts lie -----------------------------------------------------------------------

vd_ranking_columns vd_ranking_columns_of(int width, int last, bool beside, bool moves)
{
    enum { SHARE = 6, MOST_BAR = 24, ROOMY = 50 };
    vd_ranking_columns out = {.share = width - SHARE, .share_width = SHARE};
    int digits = snprintf(NULL, 0, "%d", last), end = out.share;
    out.place_width = digits < 2 ? 2 : digits;
    if (!beside && width > ROOMY)
        out.place_width = digits < 4 ? 4 : digits + 1;
    out.mark = out.place_width;
    out.text = out.mark + 2;
    if (moves) {
        out.move_width = width >= 30   ? VD_RANK_MOVE_CHANGE
                         : width >= 22 ? VD_RANK_MOVE
                                       : VD_RANK_MOVE_ARROW;
        out.move = end - out.move_width;
        end = out.move - 1;
    }
    // The text comes first: answers are phrases.
    if (!beside)
        out.bar_width = width / 4 < MOST_BAR ? width / 4 : MOST_BAR;
    else if (width >= (moves ? 48 : 30))
        out.bar_width = width / 5;
    if (out.bar_width) {
        out.bar = end - out.bar_width;
        end = out.bar - 1;
    }
    out.text_width = end > out.text ? end - out.text : 0;
    return out;
}

// ---- drawing -----------------------------------------------------------------------------------

// How many places it is further up than before, and the change of its probability in points, as far
// as `at` is wide enough: "\u21913 +12".
static void draw_move(vd_grid *grid, vd_rect at, const vd_sheet_move *move)
{
    char text[16];
    if (move->before < 0) {
        vd_grid_right(grid, at.x, at.y, at.width, at.width < VD_RANK_MOVE ? "+" : "new",
                      VD_ROLE_FAINT);
        return;
    }
    int up = move->before - move->place, moved = up < 0 ? -up : up;
    vd_role role = up > 0 ? VD_ROLE_UP : up < 0 ? VD_ROLE_DOWN : VD_ROLE_FAINT;
    uint32_t arrow = up > 0 ? 0x2191 : up < 0 ? 0x2193 : '=';
    vd_grid_put(grid, at.x, at.y, arrow, up > 0 ? '^' : up < 0 ? 'v' : '=', role);
    if (moved && at.width >= VD_RANK_MOVE) {
        snprintf(text, sizeof text, "%d", moved > 999 ? 999 : moved);
        vd_grid_text(grid, at.x + 1, at.y, 3, text, role);
    }
    if (at.width < VD_RANK_MOVE_CHANGE)
        return;
    snprintf(text, sizeof text, "%+.0f", move->change * 100);
    if (strcmp(text, "-0") == 0)
        snprintf(text, sizeof text, "+0");
    vd_grid_right(grid, at.x + 5, at.y, at.width - 5, text, role);
}

// The answer's text and how many are alike: "yes (+3 alike)", "yes +3" where that does not fit.
static void draw_alike(vd_grid *grid, vd_rect at, const char *text, int alike, vd_style style)
{
    char more[32] = "";
    int width = vd_text_width(text, strlen(text));
    if (alike > 0)
        snprintf(more, sizeof more, " (+%d alike)", alike);
    if (width + (int)strlen(more) > at.width && alike > 0)
        snprintf(more, sizeof more, " +%d", alike);
    int used = vd_grid_text_styled(grid, at.x, at.y, at.width - (int)strlen(more), text, style);
    style.fg = vd_theme(grid->look, VD_ROLE_FAINT).fg;
    vd_grid_text_styled(grid, at.x + used, at.y, at.width - used, more, style);
}

void vd_ranking_draw_row(vd_grid *grid, vd_rect at, const vd_ranking_columns *columns,
                         const vd_sheet_side *side, const vd_answer_group *row,
                         const vd_sheet_move *move, bool selected)
{
    const vd_ranking_columns *c = columns;
    bool human = side->human >= 0 &&
                 (row->answer == side->human || (row->alike > 0 && side->row &&
                                                 side->row[row->answer] == side->row[side->human]));
    bool chosen = row->answer == side->chosen;
    bool first = side->chosen < 0 ? row->place == 0 : chosen;
    vd_style style = vd_theme(grid->look, first   ? VD_ROLE_FIRST
                                          : human ? VD_ROLE_NOTE
                                                  : VD_ROLE_TEXT);
    char text[16];
    snprintf(text, sizeof text, "%d", row->place + 1);
    vd_grid_right(grid, at.x, at.y, c->place_width, text, VD_ROLE_FAINT);
    if (chosen)
        vd_grid_put(grid, at.x + c->mark, at.y, 0x25B8, '>', VD_ROLE_PROMPT);
    else if (human)
        vd_grid_put(grid, at.x + c->mark, at.y, '*', '*', VD_ROLE_NOTE);
    if (selected)
        style.attributes |= VD_REVERSE;
    draw_alike(grid, (vd_rect){at.x + c->text, at.y, c->text_width, 1},
               vd_sheet_text(side, row->answer), row->alike, style);
    if (c->bar_width)
        vd_grid_bar(grid, at.x + c->bar, at.y, c->bar_width, row->probability,
                    first ? VD_ROLE_BAR_FIRST : VD_ROLE_BAR, VD_ROLE_RULE);
    if (c->move_width && move)
        draw_move(grid, (vd_rect){at.x + c->move, at.y, c->move_width, 1}, move);
    vd_grid_right(grid, at.x + c->share, at.y, c->share_width, vd_percent(row->probability).text,
                  VD_ROLE_TEXT);
}

void vd_ranking_draw(vd_grid *grid, vd_rect at, const vd_sheet *sheet, int which, int top,
                     bool human)
{
    const vd_sheet_side *side = &sheet->side[which];
    int rows = vd_sheet_rows(side) - top, people = vd_sheet_row_of(side, side->human);
    rows = rows < at.height ? rows : at.height;
    bool apart = human && people >= top + rows; // below what is seen
    int last = rows > 0 ? apart ? people : top + rows - 1 : 0;
    vd_ranking_columns columns =
        vd_ranking_columns_of(at.width, last + 1, sheet->sides > 1, which > 0);
    for (int i = 0; i < rows; i++, at.y++) {
        int number = apart && i == rows - 1 ? people : top + i;
        vd_answer_group row = vd_sheet_row(side, number);
        vd_sheet_move move = vd_sheet_moved(sheet, which, number);
        vd_ranking_draw_row(grid, at, &columns, side, &row, which ? &move : NULL, false);
    }
}
