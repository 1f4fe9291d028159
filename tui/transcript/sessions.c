// Sessions: the transcripts of one directory, by their names.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/file.h"
#include "engine/base/json_tree.h"
#include "tui/session/history.h"
#include "tui/transcript/transcript.h"

static const char suffix[] = ".jsonl";

// ---- names --------------------------------------------------------------------------------------

static vd_status no_place(vd_error *err)
{
    return vd_error_set(err, VD_UNAVAILABLE, VD_NO_STATE "; name a file with --transcript FILE");
}

static bool is_name(const char *name, size_t length)
{
    bool fits = length > 0 && length < VD_SAVED_NAME && name[0] != '.';
    for (size_t i = 0; i < length && fits; i++)
        fits = name[i] != '/' && !iscntrl((unsigned char)name[i]);
    return fits;
}

vd_status vd_saved_path(const char *name, char **out, vd_error *err)
{
    *out = NULL;
    if (!is_name(name, strlen(name)))
        return vd_error_set(err, VD_USAGE,
                            "'%.80s' is no name of a session; expected 1 to %d characters without "
                            "\"/\", not beginning with a dot",
                            name, VD_SAVED_NAME - 1);
    g_autofree char *directory = vd_state_path("transcripts/");
    if (!directory)
        return no_place(err);
    *out = g_strconcat(directory, name, suffix, NULL);
    return VD_OK;
}

static bool is_transcript(const char *name, size_t *stem)
{
    size_t length = strlen(name), end = strlen(suffix);
    *stem = length > end ? length - end : 0;
    return is_name(name, *stem) && strcmp(name + *stem, suffix) == 0;
}

bool vd_saved_name(const char *path, char out[VD_SAVED_NAME])
{
    size_t stem;
    const char *slash = strrchr(path, '/');
    g_autofree char *directory = vd_state_path("transcripts/");
    size_t length = directory ? strlen(directory) : 0;
    bool ours = directory && slash && (size_t)(slash + 1 - path) == length &&
                strncmp(path, directory, length) == 0 && is_transcript(slash + 1, &stem);
    if (ours)
        snprintf(out, VD_SAVED_NAME, "%.*s", (int)stem, slash + 1);
    return ours;
}

bool vd_saved_unnamed(const char *name)
{
    static const char like[] = "0000-00-00T000000Z-0"; // as vd_transcript_start makes them
    for (size_t i = 0; like[i]; i++)
        if (like[i] == '0' ? !isdigit((unsigned char)name[i]) : name[i] != like[i])
            return false;
    return true;
}

// ---- a session in the list ----------------------------------------------------------------------

// What the line says of a conversation; false when nothing was asked in it, or it says nothing.
static bool describe(const char *line, vd_saved *out)
{
    vd_json_value *value = NULL;
    if (vd_json_value_read("", line, strlen(line), &value, NULL) != VD_OK)
        return false;
    const vd_json_value *dialog = vd_json_member(value, "conversation", VD_JSON_MAP),
                        *id = vd_json_member(dialog, "image_id", VD_JSON_NUMBER),
                        *rounds = vd_json_member(dialog, "rounds", VD_JSON_LIST),
                        *last = rounds && rounds->count ? rounds->last : NULL;
    vd_recorded_picture(vd_json_text(dialog, "picture"), id ? id->whole : 0, out->picture,
                        sizeof out->picture);
    out->rounds = rounds ? (int)rounds->count : 0;
    if (last && last->type == VD_JSON_LIST && last->count && last->first->type == VD_JSON_TEXT)
        snprintf(out->question, sizeof out->question, "%.*s", (int)sizeof out->question - 1,
                 last->first->text);
    vd_json_value_free(value);
    return out->rounds > 0;
}

