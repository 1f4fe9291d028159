// The sessions that can be continued: all transcripts of their directory, the newest first.
#include <time.h>

#include "tui/chat/views/draw.h"

static bool matches_session(const vd_list *list, int index)
{
    vd_saved *saved = &list->chat->saved[index];
    const char *text = list->chat->nav.filter.text;
    if (*text)
        vd_saved_look(saved);
    return vd_text_find(saved->name, text) || vd_text_find(saved->picture, text) ||
           vd_text_find(saved->question, text);
}

static void draw_row(const vd_list *list, vd_grid *grid, vd_rect at, int entry, bool selected)
{
    vd_saved *saved = &list->chat->saved[entry];
    vd_role role = selected ? VD_ROLE_SELECTED : VD_ROLE_TEXT;
    char when[32], text[64];
    struct tm parts;
    vd_saved_look(saved);
    localtime_r(&saved->when.tv_sec, &parts);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", &parts);
    int x = at.x + 1, end = at.x + at.width, name = at.width >= 72 ? 26 : 16;
    vd_grid_text(grid, x, at.y, name, saved->name, role);
    x += name + 1;
    x += vd_grid_text(grid, x, at.y, end - x, when, VD_ROLE_FAINT) + 2;
    snprintf(text, sizeof text, "picture %s, %d round%s  ", saved->picture, saved->rounds,
             saved->rounds == 1 ? "" : "s");
    x += vd_grid_text(grid, x, at.y, end - x, text, VD_ROLE_TITLE);
    vd_grid_text(grid, x, at.y, end - x, saved->question, VD_ROLE_QUESTION);
}

static void pick_session(const vd_list *list, int index)
{
    vd_chat *chat = list->chat;
    vd_chat_wish(chat, VD_WISH_LOAD, chat->saved[index].name);
    vd_chat_open(chat, VD_PLACE_CHAT);
}

static vd_list list_sessions(vd_chat *chat)
{
    return (vd_list){.chat = chat,
                     .at = &chat->nav.list_at,
                     .count = (int)chat->saved_count,
                     .matches = matches_session,
                     .draw_row = draw_row,
                     .pick = pick_session};
}

static void draw_sessions(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture;
    vd_list list = list_sessions(chat);
    chat->nav.places.seen = at.height - 2;
    vd_grid_text(grid, at.x + 1, at.y, at.width - 2,
                 "Sessions: name, last change, picture and rounds", VD_ROLE_TITLE);
    int total = vd_list_draw(&list, grid, (vd_rect){at.x, at.y + 1, at.width - 1, at.height - 2});
    char text[160];
    if (total == 0 && !chat->nav.filter.length)
        snprintf(text, sizeof text, "no session yet; /save NAME names this one");
    else if (total == 0)
        snprintf(text, sizeof text, "no session has \"%.60s\" in its line", chat->nav.filter.text);
    else
        snprintf(text, sizeof text, "session %d of %d%s", chat->nav.list_at + 1, total,
                 chat->nav.filter.length ? " that match" : "; /save NAME names this one");
    vd_grid_text(grid, at.x + 1, at.y + at.height - 1, at.width - 2, text, VD_ROLE_NOTE);
}

static void open_sessions(vd_chat *chat)
{
    vd_error err = {0};
    g_free(chat->saved);
    if (vd_saved_list(&chat->saved, &chat->saved_count, &err) != VD_OK)
        vd_notice_complain(&chat->notice, "%s", err.text);
}

const vd_view vd_view_sessions = {.action = VD_ACTION_SESSIONS,
                                  .filter = " find> ",
                                  .open = open_sessions,
                                  .draw = draw_sessions,
                                  .list = list_sessions};
