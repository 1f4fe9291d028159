// The four attentions for one question as heat maps with numbers, word by word: what the chat's
// attention view and the cases of a comparison show. No terminal here.
//   1 question -> history rounds      2 question word -> words of each round
//   3 regions -> question words       4 the answer's regions
#ifndef VD_HEAT_MAPS_H
#define VD_HEAT_MAPS_H

#include "tui/answer/sheet.h"
#include "tui/screen/grid.h"

typedef struct vd_heat_maps {
    const vd_sheet *sheet;
    int side;
    int word;     // of the question (< answer.question_length), whose attention 2 is shown
    bool pending; // attention 2 is missing, but on its way
} vd_heat_maps;

// Without attention 2 its place says so. Where the question has more words than columns fit, those
// around `word` are shown and numbered.
// Draws the page from its row `top` on into `at`. Returns how many rows the page has.
int vd_heat_maps_draw(const vd_heat_maps *maps, vd_grid *grid, vd_rect at, int top);

#endif
