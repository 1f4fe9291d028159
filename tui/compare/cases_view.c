#include "tui/compare/cases_view.h"

#include <glib.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/screen/layout.h"
#include "tui/screen/theme.h"

enum { BOTH_FROM = 124 }; // columns: list and case have room beside each other

// Columns of the list beside a case.
static int list_beside(int width)
{
    int wanted = width * 3 / 10;
    return wanted < 44 ? 44 : wanted > 72 ? 72 : wanted;
}

// ---- choosing -----------------------------------------------------------------------------------

void vd_cases_view_go(vd_cases_view *view, size_t index)
{
    view->cursor = index < view->count ? index : view->count ? view->count - 1 : 0;
    if (view->count && view->at[view->cursor] != view->asked)
        view->wanted = view->at[view->cursor];
}

void vd_cases_view_choose(vd_cases_view *view)
{
    const vd_case *keep = view->count ? view->at[view->cursor] : NULL;
    size_t to = 0;
    vd_case_filter all_groups = view->filter;
    all_groups.groups = 0;
    all_groups.text = view->find.text;
    memset(view->in_group, 0, sizeof view->in_group);
    for (size_t i = 0; i < view->cases->count; i++)
        if (vd_case_matches(view->cases, &view->cases->at[i], &all_groups))
            view->in_group[vd_case_group_of(view->cases, &view->cases->at[i], view->filter.by)]++;
    view->filter.text = view->find.text;
    view->count = vd_cases_select(view->cases, &view->filter, view->order, view->at);
    for (size_t i = 0; i < view->count && keep; i++)
        if (view->at[i] == keep)
            to = i;
    vd_cases_view_go(view, to);
    if (view->count == 0 && view->places.now != VD_PLACE_CASES_FIND) // no case is there to be shown
        vd_places_open(&view->places, view->places.stack[0]);
}

void vd_cases_view_init(vd_cases_view *view, const vd_cases *cases, const vd_case_filter *filter,
                        vd_case_order order, const vd_case *at)
{
    *view = (vd_cases_view){.cases = cases, .filter = *filter, .order = order};
    view->at = g_new(const vd_case *, cases->count);
    vd_places_begin(&view->places, VD_PLACE_CASES);
    if (filter->text)
        vd_line_set(&view->find, filter->text);
    vd_cases_view_choose(view);
    for (size_t i = 0; i < view->count && at; i++)
        if (view->at[i] == at)
            vd_cases_view_go(view, i);
    if (at && view->count)
        vd_places_open(&view->places, VD_PLACE_CASE);
}

static void drop_sheet(vd_cases_view *view)
{
    if (view->sheet)
        vd_case_sheet_clear(view->sheet);
    g_free(view->sheet);
    view->sheet = NULL;
}

void vd_cases_view_free(vd_cases_view *view)
{
    drop_sheet(view);
    vd_picture_clear(&view->picture);
    vd_line_free(&view->find);
    vd_line_free(&view->entry.line);
    g_free(view->at);
    *view = (vd_cases_view){0};
}

// ---- answers ------------------------------------------------------------------------------------

bool vd_cases_view_take_request(void *context, vd_request *out)
{
    vd_cases_view *view = context;
    *out = view->ask;
    view->ask = (vd_request){0};
    if (out->kind || !view->wanted)
        return out->kind != VD_REQUEST_NONE;
    *out = (vd_request){.kind = VD_REQUEST_CASE, .index = (size_t)(view->wanted - view->cases->at)};
    view->asked = view->wanted;
    view->wanted = NULL;
    return true;
}

static void take_picture(vd_cases_view *view, int64_t image_id)
{
    if (view->picture.image.rgb && view->pictured == image_id)
        return;
    vd_picture_clear(&view->picture);
    view->picture_error[0] = '\0';
    vd_image image = {0};
    vd_error err = {0};
    char *path = vd_corpus_picture(view->cases->corpus, image_id);
    vd_status status = path ? vd_image_read(path, &image, &err) : VD_OK;
    if (!path)
        snprintf(view->picture_error, sizeof view->picture_error, "no picture; --pictures DIR");
    else if (status)
        snprintf(view->picture_error, sizeof view->picture_error, "%.290s", err.text);
    else
        vd_picture_set(&view->picture, &image);
    view->pictured = image_id;
    g_free(path);
}

void vd_cases_view_event(void *context, vd_event *event)
{
    vd_cases_view *view = context;
    if (event->kind == VD_REQUEST_CASE) {
        const vd_case *at = &view->cases->at[event->case_index];
        drop_sheet(view);
        view->shown = at;
        view->status = event->status;
        view->error = event->error;
        if (event->status == VD_OK) {
            view->sheet = event->made;
            event->made = NULL;
            take_picture(view, vd_case_dialog(view->cases, at)->image_id);
        }
    }
    vd_event_clear(event);
}

