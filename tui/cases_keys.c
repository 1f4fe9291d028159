// What keys and the mouse do to the cases. Dispatch, help and hints come from one table.
#include <string.h>

#include "tui/theme.h"
#include "tui/view_cases.h"

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
    CLICK
} cases_action;

static const struct {
    uint32_t code;
    uint8_t modifiers;
    cases_action action;
    const char *keys, *meaning, *hint; // NULL: another key of the one above
} table[] = {
    {'?', 0, SHOW_HELP, "?, F1", "these keys", "? help"},
    {VD_KEY_F0 + 1, 0, SHOW_HELP, NULL, NULL, NULL},
    {VD_KEY_DOWN, 0, STEP_DOWN, "Down, j, n", "next case; Down scrolls attention and help",
     "Up/Down"},
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
    {VD_KEY_TAB, 0, NEXT_MODEL, "Tab", "the next model: its regions on the picture", "Tab model"},
    {'a', 0, SHOW_MAPS, "a", "its attentions word by word, and back", "a attention"},
    {VD_KEY_RIGHT, 0, WORD_RIGHT, "Left, Right", "the word whose attention to the past is shown",
     NULL},
    {VD_KEY_LEFT, 0, WORD_LEFT, NULL, NULL, NULL},
    {'1', 0, TOGGLE_GROUP, "1 .. 4", "a group of cases off and on", "1-4 groups"},
    {'2', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {'3', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {'4', 0, TOGGLE_GROUP, NULL, NULL, NULL},
    {'/', 0, FIND, "/", "only cases with some text, or of a picture's number", "/ find"},
    {'f', 0, NEXT_FAMILY, "f", "only the next family of questions", "f family"},
    {'o', 0, SWITCH_ORDER, "o", "by how far the models differ, or by picture and round", "o order"},
    {'r', 0, SWITCH_RIGHT, "r", "right is what the human said, or has relevance 1", NULL},
    {'t', 0, SWITCH_THEME, "t", "theme: dark, light, mono, safe for the colour-blind", NULL},
    {VD_KEY_CLICK, 0, CLICK, "click", "chooses a case, a model, a group", NULL},
    {VD_KEY_ESCAPE, 0, GO_BACK, "Esc", "back; all cases again", NULL},
    {'q', 0, GO_AWAY, "q, Ctrl-D", "leave", "q leaves"},
    {'d', VD_CTRL, GO_AWAY, NULL, NULL, NULL},
    {'c', VD_CTRL, GO_AWAY, NULL, NULL, NULL},
};
enum { KEYS = sizeof table / sizeof *table };

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
    if (view->maps) {
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
    view->maps = !view->maps && view->count > 0;
    view->open |= view->maps; // where there is no room beside the list
    view->top = 0;
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

static void click(vd_cases_view *view, vd_key key)
{
    const vd_case_columns *columns = &view->columns;
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
    } else if (columns->count && is_inside(columns->at, key)) {
        view->side = columns->side[(key.x - columns->at.x) * columns->count / columns->at.width];
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
    bool wheel = key.code == VD_KEY_WHEEL_UP || key.code == VD_KEY_WHEEL_DOWN;
    switch (action) {
    case STEP_DOWN:
    case STEP_UP:
    case STEP_PAGE_DOWN:
    case STEP_PAGE_UP:
    case STEP_FIRST:
    case STEP_LAST:
        move(view, action,
             view->maps && key.code >= VD_KEY_NONE && !(wheel && is_inside(view->list, key)));
        return;
    case OPEN:
        view->open = !view->open && view->count > 0;
        view->maps &= view->open;
        return;
    case NEXT_MODEL:
        view->side = (view->side + 1) % view->cases->models;
        return;
    case SHOW_MAPS:
        show_maps(view);
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

static const cases_action *action_of(vd_key key)
{
    for (int i = 0; i < KEYS; i++)
        if (table[i].code == key.code && table[i].modifiers == key.modifiers)
            return &table[i].action;
    return NULL;
}

static void type(vd_cases_view *view, vd_key key)
{
    vd_action edit = vd_keymap_action(VD_PLACE_CHAT, key, view->find.length == 0);
    const cases_action *action = key.code > VD_KEY_NONE ? action_of(key) : NULL;
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
    const cases_action *action = action_of(key);
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
    const cases_action *action = action_of(key);
    view->said[0] = '\0';
    if (view->help && !leaves)
        read_help(view, key);
    else if (view->finding && !leaves)
        type(view, key);
    else if (action)
        act(view, *action, key);
}

// ---- what is said of them -----------------------------------------------------------------------

void vd_cases_view_draw_help(vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    vd_look look = grid->look;
    int row = 1 - view->top;
    view->page = at.height;
    if (view->top == 0)
        vd_grid_text(grid, at.x + 1, at.y, at.width - 1, "Keys of the cases",
                     vd_theme(look, VD_ROLE_TITLE));
    for (int i = 0; i < KEYS; i++) {
        if (!table[i].meaning)
            continue;
        if (row >= 0 && row < at.height) {
            vd_grid_text(grid, at.x + 1, at.y + row, 14, table[i].keys,
                         vd_theme(look, VD_ROLE_PROMPT));
            vd_grid_text(grid, at.x + 14, at.y + row, at.width - 14, table[i].meaning,
                         vd_theme(look, VD_ROLE_TEXT));
        }
        row++;
    }
    int rows = row + view->top;
    view->most_top = rows > at.height ? rows - at.height : 0;
}

void vd_cases_view_hints(const vd_cases_view *view, vd_grid *grid, vd_rect at)
{
    const char *more = view->help && view->most_top > view->top ? "Down: more keys"
                       : view->said[0]                          ? view->said
                                                                : NULL;
    int x = at.x + 1;
    for (int i = 0; i < KEYS && !more; i++) {
        int width = table[i].hint ? (int)strlen(table[i].hint) : 0;
        if (width && x + width <= at.x + at.width)
            x += vd_grid_text(grid, x, at.y, width, table[i].hint,
                              vd_theme(grid->look, VD_ROLE_FAINT)) +
                 2;
    }
    if (more)
        vd_grid_text(grid, x, at.y, at.width, more, vd_theme(grid->look, VD_ROLE_FAINT));
}
