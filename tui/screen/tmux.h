// What tmux says about its terminal, asked by its command (about 5 ms). All is false outside tmux
// and in older versions.
#ifndef VD_TMUX_H
#define VD_TMUX_H

#include <stdbool.h>

// Whether its terminal shows sixels. tmux accepts them in any terminal since 3.4, and draws a frame
// of their size if its terminal does not.
bool vd_tmux_shows_sixel(void);
// Where on its terminal the first cell of this pane lies, from 0. False while the pane, or a part
// of it, is not seen.
bool vd_tmux_place(int *x, int *y);

#endif
