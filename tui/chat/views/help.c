// The help: the keys that work in the place it was opened from, then the commands.
#include "tui/chat/views/draw.h"
#include "tui/screen/key_help.h"

static void draw_help(vd_chat *chat, vd_grid *grid)
{
    vd_navigation *nav = &chat->nav;
    vd_rect at = nav->layout.picture;
    vd_place about = nav->stack[vd_clamp(nav->depth - 1, VD_PLACES - 1)];
    int top = nav->top[VD_PLACE_HELP];
    int total = vd_key_help_draw(grid, at, about, true, top);
    nav->seen = at.height;
    nav->scroll_most = total > at.height ? total - at.height : 0;
    vd_draw_more(grid, at, 0, nav->scroll_most - top);
}

const vd_view vd_view_help = {.action = VD_ACTION_HELP, .draw = draw_help};
