#include "tui/view_cases.h"

#include <inttypes.h>
#include <string.h>

#include "engine/alloc.h"
#include "tui/layout.h"
#include "tui/shares.h"
#include "tui/theme.h"

enum { LIST_BESIDE = 44, BOTH_FROM = 124 }; // columns: of the list beside a case, and from where on

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

// ---- choosing -----------------------------------------------------------------------------------

static const vd_case *under_cursor(const vd_cases_view *view)
{
    return view->count ? view->at[view->cursor] : NULL;
}

static void look_at(vd_cases_view *view)
{
    const vd_case *at = under_cursor(view);
    if (at && at != view->asked)
        view->wanted = at;
}

// After a change of filter or order: the case that was looked at stays under the cursor.
static void choose(vd_cases_view *view, const vd_case *keep)
{
    vd_case_filter all_groups = view->filter;
    all_groups.groups = 0;
    all_groups.text = NULL;
    memset(view->in_group, 0, sizeof view->in_group);
    for (size_t i = 0; i < view->cases->count; i++)
        if (vd_case_matches(view->cases, &view->cases->at[i], &all_groups))
            view->in_group[vd_case_group_of(view->cases, &view->cases->at[i], view->filter.by)]++;
    view->filter.text = view->find.text;
    view->count = vd_cases_select(view->cases, &view->filter, view->order, view->at);
    view->cursor = 0;
    for (size_t i = 0; i < view->count && keep; i++)
        if (view->at[i] == keep)
            view->cursor = i;
    look_at(view);
}

vd_status vd_cases_view_init(vd_cases_view *view, const vd_cases *cases,
                             const vd_case_filter *filter, vd_case_order order, const vd_case *at,
                             vd_error *err)
{
    *view = (vd_cases_view){.cases = cases, .filter = *filter, .order = order, .open = at != NULL};
    view->at = vd_alloc(cases->count, sizeof *view->at);
    if (!view->at)
        return vd_error_memory(err, "the cases");
    if (filter->text)
        vd_line_set(&view->find, filter->text);
    choose(view, at);
    return VD_OK;
}

void vd_cases_view_free(vd_cases_view *view)
{
    vd_case_answers_clear(&view->answers);
    vd_picture_clear(&view->picture);
    vd_line_free(&view->find);
    vd_free(view->at);
    *view = (vd_cases_view){0};
}

// ---- answers ------------------------------------------------------------------------------------

bool vd_cases_view_take_request(vd_cases_view *view, vd_request *out)
{
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
    if (!path)
        snprintf(view->picture_error, sizeof view->picture_error, "no picture; --pictures DIR");
    else if (vd_image_read(path, &image, &err))
        snprintf(view->picture_error, sizeof view->picture_error, "%.290s", err.text);
    else
        vd_picture_set(&view->picture, &image);
    view->pictured = image_id;
    vd_free(path);
}

void vd_cases_view_event(vd_cases_view *view, vd_event *event)
{
    if (event->kind == VD_REQUEST_CASE) {
        const vd_case *at = &view->cases->at[event->case_index];
        vd_case_answers_clear(&view->answers);
        view->shown = at;
        view->error[0] = '\0';
        if (event->status) {
            snprintf(view->error, sizeof view->error, "%.290s", event->error.text);
        } else {
            view->answers = *event->case_answers;
            *event->case_answers = (vd_case_answers){0};
            take_picture(view, vd_case_dialog(view->cases, at)->image_id);
        }
    }
    vd_event_clear(event);
}

// ---- keys ---------------------------------------------------------------------------------------

typedef enum cases_action {
    STEP_DOWN,
    STEP_UP,
    STEP_PAGE_DOWN,
    STEP_PAGE_UP,
    STEP_FIRST,
    STEP_LAST,
    OPEN,
    OTHER_SIDE,
    TOGGLE_GROUP,
    NEXT_FAMILY,
    SWITCH_ORDER,
    SWITCH_RIGHT,
    FIND,
    SHOW_HELP,
    GO_BACK,
    GO_AWAY
} cases_action;

