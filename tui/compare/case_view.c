// One case on the screen: dialog so far, question, human answer, the models' answers with ticks,
// rankings and attention, and the picture with what they looked at; its attentions word by word.
#include <inttypes.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/answer/heat_maps.h"
#include "tui/answer/panels.h"
#include "tui/answer/ranking.h"
#include "tui/compare/cases_view.h"
#include "tui/screen/layout.h"

// ---- dialog -------------------------------------------------------------------------------------

// A round: the question, wrapped, and the answer after it or on its own line. Returns its rows;
// shown false: only counts them.
static int draw_round(const vd_sheet *sheet, vd_grid *grid, vd_rect at, int r, bool shown)
{
    enum { NUMBER = 3, BETWEEN = 2 };
    const char *question = sheet->history[r].question;
    const char *answer = sheet->history[r].answer ? sheet->history[r].answer : "";
    size_t length = strlen(question), offset = 0;
    int rows = 0, x = 0, wide = vd_text_width(answer, strlen(answer));
    vd_text_line line;
    at.x += NUMBER;
    at.width -= NUMBER;
    while (vd_wrap_next(question, length, at.width, &offset, &line)) {
        if (shown)
            vd_grid_text_n(grid, at.x, at.y + rows, at.width, question + line.start, line.length,
                           VD_ROLE_TEXT);
        x = line.width + BETWEEN;
        rows++;
    }
    if (rows == 0 || (*answer && x + wide > at.width)) {
        x = 0;
        rows++;
    }
    if (shown) {
        char number[16];
        snprintf(number, sizeof number, "%d", r + 1);
        vd_grid_right(grid, at.x - NUMBER, at.y, NUMBER - 1, number, VD_ROLE_FAINT);
        vd_grid_text(grid, at.x + x, at.y + rows - 1, at.width - x, answer, VD_ROLE_ANSWER);
    }
    return rows;
}

// The newest rounds that fit, oldest first; the caption always.
static void draw_dialog(const vd_sheet *sheet, vd_grid *grid, vd_rect at)
{
    if (at.height <= 0)
        return;
    int used = vd_grid_wrapped(grid, (vd_rect){at.x, at.y, at.width, at.height < 4 ? 1 : 3},
                               sheet->caption, VD_ROLE_CAPTION);
    int first = sheet->rounds, rows = 0;
    while (first > 0) {
        int more = draw_round(sheet, grid, at, first - 1, false);
        if (used + rows + more > at.height)
            break;
        rows += more;
        first--;
    }
    at.y += used;
    for (int r = first; r < sheet->rounds; r++)
        at.y += draw_round(sheet, grid, at, r, true);
}

// ---- the case -----------------------------------------------------------------------------------

static void draw_which(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const vd_visdial_dialog *dialog = vd_case_dialog(view->cases, view->shown);
    const vd_visdial_round *round = vd_case_round(view->cases, view->shown);
    char text[256], group[96], some[48] = "";
    int models = view->cases->models, count = view->columns.count;
    if (view->shown != view->at[view->cursor])
        snprintf(some, sizeof some, "  asking...");
    else if (count > 0 && count < models)
        snprintf(some, sizeof some, "  %d of %d models", count, models);
    int note = (int)strlen(some);
    vd_case_group_name(view->cases, vd_case_group_of(view->cases, view->shown, view->filter.by),
                       group, sizeof group);
    snprintf(
        text, sizeof text, "picture %" PRId64 ", round %d of %d%s%.40s, distance %.0f %%: %.90s",
        dialog->image_id, view->shown->round + 1, dialog->round_count, round->family ? ", " : "",
        round->family ? round->family : "", 100 * (double)view->shown->moved, group);
    vd_grid_text(grid, at.x, at.y, at.width - note, text, VD_ROLE_TITLE);
    vd_grid_text(grid, at.x + at.width - note, at.y, note, some, VD_ROLE_NOTE);
}

// The first row of a case's place: which one it is, how many of the models have room. False when
// there is none yet, which is then said there.
static bool draw_case_title(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    if (view->sheet)
        draw_which(view, grid, at);
    else
        vd_grid_wrapped(grid, at, view->status ? view->error.text : "asking the models...",
                        view->status ? VD_ROLE_WRONG : VD_ROLE_FAINT);
    return view->sheet != NULL;
}

