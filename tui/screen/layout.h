// Layout: which panel goes where at which size of the terminal. Pure arithmetic.
#ifndef VD_SCREEN_LAYOUT_H
#define VD_SCREEN_LAYOUT_H

#include "tui/screen/grid.h"

enum { VD_LEAST_WIDTH = 40, VD_LEAST_HEIGHT = 12 }; // below this only a message is shown

typedef enum vd_shape {
    VD_SHAPE_NONE,    // too small
    VD_SHAPE_COMPACT, // a small picture, a few answers, dialog: 40x12
    VD_SHAPE_BAND,    // picture and answers side by side, dialog below: 80x24
    VD_SHAPE_COLUMNS  // picture and attention left, answers and dialog right: 120x40
} vd_shape;

// A rectangle of height 0 is a panel that is not shown. Panels never overlap and lie inside the
// terminal.
typedef struct vd_panels {
    vd_shape shape;
    vd_rect status;  // 1 row
    vd_rect picture; // the room; the picture keeps its proportions inside
    vd_rect caption;
    vd_rect answers;
    vd_rect attention; // regions, rounds, words
    vd_rect dialog;
    vd_rect line;  // 1 row: the question
    vd_rect hints; // 1 row
} vd_panels;

// picture_width x picture_height: pixels, for its proportions (0 x 0: none known yet, 4:3).
// caption: how many columns the caption takes, for the rows below the picture.
vd_panels vd_panels_chat(int width, int height, int picture_width, int picture_height, int caption);
// One large area between status row and question line (zoom, lists, help); the side panel is
// `wanted` columns wide where the terminal is wide enough, else there is none.
vd_panels vd_panels_full(int width, int height, int side);

// The largest rectangle with the proportions of a picture, centred in room; a cell counts as twice
// as high as wide.
vd_rect vd_panels_fit(vd_rect room, int picture_width, int picture_height);

int vd_clamp(int value, int most); // into 0..most; 0 when most < 0

#endif
