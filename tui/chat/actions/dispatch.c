// What every action does, whether a key, a /command or the mouse means it.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "features/pictures/image.h"
#include "tui/base/bundled.h"
#include "tui/chat/actions/actions.h"
#include "tui/screen/entry.h"
#include "tui/session/loop.h"

// ---- moving ------------------------------------------------------------------------------------

// What scrolls otherwise than a page.
static bool act_scroll(vd_chat *chat, vd_action action, const char *argument)
{
    int lines = vd_scroll_lines(action, argument, chat->nav.places.seen);
    void (*scroll)(vd_chat * chat, int lines) = vd_chat_view(chat)->scroll;
    if (!scroll && vd_chat_view(chat)->list)
        scroll = vd_list_scroll;
    if (lines && scroll)
        scroll(chat, lines);
    return lines && scroll;
}

static void toggle_place(vd_chat *chat, vd_place place)
{
    if (chat->nav.places.now == place)
        vd_places_back(&chat->nav.places);
    else
        vd_chat_open(chat, place);
}

static bool act_place(vd_chat *chat, vd_action action)
{
    vd_place place = VD_PLACE_CHAT + 1;
    while (place < VD_PLACES && chat->views[place]->action != action)
        place++;
    if (place < VD_PLACES)
        toggle_place(chat, place);
    return place < VD_PLACES;
}

// ---- what takes something ----------------------------------------------------------------------

// Reads a number from 1 to `most`.
static bool read_number(const char *text, long most, size_t *out)
{
    char *end;
    long number = strtol(text, &end, 10);
    *out = (size_t)number;
    return end != text && !*end && number >= 1 && number <= most;
}

static void run_picture(vd_chat *chat, const char *argument)
{
    const vd_world *world = chat->conversation.world;
    size_t count = vd_world_count(world), index;
    vd_error error = {0};
    char *end;
    long long id = strtoll(argument, &end, 10);
    if (argument[0] == '#') {
        if (read_number(argument + 1, (long)count, &index))
            vd_chat_go_picture(chat, index - 1);
        else
            vd_notice_complain(&chat->notice, "/picture %s: there are pictures #1 to #%zu",
                               argument, count);
    } else if (end == argument || *end) {
        vd_notice_complain(&chat->notice,
                           "/picture takes an image id, or \"#3\" for the third picture");
    } else if (vd_world_find(world, id, &index, &error)) {
        if (id >= 1 && id <= (long long)count)
            vd_notice_complain(&chat->notice,
                               "no picture has the id %lld; /picture #%lld is %zu/%zu", id, id,
                               (size_t)id, count);
        else
            vd_notice_complain(&chat->notice, "%s", error.text);
    } else {
        vd_chat_go_picture(chat, index);
    }
}

static void run_model(vd_chat *chat, const char *argument)
{
    const vd_lane *first = &chat->lanes.lane[0];
    if (argument[0])
        vd_lanes_first_model(&chat->lanes, argument);
    else
        vd_notice_say(&chat->notice, "this is %s; /model " VD_MODEL_NAMES " or FILE",
                      first->loaded ? first->model : "no model");
}

static void run_choose(vd_chat *chat, const char *argument)
{
    size_t place;
    if (!vd_chat_asked(chat))
        return;
    int most = vd_chat_response(chat)->reply.answer.candidates;
    if (read_number(argument, most, &place))
        vd_chat_choose(chat, (int)place - 1);
    else
        vd_notice_complain(&chat->notice, "/choose takes a place in the ranking, 1 to %d", most);
}

static void run_compare(vd_chat *chat, const char *argument)
{
    bool off = strcmp(argument, "off") == 0;
    const vd_lane *first = &chat->lanes.lane[0];
    if (!argument[0]) {
        toggle_place(chat, VD_PLACE_COMPARE);
        return;
    }
    if (off)
        vd_lanes_stop_comparing(&chat->lanes);
    else // before the place, which adds a model where there is only one
        vd_lanes_compare_with(&chat->lanes, argument);
    vd_chat_open(chat, off ? VD_PLACE_CHAT : VD_PLACE_COMPARE);
    if (off && first->loaded)
        vd_notice_say(&chat->notice, "%s answers alone", first->model);
}

