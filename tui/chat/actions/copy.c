// The conversation to the clipboard and to files.
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "tui/chat/actions/actions.h"
#include "tui/screen/clipboard.h"

// ---- clipboard ----------------------------------------------------------------------------------

static void add_round(const vd_chat *chat, size_t at, GString *out)
{
    const vd_round *round = &chat->conversation.branch->rounds[at];
    const vd_response *response = &round->response[chat->nav.lane];
    g_string_append_printf(out, "Q: %s\nA: %s\n", round->typed,
                           response->ready ? vd_response_text(response, response->chosen) : "...");
}

static void add_conversation(const vd_chat *chat, GString *out)
{
    const vd_picture_caption caption = vd_conversation_caption(&chat->conversation);
    const char *by = vd_caption_by_text(caption.by);
    char name[256];
    vd_world_name(chat->conversation.world, chat->conversation.branches.picture, name, sizeof name);
    g_string_append_printf(out, *by ? "Picture %s: %s (%s)\n" : "Picture %s: %s%s\n", name,
                           caption.text, by);
    for (size_t i = 0; i < chat->conversation.branch->count; i++)
        add_round(chat, i, out);
}

static void send(vd_chat *chat, const char *what, const char *text)
{
    size_t length = strlen(text);
    if (length > VD_CLIPBOARD_BYTES)
        vd_notice_complain(&chat->notice,
                           "the %s has %zu bytes, terminals take %d: /export writes it to a file",
                           what, length, VD_CLIPBOARD_BYTES);
    else {
        vd_lanes_send(&chat->lanes, VD_REQUEST_COPY, 0, text, 0);
        vd_notice_say(&chat->notice, "%s copied to the terminal's clipboard", what);
    }
}

void vd_chat_copy(vd_chat *chat, const char *what)
{
    static const char *const parts[] = {"answer", "round", "conversation"};
    enum { ANSWER, ROUND, CONVERSATION, PARTS };
    int part = 0;
    while (part < PARTS && strncmp(parts[part], what, strlen(what)) != 0)
        part++;
    const vd_round *round = vd_chat_round(chat);
    if (!vd_chat_asked(chat))
        return;
    if (part == PARTS) {
        vd_notice_complain(&chat->notice, "/copy answer, round or conversation");
        return;
    }
    const vd_response *response = vd_chat_response(chat);
    g_autoptr(GString) out = g_string_new(NULL);
    if (part == ANSWER)
        g_string_append(out, vd_response_text(response, response->chosen));
    else if (part == ROUND)
        add_round(chat, (size_t)(round - chat->conversation.branch->rounds), out);
    else
        add_conversation(chat, out);
    send(chat, parts[part], out->str);
}

// ---- files --------------------------------------------------------------------------------------

static void export_to(vd_chat *chat, size_t kind, const char *name, bool force)
{
    const char *home = getenv("HOME");
    bool at_home = home && name[0] == '~' && name[1] == '/';
    g_autofree char *whole = g_strconcat(at_home ? home : "", at_home ? name + 1 : name, NULL);
    const char *path = whole;
    vd_error err;
    if (vd_output_check(&path, 1, NULL, 0, force, &err) != VD_OK)
        vd_notice_complain(&chat->notice, "%s", err.text);
    else
        vd_lanes_send(&chat->lanes, VD_REQUEST_EXPORT, 0, whole, kind);
}

// "html FILE", with --force behind it to overwrite.
void vd_chat_export(vd_chat *chat, const char *text)
{
    static const char *const kinds[] = {"html", "md", "json"}, force[] = " --force";
    const bool forced = g_str_has_suffix(text, force);
    size_t kind = 0, length = strcspn(text, " ");
    g_autofree char *name = g_strndup(text, strlen(text) - (forced ? strlen(force) : 0));
    const char *path = name + length + strspn(name + length, " ");
    while (kind < 3 && (strlen(kinds[kind]) != length || strncmp(kinds[kind], text, length) != 0))
        kind++;
    const char *dot = kind == 3 ? strrchr(name, '.') : NULL;
    if (dot) // a file alone: its ending says which
        for (kind = 0, path = name; kind < 3 && strcmp(kinds[kind], dot + 1) != 0;)
            kind++;
    if (kind == 3 || !*path)
        vd_notice_complain(
            &chat->notice,
            "/export html FILE (or md, json); or a FILE that ends in .html, .md or .json");
    else if (vd_chat_asked(chat))
        export_to(chat, kind, path, forced);
}
