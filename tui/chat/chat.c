#include "tui/chat/chat.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "engine/base/alloc.h"

// ---- places ------------------------------------------------------------------------------------

const vd_view *vd_view_of(vd_place place)
{
    static const vd_view *const views[VD_PLACES] = {
#define X(name, view) [VD_PLACE_##name] = &vd_view_##view,
        VD_PLACE_LIST(X)
#undef X
    };
    return views[place];
}

// ---- messages and requests ---------------------------------------------------------------------

static void say(vd_chat *chat, bool wrong, const char *format, va_list arguments)
{
    vsnprintf(chat->message, sizeof chat->message, format, arguments);
    chat->message_wrong = wrong;
}

void vd_chat_say(vd_chat *chat, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(chat, false, format, arguments);
    va_end(arguments);
}

void vd_chat_complain(vd_chat *chat, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(chat, true, format, arguments);
    va_end(arguments);
}

bool vd_chat_post_request(vd_chat *chat, vd_request *request)
{
    if (chat->request_count == VD_CHAT_REQUESTS) {
        vd_chat_complain(chat, "too much at once: wait a moment");
        vd_request_clear(request);
        return false;
    }
    int at = (chat->request_first + chat->request_count++) % VD_CHAT_REQUESTS;
    request->serial = ++chat->serial;
    chat->request[at] = *request;
    *request = (vd_request){0};
    return true;
}

bool vd_chat_post(vd_chat *chat, vd_request_kind kind, int lane, const char *text, size_t index)
{
    vd_request request = {
        .kind = kind, .lane = lane, .text = text ? vd_strdup(text) : NULL, .index = index};
    if (text && !request.text) {
        vd_chat_complain(chat, "out of memory");
        return false;
    }
    return vd_chat_post_request(chat, &request);
}

bool vd_chat_take_request(vd_chat *chat, vd_request *out)
{
    if (chat->request_count == 0)
        return false;
    *out = chat->request[chat->request_first];
    chat->request[chat->request_first] = (vd_request){0};
    chat->request_first = (chat->request_first + 1) % VD_CHAT_REQUESTS;
    chat->request_count--;
    return true;
}

// ---- events ------------------------------------------------------------------------------------

static void take_boxes(vd_chat *chat, vd_event *event)
{
    vd_free(chat->boxes);
    chat->boxes = event->boxes;
    chat->regions = event->boxes ? event->regions : 0;
    event->boxes = NULL;
}

void vd_chat_event(vd_chat *chat, vd_event *event)
{
    if (event->kind == VD_REQUEST_MODEL)
        vd_chat_model_came(chat, event);
    else if (event->kind == VD_REQUEST_ASK)
        vd_chat_answer_came(chat, event);
    else if (event->kind == VD_REQUEST_WALK)
        vd_chat_walk_came(chat, event);
    else if (event->status)
        vd_chat_complain(chat, "%s", event->error.text);
    else if (event->kind == VD_REQUEST_PICTURE)
        take_boxes(chat, event);
    vd_event_clear(event);
    vd_chat_walk_pump(chat);
    vd_chat_recall_pump(chat);
}

// ---- keys --------------------------------------------------------------------------------------

static void submit(vd_chat *chat)
{
    const char *text = chat->line.text;
    size_t blank = strspn(text, " ");
    if (text[blank] == '\0') {
        vd_line_clear(&chat->line);
        return;
    }
    if (text[blank] != '/' && chat->editing >= 0) {
        char changed[VD_LINE_MAX + 1];
        memcpy(changed, text, sizeof changed);
        vd_chat_change(chat, (size_t)chat->editing, changed);
        return;
    }
    if (text[blank] != '/') {
        vd_chat_ask(chat, text);
        return;
    }
    char command[VD_LINE_MAX + 1];
    snprintf(command, sizeof command, "%s", text + blank);
    vd_line_remember(&chat->line, command, NULL);
    vd_line_clear(&chat->line);
    vd_chat_command(chat, command);
}

// Moves what the place scrolls by `lines` towards its end.
static void scroll(vd_chat *chat, int lines)
{
    const vd_view *view = vd_view_of(chat->place);
    int *top = &chat->top[chat->place];
    if (view->scroll)
        view->scroll(chat, lines);
    else
        *top = vd_clamp(*top + lines, chat->scroll_most);
}

static void click(vd_chat *chat, vd_key key)
{
    const vd_view *view = vd_view_of(chat->place);
    if (view->click && key.x >= 0 && key.y >= 0 && key.x < VD_GRID_MAX && key.y < VD_GRID_MAX)
        view->click(chat, key.x, key.y);
}

// What typing goes into.
static vd_line *typed_line(vd_chat *chat)
{
    return vd_view_of(chat->place)->filter ? &chat->filter : &chat->line;
}