// The first one's own answers are the shared ones.
static void follow_next(vd_chat *chat)
{
    int lane = chat->nav.lane;
    vd_follow now = chat->lanes.lane[lane].follow;
    bool shared = lane == 0 && now == VD_FOLLOW_SHARED;
    vd_lanes_follow(&chat->lanes, lane, shared ? VD_FOLLOW_DATA : (now + 1) % VD_FOLLOWS);
}

// The lane of a model by its name, -1 none; of two of one name the one that was asked for so.
static int lane_called(const vd_lanes *lanes, const char *name, size_t length)
{
    int lane = -1;
    for (int i = 0; i < lanes->count; i++) {
        const char *asked = vd_lane_name(&lanes->lane[i]), *model = lanes->lane[i].model;
        if (strncmp(asked, name, length) == 0 && !asked[length])
            return i;
        if (strncmp(model, name, length) == 0 && !model[length])
            lane = i;
    }
    return lane;
}

// "own", or "base own" for one of several models; "": the next one, where they are shown.
static void run_follow(vd_chat *chat, const char *argument)
{
    vd_lanes *lanes = &chat->lanes;
    if (!argument[0] && chat->nav.places.now == VD_PLACE_COMPARE) {
        follow_next(chat);
        return;
    }
    const char *word = strrchr(argument, ' ');
    size_t length = word ? (size_t)(word - argument) : 0;
    word = word ? word + 1 : argument;
    int lane = length ? lane_called(lanes, argument, length) : chat->nav.lane;
    if (lane < 0) {
        vd_notice_complain(&chat->notice, "/history %s: no such model is shown", argument);
        return;
    }
    vd_follow follow;
    if (vd_follow_named(word, &follow))
        vd_lanes_follow(lanes, lane, follow);
    else
        vd_notice_complain(&chat->notice,
                           "/history own, shared or data: the answers that %s continues from",
                           lanes->lane[lane].model);
}

static void run_pictures(vd_chat *chat, const char *argument)
{
    if (!argument[0]) {
        toggle_place(chat, VD_PLACE_PICTURES);
        return;
    }
    vd_chat_open(chat, VD_PLACE_PICTURES);
    vd_line_set(&chat->nav.filter, argument);
    chat->nav.list_at = 0;
}

// The text, or what is typed.
static void run_search(vd_chat *chat, const char *argument)
{
    vd_line *line = &chat->nav.line;
    vd_chat_find(chat, argument[0] ? argument : line->text);
    if (!argument[0])
        vd_line_clear(line);
}

static void run_branch(vd_chat *chat, const char *argument)
{
    size_t number;
    int count = chat->conversation.branches.count;
    if (!argument[0])
        vd_chat_branch(chat);
    else if (read_number(argument, count, &number))
        vd_lanes_use_branch(&chat->lanes, (int)number - 1);
    else
        vd_notice_complain(&chat->notice,
                           "/branch %s: no such branch; there are branches 1 to %d, and /branch "
                           "alone starts another",
                           argument, count);
}

static void run_round(vd_chat *chat, const char *argument)
{
    size_t number, count = chat->conversation.branch->count;
    if (read_number(argument, (long)count, &number)) {
        chat->nav.selected = number == count ? -1 : (int)number - 1;
        chat->nav.reveal = true;
    } else if (vd_chat_asked(chat)) {
        vd_notice_complain(&chat->notice, "/round takes the number of a round; there are %zu",
                           count);
    }
}

static void run_fold(vd_chat *chat, const char *argument)
{
    bool on = !chat->rankings.folded;
    if (!argument[0] || vd_entry_switch("/fold", argument, &on, &chat->notice))
        vd_chat_fold(chat, on);
}