// The metrics of this dialog up to this round.
static void draw_running(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const vd_cases *cases = view->cases;
    vd_metrics sum[VD_MODELS] = {0};
    for (const vd_case *one = view->shown; one >= cases->at && one->dialog == view->shown->dialog;
         one--)
        for (int side = 0; side < cases->models; side++)
            vd_metrics_merge(&sum[side], &one->side[side].metrics);
    static const char *const names[] = {"R@1", "MRR", "NDCG"};
    static const vd_metric metrics[] = {VD_R1, VD_MRR, VD_NDCG};
    int x = at.x + vd_grid_text(grid, at.x, at.y, at.width, "so far", VD_ROLE_FAINT);
    for (int m = 0; m < 3; m++) {
        char text[96];
        snprintf(text, sizeof text, "  %s", names[m]);
        for (int side = 0; side < cases->models; side++)
            vd_append(text, sizeof text, side ? " / %.2f" : " %.2f",
                      vd_metrics_mean(&sum[side], metrics[m]));
        int width = (int)strlen(text);
        if (vd_metrics_rounds(&sum[0], metrics[m]) > 0 && x + width <= at.x + at.width)
            x += vd_grid_text(grid, x, at.y, width, text, VD_ROLE_FAINT);
    }
}

static void draw_human(const char *human, vd_grid *grid, vd_rect at)
{
    int x = at.x + vd_grid_text(grid, at.x, at.y, at.width, "human", VD_ROLE_FAINT);
    vd_grid_put(grid, x, at.y, '*', '*', VD_ROLE_NOTE);
    vd_grid_text(grid, x + 3, at.y, at.x + at.width - x - 3, human ? human : "-", VD_ROLE_ANSWER);
}

// The pictures on the right: one for each column where there is room, else that of the model which
// is looked at, or none.
typedef struct case_pictures {
    bool all;
    int count, width, height; // of each; with all, a row for the name above it
} case_pictures;

enum { BETWEEN_PICTURES = 2 };

static case_pictures plan_pictures(const vd_cases_view *view, int width, int height)
{
    enum { BESIDE_FROM = 36, ALL_FROM = 96, TALK = 34, LEAST = 18, ROWS = 4 };
    int columns = view->columns.count, each = (width - TALK) / columns - BETWEEN_PICTURES;
    case_pictures plan = {.count = width >= BESIDE_FROM && height >= ROWS};
    plan.all = plan.count && width >= ALL_FROM && each >= LEAST && height > ROWS &&
               view->picture.image.rgb;
    vd_rect room = {0, 0, plan.all ? each : width / 2, height - plan.all};
    vd_rect fit = vd_panels_fit(room, view->picture.image.width, view->picture.image.height);
    plan.count = plan.all ? columns : plan.count;
    plan.width = fit.width;
    plan.height = fit.height;
    return plan;
}

// The picture with what a model looked at.
static void draw_picture(vd_cases_view *view, vd_grid *grid, vd_rect room, int side)
{
    vd_sheet_draw_picture(grid, room, &view->picture, view->picture_error, &view->sheet->sheet,
                          side);
}

// Returns the rest of the rectangle.
static vd_rect draw_pictures(vd_cases_view *view, vd_grid *grid, vd_rect at, case_pictures plan)
{
    if (plan.count == 0)
        return at;
    int wide = plan.count * (plan.width + BETWEEN_PICTURES) - BETWEEN_PICTURES;
    vd_rect place = {at.x + at.width - wide, at.y, wide, at.height};
    at.width -= wide + BETWEEN_PICTURES;
    if (!plan.all) {
        draw_picture(view, grid, place, view->side);
        return at;
    }
    view->pictures = view->columns;
    view->pictures.at = place;
    for (int i = 0; i < plan.count; i++) {
        vd_rect own = vd_columns_place(&view->pictures, i);
        int side = view->pictures.side[i];
        vd_sheet_draw_name(grid, (vd_rect){own.x, own.y, own.width, 1},
                           &view->sheet->sheet.side[side], side == view->side);
        own = (vd_rect){own.x, own.y + 1, plan.width, plan.height};
        draw_picture(view, grid, own, side);
    }
    return at;
}

// The rows of a case.
typedef struct case_rows {
    int upper, answers, attention, running; // and one for the title, question, human, heads
} case_rows;

static case_rows divide_case(const vd_cases_view *view, vd_rect at)
{
    enum { OTHERS = 4, TALK = 13 };
    int height = at.height, options = vd_case_round(view->cases, view->shown)->option_count;
    case_rows rows = {.attention = height >= 16 ? 3 : 0, .running = height >= 18};
    rows.answers = height >= 36 ? 10 : height >= 20 ? 5 : 2;
    rows.answers = rows.answers < options ? rows.answers : options;
    rows.upper = height - OTHERS - rows.answers - rows.attention - rows.running;
    // Rows that pictures and dialog do not need show more answers.
    case_pictures plan = plan_pictures(view, at.width, rows.upper);
    int used = plan.height + plan.all, spare = rows.upper - (used > TALK ? used : TALK);
    spare = spare < options - rows.answers ? spare : options - rows.answers;
    if (spare > 0) {
        rows.answers += spare;
        rows.upper -= spare;
    }
    return rows;
}

