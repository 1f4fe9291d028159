#include "tui/answer/rank_move.h"

#include <string.h>

#include "tui/screen/theme.h"

void vd_rank_move_draw(vd_grid *grid, vd_rect at, int before, int place, double change)
{
    char text[16];
    if (before < 0) {
        vd_grid_right(grid, at.x, at.y, at.width, "new", vd_theme(grid->look, VD_ROLE_FAINT));
        return;
    }
    int up = before - place, moved = up < 0 ? -up : up;
    vd_style style = vd_theme(grid->look, up > 0   ? VD_ROLE_UP
                                          : up < 0 ? VD_ROLE_DOWN
                                                   : VD_ROLE_FAINT);
    uint32_t arrow = up > 0 ? 0x2191 : up < 0 ? 0x2193 : '=';
    vd_grid_put(grid, at.x, at.y, arrow, up > 0 ? '^' : up < 0 ? 'v' : '=', style);
    if (moved) {
        snprintf(text, sizeof text, "%d", moved > 999 ? 999 : moved);
        vd_grid_text(grid, at.x + 1, at.y, 3, text, style);
    }
    if (at.width < VD_RANK_MOVE_CHANGE)
        return;
    snprintf(text, sizeof text, "%+.0f", change * 100);
    if (strcmp(text, "-0") == 0)
        snprintf(text, sizeof text, "+0");
    vd_grid_right(grid, at.x + 5, at.y, at.width - 5, text, style);
}