static void run_save(vd_chat *chat, const char *argument)
{
    const char *ending = strrchr(argument, '.');
    int kind = 0; // of picture
    while (ending && vd_image_suffixes[kind] && strcasecmp(ending, vd_image_suffixes[kind]) != 0)
        kind++;
    if (ending && strcasecmp(ending, ".png") == 0)
        vd_chat_save_picture(chat, argument);
    else if (ending && vd_image_suffixes[kind])
        vd_notice_complain(&chat->notice, "a picture is saved as PNG: /save my.png");
    else if (argument[0])
        vd_chat_wish(chat, VD_WISH_SAVE, argument);
    else
        vd_notice_complain(&chat->notice,
                           "/save takes a name for this session, such as /save monday, or a file "
                           "for the picture, such as /save my.png");
}

static void run_load(vd_chat *chat, const char *argument)
{
    if (argument[0])
        vd_chat_wish(chat, VD_WISH_LOAD, argument);
    else
        vd_chat_open(chat, VD_PLACE_SESSIONS);
}

// Actions that take something.
static const struct {
    vd_action action;
    void (*run)(vd_chat *chat, const char *argument);
} runs[] = {
    {VD_ACTION_PICTURE, run_picture},
    {VD_ACTION_PICTURES, run_pictures},
    {VD_ACTION_MODEL, run_model},
    {VD_ACTION_CHOOSE_ANSWER, run_choose},
    {VD_ACTION_SEARCH, run_search},
    {VD_ACTION_WHAT_IF, vd_chat_what_if},
    {VD_ACTION_COMPARE, run_compare},
    {VD_ACTION_FOLLOW, run_follow},
    {VD_ACTION_COPY, vd_chat_copy},
    {VD_ACTION_EXPORT, vd_chat_export},
    {VD_ACTION_ROUND, run_round},
    {VD_ACTION_BRANCH, run_branch},
    {VD_ACTION_FOLD, run_fold},
    {VD_ACTION_CAPTION, vd_chat_caption},
    {VD_ACTION_WORD, vd_chat_word},
    {VD_ACTION_LAYER, vd_chat_layer},
    {VD_ACTION_HEAD, vd_chat_head},
    {VD_ACTION_CAPTIONER, vd_chat_captioner},
    {VD_ACTION_READ, vd_chat_read},
    {VD_ACTION_SAVE, run_save},
    {VD_ACTION_LOAD, run_load},
    {VD_ACTION_OPEN, vd_chat_open_picture},
    {VD_ACTION_NEW_PICTURE, vd_chat_new_picture},
};

static bool act_on(vd_chat *chat, vd_action action, const char *argument)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (runs[i].action == action) {
            runs[i].run(chat, argument);
            return true;
        }
    return false;
}

// ---- what takes nothing ------------------------------------------------------------------------

// Forward, from the last one to the first.
static void step_picture(vd_chat *chat, size_t step)
{
    size_t picture = chat->conversation.branches.picture + step;
    vd_chat_go_picture(chat, picture % vd_world_count(chat->conversation.world));
}

static bool act_conversation(vd_chat *chat, vd_action action)
{
    const vd_branches *branches = &chat->conversation.branches;
    size_t others = vd_world_count(chat->conversation.world) - 1; // pictures
    switch ((int)action) {
    case VD_ACTION_EDIT_ROUND:
        vd_chat_edit(chat);
        return true;
    case VD_ACTION_NEXT_BRANCH:
        vd_lanes_use_branch(&chat->lanes, (branches->used + 1) % branches->count);
        return true;
    case VD_ACTION_UNDO:
        vd_lanes_undo(&chat->lanes);
        return true;
    case VD_ACTION_REDO:
        vd_lanes_redo(&chat->lanes);
        return true;
    case VD_ACTION_AGAIN:
        vd_lanes_again(&chat->lanes);
        return true;
    case VD_ACTION_SWITCH_MODEL:
        vd_lanes_switch_model(&chat->lanes);
        return true;
    case VD_ACTION_NEXT_PICTURE:
    case VD_ACTION_PREVIOUS_PICTURE:
        step_picture(chat, action == VD_ACTION_NEXT_PICTURE ? 1 : others);
        return true;
    case VD_ACTION_NEW:
        vd_chat_start_over(chat);
        return true;
    case VD_ACTION_RANDOM_PICTURE:
        step_picture(chat, others ? 1 + (size_t)(vd_chat_random(chat) % others) : 0);
        return true;
    default:
        return false;
    }
}

