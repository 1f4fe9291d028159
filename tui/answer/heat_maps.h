// The attentions for one question as heat maps with numbers, word by word: what the chat's
// attention view and the cases of a comparison show. Does not use the terminal. The last attention
// to the rounds stands beside that to the words of the history, the last one to the regions beside
// theirs to the question's words; whatever else the network names follows, all steps of a name as
// one table.
#ifndef VD_HEAT_MAPS_H
#define VD_HEAT_MAPS_H

#include "tui/answer/sheet.h"
#include "tui/screen/grid.h"

typedef struct vd_heat_maps {
    const vd_sheet *sheet;
    int side;
    int word;     // of the question (< answer.question_length), whose attention is shown
    bool pending; // what is not kept is on its way
} vd_heat_maps;

// What is not kept has a line that says so. Where the question has more words than columns fit,
// those around `word` are shown and numbered. Draws the page from its row `top` on into `at`.
// Returns how many rows the page has.
int vd_heat_maps_draw(const vd_heat_maps *maps, vd_grid *grid, vd_rect at, int top);

#endif
