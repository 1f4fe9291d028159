#include "tui/answer/sheet.h"

#include <math.h>
#include <string.h>

const char *vd_sheet_mark(const char *question)
{
    size_t length = strlen(question);
    return length > 0 && strchr(".?!", question[length - 1]) ? "" : "?";
}

vd_region_text vd_sheet_region(const vd_sheet *sheet, int row)
{
    return vd_region_label(row < sheet->regions ? sheet->names : NULL, row);
}

int vd_answer_place(const vd_answer *answer, int index)
{
    for (int i = 0; i < answer->candidates; i++)
        if (answer->order[i] == index)
            return i;
    return -1;
}

// ---- the ranking as it is shown ----------------------------------------------------------------

const char *vd_sheet_text(const vd_sheet_side *side, int index)
{
    bool known = side->texts && index >= 0 && index < side->reply->answer.candidates;
    return known ? side->texts[index] : "?";
}

int vd_sheet_rows(const vd_sheet_side *side)
{
    return side->folded ? side->folded_count : side->reply->answer.candidates;
}

// The best of those that are alike.
static vd_answer_group best_of_row(const vd_sheet_side *side, int row)
{
    const vd_answer *answer = &side->reply->answer;
    if (side->folded)
        return side->folded[row];
    return (vd_answer_group){answer->order[row], row, 0,
                             (double)answer->probability[answer->order[row]]};
}

int vd_sheet_row_of(const vd_sheet_side *side, int index)
{
    if (index < 0 || index >= side->reply->answer.candidates)
        return -1;
    return side->row ? side->row[index] : vd_answer_place(&side->reply->answer, index);
}

vd_answer_group vd_sheet_row(const vd_sheet_side *side, int row)
{
    vd_answer_group out = best_of_row(side, row);
    if (out.alike > 0 && vd_sheet_row_of(side, side->chosen) == row) {
        out.answer = side->chosen;
        out.place = vd_answer_place(&side->reply->answer, side->chosen);
    }
    return out;
}

// The first side's row that has a candidate; -1: none.
static int row_in_first(const vd_sheet *sheet, const vd_sheet_side *side, int index)
{
    if (side->apart)
        return -1;
    return vd_sheet_row_of(&sheet->side[0], side->same ? side->same[index] : index);
}

vd_sheet_move vd_sheet_moved(const vd_sheet *sheet, int which, int row)
{
    const vd_sheet_side *side = &sheet->side[which];
    vd_answer_group now = best_of_row(side, row);
    int before = row_in_first(sheet, side, now.answer);
    if (before < 0)
        return (vd_sheet_move){-1, now.place, now.probability};
    vd_answer_group there = best_of_row(&sheet->side[0], before);
    return (vd_sheet_move){there.place, now.place, now.probability - there.probability};
}

vd_agreement vd_sheet_agreement(const vd_sheet *sheet, int which, int most)
{
    const vd_sheet_side *side = &sheet->side[which];
    int count = vd_sheet_rows(side);
    vd_agreement out = {.most = count < most ? count : most};
    for (int i = 0; i < count; i++) {
        int row = row_in_first(sheet, side, best_of_row(side, i).answer);
        out.same |= i == 0 && row == 0;
        out.shared += i < out.most && row >= 0 && row < most;
        out.far += fabs(vd_sheet_moved(sheet, which, i).change) / 2;
    }
    return out;
}
