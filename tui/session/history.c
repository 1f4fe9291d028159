#include "tui/session/history.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
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
    vd_free(path);
    return NULL;
}

char *vd_history_path(void)
{
    return vd_state_path("history");
}

// Keeps the newer half of the file, from the start of a line. On failure the file is unchanged.
static void shorten(const char *path, const char *text, size_t length)
{
    const char *half = memchr(text + length / 2, '\n', length - length / 2);
    if (half)
        g_file_set_contents_full(path, half + 1, (gssize)(text + length - half - 1),
                                 G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
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
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT ? VD_OK : vd_error_set(err, VD_IO, "%s: %s", path, strerror(errno));
    vd_status status = VD_OK;
    // A file that another program made very large is read up to a limit.
    enum { MOST = 4 * VD_HISTORY_BYTES };
    char *text = vd_alloc(MOST + 1, 1);
    if (!text) {
        fclose(file);
        return vd_error_memory(err, "the history of questions");
    }
    size_t length = fread(text, 1, MOST, file);
    fclose(file);
    if (length > VD_HISTORY_BYTES)
        shorten(path, text, length);
    for (char *at = text, *end; !status && at < text + length; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + length - at));
        if (!end)
            break; // an incomplete last line
        *end = '\0';
        if (strlen(at) == (size_t)(end - at) && is_text(at))
            status = vd_line_remember(line, at, err);
    }
    vd_free(text);
    return status;
}

vd_status vd_history_append(const char *path, const char *text, vd_error *err)
{
    char *line = vd_format("%s\n", text);
    if (!line)
        return vd_error_memory(err, "a line of the history");
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    vd_status status = VD_OK;
    // In one write, so that two chats at once do not mix lines.
    if (file < 0 || write(file, line, strlen(line)) != (ssize_t)strlen(line))
        status = vd_error_set(err, VD_IO, "%s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    vd_free(line);
    return status;
}
