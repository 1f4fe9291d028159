// The open places of a screen, as a stack, and what is alike in all of them: the help, going back
// and scrolling a page.
#ifndef VD_PLACES_H
#define VD_PLACES_H

#include "tui/screen/grid.h"
#include "tui/screen/keymap.h"

// Zero-initialise, then vd_places_begin.
typedef struct vd_places {
    vd_place now;                  // = stack[depth - 1]
    vd_place stack[VD_ALL_PLACES]; // (depth)
    int depth;
    int top[VD_ALL_PLACES]; // the first row in sight of a page
    int seen, most; // written while a page is drawn: its rows in sight, and how far top goes
} vd_places;

// The bottom of the stack; places that are open stay open.
void vd_places_begin(vd_places *places, vd_place first);
// Opens a place; if it is open already, closes those above it.
void vd_places_open(vd_places *places, vd_place place);
bool vd_places_has(const vd_places *places, vd_place place);
void vd_places_back(vd_places *places); // closes the top one; the bottom one stays

// How many lines an action scrolls where `seen` are in sight, towards the end when positive; 0: it
// does not scroll. argument: of the wheel (vd_keymap_says), else "": a page.
int vd_scroll_lines(vd_action action, const char *argument, int seen);

// Opens and closes the help, goes back, scrolls a page. False: the action is none of these.
bool vd_places_act(vd_places *places, vd_action action, const char *argument);
void vd_places_scroll(vd_places *places, int lines); // a page, within what was drawn of it
// A page of so many rows was drawn where `seen` have room.
void vd_places_drawn(vd_places *places, int rows, int seen);
#define VD_HELP_SHOWN "What the screen shows"
// What the screen of the chat shows, by its words: "margin" and its meaning; NULL ends it.
extern const char *const vd_help_shown[][2];
// The help about the place it was opened from, with the /commands of the screen; made from the
// table of keymap.h.
void vd_places_draw_help(vd_places *places, vd_grid *grid, vd_rect at);
// Marks that more lies above (first row > 0) and below (first row < most).
void vd_draw_more(vd_grid *grid, vd_rect at, int first, int most);

// Says so where the terminal is smaller than VD_LEAST_WIDTH x VD_LEAST_HEIGHT; false: it is not.
bool vd_draw_too_small(vd_grid *grid);

#endif
