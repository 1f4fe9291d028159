// Models side by side: which of them have room, and where. Pure arithmetic.
#ifndef VD_COLUMNS_H
#define VD_COLUMNS_H

#include "tui/screen/grid.h"
#include "tui/session/session.h"

typedef struct vd_columns {
    vd_rect at;
    int gap; // columns of the terminal between two models
    int count, side[VD_MODELS];
} vd_columns;

// As many columns of at least `least` as have room in `at` beside each other, but never less than
// `fewest`: the first model and those up to the one that is looked at; alone, that one.
vd_columns vd_columns_choose(vd_rect at, int gap, int least, int fewest, int models, int looked_at);
vd_rect vd_columns_place(const vd_columns *columns, int index);
// The model in whose column a point lies, -1: in none.
int vd_columns_side(const vd_columns *columns, int x, int y);

#endif