static void draw_models(const vd_cases_view *view, vd_grid *grid, case_rows rows)
{
    const vd_sheet *sheet = &view->sheet->sheet;
    for (int i = 0; i < view->columns.count; i++) {
        vd_rect place = vd_columns_place(&view->columns, i);
        int side = view->columns.side[i];
        vd_sheet_draw_head(grid, place, &sheet->side[side], side == view->side);
        place.y++;
        place.height = rows.answers;
        vd_ranking_draw(grid, place, sheet, side, 0, true);
        place.y += rows.answers;
        if (rows.attention)
            vd_sheet_draw_attention(grid, place, sheet, side);
    }
}

void vd_cases_view_draw_case(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { GAP = 2, LEAST = 24, FEWEST = 2 };
    at.x++;
    at.width -= 2;
    view->columns = vd_columns_choose(at, GAP, LEAST, FEWEST, view->cases->models, view->side);
    if (!draw_case_title(view, grid, at))
        return;
    const vd_sheet *sheet = &view->sheet->sheet;
    case_rows rows = divide_case(view, at);
    vd_rect upper = {at.x, at.y + 1, at.width, rows.upper};
    case_pictures plan = plan_pictures(view, at.width, rows.upper);
    draw_dialog(sheet, grid, draw_pictures(view, grid, upper, plan));
    int y = upper.y + upper.height;
    int x = at.x + vd_grid_text(grid, at.x, y, at.width - 1, sheet->question, VD_ROLE_QUESTION);
    vd_grid_put(grid, x, y, '?', '?', VD_ROLE_QUESTION);
    draw_human(sheet->human, grid, (vd_rect){at.x, y + 1, at.width, 1});
    view->columns.at = (vd_rect){at.x, y + 2, at.width, 1 + rows.answers + rows.attention};
    draw_models(view, grid, rows);
    if (rows.running)
        draw_running(view, grid, (vd_rect){at.x, at.y + at.height - 1, at.width, 1});
}

void vd_cases_view_draw_zoom(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    at.x++;
    at.width -= 2;
    if (!draw_case_title(view, grid, at))
        return;
    const vd_sheet_side *side = &view->sheet->sheet.side[view->side];
    vd_sheet_draw_head(grid, (vd_rect){at.x, at.y + 1, at.width, 1}, side, true);
    draw_picture(view, grid, (vd_rect){at.x, at.y + 2, at.width, at.height - 3}, view->side);
    vd_sheet_draw_regions(grid, (vd_rect){at.x, at.y + at.height - 1, at.width, 1},
                          &view->sheet->sheet, view->side);
}

// ---- attentions word by word, a page for each model ---------------------------------------------

// Returns the rows of the page.
static int draw_page(vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    enum { LEAST_PICTURE = 8 };
    const vd_sheet *sheet = &view->sheet->sheet;
    const vd_reply *reply = sheet->side[side].reply;
    int words =
        reply->words < reply->answer.question_length ? reply->words : reply->answer.question_length;
    const vd_heat_maps maps = {
        .sheet = sheet, .side = side, .word = view->word < words ? view->word : 0};
    vd_sheet_draw_head(grid, (vd_rect){at.x, at.y, at.width, 1}, &sheet->side[side],
                       side == view->side);
    at.y++;
    at.height--;
    int rows = vd_heat_maps_draw(&maps, grid, at, view->places.top[VD_PLACE_CASE_MAPS]);
    at.y += rows + 1;
    at.height -= rows + 1;
    if (at.height >= LEAST_PICTURE && view->picture.image.rgb)
        draw_picture(view, grid, at, side);
    return rows;
}

void vd_cases_view_draw_maps(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { GAP = 2, LEAST = 56, FEWEST = 1 };
    at.x++;
    at.width -= 2;
    view->columns = vd_columns_choose((vd_rect){at.x, at.y + 1, at.width, at.height - 1}, GAP,
                                      LEAST, FEWEST, view->cases->models, view->side);
    if (!draw_case_title(view, grid, at))
        return;
    int rows = 0;
    for (int i = 0; i < view->columns.count; i++) {
        int own = draw_page(view, grid, vd_columns_place(&view->columns, i), view->columns.side[i]);
        rows = own > rows ? own : rows;
    }
    vd_places_drawn(&view->places, rows, at.height - 2);
}
