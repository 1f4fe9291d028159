// The attentions of a case word by word, a page for each model, and the picture with the regions
// that the page numbers.
#include "features/text/tokenize.h"
#include "tui/answer/heat_maps.h"
#include "tui/screen/layout.h"
#include "tui/compare/cases_view.h"

static void words_of_case_entry(const void *context, int entry, vd_entry_words *out)
{
    const vd_cases_view *view = context;
    const vd_visdial *data = view->cases->corpus->dialogs;
    const vd_visdial_dialog *dialog = vd_case_dialog(view->cases, view->shown);
    out->count = 0;
    if (entry == 0) {
        vd_entry_words_caption(out, dialog->caption);
        return;
    }
    const vd_visdial_round *round = &dialog->rounds[entry - 1];
    const char *word[VD_MAX_QUESTION];
    vd_words words = {0};
    if (entry > view->shown->round || round->answer < 0 ||
        vd_tokenize(data->questions[round->question], &words, NULL))
        return;
    int count = 0;
    while (count < (int)words.count && count < VD_MAX_QUESTION - 1) {
        word[count] = words.word[count];
        count++;
    }
    word[count++] = "?";
    vd_entry_words_round(out, word, count, data->answers[round->answer]);
    vd_words_clear(&words);
}

// Returns the rows of the page.
static int draw_page(vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    enum { LEAST_PICTURE = 8 };
    const vd_reply *reply = &view->answers.reply[side];
    int words =
        reply->words < reply->answer.question_length ? reply->words : reply->answer.question_length;
    const vd_heat_maps maps = {.reply = reply,
                               .word = view->word < words ? view->word : 0,
                               .words_of = words_of_case_entry,
                               .context = view};
    vd_case_draw_head(view, grid, (vd_rect){at.x, at.y, at.width, 1}, side);
    at.y++;
    at.height--;
    int rows = vd_heat_maps_draw(&maps, grid, at, view->top);
    at.y += rows + 1;
    at.height -= rows + 1;
    if (at.height >= LEAST_PICTURE && !view->picture_error[0])
        vd_case_draw_picture(view, grid, at, side);
    return rows;
}

void vd_cases_view_draw_maps(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { LEAST = 56, FEWEST = 1 };
    at.x++;
    at.width -= 2;
    vd_case_columns_choose(view, (vd_rect){at.x, at.y + 1, at.width, at.height - 1}, LEAST, FEWEST);
    if (!vd_cases_view_draw_title(view, grid, at))
        return;
    int rows = 0;
    for (int i = 0; i < view->columns.count; i++) {
        int own = draw_page(view, grid, vd_case_column(&view->columns, i), view->columns.side[i]);
        rows = own > rows ? own : rows;
    }
    view->page = at.height - 2;
    view->most_top = rows > view->page ? rows - view->page : 0;
    view->top = view->top > view->most_top ? view->most_top : view->top;
}
