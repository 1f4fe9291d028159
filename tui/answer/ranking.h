// A ranking on the screen, a row an answer: its place, a mark (the chosen one, people's), its text,
// a bar, how it moved against the first model, its share.
#ifndef VD_RANKING_H
#define VD_RANKING_H

#include "tui/answer/sheet.h"
#include "tui/screen/grid.h"

// Where the parts of a row lie, from its left end; a part of width 0 is not shown. Pure arithmetic.
typedef struct vd_ranking_columns {
    int place_width, mark, text, text_width, bar, bar_width, move, move_width, share, share_width;
} vd_ranking_columns;

// last: the largest place (from 1) that is to be shown. beside: other rankings stand beside it.
// moves: there is a column for how answers moved.
vd_ranking_columns vd_ranking_columns_of(int width, int last, bool beside, bool moves);

// One row. move NULL: none is shown.
void vd_ranking_draw_row(vd_grid *grid, vd_rect at, const vd_ranking_columns *columns,
                         const vd_sheet_side *side, const vd_answer_group *row,
                         const vd_sheet_move *move, bool selected);
// A side's rows from `top` on. human: the last row is the human answer's where it would not be
// seen.
void vd_ranking_draw(vd_grid *grid, vd_rect at, const vd_sheet *sheet, int side, int top,
                     bool human);

// Columns of a move: which way, how many places, with the change.
enum { VD_RANK_MOVE_ARROW = 1, VD_RANK_MOVE = 4, VD_RANK_MOVE_CHANGE = 9 };

#endif
