// One case on the screen: dialog so far, question, human answer, the models' answers with ticks,
// rankings and attention, and the picture with what one of them looked at; or the attentions word
// by word.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "features/tokenize.h"
#include "tui/heat_maps.h"
#include "tui/layout.h"
#include "tui/shares.h"
#include "tui/theme.h"
#include "tui/view_cases.h"

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

// Text over several lines; returns the rows used.
static int draw_wrapped(vd_grid *grid, vd_rect at, const char *text, vd_style style)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    int rows = 0;
    while (rows < at.height && vd_wrap_next(text, length, at.width, &offset, &line)) {
        size_t rest = rows == at.height - 1 ? length - line.start : line.length;
        vd_grid_text_n(grid, at.x, at.y + rows, at.width, text + line.start, rest, style);
        rows++;
    }
    return rows;
}

// ---- picture ------------------------------------------------------------------------------------

static void draw_picture(vd_cases_view *view, vd_grid *grid, vd_rect room)
{
    vd_rect place = vd_panels_fit(room, view->picture.image.width, view->picture.image.height);
    if (view->picture_error[0] || vd_picture_draw(&view->picture, grid, place, NULL)) {
        draw_wrapped(grid, room, view->picture_error, role(grid, VD_ROLE_NOTE));
        return;
    }
    const vd_answer *answer = &view->answers.reply[view->side].answer;
    if (!view->answers.boxes || answer->regions != view->answers.regions)
        return;
    enum { MOST = 9 };
    vd_share top[MOST];
    vd_outline outlines[MOST];
    int count = vd_shares_top(answer->region_attention, answer->regions, 0.9, top, MOST);
    for (int i = 0; i < count; i++) {
        outlines[i] = (vd_outline){.share = top[i].share, .number = i + 1};
        memcpy(outlines[i].box, view->answers.boxes + 4 * top[i].index, sizeof outlines[i].box);
    }
    vd_picture_outline(grid, place, outlines, count);
}

// ---- dialog -------------------------------------------------------------------------------------

// The newest rounds that fit, oldest first; the caption always.
static void draw_dialog(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const vd_visdial *data = view->cases->corpus->dialogs;
    const vd_visdial_dialog *dialog = vd_case_dialog(view->cases, view->shown);
    vd_style italic = role(grid, VD_ROLE_TEXT);
    italic.attributes |= VD_ITALIC;
    if (at.height <= 0)
        return;
    int used = draw_wrapped(grid, (vd_rect){at.x, at.y, at.width, at.height < 4 ? 1 : 2},
                            dialog->caption, italic);
    int rows = at.height - used, first = view->shown->round - rows;
    first = first < 0 ? 0 : first;
    for (int r = first; r < view->shown->round; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        int y = at.y + used + r - first;
        char number[16];
        snprintf(number, sizeof number, "%d", r + 1);
        vd_grid_right(grid, at.x, y, 2, number, role(grid, VD_ROLE_FAINT));
        int x = 3 + vd_grid_text(grid, at.x + 3, y, at.width - 3, data->questions[round->question],
                                 role(grid, VD_ROLE_TEXT));
        if (round->answer >= 0 && at.width - x > 3)
            vd_grid_text(grid, at.x + x + 2, y, at.width - x - 2, data->answers[round->answer],
                         role(grid, VD_ROLE_ANSWER));
    }
}

// ---- columns ------------------------------------------------------------------------------------

enum { BETWEEN = 2 }; // columns of the terminal

// At least two of `least` columns, where they have room; those from the first to the one that is
// looked at go before others.
static void choose_columns(vd_cases_view *view, vd_rect at, int least, int fewest)
{
    vd_case_columns *columns = &view->columns;
    int models = view->cases->models, most = (at.width + BETWEEN) / (least + BETWEEN);
    most = most < fewest ? fewest : most > models ? models : most;
    int from = view->side - (most - 2); // of the models behind the first one
    from = from < 1 ? 1 : from > models - most + 1 ? models - most + 1 : from;
    *columns = (vd_case_columns){.at = at};
    columns->side[columns->count++] = most == 1 ? view->side : 0;
    while (columns->count < most)
        columns->side[columns->count++] = from++;
}

