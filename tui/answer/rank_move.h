// Where an answer stands in one ranking, held against another: what the chat and the cases of a
// comparison show beside it.
#ifndef VD_RANK_MOVE_H
#define VD_RANK_MOVE_H

#include "tui/screen/grid.h"

enum { VD_RANK_MOVE = 4, VD_RANK_MOVE_CHANGE = 9 }; // columns: of the places, with the change

// How many places it is further up than before, and the change of its probability (0..1) in points
// where `at` is wide enough: "\u21913 +12". Places from 0; before negative: it was not there.
void vd_rank_move_draw(vd_grid *grid, vd_rect at, int before, int place, double change);

#endif
