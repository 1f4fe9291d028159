// The terminal: the only file that draws with curses. One screen at a time, owned by the main
// thread.
//
// While it is open, what libraries write to standard error is held back; it is shown after the
// screen is closed. When the program is killed (SIGTERM, SIGHUP, SIGSEGV, ...) the terminal is
// restored from the signal handler, with bytes and modes prepared beforehand, and the signal then
// has its usual effect.
#ifndef VD_SCREEN_H
#define VD_SCREEN_H

#include <stdbool.h>

#include "engine/base/error.h"
#include "tui/screen/grid.h"
#include "tui/screen/keymap.h"

typedef struct vd_screen vd_screen;

// VD_UNAVAILABLE when there is no terminal that can be used: standard input or output is none, TERM
// is unset, dumb, unknown or cannot place the cursor. instead: what the person can do then, the
// end of the text ("`visdial ask` answers without a screen").
vd_status vd_screen_usable(const char *instead, vd_error *err);
// Sets LC_CTYPE from the environment (UTF-8 when it names no locale) and opens the terminal, if it
// is usable. pictures: how they are wanted; the terminal is asked what it can (replies.h), and the
// look follows its answers whenever they come.
vd_status vd_screen_open(bool mouse, vd_picture_mode pictures, const char *instead, vd_screen **out,
                         vd_error *err);
// Before the first drawing: gives the terminal a moment to answer, 60 ms at most.
void vd_screen_settle(vd_screen *screen);
void vd_screen_pictures(vd_screen *screen, vd_picture_mode pictures);
// Restores the terminal and writes what went to standard error meanwhile. NULL is fine.
void vd_screen_close(vd_screen *screen);

// Gives the terminal back before the program ends at once; may be called by a signal handler. Does
// nothing where no screen is open.
void vd_screen_rescue(void);

vd_look vd_screen_look(const vd_screen *screen);
void vd_screen_size(const vd_screen *screen, int *width, int *height);

// Copies the grid to the terminal; only what changed is sent.
void vd_screen_show(vd_screen *screen, const vd_grid *grid);
void vd_screen_redraw(vd_screen *screen); // the next show sends everything
void vd_screen_mouse(vd_screen *screen, bool on);
void vd_screen_suspend(vd_screen *screen); // C-z: returns after `fg`

typedef enum vd_wake {
    VD_WAKE_KEY,    // *key is set
    VD_WAKE_FD,     // fd is readable
    VD_WAKE_RESIZE, // the size or the look changed
    VD_WAKE_TIME,   // nothing came
    VD_WAKE_GONE    // the terminal was closed
} vd_wake;

// Sleeps until there is something, or for so many milliseconds, -1: for ever; uses no processor
// time meanwhile. fd -1: none.
vd_wake vd_screen_wait(vd_screen *screen, int fd, int milliseconds, vd_key *key);
bool vd_screen_key(vd_screen *screen, vd_key *key); // one that has arrived; false: none has

#endif
