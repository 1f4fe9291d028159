// A picture in cells (chafa), and regions outlined and numbered on top of it.
#ifndef VD_PICTURE_H
#define VD_PICTURE_H

#include "engine/base/error.h"
#include "features/pictures/image.h"
#include "tui/screen/grid.h"

// A picture and its cells as they were drawn last, so that drawing it again is a copy.
// Zero-initialise.
typedef struct vd_picture {
    vd_image image; // owned
    vd_cell *cell;  // (height, width)
    int width, height;
    vd_look look;
} vd_picture;

void vd_picture_set(vd_picture *picture, vd_image *image); // takes the pixels, *image is zeroed
void vd_picture_clear(vd_picture *picture);

// Fills `place` of the grid with the whole picture (vd_panels_fit keeps its proportions).
// VD_NOT_FOUND when there is no picture.
vd_status vd_picture_draw(vd_picture *picture, vd_grid *grid, vd_rect place, vd_error *err);

// One region to outline. The line's weight tells the share without colour: heavy from a quarter
// on, thin from a tenth on, dashed below.
typedef struct vd_outline {
    float box[4]; // x1 y1 x2 y2 in 0..1
    double share; // of the attention
    int number;   // 1..99
} vd_outline;

// Draws outlines over a picture drawn in `place`; the first lies on top. Lines keep the picture's
// colour, darkened, behind them; labels move so as not to cover each other.
void vd_picture_outline(vd_grid *grid, vd_rect place, const vd_outline *outlines, int count);

#endif
