// What keys and the mouse do to the cases (tui/screen/keymap.h says which there are).
#include <string.h>

#include "tui/compare/cases_view.h"
#include "tui/screen/theme.h"

vd_place vd_cases_view_place(const vd_cases_view *view)
{
    return view->zoom     ? VD_PLACE_CASE_PICTURE
           : view->maps   ? VD_PLACE_CASE_MAPS
           : view->open   ? VD_PLACE_CASE
           : view->beside ? VD_PLACE_CASES_AND_CASE
                          : VD_PLACE_CASES;
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
    int words = view->sheet ? view->sheet->reply[view->side].words : 0;
    if (words > 0)
        view->word = (view->word + by + words) % words;
}

static bool is_inside(vd_rect at, vd_key key)
{
    return key.x >= at.x && key.x < at.x + at.width && key.y >= at.y && key.y < at.y + at.height;
}

static bool click_model(vd_cases_view *view, const vd_columns *columns, vd_key key)
{
    int side = columns->count ? vd_columns_side(columns, key.x, key.y) : -1;
    if (side >= 0)
        view->side = side;
    return side >= 0;
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

static void next_theme(vd_cases_view *view)
{
    view->theme = (view->theme + 1) % VD_THEMES;
    snprintf(view->said, sizeof view->said, "theme %s; `theme = %s` in the config file keeps it",
             vd_theme_title(view->theme), vd_theme_title(view->theme));
}

static void ask_terminal(vd_cases_view *view, vd_request_kind what)
{
    view->asking = true;
    view->ask = what;
}

// How many rows or cases an action moves forward (negative: back); 0: it does not move.
static long distance(const vd_cases_view *view, vd_action action, long all)
{
    long page = view->page > 1 ? view->page - 1 : 1;
    switch ((int)action) {
    case VD_ACTION_LINE_DOWN:
    case VD_ACTION_NEXT_CASE:
        return 1;
    case VD_ACTION_LINE_UP:
    case VD_ACTION_PREVIOUS_CASE:
        return -1;
    case VD_ACTION_SCROLL_DOWN:
        return page;
    case VD_ACTION_SCROLL_UP:
        return -page;
    case VD_ACTION_SCROLL_BOTTOM:
        return all;
    case VD_ACTION_SCROLL_TOP:
        return -all;
    default:
        return 0;
    }
}

// Moves from case to case, or scrolls a page that is longer than the screen.
static bool move(vd_cases_view *view, vd_action action)
{
    bool to_case = action == VD_ACTION_NEXT_CASE || action == VD_ACTION_PREVIOUS_CASE;
    bool scrolls = view->maps && !view->zoom && !to_case;
    long by = distance(view, action, scrolls ? view->most_top : (long)view->cases->count);
    if (by)
        (scrolls ? scroll : step)(view, by);
    return by != 0;
}

// Actions that change the list. False: another action.
static bool choose(vd_cases_view *view, vd_action action, vd_key key)
{
    if (action == VD_ACTION_GROUP)
        toggle_group(view, (unsigned)key.code - '1');
    else if (action == VD_ACTION_FAMILY)
        next_family(view);
    else if (action == VD_ACTION_ORDER)
        view->order = view->order == VD_CASE_BY_DIALOG ? VD_CASE_BY_DIFFERENCE : VD_CASE_BY_DIALOG;
    else if (action == VD_ACTION_JUDGE)
        switch_right(view);
    else
        return false;
    vd_cases_view_choose(view);
    return true;
}

static void act(vd_cases_view *view, vd_action action, vd_key key)
{
    if (move(view, action) || choose(view, action, key))
        return;
    switch ((int)action) {
    case VD_ACTION_PICK:
        view->open = !view->open && view->count > 0;
        view->maps &= view->open;
        view->zoom &= view->open;
        return;
    case VD_ACTION_SWITCH_MODEL:
        view->side = (view->side + 1) % view->cases->models;
        return;
    case VD_ACTION_DETAIL:
        show_maps(view);
        return;
    case VD_ACTION_ZOOM:
        show_picture(view);
        return;
    case VD_ACTION_LEFT:
    case VD_ACTION_RIGHT:
        next_word(view, action == VD_ACTION_LEFT ? -1 : 1);
        return;
    case VD_ACTION_SEARCH:
        view->finding = true;
        return;
    case VD_ACTION_THEME:
        next_theme(view);
        return;
    case VD_ACTION_HELP:
        view->help = true;
        view->top = 0;
        return;
    case VD_ACTION_BACK:
        go_back(view);
        return;
    case VD_ACTION_LEAVE:
        view->leaving = true;
        ask_terminal(view, VD_REQUEST_LEAVE);
        return;
    case VD_ACTION_REDRAW:
        ask_terminal(view, VD_REQUEST_REDRAW);
        return;
    case VD_ACTION_SUSPEND:
        ask_terminal(view, VD_REQUEST_SUSPEND);
        return;
    default:
        return;
    }
}

// ---- where a key goes ---------------------------------------------------------------------------

static void type(vd_cases_view *view, vd_key key, vd_action action)
{
    vd_action edit = vd_keymap_action(VD_PLACE_ANSWERS, key, view->find.length == 0);
    if (key.code == VD_KEY_ENTER || key.code == VD_KEY_ESCAPE) {
        view->finding = false;
        if (key.code == VD_KEY_ESCAPE)
            vd_line_clear(&view->find);
    } else if (key.code < VD_KEY_NONE && key.modifiers == 0) {
        vd_line_insert(&view->find, key.code);
    } else if (!vd_line_action(&view->find, edit)) {
        if (key.code == VD_KEY_CLICK)
            click(view, key);
        else if (key.code > VD_KEY_NONE)
            move(view, action);
        return;
    }
    vd_cases_view_choose(view);
}

// Keys that move scroll the help, any other key closes it.
static void read_help(vd_cases_view *view, vd_key key, vd_action action)
{
    long by = key.code > VD_KEY_NONE ? distance(view, action, view->most_top) : 0;
    if (by && view->most_top > 0) {
        scroll(view, by);
        return;
    }
    view->help = false;
    view->top = 0;
}

void vd_cases_view_key(vd_cases_view *view, vd_key key)
{
    vd_place place = vd_cases_view_place(view);
    if (key.code == VD_KEY_CLICK && view->hints.height && key.y == view->hints.y &&
        !view->finding && !view->help)
        key = vd_keymap_hint_key(place, view->hints.width, key.x - view->hints.x);
    vd_action action = vd_keymap_action(place, key, true);
    bool terminal = action == VD_ACTION_REDRAW || action == VD_ACTION_SUSPEND ||
                    (action == VD_ACTION_LEAVE && key.modifiers == VD_CTRL);
    view->said[0] = '\0';
    if (view->help && !terminal)
        read_help(view, key, action);
    else if (view->finding && !terminal)
        type(view, key, action);
    else if (key.code == VD_KEY_CLICK)
        click(view, key);
    else
        act(view, action, vd_keymap_meant(key));
}
