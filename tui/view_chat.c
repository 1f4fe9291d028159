#include "tui/view_chat.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "engine/alloc.h"

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

bool vd_chat_post(vd_chat *chat, vd_request_kind kind, const char *text, size_t index)
{
    if (chat->request_count == VD_CHAT_REQUESTS) {
        vd_chat_complain(chat, "too much at once: wait a moment");
        return false;
    }
    char *copy = text ? vd_strdup(text) : NULL;
    if (text && !copy) {
        vd_chat_complain(chat, "out of memory");
        return false;
    }
    int at = (chat->request_first + chat->request_count++) % VD_CHAT_REQUESTS;
    chat->request[at] =
        (vd_request){.kind = kind, .serial = ++chat->serial, .text = copy, .index = index};
    return true;
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

static void model_came(vd_chat *chat, vd_event *event)
{
    vd_lane *lane = &chat->lanes[0];
    lane->loading[0] = '\0';
    lane->failed = event->status != VD_OK;
    if (event->status) {
        vd_chat_complain(chat, "%s", event->error.text);
        return;
    }
    bool first = !lane->model[0];
    memcpy(lane->model, event->model, sizeof lane->model);
    memcpy(lane->backend, event->backend, sizeof lane->backend);
    lane->answers = event->answers;
    lane->answer_count = event->answer_count;
    take_boxes(chat, event);
    if (!first)
        vd_chat_say(chat, "%s answers from now on%s", lane->model,
                    chat->round_count ? "; F6 asks it the last question" : "");
}

static void answer_came(vd_chat *chat, vd_event *event)
{
    vd_round *round = chat->round_count ? &chat->rounds[chat->round_count - 1] : NULL;
    vd_take *take = round ? &round->take[0] : NULL;
    if (!take || !take->pending || take->serial != event->serial)
        return; // an answer to a conversation that was left
    if (event->status || event->reply.answer.candidates < 1) {
        if (chat->line.length == 0)
            vd_line_set(&chat->line, round->typed);
        if (event->status == VD_INTERRUPTED)
            vd_chat_say(chat, "stopped");
        else
            vd_chat_complain(chat, "%s", event->status ? event->error.text : "no answer came");
        vd_chat_drop_rounds(chat, chat->round_count - 1);
        return;
    }
    const vd_lane *lane = &chat->lanes[0];
    take->pending = false;
    take->reply = event->reply;
    event->reply = (vd_reply){0};
    take->chosen = take->reply.answer.order[0];
    memcpy(take->model, lane->model, sizeof take->model);
    take->answers = lane->answers;
    take->answer_count = lane->answer_count;
    round->human = vd_chat_human_round(chat, take->reply.question ? take->reply.question : "");
    chat->word = 0;
    chat->scroll = 0;
    if (chat->before[0])
        vd_chat_say(chat, "%s", chat->before);
    chat->before[0] = '\0';
}

void vd_chat_event(vd_chat *chat, vd_event *event)
{
    if (event->kind == VD_REQUEST_MODEL)
        model_came(chat, event);
    else if (event->kind == VD_REQUEST_ASK)
        answer_came(chat, event);
    else if (event->status)
        vd_chat_complain(chat, "%s", event->error.text);
    else if (event->kind == VD_REQUEST_PICTURE)
        take_boxes(chat, event);
    vd_event_clear(event);
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
    if (vd_chat_busy(chat))
        vd_chat_post(chat, VD_REQUEST_STOP, NULL, 0);
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
        if (chat->place == VD_PLACE_HELP)
            chat->place = chat->before_help;
        else
            vd_chat_open(chat, VD_PLACE_HELP);
        break;
    case VD_ACTION_BACK:
        chat->place = chat->place == VD_PLACE_HELP ? chat->before_help : VD_PLACE_CHAT;
        break;
    case VD_ACTION_LEAVE:
        vd_chat_post(chat, VD_REQUEST_LEAVE, NULL, 0);
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
    case VD_ACTION_REDRAW:
        vd_chat_post(chat, VD_REQUEST_REDRAW, NULL, 0);
        break;
    case VD_ACTION_SUSPEND:
        vd_chat_post(chat, VD_REQUEST_SUSPEND, NULL, 0);
        break;
    default:
        break;
    }
}

void vd_chat_key(vd_chat *chat, vd_key key)
{
    const vd_view *view = vd_view_of(chat->place);
    vd_line *line = typed_line(chat);
    bool character = key.code < VD_KEY_NONE && !(key.modifiers & (VD_ALT | VD_CTRL));
    if (key.code == VD_KEY_PASTE_BEGIN || key.code == VD_KEY_PASTE_END) {
        chat->pasting = key.code == VD_KEY_PASTE_BEGIN;
        return;
    }
    chat->message[0] = '\0';
    vd_action action = vd_keymap_action(chat->place, key, line->length == 0);
    if (chat->pasting && chat->place != VD_PLACE_HELP && action != VD_ACTION_STOP) {
        if (character)
            vd_line_insert(line, key.code);
        else if (key.code == VD_KEY_ENTER || key.code == VD_KEY_TAB)
            vd_line_insert(line, ' '); // a pasted line end asks nothing
    } else if (key.code == VD_KEY_CLICK) {
        click(chat, key);
    } else if (vd_line_action(line, action)) {
        // done
    } else if (action != VD_ACTION_NONE) {
        if (!view->act || !view->act(chat, action, key))
            act(chat, action, key);
    } else if (character && chat->place != VD_PLACE_HELP) {
        vd_line_insert(line, key.code);
    }
    if (vd_view_of(chat->place)->of_round && !vd_chat_shown(chat))
        chat->place = VD_PLACE_CHAT;
}

// ---- start and end -----------------------------------------------------------------------------

vd_status vd_chat_init(vd_chat *chat, const vd_chat_source *source, size_t index, const char *model,
                       uint64_t seed, vd_error *err)
{
    *chat = (vd_chat){.source = *source, .selected = -1, .random = seed ? seed : 1};
    if (source->count(source->context) <= index)
        return vd_error_set(err, VD_USAGE, "picture %zu: there are %zu", index + 1,
                            source->count(source->context));
    vd_chat_use_model(chat, model);
    vd_chat_go_picture(chat, index);
    if (chat->request_count != 2) {
        vd_chat_free(chat);
        return vd_error_memory(err, "the chat");
    }
    return VD_OK;
}

void vd_chat_free(vd_chat *chat)
{
    vd_chat_drop_rounds(chat, 0);
    vd_free(chat->rounds);
    vd_free(chat->boxes);
    vd_picture_clear(&chat->picture);
    vd_line_free(&chat->line);
    vd_line_free(&chat->filter);
    for (vd_request request; vd_chat_take_request(chat, &request);)
        vd_request_clear(&request);
    *chat = (vd_chat){0};
}
