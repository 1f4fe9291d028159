// The help: the keys that work in the place it was opened from, then the commands.
#include "tui/chat/views/draw.h"

static void draw_help(vd_chat *chat, vd_grid *grid)
{
    vd_places_draw_help(&chat->nav.places, grid, chat->nav.layout.picture);
}

const vd_view vd_view_help = {.action = VD_ACTION_HELP, .draw = draw_help};
