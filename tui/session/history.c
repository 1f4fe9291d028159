#include "tui/session/history.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "tui/session/config.h"

char *vd_state_path(const char *name)
{
    char *path = vd_config_place("XDG_STATE_HOME", ".local/state", name);
    if (!path)
        return NULL;
    char *parent = g_path_get_dirname(path);
    bool made = g_mkdir_with_parents(parent, 0700) == 0;
    g_free(parent);
    if (made)
        return path;
    g_free(path);
    return NULL;
}

// Keeps the newer half of the text, from the start of a line. On failure the file is unchanged.
static void shorten(const char *path, const char *text, size_t length)
{
    const char *half = memchr(text + length / 2, '\n', length - length / 2);
    if (half)
        vd_output_file(path, half + 1, (size_t)(text + length - half - 1), NULL);
}

static bool is_text(const char *line)
{
    for (const char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return false;
    return strlen(line) <= VD_LINE_MAX;
}

vd_status vd_history_load(const char *path, vd_line *line, vd_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == ENOENT ? VD_OK : vd_error_set(err, VD_IO, "%s: %s", path, strerror(errno));
    if (S_ISCHR(about.st_mode))
        return VD_OK; // /dev/null: none is wanted
    // Of a file that another program made very large the newest part is read.
    enum { MOST = 4 * VD_HISTORY_BYTES };
    size_t length = 0, whole = 0;
    char *text = vd_alloc(MOST, 1);
    if (!text)
        return vd_error_memory(err, "the history of questions");
    vd_status status = vd_file_read_end(path, text, MOST, &length, &whole, err);
    bool part = whole > MOST;
    if (!status && length > VD_HISTORY_BYTES)
        shorten(path, text, length);
    for (char *at = text, *end; !status && at < text + length; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + length - at));
        if (!end)
            break; // an incomplete last line
        *end = '\0';
        if (!part && strlen(at) == (size_t)(end - at) && is_text(at))
            vd_line_remember(line, at);
        part = false; // its first line began before it
    }
    vd_free(text);
    return status;
}

vd_status vd_history_append(const char *path, const char *text, vd_error *err)
{
    char *line = vd_format("%s\n", text);
    int file = -1;
    if (!line)
        return vd_error_memory(err, "a line of the history");
    vd_status status = vd_file_extend(path, 0600, &file, err);
    if (!status) {
        status = vd_file_append(file, path, line, strlen(line), err);
        close(file);
    }
    vd_free(line);
    return status;
}
