// Curves on the screen, drawn anew every second while a run writes them.
#ifndef VD_WATCH_H
#define VD_WATCH_H

#include <stdatomic.h>

#include "tui/train/curves.h"

// Shows them until q, Escape or C-c, or until *done (may be NULL) becomes non-zero. A key sets
// *stop (may be NULL), and the screen then stays until *done. VD_UNAVAILABLE when there is no
// terminal.
vd_status vd_watch(vd_curves *curves, const atomic_int *done, atomic_int *stop, vd_error *err);

// One such screen, the whole grid; note: what a key does, in its last row.
void vd_watch_draw(vd_grid *grid, const vd_curves *curves, const char *note);

#endif
