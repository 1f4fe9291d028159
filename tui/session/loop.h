// The main loop of a full-screen program: waits for the terminal and the engine's threads, passes
// keys and events to a view, serves the view's requests and shows what it draws.
#ifndef VD_LOOP_H
#define VD_LOOP_H

#include "tui/screen/notice.h"
#include "tui/screen/screen.h"
#include "tui/session/config.h"
#include "tui/session/worker.h"

typedef struct vd_loop_view {
    void *context; // of the functions
    // Draws everything, whatever the grid's size.
    void (*draw)(void *context, vd_grid *grid);
    // True: a key that has arrived already is taken before the screen is drawn (typing, pasting).
    bool (*key)(void *context, vd_key key);
    // The oldest request not taken yet, ownership moves; false when there is none.
    bool (*take_request)(void *context, vd_request *out);
    void (*event)(void *context, vd_event *event); // takes it: *event is zeroed
    void (*step)(void *context);                   // after keys and events; NULL: nothing
    // Milliseconds until `tick` changes what is shown; -1: it will not. NULL: always -1.
    int (*pause)(void *context);
    void (*tick)(void *context);
} vd_loop_view;

// How many milliseconds are left of a pause that the view wants now; -1: it wants none. *due: when
// the pause ends, in seconds of a clock, 0 before one was wanted. Keys and events in between do not
// put it off.
int vd_loop_left(double *due, int pause, double now);

// What actions do whatever is shown: leave, redraw and suspend; the mouse, how pictures are drawn
// and the theme, "" the next one. False: it is another action. *out: what the main loop is asked
// for, of kind NONE: nothing. The notice says what has changed, or what the argument should be.
bool vd_terminal_act(vd_action action, const char *argument, vd_theme_name *theme,
                     vd_notice *notice, vd_request *out);

// Checks, before anything long begins, that there is a terminal and the configuration can be read;
// says on stderr what is wrong in it. instead: see vd_screen_usable. *out: the user's preferences.
vd_status vd_loop_ready(const char *instead, vd_preferences *out, vd_error *err);

// Runs until the view requests VD_REQUEST_LEAVE or the terminal is closed. The first screen is
// drawn before any request is served. worker: NULL where no request is for one.
vd_status vd_loop_run(const vd_loop_view *view, vd_screen *screen, vd_worker *worker,
                      vd_error *err);

#endif
