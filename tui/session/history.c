#include "tui/session/history.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "tui/session/config.h"

// Makes every directory above the last slash.
static bool make_parents(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
        *slash = '/';
        if (failed)
            return false;
    }
    return true;
}

char *vd_state_path(const char *name)
{
    char *path = vd_config_place("XDG_STATE_HOME", ".local/state", name);
    if (path && make_parents(path))
        return path;
    vd_free(path);
    return NULL;
}

char *vd_history_path(void)
{
    return vd_state_path("history");
}

// Keeps the newer half of the file, from a line's start. Failing leaves the file as it was.
static void shorten(const char *path, const char *text, size_t length)
{
    const char *half = memchr(text + length / 2, '\n', length - length / 2);
    char *fresh = vd_alloc(strlen(path) + 5, 1);
    if (half && fresh) {
        snprintf(fresh, strlen(path) + 5, "%s.new", path);
        FILE *file = fopen(fresh, "we");
        size_t rest = length - (size_t)(half + 1 - text);
        bool good = file && fwrite(half + 1, 1, rest, file) == rest;
        if (file && fclose(file) != 0)
            good = false;
        if (!good || rename(fresh, path) != 0)
            unlink(fresh);
    }
    vd_free(fresh);
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
    // A file that something else has blown up is read to a bound.
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
            break; // a line that was not written to its end
        *end = '\0';
        if (strlen(at) == (size_t)(end - at) && is_text(at))
            status = vd_line_remember(line, at, err);
    }
    vd_free(text);
    return status;
}

vd_status vd_history_append(const char *path, const char *text, vd_error *err)
{
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    size_t length = strlen(text);
    char *line = vd_alloc(length + 1, 1);
    if (file < 0 || !line) {
        vd_status status = file < 0 ? vd_error_set(err, VD_IO, "%s: %s", path, strerror(errno))
                                    : vd_error_memory(err, "a line of the history");
        if (file >= 0)
            close(file);
        vd_free(line);
        return status;
    }
    memcpy(line, text, length);
    line[length] = '\n'; // in one write, so that two chats at once do not mix lines
    bool good = write(file, line, length + 1) == (ssize_t)(length + 1);
    vd_status status = VD_OK;
    if (!good)
        status = vd_error_set(err, VD_IO, "%s: %s", path, strerror(errno));
    close(file);
    vd_free(line);
    return status;
}