static vd_rect column(const vd_cases_view *view, int index)
{
    vd_rect at = view->columns.at;
    int width = (at.width - BETWEEN * (view->columns.count - 1)) / view->columns.count;
    return (vd_rect){at.x + index * (width + BETWEEN), at.y, width, at.height};
}

// ---- models -------------------------------------------------------------------------------------

static void draw_side_head(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    const vd_case *one = view->shown;
    const vd_visdial_round *round = vd_case_round(view->cases, one);
    bool right = vd_case_right(one, side, view->filter.by);
    char text[64];
    int x = at.x + vd_grid_text(grid, at.x, at.y, at.width, view->cases->name[side],
                                role(grid, side == view->side ? VD_ROLE_SELECTED : VD_ROLE_TITLE));
    if (vd_case_group_of(view->cases, one, view->filter.by) != VD_CASE_UNKNOWN)
        vd_grid_put(grid, x + 1, at.y, right ? 0x2713 : 0x2717, right ? '+' : '-',
                    role(grid, right ? VD_ROLE_ANSWER : VD_ROLE_WRONG));
    x += 3;
    int end = at.x + at.width;
    text[0] = '\0';
    if (one->side[side].rank > 0)
        snprintf(text, sizeof text, at.width < 32 ? "(%g)" : "human: place %g",
                 (double)one->side[side].rank);
    int note = (int)strlen(text);
    vd_grid_right(grid, end - note, at.y, note, text, role(grid, VD_ROLE_NOTE));
    x += vd_grid_text(grid, x, at.y, end - note - 1 - x,
                      vd_case_option(view->cases, one, one->side[side].first),
                      role(grid, VD_ROLE_FIRST));
    if (round->relevance && end - note - x > 16) {
        snprintf(text, sizeof text, "relevance %.2g",
                 (double)round->relevance[one->side[side].first]);
        vd_grid_text(grid, x + 1, at.y, end - note - 2 - x, text, role(grid, VD_ROLE_FAINT));
    }
}

static void draw_candidates(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    const vd_answer *answer = &view->answers.reply[side].answer;
    const vd_visdial_round *round = vd_case_round(view->cases, view->shown);
    int bar = at.width >= 44 ? at.width / 5 : 0;
    for (int row = 0; row < at.height && row < answer->candidates; row++) {
        int place = row;
        // The human answer has the last row where it would not be seen.
        if (row == at.height - 1)
            for (int i = row; i < answer->candidates; i++)
                if (answer->order[i] == round->truth)
                    place = i;
        int index = answer->order[place], y = at.y + row;
        char text[16];
        bool human = index == round->truth;
        snprintf(text, sizeof text, "%d", place + 1);
        vd_grid_right(grid, at.x, y, 3, text, role(grid, VD_ROLE_FAINT));
        if (human)
            vd_grid_put(grid, at.x + 3, y, '*', '*', role(grid, VD_ROLE_NOTE));
        int room = at.width - 5 - 7 - (bar ? bar + 1 : 0);
        vd_grid_text(grid, at.x + 5, y, room, vd_case_option(view->cases, view->shown, index),
                     role(grid, place == 0 ? VD_ROLE_FIRST
                                : human    ? VD_ROLE_NOTE
                                           : VD_ROLE_TEXT));
        if (bar)
            vd_grid_bar(grid, at.x + at.width - 7 - bar, y, bar, (double)answer->probability[index],
                        role(grid, place == 0 ? VD_ROLE_BAR_FIRST : VD_ROLE_BAR),
                        role(grid, VD_ROLE_RULE));
        vd_percent(text, sizeof text, (double)answer->probability[index]);
        vd_grid_right(grid, at.x + at.width - 6, y, 6, text, role(grid, VD_ROLE_TEXT));
    }
}

// "looked at  1 57 %  2 27 %": the largest of some shares in one row.
static void draw_shares(vd_grid *grid, vd_rect at, const char *title, const vd_share *top,
                        int count, const char *const *names)
{
    int x = at.x + vd_grid_text(grid, at.x, at.y, at.width, title, role(grid, VD_ROLE_FAINT)) + 1;
    for (int i = 0; i < count; i++) {
        char text[64], percent[16], number[16];
        vd_percent(percent, sizeof percent, top[i].share);
        snprintf(number, sizeof number, "%d", i + 1);
        snprintf(text, sizeof text, "%.40s %s", names ? names[i] : number, percent);
        if (x + (int)strlen(text) > at.x + at.width)
            break;
        x += vd_grid_text(grid, x, at.y, at.x + at.width - x, text, role(grid, VD_ROLE_TEXT)) + 2;
    }
}