static void stop(vd_chat *chat)
{
    vd_line *line = typed_line(chat);
    chat->pasting = false;
    if (vd_chat_busy(chat) && chat->lanes[0].stopped) {
        chat->lanes[0].stopped = false; // what was recorded could not be asked: once more
        vd_chat_pump(chat);
    } else if (vd_chat_busy(chat))
        vd_chat_post(chat, VD_REQUEST_STOP, 0, NULL, 0);
    else if (chat->editing >= 0)
        vd_chat_stop_editing(chat);
    else if (line->length)
        vd_line_clear(line);
    else
        vd_chat_say(chat, "Ctrl-D or /quit leaves");
}

static void act(vd_chat *chat, vd_action action, vd_key key)
{
    size_t pictures = chat->source.count(chat->source.context);
    switch ((int)action) {
    case VD_ACTION_ASK:
        submit(chat);
        break;
    case VD_ACTION_COMPLETE:
        if (chat->line.length == 0 || strcmp(chat->line.text, chat->suggested) == 0)
            vd_chat_suggest(chat);
        else
            vd_chat_complete(chat);
        break;
    case VD_ACTION_HELP:
        vd_chat_toggle(chat, VD_PLACE_HELP);
        break;
    case VD_ACTION_BACK:
        if (chat->editing >= 0)
            vd_chat_stop_editing(chat);
        else
            vd_chat_back(chat);
        break;
    case VD_ACTION_EDIT_ROUND:
        vd_chat_edit(chat);
        break;
    case VD_ACTION_NEXT_BRANCH:
        vd_chat_use_branch(chat, (chat->branch + 1) % chat->branch_count);
        break;
    case VD_ACTION_LEAVE:
        vd_chat_post(chat, VD_REQUEST_LEAVE, 0, NULL, 0);
        break;
    case VD_ACTION_STOP:
        stop(chat);
        break;
    case VD_ACTION_SCROLL_UP:
    case VD_ACTION_SCROLL_DOWN: {
        int lines = key.code == VD_KEY_WHEEL_UP || key.code == VD_KEY_WHEEL_DOWN ? 3
                    : chat->page > 2                                             ? chat->page - 1
                                                                                 : 1;
        scroll(chat, action == VD_ACTION_SCROLL_UP ? -lines : lines);
        break;
    }
    case VD_ACTION_SCROLL_TOP:
    case VD_ACTION_SCROLL_BOTTOM:
        scroll(chat, action == VD_ACTION_SCROLL_TOP ? -1000000 : 1000000);
        break;
    case VD_ACTION_LINE_UP:
    case VD_ACTION_LINE_DOWN:
        scroll(chat, action == VD_ACTION_LINE_UP ? -1 : 1);
        break;
    case VD_ACTION_OLDER_ROUND:
    case VD_ACTION_NEWER_ROUND:
        vd_chat_step_round(chat, action == VD_ACTION_OLDER_ROUND ? -1 : 1);
        break;
    case VD_ACTION_CHOOSE_ANSWER:
        vd_chat_choose(chat, (int)(key.code - '1'));
        break;
    case VD_ACTION_UNDO:
        vd_chat_undo(chat);
        break;
    case VD_ACTION_AGAIN:
        vd_chat_again(chat);
        break;
    case VD_ACTION_NEXT_PICTURE:
        vd_chat_go_picture(chat, (chat->index + 1) % pictures);
        break;
    case VD_ACTION_PREVIOUS_PICTURE:
        vd_chat_go_picture(chat, (chat->index + pictures - 1) % pictures);
        break;
    case VD_ACTION_RANDOM_PICTURE:
        vd_chat_random_picture(chat);
        break;
    case VD_ACTION_SWITCH_MODEL:
        vd_chat_switch_model(chat);
        break;
    case VD_ACTION_ZOOM:
        vd_chat_toggle(chat, VD_PLACE_ZOOM);
        break;
    case VD_ACTION_ANSWERS:
        vd_chat_toggle(chat, VD_PLACE_ANSWERS);
        break;
    case VD_ACTION_PICTURES:
        vd_chat_toggle(chat, VD_PLACE_PICTURES);
        break;
    case VD_ACTION_COMPARE:
        vd_chat_toggle(chat, VD_PLACE_COMPARE);
        break;
    case VD_ACTION_WALK:
        vd_chat_toggle(chat, VD_PLACE_WALK);
        break;
    case VD_ACTION_DETAIL:
        vd_chat_toggle(chat, VD_PLACE_DETAIL);
        break;
    case VD_ACTION_SEARCH:
        vd_chat_find(chat, chat->line.text);
        vd_line_clear(&chat->line);
        break;
    case VD_ACTION_OUTLINES:
        chat->no_outlines = !chat->no_outlines;
        break;
    case VD_ACTION_FOLD:
        vd_chat_fold_answers(chat, !chat->fold.on);
        break;
    case VD_ACTION_REDRAW:
        vd_chat_post(chat, VD_REQUEST_REDRAW, 0, NULL, 0);
        break;
    case VD_ACTION_SUSPEND:
        vd_chat_post(chat, VD_REQUEST_SUSPEND, 0, NULL, 0);
        break;
    default:
        break;
    }
}