static bool act_terminal(vd_chat *chat, vd_action action, const char *argument)
{
    vd_request request;
    bool done = vd_terminal_act(action, argument, &chat->theme, &chat->notice, &request);
    if (request.kind)
        vd_lanes_send(&chat->lanes, request.kind, 0, NULL, request.index);
    return done;
}

static void stop(vd_chat *chat)
{
    vd_line *line = vd_chat_line(chat);
    vd_lane *first = &chat->lanes.lane[0];
    bool waits = vd_lanes_wait(&chat->lanes);
    chat->nav.pasting = false;
    if (waits && first->stopped) {
        first->stopped = false; // what was recorded could not be asked: once more
        vd_lanes_pump(&chat->lanes);
    } else if (waits)
        vd_lanes_send(&chat->lanes, VD_REQUEST_STOP, 0, NULL, 0);
    else if (vd_chat_stop_reading(chat))
        return;
    else if (chat->nav.editing >= 0)
        vd_navigation_stop_editing(&chat->nav);
    else if (line->length)
        vd_line_clear(line);
    else
        vd_notice_say(&chat->notice, "Ctrl-D or /quit leaves");
}

static bool act_shown(vd_chat *chat, vd_action action)
{
    vd_navigation *nav = &chat->nav;
    switch ((int)action) {
    case VD_ACTION_COMPLETE:
        (nav->line.text[0] == '/' ? vd_chat_complete : vd_chat_complete_question)(chat);
        break;
    case VD_ACTION_PICK:
        if (!vd_chat_view(chat)->list)
            return false;
        vd_list_pick(chat);
        break;
    case VD_ACTION_BACK:
        if (vd_chat_stop_reading(chat))
            break;
        if (nav->editing >= 0)
            vd_navigation_stop_editing(nav);
        else if (vd_chat_lines(nav->line.text) > 1)
            vd_chat_join_lines(&nav->line);
        else if (nav->places.now == VD_PLACE_CHAT)
            vd_navigation_newest(nav);
        else
            return false;
        break;
    case VD_ACTION_STOP:
        stop(chat);
        break;
    case VD_ACTION_OLDER_ROUND:
    case VD_ACTION_NEWER_ROUND:
        vd_navigation_step(nav, &chat->conversation, action == VD_ACTION_OLDER_ROUND ? -1 : 1);
        break;
    case VD_ACTION_OUTLINES:
        chat->shown.no_outlines = !chat->shown.no_outlines;
        break;
    case VD_ACTION_PLAY:
        vd_chat_words_play(chat);
        break;
    default:
        return false;
    }
    return true;
}

// ---- the dispatch ------------------------------------------------------------------------------

bool vd_chat_act(vd_chat *chat, vd_action action, const char *argument)
{
    return (vd_chat_view(chat)->act && vd_chat_view(chat)->act(chat, action, argument)) ||
           act_on(chat, action, argument) || act_scroll(chat, action, argument) ||
           act_place(chat, action) || act_conversation(chat, action) ||
           act_terminal(chat, action, argument) || act_shown(chat, action) ||
           vd_places_act(&chat->nav.places, action, argument);
}

static bool act(void *chat, vd_action action, const char *argument)
{
    return vd_chat_act(chat, action, argument);
}

void vd_chat_command(vd_chat *chat, const char *line)
{
    if (!vd_entry_known(&chat->nav.places, line) && vd_chat_is_path(line))
        vd_chat_open_picture(chat, line);
    else
        vd_entry_run(&chat->nav.places, line, &chat->notice, act, chat);
}