static void draw_attention(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    enum { MOST = 6 };
    const vd_reply *reply = &view->answers.reply[side];
    const vd_answer *answer = &reply->answer;
    vd_share top[MOST];
    char rounds[MOST][16];
    const char *names[MOST];
    int count = vd_shares_top(answer->region_attention, answer->regions, 0.9, top, MOST);
    draw_shares(grid, at, "looked at", top, count, NULL);
    count = vd_shares_top(answer->context_attention, answer->rounds, 0.9, top, MOST);
    for (int i = 0; i < count; i++) {
        snprintf(rounds[i], sizeof rounds[i], "round %d", top[i].index);
        names[i] = top[i].index ? rounds[i] : "caption";
    }
    at.y++;
    draw_shares(grid, at, "drew on", top, count, names);
    float share[VD_MAX_QUESTION];
    for (int i = 0; i < reply->words; i++)
        share[i] = (float)vd_word_share(answer, i);
    count = vd_shares_top(share, reply->words, 0.9, top, MOST);
    for (int i = 0; i < count; i++)
        names[i] = reply->word[top[i].index];
    at.y++;
    draw_shares(grid, at, "words", top, count, names);
}

// ---- the case -----------------------------------------------------------------------------------

static void draw_head(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const vd_visdial_dialog *dialog = vd_case_dialog(view->cases, view->shown);
    const vd_visdial_round *round = vd_case_round(view->cases, view->shown);
    char text[256], group[96];
    vd_case_group_name(view->cases, vd_case_group_of(view->cases, view->shown, view->filter.by),
                       group, sizeof group);
    snprintf(text, sizeof text, "picture %" PRId64 ", round %d of %d%s%.40s: %.90s, %.0f %% moved",
             dialog->image_id, view->shown->round + 1, dialog->round_count,
             round->family ? ", " : "", round->family ? round->family : "", group,
             100 * (double)view->shown->moved);
    vd_grid_text(grid, at.x, at.y, at.width, text, role(grid, VD_ROLE_TITLE));
}

// How they fare in this dialog up to this round.
static void draw_running(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const vd_cases *cases = view->cases;
    vd_metrics sum[VD_CASE_MODELS] = {0};
    for (const vd_case *one = view->shown; one >= cases->at && one->dialog == view->shown->dialog;
         one--)
        for (int side = 0; side < cases->models; side++)
            vd_metrics_merge(&sum[side], &one->side[side].metrics);
    static const char *const names[] = {"R@1", "MRR", "NDCG"};
    static const vd_metric metrics[] = {VD_R1, VD_MRR, VD_NDCG};
    int x = at.x + vd_grid_text(grid, at.x, at.y, at.width, "so far", role(grid, VD_ROLE_FAINT));
    for (int m = 0; m < 3; m++) {
        char text[96];
        size_t used = (size_t)snprintf(text, sizeof text, "  %s", names[m]);
        double total[VD_METRICS], count[VD_METRICS] = {0};
        for (int side = 0; side < cases->models && used < sizeof text; side++) {
            vd_metrics_sums(&sum[side], total, count);
            used += (size_t)snprintf(text + used, sizeof text - used, side ? " / %.2f" : " %.2f",
                                     total[metrics[m]] / count[metrics[m]]);
        }
        if (count[metrics[m]] > 0 && x + (int)used <= at.x + at.width)
            x += vd_grid_text(grid, x, at.y, (int)used, text, role(grid, VD_ROLE_FAINT));
    }
}

static bool draw_what_is_missing(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    if (view->shown && !view->error[0])
        return false;
    draw_wrapped(grid, at, view->error[0] ? view->error : "asking the models...",
                 role(grid, view->error[0] ? VD_ROLE_WRONG : VD_ROLE_FAINT));
    return true;
}

