#include "tui/compare/cases_view.h"

#include <glib.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/screen/key_help.h"
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
    all_groups.text = NULL;
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
}

void vd_cases_view_init(vd_cases_view *view, const vd_cases *cases, const vd_case_filter *filter,
                        vd_case_order order, const vd_case *at)
{
    *view = (vd_cases_view){.cases = cases, .filter = *filter, .order = order, .open = at != NULL};
    view->at = g_new(const vd_case *, cases->count);
    if (filter->text)
        vd_line_set(&view->find, filter->text);
    vd_cases_view_choose(view);
    for (size_t i = 0; i < view->count && at; i++)
        if (view->at[i] == at)
            vd_cases_view_go(view, i);
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
    g_free(view->at);
    *view = (vd_cases_view){0};
}

// ---- answers ------------------------------------------------------------------------------------

bool vd_cases_view_take_request(vd_cases_view *view, vd_request *out)
{
    if (view->asking) {
        *out = (vd_request){.kind = view->ask};
        view->asking = false;
        return true;
    }
    if (!view->wanted)
        return false;
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

void vd_cases_view_event(vd_cases_view *view, vd_event *event)
{
    if (event->kind == VD_REQUEST_CASE) {
        const vd_case *at = &view->cases->at[event->case_index];
        drop_sheet(view);
        view->shown = at;
        view->error[0] = '\0';
        if (event->status) {
            snprintf(view->error, sizeof view->error, "%.290s", event->error.text);
        } else {
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
    vd_style style = vd_style_of(grid, selected ? VD_ROLE_SELECTED : VD_ROLE_TEXT);
    if (selected)
        vd_grid_fill(grid, at, style);
    vd_case_marks(cases, one, view->filter.by, grid->look.ascii, text, sizeof text);
    vd_grid_text(grid, at.x + 1, at.y, cases->models, text,
                 selected                   ? style
                 : group == VD_CASE_BOTH    ? vd_style_of(grid, VD_ROLE_ANSWER)
                 : group == VD_CASE_NEITHER ? vd_style_of(grid, VD_ROLE_FAINT)
                                            : vd_style_of(grid, VD_ROLE_NOTE));
    int right = at.x + at.width, x = at.x + cases->models + 2;
    snprintf(text, sizeof text, "%.0f %%", 100 * (double)one->moved);
    vd_grid_right(grid, x, at.y, 5, text, style);
    label_of(cases, one, text, sizeof text);
    vd_grid_text(grid, x + 6, at.y, label, text,
                 selected ? style : vd_style_of(grid, VD_ROLE_FAINT));
    x += 6 + label;
    x += 1 + vd_grid_text(grid, x + 1, at.y, right - x - 1, vd_case_question(cases, one), style);
    const char *human = vd_case_human(cases, one);
    if (human && right - x > 8)
        vd_grid_text(grid, x + 2, at.y, right - x - 2, human,
                     selected ? style : vd_style_of(grid, VD_ROLE_ANSWER));
}

static void draw_list(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    view->page = at.height;
    long top = (long)view->cursor - at.height / 2, most = (long)view->count - at.height;
    top = top > most ? most : top;
    top = top < 0 ? 0 : top;
    view->list = at;
    view->list_top = (size_t)top;
    int rows = (int)((long)view->count - top < at.height ? (long)view->count - top : at.height);
    int label = 0;
    for (int row = 0; row < rows; row++) {
        char text[48];
        int own = label_of(view->cases, view->at[top + row], text, sizeof text);
        label = own > label ? own : label;
    }
    for (int row = 0; row < rows; row++)
        draw_row(view, grid, (vd_rect){at.x, at.y + row, at.width, 1}, (size_t)(top + row), label);
    if (view->count == 0)
        vd_grid_text(grid, at.x + 1, at.y, at.width - 1, "no case matches; Esc shows all",
                     vd_style_of(grid, VD_ROLE_NOTE));
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
        x += vd_grid_text(grid, x, y, end - x, text, vd_style_of(grid, VD_ROLE_STATUS));
    }
    view->group_x[VD_CASE_UNKNOWN] = x;
    return x - from;
}

// Models, groups, what is right, and the place in the list; where there is little room first the
// second to last gives way, then the models.
static void draw_status(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { LEAST_NAMES = 16 };
    const vd_cases *cases = view->cases;
    const char *family = view->filter.family;
    char names[400], place[96], right[160];
    vd_cases_names(cases, names, sizeof names);
    snprintf(place, sizeof place, " %zu/%zu ", view->count ? view->cursor + 1 : 0, view->count);
    snprintf(right, sizeof right, " %.60s%s%s %s", family ? family : "", family ? "  " : "",
             view->filter.by == VD_RIGHT_HUMAN ? "right: human" : "right: relevance", place);
    vd_grid_fill(grid, at, vd_style_of(grid, VD_ROLE_STATUS));
    int groups = draw_groups(view, grid, at.width, at.y, INT_MAX);
    bool whole = at.width - groups - (int)strlen(right) >= LEAST_NAMES;
    const char *last = whole ? right : place;
    int end = at.width - (int)strlen(last), room = end - groups - 2;
    int x = at.x;
    if (room >= 8)
        x += 2 +
             vd_grid_text(grid, x + 1, at.y, room, names, vd_style_of(grid, VD_ROLE_STATUS_NAME));
    draw_groups(view, grid, x, at.y, end);
    vd_grid_right(grid, end, at.y, at.width - end, last, vd_style_of(grid, VD_ROLE_STATUS));
}

static void draw_last_row(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    if (view->finding || view->find.length) {
        int x =
            vd_grid_text(grid, at.x, at.y, at.width, " find> ", vd_style_of(grid, VD_ROLE_PROMPT));
        vd_line_view shown = vd_line_visible(&view->find, at.width - x);
        vd_grid_plain(grid, x, at.y, at.width - x, view->find.text + shown.first, shown.length,
                      vd_style_of(grid, VD_ROLE_TEXT));
        if (view->finding) {
            grid->cursor_x = x + shown.column;
            grid->cursor_y = at.y;
        }
        return;
    }
    char hints[256];
    at.x++;
    at.width--;
    view->hints = view->said[0] || view->help ? (vd_rect){0} : at;
    vd_keymap_hints(vd_cases_view_place(view), at.width, hints, sizeof hints);
    vd_grid_text(grid, at.x, at.y, at.width,
                 view->help && view->most_top > view->top ? "Down: more keys"
                 : view->help                             ? "any key goes back"
                 : view->said[0]                          ? view->said
                                                          : hints,
                 vd_style_of(grid, VD_ROLE_FAINT));
}

static void draw_help(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    int rows = vd_key_help_draw(grid, at, vd_cases_view_place(view), false, view->top);
    view->page = at.height;
    view->most_top = rows > at.height ? rows - at.height : 0;
}

static void draw_case(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    if (view->sheet)
        vd_case_sheet_judge(view->cases, view->shown, view->filter.by, view->sheet);
    (view->zoom   ? vd_cases_view_draw_zoom
     : view->maps ? vd_cases_view_draw_maps
                  : vd_cases_view_draw_case)(view, grid, at);
}

static void draw_all(vd_cases_view *view, vd_grid *grid)
{
    int width = grid->width, height = grid->height;
    vd_grid_clear(grid);
    view->list = view->hints = (vd_rect){0};
    view->columns.count = view->pictures.count = 0;
    view->beside = !view->open && width >= BOTH_FROM;
    if (width < VD_LEAST_WIDTH || height < VD_LEAST_HEIGHT) {
        vd_grid_text(grid, 0, 0, width, "too small: 40x12 at least",
                     vd_style_of(grid, VD_ROLE_TEXT));
        return;
    }
    vd_rect room = {0, 1, width, height - 2};
    draw_status(view, grid, (vd_rect){0, 0, width, 1});
    if (view->help) {
        draw_help(view, grid, room);
    } else if (view->open && view->count) {
        draw_case(view, grid, room);
    } else if (view->beside) {
        int beside = list_beside(width);
        draw_list(view, grid, (vd_rect){0, 1, beside, room.height});
        for (int y = 1; y <= room.height; y++)
            vd_grid_put(grid, beside, y, 0x2502, '|', vd_style_of(grid, VD_ROLE_RULE));
        if (view->count)
            draw_case(view, grid, (vd_rect){beside + 1, 1, width - beside - 1, room.height});
    } else {
        draw_list(view, grid, room);
    }
    draw_last_row(view, grid, (vd_rect){0, height - 1, width, 1});
}

void vd_cases_view_draw(vd_cases_view *view, vd_grid *grid)
{
    vd_look able = grid->look; // what the terminal can do, whatever is wanted of it
    grid->look = vd_theme_look(able, view->theme);
    draw_all(view, grid);
    grid->look = able;
}