// Dispatch, help and hints come from this one table.
static const struct {
    uint32_t code;
    uint8_t modifiers;
    cases_action action;
    const char *keys, *meaning, *hint; // NULL: another key of the one above
} table[] = {
    {VD_KEY_DOWN, 0, STEP_DOWN, "Down, j, n", "next case", "Up/Down"},
    {'j', 0, STEP_DOWN, NULL, NULL, NULL},
    {'n', 0, STEP_DOWN, NULL, NULL, NULL},
    {VD_KEY_WHEEL_DOWN, 0, STEP_DOWN, NULL, NULL, NULL},
    {VD_KEY_UP, 0, STEP_UP, "Up, k, p", "previous case", NULL},
    {'k', 0, STEP_UP, NULL, NULL, NULL},
    {'p', 0, STEP_UP, NULL, NULL, NULL},
    {VD_KEY_WHEEL_UP, 0, STEP_UP, NULL, NULL, NULL},
    {VD_KEY_PAGE_DOWN, 0, STEP_PAGE_DOWN, "PgDn", "a page further", NULL},
    {VD_KEY_PAGE_UP, 0, STEP_PAGE_UP, "PgUp", "a page back", NULL},
    {VD_KEY_HOME, 0, STEP_FIRST, "Home", "first case", NULL},
    {VD_KEY_END, 0, STEP_LAST, "End", "last case", NULL},
    {VD_KEY_ENTER, 0, OPEN, "Enter", "the case on the whole screen, and back", "Enter case"},
    {VD_KEY_TAB, 0, OTHER_SIDE, "Tab", "the regions that the other model looked at", "Tab model"},
    {'1', 0, TOGGLE_GROUP, "1 .. 4", "a group of cases off and on", "1-4 groups"},
    {'2', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {'3', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {'4', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {'/', 0, FIND, "/", "only cases with some text, or of a picture's number", "/ find"},
    {'f', 0, NEXT_FAMILY, "f", "only the next family of questions", "f family"},
    {'o', 0, SWITCH_ORDER, "o", "by how far the models differ, or by picture and round", "o order"},
    {'r', 0, SWITCH_RIGHT, "r", "right is what the human said, or has relevance 1", NULL},
    {'?', 0, SHOW_HELP, "?, F1", "these keys", "? help"},
    {VD_KEY_F0 + 1, 0, SHOW_HELP, NULL, NULL, NULL},
    {VD_KEY_ESCAPE, 0, GO_BACK, "Esc", "back; all cases again", NULL},
    {'q', 0, GO_AWAY, "q, Ctrl-D", "leave", "q leaves"},
    {'d', VD_CTRL, GO_AWAY, NULL, NULL, NULL},
    {'c', VD_CTRL, GO_AWAY, NULL, NULL, NULL},
};
enum { KEYS = sizeof table / sizeof *table };

static void step(vd_cases_view *view, long by)
{
    long to = (long)view->cursor + by, most = (long)view->count - 1;
    view->cursor = to < 0 || most < 0 ? 0 : (size_t)(to > most ? most : to);
    look_at(view);
}

static void next_family(vd_cases_view *view)
{
    const vd_cases *cases = view->cases;
    size_t at = 0;
    if (view->filter.family)
        while (at < cases->family_count && strcmp(cases->family[at], view->filter.family) != 0)
            at++;
    else
        at = (size_t)-1;
    view->filter.family = at + 1 < cases->family_count ? cases->family[at + 1] : NULL;
}

static void toggle_group(vd_cases_view *view, int group)
{
    unsigned all = (1u << VD_CASE_GROUPS) - 1;
    unsigned now = view->filter.groups ? view->filter.groups : all;
    now ^= 1u << group;
    view->filter.groups = now & ~(1u << VD_CASE_UNKNOWN) ? now : all; // not everything off
}

static bool has_relevance(const vd_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        if (cases->at[i].side[0].metrics.dense_rounds)
            return true;
    return false;
}

static void go_back(vd_cases_view *view)
{
    if (view->open) {
        view->open = false;
        return;
    }
    vd_line_clear(&view->find);
    view->filter.groups = 0;
    view->filter.family = NULL;
    view->filter.round = 0;
}

static void act(vd_cases_view *view, cases_action action, vd_key key)
{
    const vd_case *keep = under_cursor(view);
    int page = view->page > 1 ? view->page - 1 : 1;
    switch (action) {
    case STEP_DOWN:
        step(view, 1);
        return;
    case STEP_UP:
        step(view, -1);
        return;
    case STEP_PAGE_DOWN:
        step(view, page);
        return;
    case STEP_PAGE_UP:
        step(view, -page);
        return;
    case STEP_FIRST:
        step(view, -(long)view->cases->count);
        return;
    case STEP_LAST:
        step(view, (long)view->cases->count);
        return;
    case OPEN:
        view->open = !view->open && view->count > 0;
        return;
    case OTHER_SIDE:
        view->side = !view->side;
        return;
    case FIND:
        view->finding = true;
        return;
    case SHOW_HELP:
        view->help = true;
        return;
    case GO_AWAY:
        view->leaving = true;
        return;
    case TOGGLE_GROUP:
        toggle_group(view, (int)(key.code - '1'));
        break;
    case NEXT_FAMILY:
        next_family(view);
        break;
    case SWITCH_ORDER:
        view->order = view->order == VD_CASE_BY_DIALOG ? VD_CASE_BY_DIFFERENCE : VD_CASE_BY_DIALOG;
        break;
    case SWITCH_RIGHT:
        if (has_relevance(view->cases))
            view->filter.by =
                view->filter.by == VD_RIGHT_HUMAN ? VD_RIGHT_RELEVANT : VD_RIGHT_HUMAN;
        break;
    case GO_BACK:
        go_back(view);
        break;
    }
    choose(view, keep);
}

static void type(vd_cases_view *view, vd_key key)
{
    const vd_case *keep = under_cursor(view);
    vd_action edit = vd_keymap_action(VD_PLACE_CHAT, key, view->find.length == 0);
    if (key.code == VD_KEY_ENTER || key.code == VD_KEY_ESCAPE) {
        view->finding = false;
        if (key.code == VD_KEY_ESCAPE)
            vd_line_clear(&view->find);
    } else if (key.code < VD_KEY_NONE && key.modifiers == 0) {
        vd_line_insert(&view->find, key.code);
    } else if (!vd_line_action(&view->find, edit)) {
        if (key.code == VD_KEY_UP || key.code == VD_KEY_DOWN)
            step(view, key.code == VD_KEY_UP ? -1 : 1);
        return;
    }
    choose(view, keep);
}

void vd_cases_view_key(vd_cases_view *view, vd_key key)
{
    bool leaves = key.modifiers == VD_CTRL && (key.code == 'c' || key.code == 'd');
    if (view->help) {
        view->help = false;
        return;
    }
    if (view->finding && !leaves) {
        type(view, key);
        return;
    }
    for (int i = 0; i < KEYS; i++)
        if (table[i].code == key.code && table[i].modifiers == key.modifiers) {
            act(view, table[i].action, key);
            return;
        }
}

// ---- drawing ------------------------------------------------------------------------------------

static const char *mark_of(const vd_grid *grid, vd_case_group group)
{
    static const char *const marks[] = {"\u2713\u2713", "\u2713\u2717", "\u2717\u2713",
                                        "\u2717\u2717", "??"};
    static const char *const ascii[] = {"++", "+-", "-+", "--", "??"};
    return grid->look.ascii ? ascii[group] : marks[group];
}

static void draw_row(const vd_cases_view *view, vd_grid *grid, vd_rect at, size_t index)
{
    const vd_cases *cases = view->cases;
    const vd_case *one = view->at[index];
    bool selected = index == view->cursor;
    vd_case_group group = vd_case_group_of(view->cases, one, view->filter.by);
    char text[96];
    vd_style style = role(grid, selected ? VD_ROLE_SELECTED : VD_ROLE_TEXT);
    if (selected)
        vd_grid_fill(grid, at, style);
    vd_grid_text(grid, at.x + 1, at.y, 2, mark_of(grid, group),
                 selected                   ? style
                 : group == VD_CASE_BOTH    ? role(grid, VD_ROLE_ANSWER)
                 : group == VD_CASE_NEITHER ? role(grid, VD_ROLE_FAINT)
                                            : role(grid, VD_ROLE_NOTE));
    snprintf(text, sizeof text, "%.0f %%", 100 * (double)one->moved);
    vd_grid_right(grid, at.x + 4, at.y, 5, text, style);
    snprintf(text, sizeof text, "%" PRId64 ".%d", vd_case_dialog(cases, one)->image_id,
             one->round + 1);
    int x =
        at.x + 10 +
        vd_grid_text(grid, at.x + 10, at.y, 14, text, selected ? style : role(grid, VD_ROLE_FAINT));
    int right = at.x + at.width;
    x += 1 + vd_grid_text(grid, x + 1, at.y, right - x - 1, vd_case_question(cases, one), style);
    const char *human = vd_case_human(cases, one);
    if (human && right - x > 8)
        vd_grid_text(grid, x + 2, at.y, right - x - 2, human,
                     selected ? style : role(grid, VD_ROLE_ANSWER));
}

static void draw_list(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    view->page = at.height;
    long top = (long)view->cursor - at.height / 2, most = (long)view->count - at.height;
    top = top > most ? most : top;
    top = top < 0 ? 0 : top;
    for (int row = 0; row < at.height && (size_t)(top + row) < view->count; row++)
        draw_row(view, grid, (vd_rect){at.x, at.y + row, at.width, 1}, (size_t)(top + row));
    if (view->count == 0)
        vd_grid_text(grid, at.x + 1, at.y, at.width - 1, "no case matches; Esc shows all",
                     role(grid, VD_ROLE_NOTE));
}

static void draw_help(vd_grid *grid, vd_rect at)
{
    int row = 0;
    vd_grid_text(grid, at.x + 1, at.y + row++, at.width - 1, "Keys of the cases",
                 role(grid, VD_ROLE_TITLE));
    for (int i = 0; i < KEYS && row < at.height; i++) {
        if (!table[i].meaning)
            continue;
        vd_grid_text(grid, at.x + 1, at.y + row, 14, table[i].keys, role(grid, VD_ROLE_PROMPT));
        vd_grid_text(grid, at.x + 16, at.y + row++, at.width - 16, table[i].meaning,
                     role(grid, VD_ROLE_TEXT));
    }
}

static void draw_status(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    char text[200];
    vd_grid_fill(grid, at, role(grid, VD_ROLE_STATUS));
    snprintf(text, sizeof text, " %.30s and %.30s ", view->cases->name[0], view->cases->name[1]);
    int x = vd_grid_text(grid, at.x, at.y, at.width, text, role(grid, VD_ROLE_STATUS_NAME));
    for (int g = 0; g < VD_CASE_UNKNOWN; g++) {
        bool on = !view->filter.groups || view->filter.groups & 1u << g;
        snprintf(text, sizeof text, on ? " %d%s %zu " : " %d%s - ", g + 1,
                 mark_of(grid, (vd_case_group)g), view->in_group[g]);
        x += vd_grid_text(grid, x, at.y, at.width - x, text, role(grid, VD_ROLE_STATUS));
    }
    snprintf(text, sizeof text, "%s%s%s  %zu/%zu ", view->filter.family ? view->filter.family : "",
             view->filter.family ? "  " : "",
             view->filter.by == VD_RIGHT_HUMAN ? "right: human" : "right: relevance",
             view->count ? view->cursor + 1 : 0, view->count);
    vd_grid_right(grid, x + 1, at.y, at.width - x - 1, text, role(grid, VD_ROLE_STATUS));
}

static void draw_last_row(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    if (view->finding || view->find.length) {
        int x = vd_grid_text(grid, at.x, at.y, at.width, " find> ", role(grid, VD_ROLE_PROMPT));
        vd_line_view shown = vd_line_visible(&view->find, at.width - x);
        vd_grid_plain(grid, x, at.y, at.width - x, view->find.text + shown.first, shown.length,
                      role(grid, VD_ROLE_TEXT));
        if (view->finding) {
            grid->cursor_x = x + shown.column;
            grid->cursor_y = at.y;
        }
        return;
    }
    int x = at.x + 1;
    for (int i = 0; i < KEYS; i++) {
        int width = table[i].hint ? (int)strlen(table[i].hint) : 0;
        if (width && x + width <= at.x + at.width)
            x += vd_grid_text(grid, x, at.y, width, table[i].hint, role(grid, VD_ROLE_FAINT)) + 2;
    }
}

void vd_cases_view_draw(vd_cases_view *view, vd_grid *grid)
{
    int width = grid->width, height = grid->height;
    vd_grid_clear(grid);
    if (width < VD_LEAST_WIDTH || height < VD_LEAST_HEIGHT) {
        vd_grid_text(grid, 0, 0, width, "too small: 40x12 at least", role(grid, VD_ROLE_TEXT));
        return;
    }
    vd_rect room = {0, 1, width, height - 2};
    draw_status(view, grid, (vd_rect){0, 0, width, 1});
    draw_last_row(view, grid, (vd_rect){0, height - 1, width, 1});
    if (view->help) {
        draw_help(grid, room);
    } else if (view->open && view->count) {
        vd_cases_view_draw_case(view, grid, room);
    } else if (width >= BOTH_FROM) {
        draw_list(view, grid, (vd_rect){0, 1, LIST_BESIDE, room.height});
        for (int y = 1; y <= room.height; y++)
            vd_grid_put(grid, LIST_BESIDE, y, 0x2502, '|', role(grid, VD_ROLE_RULE));
        if (view->count)
            vd_cases_view_draw_case(
                view, grid, (vd_rect){LIST_BESIDE + 1, 1, width - LIST_BESIDE - 1, room.height});
    } else {
        draw_list(view, grid, room);
    }
}
