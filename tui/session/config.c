#include "tui/session/config.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "tui/session/session.h"
#include "tui/screen/theme.h"

enum { MOST_BYTES = 1 << 16 };

char *vd_config_place(const char *variable, const char *fallback, const char *name)
{
    const char *directory = getenv(variable), *home = getenv("HOME");
    // The specification: relative ones are to be ignored.
    bool given = directory && directory[0] == '/';
    if (!given && (!home || home[0] != '/'))
        return NULL;
    size_t size = strlen(given ? directory : home) + strlen(fallback) + strlen(name) + 16;
    char *path = vd_alloc(size, 1);
    if (path && given)
        snprintf(path, size, "%s/visdial/%s", directory, name);
    else if (path)
        snprintf(path, size, "%s/%s/visdial/%s", home, fallback, name);
    return path;
}

vd_preferences vd_preferences_defaults(void)
{
    return (vd_preferences){.theme = VD_THEME_DARK, .mouse = true, .model = VD_DEFAULT_MODEL};
}

// Cuts white space off both ends, in place.
static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static const char *expected(const char *name)
{
    if (strcmp(name, "theme") == 0)
        return "dark, light, mono or safe";
    if (strcmp(name, "mouse") == 0 || strcmp(name, "fold") == 0)
        return "on or off";
    return "base, improved or a model file";
}

// False: the value is none of those expected.
static bool set(vd_preferences *config, const char *name, const char *value)
{
    if (strcmp(name, "theme") == 0)
        return vd_theme_find(value, &config->theme);
    if (strcmp(name, "mouse") == 0 || strcmp(name, "fold") == 0) {
        bool *on = strcmp(name, "mouse") == 0 ? &config->mouse : &config->fold;
        *on = strcmp(value, "on") == 0;
        return *on || strcmp(value, "off") == 0;
    }
    size_t length = strlen(value);
    if (length == 0 || length >= sizeof config->model)
        return false;
    memcpy(config->model, value, length + 1);
    return true;
}

static vd_status read_line(const char *path, int number, char *line, vd_preferences *config,
                           vd_error *err)
{
    line = trim(line);
    if (line[0] == '\0' || line[0] == '#')
        return VD_OK;
    char *equals = strchr(line, '=');
    if (!equals)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s, line %d: found '%.60s', expected `name = value`", path, number,
                            line);
    *equals = '\0';
    const char *name = trim(line), *value = trim(equals + 1);
    if (strcmp(name, "theme") != 0 && strcmp(name, "mouse") != 0 && strcmp(name, "model") != 0 &&
        strcmp(name, "fold") != 0)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s, line %d: there is no setting '%.60s'; there are theme, mouse, "
                            "model and fold",
                            path, number, name);
    if (!set(config, name, value))
        return vd_error_set(err, VD_FORMAT, "%.300s, line %d: found %s = '%.60s', expected %s",
                            path, number, name, value, expected(name));
    return VD_OK;
}

vd_status vd_preferences_read(const char *path, vd_preferences *config, vd_error *err)
{
    char *own = path ? NULL : vd_config_place("XDG_CONFIG_HOME", ".config", "config");
    path = path ? path : own;
    if (!path)
        return VD_OK;
    char *text = NULL;
    size_t size;
    vd_error why = {0};
    vd_status status = vd_file_read(path, MOST_BYTES, &text, &size, &why);
    if (status == VD_NOT_FOUND)
        status = VD_OK;
    else if (status)
        vd_error_set(err, status, "%s", why.text);
    else if (memchr(text, 0, size))
        status = vd_error_set(err, VD_FORMAT, "%.300s: found a NUL byte, expected text", path);
    int number = 0;
    for (char *line = text, *next; line && !status; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        status = read_line(path, ++number, line, config, err);
    }
    vd_free(text);
    vd_free(own);
    return status;
}
