// The help on the screen, made from the table of keymap.h.
#ifndef VD_KEY_HELP_H
#define VD_KEY_HELP_H

#include "tui/screen/grid.h"
#include "tui/screen/keymap.h"

#define VD_KEY_HELP_SHOWN "What the screen shows"
// What the screen of the chat shows, by its words: "margin" and its meaning; false: no more.
bool vd_key_help_shown(size_t index, const char **word, const char **meaning);
// Draws the keys of a place, in the chat what it shows, then the /commands of its screen
// (vd_keymap_command), from row `top` on. Returns how many rows there are.
int vd_key_help_draw(vd_grid *grid, vd_rect at, vd_place place, vd_place screen, int top);

#endif
