// What one network made of a question, on the screen: its name and first answer, the picture with
// what it looked at, the largest shares of its attentions.
#ifndef VD_ANSWER_PANELS_H
#define VD_ANSWER_PANELS_H

#include "tui/answer/sheet.h"
#include "tui/screen/grid.h"
#include "tui/screen/picture.h"

enum { VD_OUTLINES = 9 }; // regions outlined, and shares in a row, at most

int vd_sheet_draw_name(vd_grid *grid, vd_rect at, const vd_sheet_side *side, bool selected);
// One row: the name, whether the first answer is right, that answer or the side's note, and at the
// right end the place of the human answer or how long it took.
void vd_sheet_draw_head(vd_grid *grid, vd_rect at, const vd_sheet_side *side, bool selected);

// The picture in its proportions with the regions that a side looked at, -1: without.
// error: shown instead of the picture; "" or NULL: none.
void vd_sheet_draw_picture(vd_grid *grid, vd_rect room, vd_picture *picture, const char *error,
                           const vd_sheet *sheet, int side);

// The same of some shares of the regions; NULL: without. all: every region is outlined, not only
// those that hold nine tenths of the shares.
typedef struct vd_shared_picture {
    vd_picture *picture;
    const char *error;
    const float *share, *boxes; // (regions), (regions, 4) in 0..1; NULL: none
    int regions;
    bool all;
} vd_shared_picture;
void vd_shared_picture_draw(const vd_shared_picture *of, vd_grid *grid, vd_rect room);

// A row: the regions it looked at.
void vd_sheet_draw_regions(vd_grid *grid, vd_rect at, const vd_sheet *sheet, int side);
// The words it saw, each with its share of the attention, over as many rows as there are.
void vd_sheet_draw_words(vd_grid *grid, vd_rect at, const vd_reply *reply);
// Three rows: the largest shares of the regions and of the history, the words.
void vd_sheet_draw_attention(vd_grid *grid, vd_rect at, const vd_sheet *sheet, int side);

#endif
