// The help on the screen, made from the table of keymap.h.
#ifndef VD_KEY_HELP_H
#define VD_KEY_HELP_H

#include "tui/screen/grid.h"
#include "tui/screen/keymap.h"

// Draws the keys of a place, then the /commands when they are wanted, from row `top` on. Returns
// how many rows there are.
int vd_key_help_draw(vd_grid *grid, vd_rect at, vd_place place, bool commands, int top);

#endif
