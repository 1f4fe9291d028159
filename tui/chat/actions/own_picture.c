// Pictures of one's own in the chat: opened, made, kept.
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/chat/actions/actions.h"

// ---- what was typed -----------------------------------------------------------------------------

// "~/" is the home directory, "file://" what some file managers write.
static char *expand(const char *path)
{
    char *file = g_str_has_prefix(path, "file://") ? g_filename_from_uri(path, NULL, NULL) : NULL;
    if (file)
        return file;
    const char *home = getenv("HOME");
    return home && g_str_has_prefix(path, "~/") ? g_build_filename(home, path + 2, NULL)
                                                : g_strdup(path);
}

// The paths of a line, with quotes and backslashes as a dragged file has them; a file that is
// called like the whole line is that. g_strfreev.
static char **read_paths(const char *text)
{
    char *whole = g_strstrip(g_strdup(text)), **words = NULL;
    char *plain = expand(whole);
    if (access(plain, F_OK) == 0 || !g_shell_parse_argv(whole, NULL, &words, NULL)) {
        words = g_strdupv((char *[]){plain, NULL});
    }
    for (char **word = words; *word; word++) {
        char *typed = *word;
        *word = expand(typed);
        g_free(typed);
    }
    g_free(plain);
    g_free(whole);
    return words;
}

bool vd_chat_is_path(const char *text)
{
    const char *start = text + strspn(text, " ");
    if (!strchr("/'\"", *start) && !g_str_has_prefix(start, "file://") &&
        !g_str_has_prefix(start, "~/"))
        return false;
    char **paths = read_paths(start);
    // "/etc" is a command with a typo, and a question may be a file's name.
    bool there = *paths && **paths && strchr(*paths + 1, '/') && access(*paths, F_OK) == 0;
    g_strfreev(paths);
    return there;
}

// ---- opening, making ----------------------------------------------------------------------------

void vd_chat_open_picture(vd_chat *chat, const char *text)
{
    const vd_world *world = chat->conversation.world;
    size_t before = vd_world_count(world), first = 0, index;
    vd_error error = {0};
    char **paths = *text ? read_paths(text) : NULL;
    vd_status status =
        paths ? VD_OK
              : vd_error_set(&error, VD_USAGE, "/open FILE: a picture, or a folder of them");
    for (int i = 0; !status && paths[i]; i++)
        status = vd_world_open_path(world, paths[i], i ? &index : &first, &error);
    g_strfreev(paths);
    size_t opened = vd_world_count(world) - before;
    if (status) {
        vd_notice_complain(&chat->notice, "%s", error.text);
        return;
    }
    if (opened > 1)
        vd_notice_say(&chat->notice, "%zu pictures were opened; F8 goes to the next", opened);
    vd_chat_go_picture(chat, first);
}

uint64_t vd_chat_random(vd_chat *chat)
{
    // Marsaglia's xorshift64 ("Xorshift RNGs", 2003).
    chat->random ^= chat->random << 13;
    chat->random ^= chat->random >> 7;
    chat->random ^= chat->random << 17;
    return chat->random;
}

void vd_chat_new_picture(vd_chat *chat, const char *argument)
{
    enum { SEEDS = 1000000 }; // short enough to be told to others
    uint64_t seed = vd_chat_random(chat) % SEEDS;
    size_t index;
    vd_error error = {0};
    if (*argument && !g_ascii_string_to_unsigned(argument, 10, 0, INT64_MAX, &seed, NULL))
        vd_notice_complain(&chat->notice, "/new-picture %s: expected a number, such as 7",
                           argument);
    else if (vd_world_make_picture(chat->conversation.world, seed, &index, &error))
        vd_notice_complain(&chat->notice, "%s", error.text);
    else {
        vd_notice_say(
            &chat->notice,
            "a new picture; /new-picture %" PRIu64 " makes it again, /save my.png saves it", seed);
        vd_chat_go_picture(chat, index);
    }
}

// ---- captions -----------------------------------------------------------------------------------

// What it is, or that it has changed.
static void tell_caption(vd_chat *chat, bool changed)
{
    const vd_picture_caption caption = vd_conversation_caption(&chat->conversation);
    char mark[48];
    vd_caption_mark(&caption, mark, sizeof mark);
    if (changed)
        vd_notice_say(&chat->notice, "the dialog now begins with this caption, %s%s", mark,
                      chat->conversation.branch->count ? "; every question is asked again" : "");
    else
        vd_notice_say(&chat->notice, *mark ? "%s (%s)" : "%s%s", caption.text, mark);
}

static void edit_caption(vd_chat *chat)
{
    char line[VD_LINE_MAX + 1];
    snprintf(line, sizeof line, "/caption %s", vd_conversation_caption(&chat->conversation).text);
    vd_line_set(&chat->nav.line, line);
}

void vd_chat_caption(vd_chat *chat, const char *text)
{
    const vd_conversation *conversation = &chat->conversation;
    const char *before = vd_conversation_caption(conversation).text;
    size_t picture = conversation->branches.picture;
    vd_error error = {0};
    vd_status status;
    bool people = vd_conversation_caption(conversation).by == VD_CAPTION_PEOPLE;
    if (strcmp(text, "edit") == 0 && !people) { // people's is refused below
        edit_caption(chat);
        return;
    }
    if (!*text) {
        tell_caption(chat, false);
        return;
    }
    if (strcmp(text, "next") == 0)
        status = vd_world_next_caption(conversation->world, picture, &error);
    else
        status = vd_world_set_caption(conversation->world, picture, text, VD_CAPTION_TYPED, &error);
    if (status) {
        vd_notice_complain(&chat->notice, "%s", error.text);
    } else if (vd_conversation_caption(conversation).text != before) {
        vd_lanes_recaption(&chat->lanes);
        tell_caption(chat, true);
    }
}

// ---- keeping ------------------------------------------------------------------------------------

void vd_chat_save_picture(vd_chat *chat, const char *text)
{
    char *path = expand(text);
    vd_image image = {0};
    vd_error error = {0};
    vd_status status = VD_OK;
    if (access(path, F_OK) == 0)
        status = vd_error_set(&error, VD_USAGE, "%.300s exists already; choose another name", path);
    else
        status = vd_world_image(chat->conversation.world, chat->conversation.branches.picture,
                                &image, &error);
    if (!status)
        status = vd_image_write_png(path, &image, &error);
    vd_image_clear(&image);
    if (status)
        vd_notice_complain(&chat->notice, "%s", error.text);
    else
        vd_notice_say(&chat->notice, "the picture was saved as %s", path);
    g_free(path);
}
