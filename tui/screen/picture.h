// A picture in cells (chafa) or pixels, and regions outlined and numbered on top of it.
#ifndef VD_PICTURE_H
#define VD_PICTURE_H

#include "engine/base/error.h"
#include "features/pictures/image.h"
#include "tui/screen/grid.h"

// One region to outline. The line's weight tells the share without colour: heavy from
// VD_OUTLINE_HEAVY on, thin from VD_OUTLINE_THIN on, dashed below.
typedef struct vd_outline {
    float box[4]; // x1 y1 x2 y2 in 0..1
    double share; // of the attention
    int number;   // 1..99
} vd_outline;

enum { VD_OUTLINES_MOST = 36 };
#define VD_OUTLINE_HEAVY 0.25
#define VD_OUTLINE_THIN  0.10

// A picture with a cache of its last drawings, in cells and as pixels, so that drawing it again is
// a copy. Zero-initialise.
typedef struct vd_picture_pixels {
    int width, height; // cells
    vd_look look;
    vd_outline outlines[VD_OUTLINES_MOST];
    int count;
    unsigned id;
    char *bytes; // escape sequences, owned
    size_t length;
    unsigned used; // when
} vd_picture_pixels;

typedef struct vd_picture {
    vd_image image; // owned
    vd_cell *cell;  // (height, width)
    int width, height;
    vd_look look;
    vd_picture_pixels pixels[VD_GRID_IMAGES];
    unsigned draws;
} vd_picture;

void vd_picture_set(vd_picture *picture, vd_image *image); // takes the pixels, *image is zeroed
void vd_picture_clear(vd_picture *picture);

// Fills `place` of the grid with the whole picture (vd_panels_fit keeps its proportions) and the
// outlines, as the grid's look says. VD_NOT_FOUND when there is no picture.
vd_status vd_picture_draw(vd_picture *picture, vd_grid *grid, vd_rect place,
                          const vd_outline *outlines, int count, vd_error *err);

// Draws outlines in cells over a picture drawn in `place`; the first lies on top. Lines keep the
// picture's colour, darkened, behind them; labels move so as not to touch each other, and those for
// which there is no room are left out.
void vd_picture_outline(vd_grid *grid, vd_rect place, const vd_outline *outlines, int count);
// Where their labels go; without room for one its width is 0.
void vd_outline_labels(vd_rect place, const vd_outline *outlines, int count, vd_rect *labels);

#endif
