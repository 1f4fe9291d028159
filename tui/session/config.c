#include "tui/session/config.h"

#include <glib.h>
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
    // The specification says to ignore relative paths.
    bool given = directory && directory[0] == '/';
    if (!given && (!home || home[0] != '/'))
        return NULL;
    return given ? vd_format("%s/visdial/%s", directory, name)
                 : vd_format("%s/%s/visdial/%s", home, fallback, name);
}

vd_preferences vd_preferences_defaults(void)
{
    return (vd_preferences){.theme = VD_THEME_DARK, .mouse = true, .model = VD_DEFAULT_MODEL};
}

static const struct {
    const char *name, *expected;
} settings[] = {{"theme", "dark, light, mono or safe"},
                {"mouse", "on or off"},
                {"model", "base, improved or a model file"},
                {"fold", "on or off"}};
enum { THEME, MOUSE, MODEL, FOLD, SETTINGS };

// False: not one of the expected values.
static bool set(vd_preferences *config, int setting, const char *value)
{
    bool on = strcmp(value, "on") == 0, known = on || strcmp(value, "off") == 0;
    switch (setting) {
    case THEME:
        return vd_theme_find(value, &config->theme);
    case MODEL:
        return *value &&
               g_strlcpy(config->model, value, sizeof config->model) < sizeof config->model;
    default:
        *(setting == MOUSE ? &config->mouse : &config->fold) = on;
        return known;
    }
}

static vd_status read_line(const char *path, int number, char *line, vd_preferences *config,
                           vd_error *err)
{
    line = g_strstrip(line);
    if (line[0] == '\0' || line[0] == '#')
        return VD_OK;
    char *equals = strchr(line, '=');
    if (!equals)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s, line %d: found '%.60s', expected `name = value`", path, number,
                            line);
    *equals = '\0';
    const char *name = g_strstrip(line), *value = g_strstrip(equals + 1);
    int setting = 0;
    while (setting < SETTINGS && strcmp(name, settings[setting].name) != 0)
        setting++;
    if (setting == SETTINGS)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s, line %d: there is no setting '%.60s'; there are theme, mouse, "
                            "model and fold",
                            path, number, name);
    if (!set(config, setting, value))
        return vd_error_set(err, VD_FORMAT, "%.300s, line %d: found %s = '%.60s', expected %s",
                            path, number, name, value, settings[setting].expected);
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
