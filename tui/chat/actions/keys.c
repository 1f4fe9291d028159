// Keys: typing, and which action a key is.
#include <string.h>

#include "tui/chat/actions/actions.h"
#include "tui/screen/way.h"

// ---- moving ------------------------------------------------------------------------------------

static const vd_view *view_now(const vd_chat *chat)
{
    return chat->views[chat->nav.place];
}

// Moves what the place scrolls by `lines` towards its end.
static void scroll(vd_chat *chat, int lines)
{
    vd_navigation *nav = &chat->nav;
    int *top = &nav->top[nav->place];
    if (view_now(chat)->scroll)
        view_now(chat)->scroll(chat, lines);
    else if (view_now(chat)->list)
        vd_list_scroll(chat, lines);
    else
        *top = vd_clamp(*top + lines, nav->scroll_most);
}

static bool act_scroll(vd_chat *chat, vd_action action, vd_key key)
{
    int lines = vd_scroll_lines(action, key, chat->nav.seen);
    if (lines)
        scroll(chat, lines);
    return lines != 0;
}

static bool act_place(vd_chat *chat, vd_action action)
{
    vd_place place = VD_PLACE_CHAT + 1;
    while (place < VD_PLACES && chat->views[place]->action != action)
        place++;
    if (chat->nav.place == place)
        vd_navigation_back(&chat->nav);
    else if (place < VD_PLACES)
        vd_chat_open(chat, place);
    return place < VD_PLACES;
}

// ---- the line ----------------------------------------------------------------------------------

// What typing goes into.
static vd_line *typed_line(vd_chat *chat)
{
    return view_now(chat)->filter ? &chat->nav.filter : &chat->nav.line;
}

static void stop(vd_chat *chat)
{
    vd_line *line = typed_line(chat);
    vd_lane *first = &chat->lanes.lane[0];
    bool waits = vd_conversation_waits(&chat->conversation);
    chat->nav.pasting = false;
    if (waits && first->stopped) {
        first->stopped = false; // what was recorded could not be asked: once more
        vd_lanes_pump(&chat->lanes);
    } else if (waits)
        vd_lanes_send(&chat->lanes, VD_REQUEST_STOP, 0, NULL, 0);
    else if (chat->nav.editing >= 0)
        vd_navigation_stop_editing(&chat->nav);
    else if (line->length)
        vd_line_clear(line);
    else
        vd_notice_say(&chat->notice, "Ctrl-D or /quit leaves");
}

// Asks, or changes a round to the question. Of a command the action that it is.
static vd_action submit(vd_chat *chat, const char *text)
{
    vd_line *line = &chat->nav.line;
    const char *start = text + strspn(text, " "); // blanks before a question are none of it
    if (*start == '\0') {
        vd_line_clear(line);
    } else if (*start == '/') {
        vd_line_remember(line, start, NULL);
        vd_line_clear(line);
        return vd_chat_command(chat, start);
    } else if (vd_chat_is_path(start)) { // dragged here
        vd_line_clear(line);
        vd_chat_open_picture(chat, start);
    } else if (chat->nav.editing >= 0) {
        vd_chat_change(chat, (size_t)chat->nav.editing, start);
    } else {
        vd_chat_ask(chat, start);
    }
    return VD_ACTION_NONE;
}

// ---- actions -----------------------------------------------------------------------------------

// Forward, from the last one to the first.
static void step_picture(vd_chat *chat, size_t step)
{
    size_t picture = chat->conversation.branches.picture + step;
    vd_chat_go_picture(chat, picture % vd_world_count(chat->conversation.world));
}

static bool act_conversation(vd_chat *chat, vd_action action, vd_key key)
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
    case VD_ACTION_CHOOSE_ANSWER:
        vd_chat_choose(chat, (int)(key.code - '1'));
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
    case VD_ACTION_NEW_PICTURE:
        vd_chat_new_picture(chat, "");
        return true;
    default:
        return false;
    }
}

static bool act_terminal(vd_chat *chat, vd_action action)
{
    vd_request_kind kind = vd_request_of(action);
    if (kind)
        vd_lanes_send(&chat->lanes, kind, 0, NULL, 0);
    return kind != VD_REQUEST_NONE;
}

static bool act_shown(vd_chat *chat, vd_action action)
{
    vd_navigation *nav = &chat->nav;
    switch ((int)action) {
    case VD_ACTION_COMPLETE:
        (nav->line.text[0] == '/' ? vd_chat_complete : vd_chat_complete_question)(chat);
        break;
    case VD_ACTION_PICK:
        if (!view_now(chat)->list)
            return false;
        vd_list_pick(chat);
        break;
    case VD_ACTION_BACK:
        if (nav->editing >= 0)
            vd_navigation_stop_editing(nav);
        else if (vd_chat_lines(nav->line.text) > 1)
            vd_chat_join_lines(&nav->line);
        else
            vd_navigation_back(nav);
        break;
    case VD_ACTION_STOP:
        stop(chat);
        break;
    case VD_ACTION_OLDER_ROUND:
    case VD_ACTION_NEWER_ROUND:
        vd_navigation_step(nav, &chat->conversation, action == VD_ACTION_OLDER_ROUND ? -1 : 1);
        break;
    case VD_ACTION_SEARCH:
        vd_chat_find(chat, nav->line.text);
        vd_line_clear(&nav->line);
        break;
    case VD_ACTION_OUTLINES:
        chat->shown.no_outlines = !chat->shown.no_outlines;
        break;
    case VD_ACTION_PLAY:
        vd_chat_words_play(chat);
        break;
    case VD_ACTION_FOLD:
        vd_chat_fold(chat, !chat->rankings.folded);
        break;
    default:
        return false;
    }
    return true;
}