// The last conversation in which something was asked; a picture that was only looked at after it
// says less about a session.
static void describe_last(char *text, size_t length, vd_saved *out)
{
    static const char start[] = "{\"conversation\":";
    bool any = false;
    while (length > 0) {
        text[length] = '\0';
        char *line = g_strrstr_len(text, (gssize)length, "\n");
        line = line ? line + 1 : text;
        vd_saved found = *out;
        if (strncmp(line, start, strlen(start)) == 0) {
            bool asked = describe(line, &found);
            *out = asked || !any ? found : *out;
            any = true;
            if (asked)
                return;
        }
        length = line > text ? (size_t)(line - 1 - text) : 0;
    }
}

// What the end of the file says of it; nothing when it cannot be read.
static void look_into(const char *path, vd_saved *out)
{
    enum { MOST = 1 << 18 };
    size_t got, whole;
    g_autofree char *text = g_malloc(MOST + 1);
    if (vd_file_read_end(path, text, MOST, &got, &whole, NULL) == VD_OK)
        describe_last(text, got, out);
}

// ---- all of them --------------------------------------------------------------------------------

static int compare_times(gconstpointer a, gconstpointer b)
{
    const vd_saved *x = a, *y = b;
    if (x->when.tv_sec != y->when.tv_sec)
        return x->when.tv_sec < y->when.tv_sec ? 1 : -1;
    return (x->when.tv_nsec < y->when.tv_nsec) - (x->when.tv_nsec > y->when.tv_nsec);
}

vd_status vd_saved_list(vd_saved **out, size_t *count, vd_error *err)
{
    size_t stem;
    GArray *found = g_array_new(FALSE, FALSE, sizeof **out);
    g_autofree char *directory = vd_state_path("transcripts/");
    DIR *listing = directory ? opendir(directory) : NULL;
    vd_status status = directory ? VD_OK : no_place(err);
    if (directory && !listing && errno != ENOENT)
        status = vd_error_set(err, VD_IO, "%.400s: %s", directory, strerror(errno));
    for (struct dirent *entry; status == VD_OK && listing && (entry = readdir(listing));) {
        struct stat about;
        if (!is_transcript(entry->d_name, &stem) ||
            fstatat(dirfd(listing), entry->d_name, &about, 0) || !S_ISREG(about.st_mode) ||
            about.st_size == 0) // empty: the program was killed before its first line
            continue;
        vd_saved one = {.when = about.st_mtim};
        memcpy(one.name, entry->d_name, stem);
        g_array_append_val(found, one);
    }
    if (listing)
        closedir(listing);
    g_array_sort(found, compare_times);
    *count = found->len;
    *out = (void *)g_array_free(found, FALSE);
    return status;
}

void vd_saved_look(vd_saved *saved)
{
    g_autofree char *path = NULL;
    if (saved->looked)
        return;
    saved->looked = true;
    if (vd_saved_path(saved->name, &path, NULL) == VD_OK)
        look_into(path, saved);
}

vd_status vd_transcript_newest(vd_transcript_file *out, vd_error *err)
{
    g_autofree vd_saved *list = NULL;
    size_t count;
    *out = (vd_transcript_file){0};
    vd_status status = vd_saved_list(&list, &count, err);
    for (size_t i = 0; i < count && status == VD_OK && out->dialog_count == 0; i++) {
        g_autofree char *path = NULL;
        vd_transcript_clear(out);
        status = vd_saved_path(list[i].name, &path, err);
        if (status == VD_OK)
            status = vd_transcript_read(path, out, err);
        if (status == VD_FORMAT && err) {
            const vd_error why = *err;
            vd_error_set(err, VD_FORMAT,
                         "%.400s; `visdial --sessions` lists others, which --session NAME "
                         "continues, and `visdial replay FILE` runs",
                         why.text);
        }
    }
    if (status || out->dialog_count)
        return status;
    vd_transcript_clear(out);
    return vd_error_set(err, VD_NOT_FOUND, "there is no recorded conversation yet in %.400s",
                        getenv("XDG_STATE_HOME") ? "$XDG_STATE_HOME/visdial/transcripts"
                                                 : "~/.local/state/visdial/transcripts");
}
