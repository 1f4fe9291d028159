// What keys and the mouse do to the cases (tui/screen/keymap.h says which there are).
#include <string.h>

#include "tui/compare/cases_view.h"
#include "tui/session/loop.h"

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
    if (view->places.now == VD_PLACE_CASES_FIND)
        vd_places_back(&view->places);
    if (view->count && !vd_places_has(&view->places, VD_PLACE_CASE))
        vd_places_open(&view->places, VD_PLACE_CASE);
}

// Opens what fills the case's place, or goes back from it.
static void show(vd_cases_view *view, vd_place place)
{
    if (place == VD_PLACE_CASE_MAPS && view->places.now == VD_PLACE_CASE_PICTURE)
        vd_places_back(&view->places);
    else if (view->places.now == place) {
        vd_places_back(&view->places);
        return;
    }
    open_case(view);
    if (view->count)
        vd_places_open(&view->places, place);
}

static void next_word(vd_cases_view *view, int by)
{
    int words = view->sheet ? view->sheet->reply[view->side].words : 0;
    if (words > 0)
        view->word = (view->word + by + words) % words;
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
    } else if (vd_rect_has(view->list, key.x, key.y)) {
        size_t index = view->list_top + (size_t)(key.y - view->list.y);
        if (index < view->count && index == view->cursor)
            open_case(view);
        else if (index < view->count)
            vd_cases_view_go(view, index);
    } else if (!click_model(view, &view->pictures, key)) {
        click_model(view, &view->columns, key);
    }
}

// Moves from case to case.
static bool move(vd_cases_view *view, vd_action action, const char *argument)
{
    bool page = view->places.now == VD_PLACE_CASE_MAPS || view->places.now == VD_PLACE_HELP;
    long by = page ? 0 : vd_scroll_lines(action, argument, view->page);
    if (action == VD_ACTION_NEXT_CASE || action == VD_ACTION_PREVIOUS_CASE)
        by = action == VD_ACTION_NEXT_CASE ? 1 : -1;
    if (by)
        step(view, by);
    return by != 0;
}

static void choose_group(vd_cases_view *view, const char *number)
{
    if (*number >= '1' && *number < '1' + VD_CASE_UNKNOWN && !number[1])
        toggle_group(view, (unsigned)*number - '1');
    else
        vd_notice_complain(&view->entry.notice, "/group takes a number, 1 to %d", VD_CASE_UNKNOWN);
}

// Actions that change the list. False: another action.
static bool choose(vd_cases_view *view, vd_action action, const char *argument)
{
    if (action == VD_ACTION_GROUP)
        choose_group(view, argument);
    else if (action == VD_ACTION_FAMILY)
        next_family(view);
    else if (action == VD_ACTION_ORDER)
        view->order = view->order == VD_CASE_BY_DIALOG ? VD_CASE_BY_DIFFERENCE : VD_CASE_BY_DIALOG;
    else if (action == VD_ACTION_JUDGE)
        switch_right(view);
    else if (action == VD_ACTION_SEARCH && argument[0])
        vd_line_set(&view->find, argument);
    else
        return false;
    vd_cases_view_choose(view);
    return true;
}

// Back from the first place shows all cases, back from the text those with any.
static void go_back(vd_cases_view *view)
{
    if (view->places.depth == 1)
        show_all(view);
    if (view->places.now == VD_PLACE_CASES_FIND) {
        vd_line_clear(&view->find);
        vd_cases_view_choose(view);
    }
    vd_places_back(&view->places);
}

static void pick(vd_cases_view *view)
{
    bool finding = view->places.now == VD_PLACE_CASES_FIND;
    if (finding && view->count)
        vd_places_back(&view->places);
    else if (finding || vd_places_has(&view->places, VD_PLACE_CASE))
        vd_places_open(&view->places, view->places.stack[0]); // the list
    else
        open_case(view);
}

static bool act_shown(vd_cases_view *view, vd_action action)
{
    bool case_shown = vd_places_has(&view->places, VD_PLACE_CASE) ||
                      view->places.stack[0] == VD_PLACE_CASES_AND_CASE;
    switch ((int)action) {
    case VD_ACTION_PICK:
        pick(view);
        return true;
    case VD_ACTION_SWITCH_MODEL:
        view->side = (view->side + case_shown) % view->cases->models;
        return case_shown;
    case VD_ACTION_DETAIL:
        show(view, VD_PLACE_CASE_MAPS);
        return true;
    case VD_ACTION_ZOOM:
        show(view, VD_PLACE_CASE_PICTURE);
        return true;
    case VD_ACTION_LEFT:
    case VD_ACTION_RIGHT:
        if (view->places.now != VD_PLACE_CASE_MAPS)
            return false;
        next_word(view, action == VD_ACTION_LEFT ? -1 : 1);
        return true;
    case VD_ACTION_SEARCH:
        vd_places_open(&view->places, VD_PLACE_CASES_FIND);
        return true;
    case VD_ACTION_BACK:
        go_back(view);
        return true;
    default:
        return false;
    }
}

// What keys, /commands and the last row do (vd_act).
static bool act(void *context, vd_action action, const char *argument)
{
    vd_cases_view *view = context;
    if (action == VD_ACTION_STOP) // of the help
        action = VD_ACTION_LEAVE;
    return move(view, action, argument) || choose(view, action, argument) ||
           act_shown(view, action) || vd_places_act(&view->places, action, argument) ||
           vd_terminal_act(action, argument, &view->theme, &view->entry.notice, &view->ask);
}

// ---- where a key goes ---------------------------------------------------------------------------

bool vd_cases_view_key(void *context, vd_key key)
{
    vd_cases_view *view = context;
    char text[2];
    vd_place place = view->places.now;
    bool finding = place == VD_PLACE_CASES_FIND;
    if (key.code == VD_KEY_CLICK && view->hints.height && key.y == view->hints.y)
        key = vd_keymap_hint_key(place, view->hints.width, key.x - view->hints.x);
    if (vd_entry_key(&view->entry, &view->places, key, act, view))
        return false;
    vd_action action = vd_keymap_action(place, key, !finding || view->find.length == 0);
    if (finding && vd_line_key(&view->find, key, action))
        vd_cases_view_choose(view);
    else if (key.code != VD_KEY_CLICK)
        act(view, action, vd_keymap_says(key, text));
    else if (place != VD_PLACE_HELP)
        click(view, key);
    return false;
}
