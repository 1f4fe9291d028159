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
    g_autofree char *whole = g_strstrip(g_strdup(text)), *plain = expand(whole);
    char **words = NULL;
    if (access(plain, F_OK) == 0 || !g_shell_parse_argv(whole, NULL, &words, NULL))
        words = g_strdupv((char *[]){plain, NULL});
    for (char **word = words; *word; word++) {
        g_autofree char *typed = *word;
        *word = expand(typed);
    }
    return words;
}

bool vd_chat_is_path(const char *text)
{
    const char *start = text + strspn(text, " ");
    if (!strchr("/'\"", *start) && !g_str_has_prefix(start, "file://") &&
        !g_str_has_prefix(start, "~/"))
        return false;
    g_auto(GStrv) paths = read_paths(start);
    // "/etc" is a command with a typo, and a question may be a file's name.
    return *paths && **paths && strchr(*paths + 1, '/') && access(*paths, F_OK) == 0;
}

// ---- opening, making ----------------------------------------------------------------------------

void vd_opening_clear(vd_opening *opening)
{
    g_strfreev(opening->paths);
    vd_image_clear(&opening->image);
    *opening = (vd_opening){0};
}

// One more picture, or a folder of them, takes the pixels. False: it cannot be opened, and a notice
// says why.
static bool open_one(vd_chat *chat, vd_image *image)
{
    vd_opening *opening = &chat->opening;
    size_t index;
    vd_error error = {0};
    if (vd_world_open_path(chat->conversation.world, opening->paths[opening->at], &index, &error))
        return vd_notice_complain(&chat->notice, "%s", error.text);
    if (opening->at++ == 0) {
        opening->first = index;
        opening->image = *image;
        *image = (vd_image){0};
    }
    return true;
}

// Up to the next file, which is read first.
static void open_more(vd_chat *chat)
{
    vd_opening *opening = &chat->opening;
    bool good = true;
    while (good && opening->paths[opening->at]) {
        const char *path = opening->paths[opening->at];
        if (g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_DIR)) {
            opening->serial = vd_lanes_read_image(&chat->lanes, path, 0);
            return;
        }
        good = open_one(chat, &(vd_image){0});
    }
    size_t opened = vd_world_count(chat->conversation.world) - opening->before;
    if (good && opened > 1)
        vd_notice_say(&chat->notice, "%zu pictures were opened; F8 goes to the next", opened);
    if (good)
        vd_chat_go_image(chat, opening->first, &opening->image);
    vd_opening_clear(opening);
}

void vd_chat_open_picture(vd_chat *chat, const char *text)
{
    vd_opening_clear(&chat->opening);
    if (!*text) {
        vd_notice_complain(&chat->notice, "/open FILE: a picture, or a folder of them");
        return;
    }
    chat->opening =
        (vd_opening){.paths = read_paths(text), .before = vd_world_count(chat->conversation.world)};
    open_more(chat);
}

// ---- reading ------------------------------------------------------------------------------------

void vd_chat_preview(vd_chat *chat, size_t index)
{
    vd_preview *preview = &chat->preview;
    vd_image image = {0};
    vd_error error = {0};
    preview->index = index;
    if (!vd_lanes_reads_image(&chat->lanes, index))
        vd_world_image(chat->conversation.world, index, &image, &error);
    else if (!preview->serial) { // one at a time
        preview->serial = vd_lanes_read_image(&chat->lanes, NULL, index);
        preview->asked = index;
    }
    vd_picture_set(&preview->picture, &image);
    snprintf(preview->error, sizeof preview->error, "%.250s",
             preview->serial ? "the picture is being read" : error.text);
}

static void take_image(vd_picture *picture, char *why, size_t size, vd_event *event)
{
    vd_picture_set(picture, &event->image);
    snprintf(why, size, "%.*s", (int)size - 1, event->status ? event->error.text : "");
}

static void take_opened(vd_chat *chat, vd_event *event)
{
    bool good = event->status == VD_OK;
    if (!good)
        vd_notice_complain(&chat->notice, "%s", event->error.text);
    if (good && open_one(chat, &event->image))
        open_more(chat);
    else
        vd_opening_clear(&chat->opening);
}

void vd_chat_image_came(vd_chat *chat, vd_event *event)
{
    vd_preview *preview = &chat->preview;
    if (event->serial == chat->opening.serial) {
        take_opened(chat, event);
    } else if (event->serial == chat->lanes.image) {
        chat->lanes.image = 0;
        take_image(&chat->shown.picture, chat->shown.error, sizeof chat->shown.error, event);
    } else if (event->serial == preview->serial) {
        preview->serial = 0;
        if (preview->asked == preview->index)
            take_image(&preview->picture, preview->error, sizeof preview->error, event);
        else if (vd_lanes_reads_image(&chat->lanes, preview->index))
            vd_chat_preview(chat, preview->index);
    }
}

bool vd_chat_stop_reading(vd_chat *chat)
{
    const char *name = vd_chat_reading(chat);
    if (!name)
        return false;
    if (chat->opening.paths) {
        vd_notice_say(&chat->notice, "%s was not opened", name);
        vd_opening_clear(&chat->opening);
    } else {
        chat->lanes.image = 0;
        snprintf(chat->shown.error, sizeof chat->shown.error,
                 "the picture was not read; /picture #%zu reads it",
                 chat->conversation.branches.picture + 1);
    }
    return true;
}

const char *vd_chat_reading(const vd_chat *chat)
{
    const vd_opening *opening = &chat->opening;
    const char *path = opening->paths      ? opening->paths[opening->at]
                       : chat->lanes.image ? vd_world_own_path(chat->conversation.world,
                                                               chat->conversation.branches.picture)
                                           : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
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
    g_autofree char *path = expand(text);
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
}
