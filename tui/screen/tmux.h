// What the tmux that this runs in says of its terminal, asked by its command (some 5 ms). All is
// false where there is none, or an older one.
#ifndef VD_TMUX_H
#define VD_TMUX_H

#include <stdbool.h>

// Whether its terminal shows sixels; tmux itself takes them in any terminal since 3.4, and draws a
// frame with their size where that shows none.
bool vd_tmux_shows_sixel(void);
// Where on its terminal the first cell of this pane lies, from 0. False while the pane, or a part
// of it, is not seen.
bool vd_tmux_place(int *x, int *y);

#endif
