// What is pasted: its lines are questions, which a mark keeps apart in the line until Enter.
#include <string.h>

#include "tui/chat/actions/actions.h"

int vd_chat_lines(const char *text)
{
    int count = 1;
    while ((text = strstr(text, VD_LINE_BREAK)) != NULL) {
        text += strlen(VD_LINE_BREAK);
        count++;
    }
    return count;
}

void vd_chat_break_line(vd_chat *chat, vd_line *line)
{
    bool several = line == &chat->nav.line && chat->nav.editing < 0;
    const char *text = line->text + line->cursor, mark[] = VD_LINE_BREAK;
    size_t length = strlen(mark);
    if (several && line->cursor >= length && strncmp(text - length, mark, length) == 0)
        return;
    if (!vd_line_insert(line, several && line->cursor > 0 ? VD_LINE_BREAK_CODE : ' '))
        chat->nav.unpasted++;
}

void vd_chat_join_lines(vd_line *line)
{
    char text[VD_LINE_MAX + 1], *at;
    memcpy(text, line->text, sizeof text);
    while ((at = strstr(text, VD_LINE_BREAK)) != NULL) {
        *at = ' ';
        memmove(at + 1, at + strlen(VD_LINE_BREAK), strlen(at + strlen(VD_LINE_BREAK)) + 1);
    }
    vd_line_set(line, text);
}

void vd_chat_paste(vd_chat *chat, bool begin)
{
    vd_navigation *nav = &chat->nav;
    vd_line *line = &nav->line;
    size_t mark = strlen(VD_LINE_BREAK);
    nav->pasting = begin;
    if (begin)
        return;
    if (line->cursor == line->length && line->length >= mark &&
        strcmp(line->text + line->length - mark, VD_LINE_BREAK) == 0)
        vd_line_action(line, VD_ACTION_EDIT_BACKSPACE);
    if (nav->unpasted)
        vd_notice_complain(&chat->notice,
                           "a line holds %d bytes: the last %zu characters were not pasted",
                           VD_LINE_MAX, nav->unpasted);
    else if (nav->unread)
        vd_notice_complain(&chat->notice, "not valid UTF-8: %zu bytes were pasted as \uFFFD",
                           nav->unread);
    else if (vd_chat_lines(line->text) > 1)
        vd_notice_say(&chat->notice,
                      "%d lines were pasted: Enter asks them one after another, Esc joins them",
                      vd_chat_lines(line->text));
    nav->unpasted = nav->unread = 0;
}