// ---- drawing ------------------------------------------------------------------------------------

// What the cases of a group have in common: a tick or a cross for each model, "\u00b7" where it may
// be either.
static void group_marks(const vd_cases_view *view, const vd_grid *grid, vd_case_group group,
                        char *out, size_t size)
{
    static const char *const signs[2][3] = {{"\u2713", "\u2717", "\u00b7"}, {"+", "-", "."}};
    const char *const *sign = signs[grid->look.ascii];
    bool first = group == VD_CASE_BOTH || group == VD_CASE_FIRST;
    bool alike = group == VD_CASE_BOTH || group == VD_CASE_NEITHER;
    int others = view->cases->models - 1;
    const char *rest = alike ? sign[!first] : others > 1 ? sign[2] : sign[first];
    snprintf(out, size, "%s", sign[!first]);
    for (int i = 0; i < others; i++)
        vd_append(out, size, "%s", rest);
}

// "1000022.6": the picture and the round. Returns its columns.
static int label_of(const vd_cases *cases, const vd_case *at, char *out, size_t size)
{
    return snprintf(out, size, "%" PRId64 ".%d", vd_case_dialog(cases, at)->image_id,
                    at->round + 1);
}

// label: columns of the labels.
static void draw_row(const vd_cases_view *view, vd_grid *grid, vd_rect at, size_t index, int label)
{
    const vd_cases *cases = view->cases;
    const vd_case *one = view->at[index];
    bool selected = index == view->cursor;
    vd_case_group group = vd_case_group_of(cases, one, view->filter.by);
    char text[96];
    vd_role role = selected ? VD_ROLE_SELECTED : VD_ROLE_TEXT;
    if (selected)
        vd_grid_fill(grid, at, role);
    vd_case_marks(cases, one, view->filter.by, grid->look.ascii, text, sizeof text);
    vd_grid_text(grid, at.x + 1, at.y, cases->models, text,
                 selected                   ? role
                 : group == VD_CASE_BOTH    ? VD_ROLE_ANSWER
                 : group == VD_CASE_NEITHER ? VD_ROLE_FAINT
                                            : VD_ROLE_NOTE);
    int right = at.x + at.width, x = at.x + cases->models + 2;
    snprintf(text, sizeof text, "%.0f %%", 100 * (double)one->moved);
    vd_grid_right(grid, x, at.y, 5, text, role);
    label_of(cases, one, text, sizeof text);
    vd_grid_text(grid, x + 6, at.y, label, text, selected ? role : VD_ROLE_FAINT);
    x += 6 + label;
    x += 1 + vd_grid_text(grid, x + 1, at.y, right - x - 1, vd_case_question(cases, one), role);
    const char *human = vd_case_human(cases, one);
    if (human && right - x > 8)
        vd_grid_text(grid, x + 2, at.y, right - x - 2, human, selected ? role : VD_ROLE_ANSWER);
}

static void draw_list(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    int count = (int)view->count,
        top = vd_clamp((int)view->cursor - at.height / 2, count - at.height);
    int rows = vd_clamp(count - top, at.height), label = 0;
    view->page = at.height;
    view->list = at;
    view->list_top = (size_t)top;
    for (int row = 0; row < rows; row++) {
        char text[48];
        int own = label_of(view->cases, view->at[top + row], text, sizeof text);
        label = own > label ? own : label;
    }
    for (int row = 0; row < rows; row++)
        draw_row(view, grid, (vd_rect){at.x, at.y + row, at.width, 1}, (size_t)(top + row), label);
    if (view->count == 0)
        vd_grid_text(grid, at.x + 1, at.y, at.width - 1, "no case matches; Esc shows all",
                     VD_ROLE_NOTE);
}

// Which groups are shown, and how many cases each has: from column x to end. Returns the columns.
static int draw_groups(vd_cases_view *view, vd_grid *grid, int x, int y, int end)
{
    int from = x;
    for (int g = 0; g < VD_CASE_UNKNOWN; g++) {
        char marks[4 * VD_MODELS], text[64];
        bool on = !view->filter.groups || view->filter.groups & 1u << g;
        group_marks(view, grid, (vd_case_group)g, marks, sizeof marks);
        snprintf(text, sizeof text, on ? " %d%s %zu " : " %d%s - ", g + 1, marks,
                 view->in_group[g]);
        view->group_x[g] = x;
        x += vd_grid_text(grid, x, y, end - x, text, VD_ROLE_STATUS);
    }
    view->group_x[VD_CASE_UNKNOWN] = x;
    return x - from;
}