static void draw_human(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const char *human = vd_case_human(view->cases, view->shown);
    int x = at.x + vd_grid_text(grid, at.x, at.y, at.width, "human  ", role(grid, VD_ROLE_FAINT));
    int models = view->cases->models, end = at.x + at.width;
    if (view->columns.count < models) {
        char text[48];
        snprintf(text, sizeof text, "%d of %d models", view->columns.count, models);
        end -= (int)strlen(text);
        vd_grid_text(grid, end, at.y, (int)strlen(text), text, role(grid, VD_ROLE_NOTE));
    }
    vd_grid_text(grid, x, at.y, end - x - 1, human ? human : "-", role(grid, VD_ROLE_ANSWER));
}

void vd_cases_view_draw_case(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { LEAST = 24, FEWEST = 2 };
    at.x++;
    at.width -= 2;
    if (draw_what_is_missing(view, grid, at))
        return;
    const vd_case *one = view->shown;
    int answers = at.height >= 36 ? 10 : at.height >= 20 ? 5 : 2;
    int options = vd_case_round(view->cases, one)->option_count;
    answers = answers < options ? answers : options;
    int attention = at.height >= 16 ? 3 : 0, running = at.height >= 18;
    int below = 1 + 1 + 1 + answers + attention + running; // question, human, head, ...
    vd_rect upper = {at.x, at.y + 1, at.width, at.height - 1 - below};
    draw_head(view, grid, (vd_rect){at.x, at.y, at.width, 1});
    vd_rect talk = upper;
    if (at.width >= 70 && upper.height >= 6) {
        vd_rect fit = vd_panels_fit((vd_rect){0, 0, at.width / 2, upper.height},
                                    view->picture.image.width, view->picture.image.height);
        vd_rect picture = {at.x + at.width - fit.width, upper.y, fit.width, upper.height};
        draw_picture(view, grid, picture);
        talk.width -= fit.width + 1;
    }
    draw_dialog(view, grid, talk);
    int y = upper.y + upper.height;
    int x = at.x + vd_grid_text(grid, at.x, y, at.width - 1, vd_case_question(view->cases, one),
                                role(grid, VD_ROLE_QUESTION));
    vd_grid_put(grid, x, y, '?', '?', role(grid, VD_ROLE_QUESTION));
    choose_columns(view, (vd_rect){at.x, y + 2, at.width, 1 + answers + attention}, LEAST, FEWEST);
    draw_human(view, grid, (vd_rect){at.x, y + 1, at.width, 1});
    for (int i = 0; i < view->columns.count; i++) {
        vd_rect place = column(view, i);
        int side = view->columns.side[i];
        draw_side_head(view, grid, (vd_rect){place.x, place.y, place.width, 1}, side);
        draw_candidates(view, grid, (vd_rect){place.x, place.y + 1, place.width, answers}, side);
        if (attention)
            draw_attention(view, grid,
                           (vd_rect){place.x, place.y + 1 + answers, place.width, attention}, side);
    }
    if (running)
        draw_running(view, grid, (vd_rect){at.x, at.y + at.height - 1, at.width, 1});
}

// ---- attentions ---------------------------------------------------------------------------------

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

static int draw_maps_of(const vd_cases_view *view, vd_grid *grid, vd_rect at, int side)
{
    const vd_reply *reply = &view->answers.reply[side];
    int words =
        reply->words < reply->answer.question_length ? reply->words : reply->answer.question_length;
    const vd_heat_maps maps = {.reply = reply,
                               .word = view->word < words ? view->word : 0,
                               .words_of = words_of_case_entry,
                               .context = view};
    draw_side_head(view, grid, (vd_rect){at.x, at.y, at.width, 1}, side);
    at.y++;
    at.height--;
    return vd_heat_maps_draw(&maps, grid, at, view->top);
}

void vd_cases_view_draw_maps(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { LEAST = 56, FEWEST = 1 };
    at.x++;
    at.width -= 2;
    if (draw_what_is_missing(view, grid, at))
        return;
    draw_head(view, grid, (vd_rect){at.x, at.y, at.width, 1});
    choose_columns(view, (vd_rect){at.x, at.y + 1, at.width, at.height - 1}, LEAST, FEWEST);
    int rows = 0;
    for (int i = 0; i < view->columns.count; i++) {
        int own = draw_maps_of(view, grid, column(view, i), view->columns.side[i]);
        rows = own > rows ? own : rows;
    }
    view->page = at.height - 2;
    view->most_top = rows > view->page ? rows - view->page : 0;
    view->top = view->top > view->most_top ? view->most_top : view->top;
}
