// The open place of a screen and the way to it, and what is alike in all of them: the help, the way
// back and scrolling a page.
#ifndef VD_WAY_H
#define VD_WAY_H

#include "tui/screen/grid.h"
#include "tui/screen/keymap.h"

// Zero-initialise, then vd_way_begin.
typedef struct vd_way {
    vd_place now;                  // = stack[depth - 1]
    vd_place stack[VD_ALL_PLACES]; // (depth)
    int depth;
    int top[VD_ALL_PLACES]; // the first row in sight of a page
    int seen, most; // written while a page is drawn: its rows in sight, and how far top goes
} vd_way;

// What the way begins with; places that are open stay open.
void vd_way_begin(vd_way *way, vd_place first);
// Opens a place; one that is open already is gone back to.
void vd_way_go(vd_way *way, vd_place place);
bool vd_way_have(const vd_way *way, vd_place place); // on the way
void vd_way_back(vd_way *way);                       // the first one stays

// How many lines an action scrolls where `seen` are in sight, towards the end when positive; 0: it
// does not scroll. argument: of the wheel (vd_keymap_says), else "": a page.
int vd_scroll_lines(vd_action action, const char *argument, int seen);

// Opens and closes the help, goes back, scrolls a page. False: the action is none of these.
bool vd_way_act(vd_way *way, vd_action action, const char *argument);
void vd_way_scroll(vd_way *way, int lines); // a page, within what was drawn of it
// A page of so many rows was drawn where `seen` have room.
void vd_way_drawn(vd_way *way, int rows, int seen);
// The help about the place it was opened from, with the /commands of the screen.
void vd_way_draw_help(vd_way *way, vd_grid *grid, vd_rect at);
// Marks that more lies above (first row > 0) and below (first row < most).
void vd_draw_more(vd_grid *grid, vd_rect at, int first, int most);

// Says so where the terminal is smaller than VD_LEAST_WIDTH x VD_LEAST_HEIGHT; false: it is not.
bool vd_draw_too_small(vd_grid *grid);

#endif