// Models, groups, family, what is found, what is right, and the place in the list; where there is
// little room first what is right gives way, then family and find, then the models.
static void draw_status(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { LEAST_NAMES = 16 };
    const vd_cases *cases = view->cases;
    const char *family = view->filter.family;
    char names[400], place[96], chosen[160] = "", parts[2][352];
    vd_cases_names(cases, names, sizeof names);
    snprintf(place, sizeof place, " %zu of %zu ", view->count ? view->cursor + 1 : 0, view->count);
    if (family)
        vd_append(chosen, sizeof chosen, " %.60s ", family);
    if (view->find.length)
        vd_append(chosen, sizeof chosen, " find: %.60s ", view->find.text);
    snprintf(parts[0], sizeof parts[0], "%s %s %s", chosen,
             view->filter.by == VD_RIGHT_HUMAN ? "right: human answer" : "right: relevance 1",
             place);
    snprintf(parts[1], sizeof parts[1], "%s%s", chosen, place);
    vd_grid_fill(grid, at, VD_ROLE_STATUS);
    int groups = draw_groups(view, grid, at.width, at.y, INT_MAX);
    const char *last = place;
    for (int i = 1; i >= 0; i--)
        if (at.width - groups - vd_text_width(parts[i], strlen(parts[i])) >= LEAST_NAMES)
            last = parts[i];
    int end = at.width - vd_text_width(last, strlen(last)), room = end - groups - 2;
    int x = at.x;
    if (room >= 8)
        x += 2 + vd_grid_text(grid, x + 1, at.y, room, names, VD_ROLE_STATUS_NAME);
    draw_groups(view, grid, x, at.y, end);
    vd_grid_right(grid, end, at.y, at.width - end, last, VD_ROLE_STATUS);
}

static void draw_find(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    int x = vd_grid_text(grid, at.x, at.y, at.width, " find> ", VD_ROLE_PROMPT);
    vd_line_draw(&view->find, grid, (vd_rect){x, at.y, at.width - x, 1});
}

static void draw_last_row(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    vd_place place = view->places.now;
    if (vd_entry_draw(&view->entry, grid, at))
        return;
    if (place == VD_PLACE_CASES_FIND) {
        draw_find(view, grid, at);
        return;
    }
    char text[256];
    at.x++;
    at.width--;
    view->hints = at;
    vd_keymap_hints(place, at.width, text, sizeof text);
    vd_grid_text(grid, at.x, at.y, at.width, text, VD_ROLE_FAINT);
}

static void draw_help(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    vd_places_draw_help(&view->places, grid, at);
}

// List and case beside each other.
static void draw_both(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    int beside = list_beside(at.width);
    draw_list(view, grid, (vd_rect){at.x, at.y, beside, at.height});
    for (int row = 0; row < at.height; row++)
        vd_grid_put(grid, beside, at.y + row, 0x2502, '|', VD_ROLE_RULE);
    at.x += beside + 1;
    at.width -= beside + 1;
    if (view->count)
        vd_cases_view_draw_case(view, grid, at);
}

// What fills the room between the status row and the last one.
static void (*const draws[VD_ALL_PLACES])(vd_cases_view *view, vd_grid *grid, vd_rect at) = {
    [VD_PLACE_CASES] = draw_list,
    [VD_PLACE_CASES_AND_CASE] = draw_both,
    [VD_PLACE_CASE] = vd_cases_view_draw_case,
    [VD_PLACE_CASE_MAPS] = vd_cases_view_draw_maps,
    [VD_PLACE_CASE_PICTURE] = vd_cases_view_draw_zoom,
    [VD_PLACE_HELP] = draw_help,
};

static void draw_all(vd_cases_view *view, vd_grid *grid)
{
    int width = grid->width, height = grid->height;
    vd_places *places = &view->places;
    vd_grid_clear(grid);
    view->list = view->hints = (vd_rect){0};
    view->columns.count = view->pictures.count = 0;
    vd_places_begin(places, width >= BOTH_FROM ? VD_PLACE_CASES_AND_CASE : VD_PLACE_CASES);
    if (vd_draw_too_small(grid))
        return;
    if (view->sheet)
        vd_case_sheet_judge(view->cases, view->shown, view->filter.by, view->sheet);
    // A text is typed in the last row, below the place it was opened from.
    vd_place shown = places->now;
    if (shown == VD_PLACE_CASES_FIND)
        shown = places->stack[view->count ? places->depth - 2 : 0];
    draw_status(view, grid, (vd_rect){0, 0, width, 1});
    draws[shown](view, grid, (vd_rect){0, 1, width, height - 2});
    draw_last_row(view, grid, (vd_rect){0, height - 1, width, 1});
}

void vd_cases_view_draw(void *context, vd_grid *grid)
{
    vd_cases_view *view = context;
    vd_look able = grid->look; // what the terminal can do, whatever is wanted of it
    grid->look = vd_theme_look(able, view->theme);
    draw_all(view, grid);
    grid->look = able;
}
