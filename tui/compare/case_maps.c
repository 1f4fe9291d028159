// The attentions of a case word by word, a page for each model, and the picture with the regions
// that the page numbers.
#include "tui/answer/heat_maps.h"
#include "tui/answer/panels.h"
#include "tui/compare/cases_view.h"

// Returns the rows of the page.
static int draw_page(vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    enum { LEAST_PICTURE = 8 };
    const vd_sheet *sheet = &view->sheet->sheet;
    const vd_reply *reply = sheet->side[side].reply;
    int words =
        reply->words < reply->answer.question_length ? reply->words : reply->answer.question_length;
    const vd_heat_maps maps = {
        .sheet = sheet, .side = side, .word = view->word < words ? view->word : 0};
    vd_sheet_draw_head(grid, (vd_rect){at.x, at.y, at.width, 1}, &sheet->side[side],
                       side == view->side);
    at.y++;
    at.height--;
    int rows = vd_heat_maps_draw(&maps, grid, at, view->top);
    at.y += rows + 1;
    at.height -= rows + 1;
    if (at.height >= LEAST_PICTURE && !view->picture_error[0])
        vd_cases_view_draw_picture(view, grid, at, side);
    return rows;
}

void vd_cases_view_draw_maps(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { GAP = 2, LEAST = 56, FEWEST = 1 };
    at.x++;
    at.width -= 2;
    view->columns = vd_columns_choose((vd_rect){at.x, at.y + 1, at.width, at.height - 1}, GAP,
                                      LEAST, FEWEST, view->cases->models, view->side);
    if (!vd_cases_view_draw_title(view, grid, at))
        return;
    int rows = 0;
    for (int i = 0; i < view->columns.count; i++) {
        int own = draw_page(view, grid, vd_columns_place(&view->columns, i), view->columns.side[i]);
        rows = own > rows ? own : rows;
    }
    view->page = at.height - 2;
    view->most_top = rows > view->page ? rows - view->page : 0;
    view->top = view->top > view->most_top ? view->most_top : view->top;
}
