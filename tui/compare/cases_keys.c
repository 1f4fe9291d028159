// What keys and the mouse do to the cases (tui/screen/keymap.h says which there are).
#include <string.h>

#include "tui/compare/cases_view.h"

// ---- what they do -------------------------------------------------------------------------------

static void step(vd_cases_view *view, long by)
{
    long to = (long)view->cursor + by;
    vd_cases_view_go(view, to < 0 ? 0 : (size_t)to);
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

static void show_all(vd_cases_view *view)
{
    vd_line_clear(&view->find);
    view->filter.groups = 0;
    view->filter.family = NULL;
    view->filter.round = 0;
    vd_cases_view_choose(view);
}

static void open_case(vd_cases_view *view)
{
    if (view->way.now == VD_PLACE_CASES_FIND)
        vd_way_back(&view->way);
    if (view->count && !vd_way_have(&view->way, VD_PLACE_CASE))
        vd_way_go(&view->way, VD_PLACE_CASE);
}

// Opens what fills the case's place, or goes back from it.
static void show(vd_cases_view *view, vd_place place)
{
    if (place == VD_PLACE_CASE_MAPS && view->way.now == VD_PLACE_CASE_PICTURE)
        vd_way_back(&view->way);
    else if (view->way.now == place) {
        vd_way_back(&view->way);
        return;
    }
    open_case(view);
    if (view->count)
        vd_way_go(&view->way, place);
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
            open_case(view);
        else if (index < view->count)
            vd_cases_view_go(view, index);
    } else if (!click_model(view, &view->pictures, key)) {
        click_model(view, &view->columns, key);
    }
}

// How many cases an action moves forward (negative: back); 0: it does not move.
static long distance(const vd_cases_view *view, vd_action action, vd_key key)
{
    if (action == VD_ACTION_NEXT_CASE || action == VD_ACTION_PREVIOUS_CASE)
        return action == VD_ACTION_NEXT_CASE ? 1 : -1;
    bool page = view->way.now == VD_PLACE_CASE_MAPS || view->way.now == VD_PLACE_HELP;
    return page ? 0 : vd_scroll_lines(action, vd_key_is_wheel(key), view->page);
}

// Moves from case to case.
static bool move(vd_cases_view *view, vd_action action, vd_key key)
{
    long by = distance(view, action, key);
    if (by)
        step(view, by);
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

// Back from the first place shows all cases, back from the text those with any.
static void go_back(vd_cases_view *view)
{
    if (view->way.depth == 1)
        show_all(view);
    if (view->way.now == VD_PLACE_CASES_FIND) {
        vd_line_clear(&view->find);
        vd_cases_view_choose(view);
    }
    vd_way_back(&view->way);
}

static void pick(vd_cases_view *view)
{
    bool finding = view->way.now == VD_PLACE_CASES_FIND;
    if (finding && view->count)
        vd_way_back(&view->way);
    else if (finding || vd_way_have(&view->way, VD_PLACE_CASE))
        vd_way_go(&view->way, view->way.stack[0]); // the list
    else
        open_case(view);
}

static void act(vd_cases_view *view, vd_action action, vd_key key)
{
    if (move(view, action, key) || choose(view, action, key))
        return;
    switch ((int)action) {
    case VD_ACTION_PICK:
        pick(view);
        return;
    case VD_ACTION_SWITCH_MODEL:
        view->side = (view->side + 1) % view->cases->models;
        return;
    case VD_ACTION_DETAIL:
        show(view, VD_PLACE_CASE_MAPS);
        return;
    case VD_ACTION_ZOOM:
        show(view, VD_PLACE_CASE_PICTURE);
        return;
    case VD_ACTION_LEFT:
    case VD_ACTION_RIGHT:
        next_word(view, action == VD_ACTION_LEFT ? -1 : 1);
        return;
    case VD_ACTION_SEARCH:
        vd_way_go(&view->way, VD_PLACE_CASES_FIND);
        return;
    case VD_ACTION_THEME:
        view->theme = (view->theme + 1) % VD_THEMES;
        view->new_theme = true;
        return;
    case VD_ACTION_BACK:
        go_back(view);
        return;
    case VD_ACTION_STOP: // of the help
        view->ask = VD_REQUEST_LEAVE;
        return;
    default:
        if (!vd_way_act(&view->way, action, vd_key_is_wheel(key)))
            view->ask = vd_request_of(action);
    }
}

// ---- where a key goes ---------------------------------------------------------------------------

// False: the key types and edits nothing.
static bool type(vd_cases_view *view, vd_key key, vd_action action)
{
    bool typed = action == VD_ACTION_NONE && key.code < VD_KEY_NONE && key.modifiers == 0;
    if (typed)
        vd_line_insert(&view->find, key.code);
    else if (!vd_line_action(&view->find, action))
        return false;
    vd_cases_view_choose(view);
    return true;
}

void vd_cases_view_key(vd_cases_view *view, vd_key key)
{
    vd_place place = view->way.now;
    bool finding = place == VD_PLACE_CASES_FIND;
    if (key.code == VD_KEY_CLICK && view->hints.height && key.y == view->hints.y)
        key = vd_keymap_hint_key(place, view->hints.width, key.x - view->hints.x);
    vd_action action = vd_keymap_action(place, key, !finding || view->find.length == 0);
    view->new_theme = false;
    if (finding && type(view, key, action))
        return;
    if (key.code != VD_KEY_CLICK)
        act(view, action, vd_keymap_meant(key));
    else if (place != VD_PLACE_HELP)
        click(view, key);
}
