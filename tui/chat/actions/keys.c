// Keys: typing, and which action a key is.
#include <string.h>
#include <strings.h>

#include "tui/chat/actions/actions.h"
#include "tui/session/spelling.h"

// ---- the line ----------------------------------------------------------------------------------

// The command that a word alone stands for, as in other programs; NULL: none.
static const char *plain_command(const char *text)
{
    static const char *const words[][2] = {{"help", "/help"}, {"quit", "/quit"}, {"exit", "/quit"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

// Asks, or changes a round to the question.
static void submit(vd_chat *chat, const char *text)
{
    vd_line *line = &chat->nav.line;
    const char *start = text + strspn(text, " "); // blanks before a question are none of it
    const char *plain = plain_command(start);
    if (*start == '\0') {
        vd_line_clear(line);
    } else if (plain) {
        vd_line_clear(line);
        vd_chat_command(chat, plain);
    } else if (*start == '/') {
        vd_line_remember(line, start);
        vd_line_clear(line);
        vd_chat_command(chat, start);
    } else if (vd_chat_is_path(start)) { // dragged here
        vd_line_clear(line);
        vd_chat_open_picture(chat, start);
    } else if (chat->nav.editing >= 0) {
        vd_chat_change(chat, (size_t)chat->nav.editing, start);
    } else {
        vd_chat_ask(chat, start);
    }
}

// Each pasted line is a question or a command of its own. One that cannot be asked is in the line
// again, with those after it.
static void submit_line(vd_chat *chat)
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
        submit(chat, at);
        vd_navigation_settle(&chat->nav, &chat->lanes);
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

// The first click selects an entry, the second one picks it.
static void click_entry(vd_chat *chat, int entry)
{
    const vd_list list = vd_chat_view(chat)->list(chat);
    bool pick = list.at_once || *list.at == entry;
    *list.at = entry;
    if (pick)
        vd_chat_act(chat, VD_ACTION_PICK, "");
}

static void click(vd_chat *chat, vd_key key)
{
    const vd_view *view = vd_chat_view(chat);
    const vd_spot *spot = vd_spot_at(&chat->nav, key.x, key.y);
    if (spot && *spot->command)
        vd_chat_command(chat, spot->command);
    else if (spot && view->list) // the place may be another one than was drawn
        click_entry(chat, spot->entry);
    else if (view->click)
        view->click(chat, key.x, key.y);
}

int vd_chat_left_over(const vd_chat *chat)
{
    const vd_line *line = &chat->nav.line;
    const vd_vocab *vocab = chat->lanes.lane[0].vocab;
    vd_reply seen = {0};
    if (vocab && !vd_chat_view(chat)->filter && line->text[strspn(line->text, " ")] != '/' &&
        vd_read_typed(vocab, line->text, &seen.question, NULL) == VD_OK)
        vd_reply_see(&seen, vocab, NULL);
    int cut = seen.cut;
    vd_reply_clear(&seen);
    return cut;
}

void vd_chat_key(vd_chat *chat, vd_key key)
{
    char text[2];
    vd_navigation *nav = &chat->nav;
    vd_line *line = vd_chat_line(chat);
    vd_rect hints = nav->layout.hints;
    if (key.code == VD_KEY_CLICK && key.y == hints.y && chat->notice.kind == VD_NOTICE_NONE &&
        !vd_chat_left_over(chat)) // a key by its name
        key = vd_keymap_hint_key(nav->places.now, hints.width - 2, key.x - hints.x - 1);
    size_t length = line->length;
    bool character = vd_key_is_typed(key);
    bool help = nav->places.now == VD_PLACE_HELP;
    if (key.code == VD_KEY_PASTE_BEGIN || key.code == VD_KEY_PASTE_END) {
        vd_chat_paste(chat, key.code == VD_KEY_PASTE_BEGIN);
        return;
    }
    chat->notice = (vd_notice){0};
    vd_action action = vd_keymap_action(nav->places.now, key, line->length == 0);
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
    } else if (vd_keymap_line(nav->places.now, key)) {
        vd_chat_command(chat, vd_keymap_line(nav->places.now, key));
    } else if (action != VD_ACTION_NONE) {
        if (action == VD_ACTION_ASK)
            submit_line(chat);
        else
            vd_chat_act(chat, action, vd_keymap_says(key, text));
    } else if (character && !help) {
        type(chat, line, key.code);
    }
    if (line == &nav->filter && line->length != length)
        nav->list_at = 0; // of what is listed now
    if (line->searching)
        vd_notice_say(&chat->notice, "Ctrl-R an older one, Ctrl-S a newer one, Enter asks it, Esc "
                                     "edits it, Ctrl-C restores the line");
    vd_navigation_settle(nav, &chat->lanes);
    while (vd_chat_view(chat)->of_round && !vd_chat_round(chat))
        vd_places_back(&nav->places);
    vd_chat_settle(chat);
}