// false: the action means nothing here.
static bool act(vd_chat *chat, vd_action action, vd_key key)
{
    return (view_now(chat)->act && view_now(chat)->act(chat, action, key)) ||
           act_scroll(chat, action, key) || act_place(chat, action) ||
           act_conversation(chat, action, key) || act_terminal(chat, action) ||
           act_shown(chat, action);
}

// Each pasted line is a question or a command of its own. One that cannot be asked is in the line
// again, with those after it.
static void submit_line(vd_chat *chat, vd_key key)
{
    vd_line *line = &chat->nav.line;
    char text[VD_LINE_MAX + 1], *next;
    memcpy(text, line->text, sizeof text);
    for (char *at = text; at; at = next) {
        next = strstr(at, VD_LINE_BREAK);
        vd_line_set(line, at);
        if (next) {
            *next = '\0';
            next += strlen(VD_LINE_BREAK);
        }
        vd_action action = submit(chat, at);
        if (action && !act(chat, action, key))
            vd_chat_misplaced(chat, action);
        if (line->length)
            break;
    }
}

// ---- typing ------------------------------------------------------------------------------------

static void type(vd_chat *chat, vd_line *line, uint32_t code)
{
    bool fits = vd_line_insert(line, code);
    if (chat->nav.pasting) {
        chat->nav.unpasted += !fits;
        chat->nav.unread += code == VD_REPLACEMENT;
    } else if (!fits) {
        vd_notice_complain(&chat->notice, "a line holds %d bytes: there is no room for more",
                           VD_LINE_MAX);
    }
}

static bool edit(vd_chat *chat, vd_line *line, vd_action action)
{
    size_t before = line->length;
    if (!vd_line_action(line, action))
        return false;
    if (action == VD_ACTION_EDIT_YANK && line->length < before + strlen(line->cut))
        vd_notice_complain(&chat->notice,
                           "a line holds %d bytes: the end of what was cut did not fit",
                           VD_LINE_MAX);
    return true;
}

static void click(vd_chat *chat, vd_key key)
{
    const vd_view *view = view_now(chat);
    const char *command = vd_spot_command(&chat->nav, key.x, key.y);
    if (command)
        act(chat, vd_chat_command(chat, command), key);
    else if (key.x < 0 || key.y < 0 || key.x >= VD_GRID_MAX || key.y >= VD_GRID_MAX)
        return;
    else if (view->click)
        view->click(chat, key.x, key.y);
    else if (view->list)
        vd_list_click(chat, key.y);
}

void vd_chat_key(vd_chat *chat, vd_key key)
{
    vd_navigation *nav = &chat->nav;
    vd_line *line = typed_line(chat);
    vd_rect hints = nav->layout.hints;
    if (key.code == VD_KEY_CLICK && key.y == hints.y && !chat->notice.text[0]) // a key by its name
        key = vd_keymap_hint_key(nav->place, hints.width - 2, key.x - hints.x - 1);
    bool character = key.code < VD_KEY_NONE && !(key.modifiers & (VD_ALT | VD_CTRL));
    bool help = nav->place == VD_PLACE_HELP;
    if (key.code == VD_KEY_PASTE_BEGIN || key.code == VD_KEY_PASTE_END) {
        vd_chat_paste(chat, key.code == VD_KEY_PASTE_BEGIN);
        return;
    }
    chat->notice = (vd_notice){0};
    vd_action action = vd_keymap_action(nav->place, key, line->length == 0);
    bool search = vd_line_search(line, key, action);
    if (!search && nav->pasting && !help && action != VD_ACTION_STOP) {
        if (key.code == VD_KEY_ENTER) // asks nothing yet
            vd_chat_break_line(chat, line);
        else if (character || key.code == VD_KEY_TAB)
            type(chat, line, character ? key.code : ' ');
    } else if (!search && key.code == VD_KEY_CLICK) {
        click(chat, key);
    } else if (search || edit(chat, line, action)) {
        // done
    } else if (vd_keymap_line(nav->place, key)) {
        act(chat, vd_chat_command(chat, vd_keymap_line(nav->place, key)), key);
    } else if (action != VD_ACTION_NONE) {
        if (action == VD_ACTION_ASK)
            submit_line(chat, key);
        else
            act(chat, action, vd_keymap_meant(key));
    } else if (character && !help) {
        type(chat, line, key.code);
    }
    if (line->searching)
        vd_notice_say(&chat->notice, "Ctrl-R an older one, Ctrl-S a newer one, Enter asks it, Esc "
                                     "edits it, Ctrl-C restores the line");
    vd_navigation_settle(nav, &chat->lanes);
    while (view_now(chat)->of_round && !vd_chat_round(chat))
        vd_navigation_back(nav);
    vd_chat_settle(chat);
}
