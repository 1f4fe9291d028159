// What keys and the mouse do to the cases. Dispatch, help and hints come from one table.
#include <string.h>

#include "tui/screen/theme.h"
#include "tui/compare/cases_view.h"

typedef enum cases_action {
    STEP_DOWN,
    STEP_UP,
    STEP_PAGE_DOWN,
    STEP_PAGE_UP,
    STEP_FIRST,
    STEP_LAST,
    OPEN,
    NEXT_MODEL,
    SHOW_MAPS,
    SHOW_PICTURE,
    WORD_LEFT,
    WORD_RIGHT,
    TOGGLE_GROUP,
    NEXT_FAMILY,
    SWITCH_ORDER,
    SWITCH_RIGHT,
    FIND,
    SWITCH_THEME,
    SHOW_HELP,
    GO_BACK,
    GO_AWAY,
    REDRAW, // the terminal's own, before it comes here
    CLICK
} cases_action;

// Where a key works: in the list, a case, its attentions, its picture.
enum { LIST = 1, CASE = 2, MAPS = 4, ZOOM = 8, INSIDE = CASE | MAPS | ZOOM, ALL = LIST | INSIDE };

// The first of a key's lines that is about where the person is counts.
static const struct {
    uint8_t places;
    uint32_t code;
    uint8_t modifiers;
    cases_action action;
    const char *keys, *meaning, *hint; // NULL: another key of the one above
} table[] = {
    {ALL, '?', 0, SHOW_HELP, "?, F1", "the keys that work here", "? help"},
    {ALL, VD_KEY_F0 + 1, 0, SHOW_HELP, NULL, NULL, NULL},
    {ALL, 'q', 0, GO_AWAY, "q, Ctrl-C, Ctrl-D", "leave", "q leaves"},
    {ALL, 'c', VD_CTRL, GO_AWAY, NULL, NULL, NULL},
    {ALL, 'd', VD_CTRL, GO_AWAY, NULL, NULL, NULL},
    {LIST, VD_KEY_ESCAPE, 0, GO_BACK, "Esc", "all cases again", NULL},
    {INSIDE, VD_KEY_ESCAPE, 0, GO_BACK, "Esc", "back to where you were", "Esc back"},
    {LIST, VD_KEY_ENTER, 0, OPEN, "Enter, click", "the case on the whole screen", "Enter case"},
    {INSIDE, VD_KEY_ENTER, 0, OPEN, "Enter", "the list", NULL},
    {MAPS, VD_KEY_RIGHT, 0, WORD_RIGHT, "Left, Right",
     "the word whose attention to the past is shown", "Left/Right word"},
    {MAPS, VD_KEY_LEFT, 0, WORD_LEFT, NULL, NULL, NULL},
    {MAPS, VD_KEY_DOWN, 0, STEP_DOWN, "Down, Up, wheel", "scroll", "Up/Down scroll"},
    {MAPS, VD_KEY_UP, 0, STEP_UP, NULL, NULL, NULL},
    {MAPS, VD_KEY_WHEEL_DOWN, 0, STEP_DOWN, NULL, NULL, NULL},
    {MAPS, VD_KEY_WHEEL_UP, 0, STEP_UP, NULL, NULL, NULL},
    {MAPS, VD_KEY_PAGE_DOWN, 0, STEP_PAGE_DOWN, "PgDn, PgUp", "scroll by a page", NULL},
    {MAPS, VD_KEY_PAGE_UP, 0, STEP_PAGE_UP, NULL, NULL, NULL},
    {MAPS, VD_KEY_HOME, 0, STEP_FIRST, "Home, End", "scroll to the start, to the end", NULL},
    {MAPS, VD_KEY_END, 0, STEP_LAST, NULL, NULL, NULL},
    {MAPS, 'n', 0, STEP_DOWN, "n, p, j, k", "next and previous case", "n next case"},
    {MAPS, 'p', 0, STEP_UP, NULL, NULL, NULL},
    {ALL, VD_KEY_DOWN, 0, STEP_DOWN, "Down, j, n, wheel", "next case", "Up/Down"},
    {ALL, 'j', 0, STEP_DOWN, NULL, NULL, NULL},
    {ALL, 'n', 0, STEP_DOWN, NULL, NULL, NULL},
    {ALL, VD_KEY_WHEEL_DOWN, 0, STEP_DOWN, NULL, NULL, NULL},
    {ALL, VD_KEY_UP, 0, STEP_UP, "Up, k, p, wheel", "previous case", NULL},
    {ALL, 'k', 0, STEP_UP, NULL, NULL, NULL},
    {ALL, 'p', 0, STEP_UP, NULL, NULL, NULL},
    {ALL, VD_KEY_WHEEL_UP, 0, STEP_UP, NULL, NULL, NULL},
    {ALL, VD_KEY_PAGE_DOWN, 0, STEP_PAGE_DOWN, "PgDn, PgUp", "a page of cases on, back", NULL},
    {ALL, VD_KEY_PAGE_UP, 0, STEP_PAGE_UP, NULL, NULL, NULL},
    {ALL, VD_KEY_HOME, 0, STEP_FIRST, "Home, End", "first case, last case", NULL},
    {ALL, VD_KEY_END, 0, STEP_LAST, NULL, NULL, NULL},
    {INSIDE, VD_KEY_TAB, 0, NEXT_MODEL, "Tab, click", "the next model: its regions, its page",
     "Tab model"},
    {ALL, 'a', 0, SHOW_MAPS, "a", "its attentions word by word, and back", "a attention"},
    {ALL, 'z', 0, SHOW_PICTURE, "z, F2", "its picture on the whole screen, and back", "z picture"},
    {ALL, VD_KEY_F0 + 2, 0, SHOW_PICTURE, NULL, NULL, NULL},
    {ALL, '1', 0, TOGGLE_GROUP, "1 .. 4, click", "a group of cases off and on", "1-4 groups"},
    {ALL, '2', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {ALL, '3', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {ALL, '4', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {ALL, '/', 0, FIND, "/", "only cases with some text, or of a picture's number", "/ find"},
    {ALL, 'f', 0, NEXT_FAMILY, "f", "only the next family of questions", "f family"},
    {ALL, 'o', 0, SWITCH_ORDER, "o", "by how far the models differ, or by picture and round",
     "o order"},
    {ALL, 'r', 0, SWITCH_RIGHT, "r", "right is what the human said, or has relevance 1", NULL},
    {ALL, 't', 0, SWITCH_THEME, "t", "theme: dark, light, mono, safe for the colour-blind", NULL},
    {ALL, 'l', VD_CTRL, REDRAW, "Ctrl-L", "draw the screen again", NULL},
    {ALL, 'z', VD_CTRL, REDRAW, "Ctrl-Z", "back to the shell; `fg` returns", NULL},
    {ALL, VD_KEY_CLICK, 0, CLICK, NULL, NULL, NULL},
};
enum { KEYS = sizeof table / sizeof *table };

static unsigned places(const vd_cases_view *view)
{
    return view->zoom     ? ZOOM
           : view->maps   ? MAPS
           : view->open   ? CASE
           : view->beside ? LIST | CASE
                          : LIST;
}

// ---- what they do -------------------------------------------------------------------------------

static void step(vd_cases_view *view, long by)
{
    long to = (long)view->cursor + by;
    vd_cases_view_go(view, to < 0 ? 0 : (size_t)to);
}

static void scroll(vd_cases_view *view, long by)
{
    long to = (long)view->top + by;
    view->top = to < 0 ? 0 : to > view->most_top ? view->most_top : (int)to;
}

static void next_family(vd_cases_view *view)
{
    const vd_cases *cases = view->cases;
    size_t next = 0;
    if (view->filter.family) {
        while (next < cases->family_count && strcmp(cases->family[next], view->filter.family) != 0)
            next++;
        next++;
    }
    view->filter.family = next < cases->family_count ? cases->family[next] : NULL;
}

static void toggle_group(vd_cases_view *view, unsigned group)
{
    if (group >= VD_CASE_GROUPS)
        return;
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

static void switch_right(vd_cases_view *view)
{
    if (has_relevance(view->cases))
        view->filter.by = view->filter.by == VD_RIGHT_HUMAN ? VD_RIGHT_RELEVANT : VD_RIGHT_HUMAN;
}

static void go_back(vd_cases_view *view)
{
    if (view->zoom) {
        view->zoom = false;
    } else if (view->maps) {
        view->maps = false;
    } else if (view->open) {
        view->open = false;
    } else {
        vd_line_clear(&view->find);
        view->filter.groups = 0;
        view->filter.family = NULL;
        view->filter.round = 0;
        vd_cases_view_choose(view);
    }
}

static void show_maps(vd_cases_view *view)
{
    view->maps = (!view->maps || view->zoom) && view->count > 0;
    view->zoom = false;
    view->open |= view->maps; // where there is no room beside the list
    view->top = 0;
}

static void show_picture(vd_cases_view *view)
{
    view->zoom = !view->zoom && view->count > 0;
    view->open |= view->zoom;
}

static void next_word(vd_cases_view *view, int by)
{
    int words = view->shown ? view->answers.reply[view->side].words : 0;
    if (words > 0)
        view->word = (view->word + by + words) % words;
}

static bool is_inside(vd_rect at, vd_key key)
{
    return key.x >= at.x && key.x < at.x + at.width && key.y >= at.y && key.y < at.y + at.height;
}

static bool click_model(vd_cases_view *view, const vd_case_columns *columns, vd_key key)
{
    bool inside = columns->count && is_inside(columns->at, key);
    if (inside)
        view->side = columns->side[(key.x - columns->at.x) * columns->count / columns->at.width];
    return inside;
}

static void click(vd_cases_view *view, vd_key key)
{
    if (key.y == 0) {
        for (int group = 0; group < VD_CASE_UNKNOWN; group++)
            if (key.x >= view->group_x[group] && key.x < view->group_x[group + 1])
                toggle_group(view, group);
        vd_cases_view_choose(view);
    } else if (is_inside(view->list, key)) {
        size_t index = view->list_top + (size_t)(key.y - view->list.y);
        if (index < view->count && index == view->cursor)
            view->open = true;
        else if (index < view->count)
            vd_cases_view_go(view, index);
    } else if (!click_model(view, &view->pictures, key)) {
        click_model(view, &view->columns, key);
    }
}

// Moves in what fills the screen: from case to case, or over a page that is longer than the screen.
static void move(vd_cases_view *view, cases_action action, bool page_scrolls)
{
    int page = view->page > 1 ? view->page - 1 : 1;
    long all = page_scrolls ? view->most_top : (long)view->cases->count;
    long by = action == STEP_DOWN        ? 1
              : action == STEP_UP        ? -1
              : action == STEP_PAGE_DOWN ? page
              : action == STEP_PAGE_UP   ? -page
              : action == STEP_LAST      ? all
                                         : -all;
    (page_scrolls ? scroll : step)(view, by);
}

static void act(vd_cases_view *view, cases_action action, vd_key key)
{
    switch (action) {
    case STEP_DOWN:
    case STEP_UP:
    case STEP_PAGE_DOWN:
    case STEP_PAGE_UP:
    case STEP_FIRST:
    case STEP_LAST:
        move(view, action, places(view) == MAPS && key.code >= VD_KEY_NONE);
        return;
    case OPEN:
        view->open = !view->open && view->count > 0;
        view->maps &= view->open;
        view->zoom &= view->open;
        return;
    case NEXT_MODEL:
        view->side = (view->side + 1) % view->cases->models;
        return;
    case SHOW_MAPS:
        show_maps(view);
        return;
    case SHOW_PICTURE:
        show_picture(view);
        return;
    case REDRAW:
        return;
    case WORD_LEFT:
    case WORD_RIGHT:
        next_word(view, action == WORD_LEFT ? -1 : 1);
        return;
    case FIND:
        view->finding = true;
        return;
    case SWITCH_THEME:
        view->theme = (view->theme + 1) % VD_THEMES;
        snprintf(view->said, sizeof view->said,
                 "theme %s; `theme = %s` in the config file keeps it", vd_theme_title(view->theme),
                 vd_theme_title(view->theme));
        return;
    case SHOW_HELP:
        view->help = true;
        view->top = 0;
        return;
    case GO_BACK:
        go_back(view);
        return;
    case GO_AWAY:
        view->leaving = true;
        return;
    case CLICK:
        click(view, key);
        return;
    case TOGGLE_GROUP:
        toggle_group(view, (unsigned)key.code - '1');
        break;
    case NEXT_FAMILY:
        next_family(view);
        break;
    case SWITCH_ORDER:
        view->order = view->order == VD_CASE_BY_DIALOG ? VD_CASE_BY_DIFFERENCE : VD_CASE_BY_DIALOG;
        break;
    case SWITCH_RIGHT:
        switch_right(view);
        break;
    }
    vd_cases_view_choose(view);
}

// ---- where a key goes ---------------------------------------------------------------------------

static int line_of(const vd_cases_view *view, uint32_t code, uint8_t modifiers)
{
    for (int i = 0; i < KEYS; i++)
        if (table[i].places & places(view) && table[i].code == code &&
            table[i].modifiers == modifiers)
            return i;
    return -1;
}

static const cases_action *action_of(const vd_cases_view *view, vd_key key)
{
    int line = line_of(view, key.code, key.modifiers);
    return line < 0 ? NULL : &table[line].action;
}

static void type(vd_cases_view *view, vd_key key)
{
    vd_action edit = vd_keymap_action(VD_PLACE_CHAT, key, view->find.length == 0);
    const cases_action *action = key.code > VD_KEY_NONE ? action_of(view, key) : NULL;
    if (key.code == VD_KEY_ENTER || key.code == VD_KEY_ESCAPE) {
        view->finding = false;
        if (key.code == VD_KEY_ESCAPE)
            vd_line_clear(&view->find);
    } else if (key.code < VD_KEY_NONE && key.modifiers == 0) {
        vd_line_insert(&view->find, key.code);
    } else if (!vd_line_action(&view->find, edit)) {
        if (action && (*action <= STEP_PAGE_UP || *action == CLICK))
            act(view, *action, key);
        return;
    }
    vd_cases_view_choose(view);
}

// The keys that move scroll the help, every other one ends it.
static void read_help(vd_cases_view *view, vd_key key)
{
    const cases_action *action = action_of(view, key);
    if (action && *action <= STEP_LAST && key.code >= VD_KEY_NONE && view->most_top > 0)
        move(view, *action, true);
    else
        view->help = false;
    if (!view->help)
        view->top = 0;
}

void vd_cases_view_key(vd_cases_view *view, vd_key key)
{
    bool leaves = key.modifiers == VD_CTRL && (key.code == 'c' || key.code == 'd');
    const cases_action *action = action_of(view, key);
    view->said[0] = '\0';
    if (view->help && !leaves)
        read_help(view, key);
    else if (view->finding && !leaves)
        type(view, key);
    else if (action)
        act(view, *action, key);
}

// ---- what is said of them -----------------------------------------------------------------------

// Whether a line of the table holds where the person is.
static bool is_here(const vd_cases_view *view, int i)
{
    return line_of(view, table[i].code, table[i].modifiers) == i;
}

void vd_cases_view_draw_help(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    enum { NAMES = 19 };
    unsigned here = places(view);
    const char *title = here == ZOOM   ? "Keys of the picture"
                        : here == MAPS ? "Keys of the attentions"
                        : here == CASE ? "Keys of the case"
                        : here == LIST ? "Keys of the list"
                                       : "Keys of the list and the case";
    int row = 1 - view->top;
    view->page = at.height;
    if (view->top == 0)
        vd_grid_text(grid, at.x + 1, at.y, at.width - 1, title,
                     vd_theme(grid->look, VD_ROLE_TITLE));
    for (int i = 0; i < KEYS; i++) {
        const char *meaning = table[i].meaning;
        size_t length = meaning && is_here(view, i) ? strlen(meaning) : 0, offset = 0;
        vd_text_line line;
        for (int part = 0; vd_wrap_next(meaning, length, at.width - NAMES - 2, &offset, &line);
             part++, row++) {
            if (row < 0 || row >= at.height)
                continue;
            if (part == 0)
                vd_grid_text(grid, at.x + 1, at.y + row, NAMES - 1, table[i].keys,
                             vd_theme(grid->look, VD_ROLE_PROMPT));
            vd_grid_text_n(grid, at.x + 1 + NAMES, at.y + row, at.width - NAMES - 1,
                           meaning + line.start, line.length, vd_theme(grid->look, VD_ROLE_TEXT));
        }
    }
    int rows = row + view->top;
    view->most_top = rows > at.height ? rows - at.height : 0;
}

void vd_cases_view_hints(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const char *more = view->help && view->most_top > view->top ? "Down: more keys"
                       : view->help                             ? "any key goes back"
                       : view->said[0]                          ? view->said
                                                                : NULL;
    int x = at.x + 1;
    for (int i = 0; i < KEYS && !more; i++) {
        int width = table[i].hint && is_here(view, i) ? (int)strlen(table[i].hint) : 0;
        if (width && x + width <= at.x + at.width)
            x += vd_grid_text(grid, x, at.y, width, table[i].hint,
                              vd_theme(grid->look, VD_ROLE_FAINT)) +
                 2;
    }
    if (more)
        vd_grid_text(grid, x, at.y, at.width, more, vd_theme(grid->look, VD_ROLE_FAINT));
}
