#include "tui/answer/sheet.h"

#include <math.h>
#include <string.h>

const char *vd_sheet_mark(const char *question)
{
    size_t length = strlen(question);
    return length > 0 && question[length - 1] == '?' ? "" : "?";
}

int vd_sheet_place(const vd_sheet_side *side, int index)
{
    const vd_answer *answer = &side->reply->answer;
    for (int i = 0; i < answer->candidates; i++)
        if (answer->order[i] == index)
            return i + 1;
    return 0;
}

// ---- the ranking as it is shown ----------------------------------------------------------------

int vd_sheet_rows(const vd_sheet_side *side)
{
    return side->folded ? side->folded_count : side->reply->answer.candidates;
}

// The best of those that are alike.
static vd_folded best_of_row(const vd_sheet_side *side, int row)
{
    const vd_answer *answer = &side->reply->answer;
    if (side->folded)
        return side->folded[row];
    return (vd_folded){answer->order[row], row, 0, (double)answer->probability[answer->order[row]]};
}

int vd_sheet_row_of(const vd_sheet_side *side, int index)
{
    if (index < 0 || index >= side->reply->answer.candidates)
        return -1;
    return side->row ? side->row[index] : vd_sheet_place(side, index) - 1;
}

vd_folded vd_sheet_row(const vd_sheet_side *side, int row)
{
    vd_folded out = best_of_row(side, row);
    if (out.alike > 0 && vd_sheet_row_of(side, side->chosen) == row) {
        out.answer = side->chosen;
        out.place = vd_sheet_place(side, side->chosen) - 1;
    }
    return out;
}

vd_sheet_move vd_sheet_moved(const vd_sheet *sheet, int which, int row)
{
    const vd_sheet_side *side = &sheet->side[which], *first = &sheet->side[0];
    vd_folded now = best_of_row(side, row);
    int before = vd_sheet_row_of(first, side->same ? side->same[now.answer] : now.answer);
    if (before < 0)
        return (vd_sheet_move){-1, now.place, now.probability};
    vd_folded there = best_of_row(first, before);
    return (vd_sheet_move){there.place, now.place, now.probability - there.probability};
}

vd_agreement vd_sheet_agreement(const vd_sheet *sheet, int which, int most)
{
    const vd_sheet_side *side = &sheet->side[which], *first = &sheet->side[0];
    int count = vd_sheet_rows(side);
    vd_agreement out = {.most = count < most ? count : most};
    for (int i = 0; i < count; i++) {
        int answer = best_of_row(side, i).answer;
        int row = vd_sheet_row_of(first, side->same ? side->same[answer] : answer);
        out.same |= i == 0 && row == 0;
        out.shared += i < out.most && row >= 0 && row < most;
        out.far += fabs(vd_sheet_moved(sheet, which, i).change) / 2;
    }
    return out;
}