static void mark_paste(vd_chat *chat, bool begin)
{
    chat->pasting = begin;
    if (!begin && chat->unpasted)
        vd_chat_complain(chat, "a line takes %d bytes: the last %zu characters were not pasted",
                         VD_LINE_MAX, chat->unpasted);
    chat->unpasted = 0;
}

static void paste(vd_chat *chat, vd_line *line, uint32_t code)
{
    chat->unpasted += !vd_line_insert(line, code);
}

static void type(vd_chat *chat, vd_line *line, uint32_t code)
{
    if (!vd_line_insert(line, code))
        vd_chat_complain(chat, "a line takes %d bytes: there is no room for more", VD_LINE_MAX);
}

static bool edit(vd_chat *chat, vd_line *line, vd_action action)
{
    size_t before = line->length;
    if (!vd_line_action(line, action))
        return false;
    if (action == VD_ACTION_EDIT_YANK && line->length < before + strlen(line->cut))
        vd_chat_complain(chat, "a line takes %d bytes: the end of what was cut did not fit",
                         VD_LINE_MAX);
    return true;
}

void vd_chat_key(vd_chat *chat, vd_key key)
{
    const vd_view *view = vd_view_of(chat->place);
    vd_line *line = typed_line(chat);
    bool character = key.code < VD_KEY_NONE && !(key.modifiers & (VD_ALT | VD_CTRL));
    if (key.code == VD_KEY_PASTE_BEGIN || key.code == VD_KEY_PASTE_END) {
        mark_paste(chat, key.code == VD_KEY_PASTE_BEGIN);
        return;
    }
    chat->message[0] = '\0';
    vd_action action = vd_keymap_action(chat->place, key, line->length == 0);
    if (chat->pasting && chat->place != VD_PLACE_HELP && action != VD_ACTION_STOP) {
        if (character)
            paste(chat, line, key.code);
        else if (key.code == VD_KEY_ENTER || key.code == VD_KEY_TAB)
            paste(chat, line, ' '); // a pasted line end asks nothing
    } else if (key.code == VD_KEY_CLICK) {
        click(chat, key);
    } else if (edit(chat, line, action)) {
        // done
    } else if (action != VD_ACTION_NONE) {
        if (!view->act || !view->act(chat, action, key))
            act(chat, action, key);
    } else if (character && chat->place != VD_PLACE_HELP) {
        type(chat, line, key.code);
    }
    while (vd_view_of(chat->place)->of_round && !vd_chat_shown(chat))
        vd_chat_back(chat);
    vd_chat_walk_pump(chat);
    vd_chat_recall_pump(chat);
}

// ---- start and end -----------------------------------------------------------------------------

vd_status vd_chat_init(vd_chat *chat, const vd_chat_source *source, size_t index, const char *model,
                       uint64_t seed, vd_error *err)
{
    *chat = (vd_chat){.source = *source,
                      .selected = -1,
                      .editing = -1,
                      .asked_again = -1,
                      .branch_count = 1,
                      .lane_count = 1,
                      .random = seed ? seed : 1};
    if (source->count(source->context) <= index)
        return vd_error_set(err, VD_USAGE, "picture %zu: there are %zu", index + 1,
                            source->count(source->context));
    vd_chat_use_model(chat, 0, model);
    vd_chat_go_picture(chat, index);
    if (chat->request_count != 2) {
        vd_chat_free(chat);
        return vd_error_memory(err, "the chat");
    }
    return VD_OK;
}

void vd_chat_free(vd_chat *chat)
{
    vd_chat_drop_branches(chat);
    vd_chat_drop_pages(chat);
    vd_free(chat->rounds);
    for (int i = 0; i < VD_MODELS; i++)
        vd_free(chat->lanes[i].name);
    vd_free(chat->boxes);
    vd_chat_fold_free(&chat->fold);
    vd_chat_walk_drop(chat);
    for (size_t i = 0; i < chat->contents_count; i++)
        vd_free(chat->contents[i]);
    vd_free(chat->contents);
    vd_picture_clear(&chat->picture);
    vd_line_free(&chat->line);
    vd_line_free(&chat->filter);
    for (vd_request request; vd_chat_take_request(chat, &request);)
        vd_request_clear(&request);
    *chat = (vd_chat){0};
}
