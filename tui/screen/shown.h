// The pixel pictures that a terminal shows: sends new ones and deletes those that are gone.
#ifndef VD_SHOWN_H
#define VD_SHOWN_H

#include <stdio.h>

#include "tui/screen/grid.h"

// Zero-initialise.
typedef struct vd_placed_pictures {
    vd_grid_image image[VD_GRID_IMAGES]; // without their bytes
    int count;
    bool gone; // the terminal may have lost or moved them: all are sent again
} vd_placed_pictures;

// After the cells of the grid were sent, which erases what stood there before.
void vd_shown_update(vd_placed_pictures *shown, const vd_grid *grid, FILE *out);
void vd_shown_forget(vd_placed_pictures *shown, FILE *out); // deletes all

#endif
