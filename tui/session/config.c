#include "tui/session/config.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/file.h"
#include "tui/base/bundled.h"
#include "tui/base/nearest.h"
#include "tui/base/options.h"

enum { MOST_BYTES = 1 << 16 };

char *vd_config_place(const char *variable, const char *fallback, const char *name)
{
    const char *directory = getenv(variable), *home = getenv("HOME");
    // The specification says to ignore relative paths.
    bool given = directory && directory[0] == '/';
    if (!given && (!home || home[0] != '/'))
        return NULL;
    return given ? g_strdup_printf("%s/visdial/%s", directory, name)
                 : g_strdup_printf("%s/%s/visdial/%s", home, fallback, name);
}

vd_preferences vd_preferences_defaults(void)
{
    return (vd_preferences){.mouse = true, .motion = true};
}

static const struct {
    const char *name, *expected;
} settings[] = {{"theme", VD_THEME_NAMES}, {"picture", VD_PICTURE_MODE_NAMES},
                {"mouse", "on or off"},    {"model", VD_MODEL_NAMES " or a model file"},
                {"fold", "on or off"},     {"motion", "on or off"}};
enum { THEME, PICTURE, MOUSE, MODEL, FOLD, MOTION, SETTINGS };

// False: not one of the expected values.
static bool set(vd_preferences *config, int setting, const char *value)
{
    if (setting == MODEL) {
        bool fits = *value && strlen(value) < sizeof config->model;
        if (fits)
            g_strlcpy(config->model, value, sizeof config->model);
        return fits;
    }
    int found = vd_choice_find(settings[setting].expected, value);
    if (found < 0)
        return false;
    if (setting == THEME)
        config->theme = (vd_theme_name)found;
    else if (setting == PICTURE)
        config->pictures = (vd_picture_mode)found;
    else
        *(setting == MOUSE    ? &config->mouse
          : setting == MOTION ? &config->motion
                              : &config->fold) = found == 0; // "on or off"
    return true;
}

static vd_status refuse_setting(const char *place, const char *name, vd_error *err)
{
    vd_nearest nearest = {.typed = name, .most = VD_EDITS_OF_NAMES};
    for (int i = 0; i < SETTINGS; i++)
        vd_nearest_try(&nearest, settings[i].name);
    if (nearest.name)
        return vd_error_set(err, VD_FORMAT, "%s: there is no setting '%.60s'; did you mean %s?",
                            place, name, nearest.name);
    return vd_error_set(err, VD_FORMAT,
                        "%s: there is no setting '%.60s'; there are theme, picture, "
                        "mouse, motion, model, fold and key NAME",
                        place, name);
}

static vd_status add_key(const char *place, const char *key, const char *to, vd_preferences *config,
                         vd_error *err)
{
    vd_error why;
    if (config->key_count == VD_REBINDINGS)
        return vd_error_set(err, VD_FORMAT, "%s: more than %d keys", place, VD_REBINDINGS);
    vd_status status = vd_rebinding_read(key, to, &config->keys[config->key_count], &why);
    if (status)
        return vd_error_set(err, status, "%s: %s", place, why.text);
    config->key_count++;
    return VD_OK;
}

// place: file and number of the line, for the error.
static vd_status read_line(const char *place, char *line, vd_preferences *config, vd_error *err)
{
    line = g_strstrip(line);
    if (line[0] == '\0' || line[0] == '#')
        return VD_OK;
    char *equals = strchr(line, '=');
    if (!equals)
        return vd_error_set(err, VD_FORMAT, "%s: found '%.60s', expected `name = value`", place,
                            line);
    *equals = '\0';
    const char *name = g_strstrip(line), *value = g_strstrip(equals + 1);
    if (strncmp(name, "key", 3) == 0 && strchr(" \t", name[3]) && name[3])
        return add_key(place, name + 3 + strspn(name + 3, " \t"), value, config, err);
    int setting = 0;
    while (setting < SETTINGS && strcmp(name, settings[setting].name) != 0)
        setting++;
    if (setting == SETTINGS)
        return refuse_setting(place, name, err);
    return set(config, setting, value)
               ? VD_OK
               : vd_error_set(err, VD_FORMAT, "%s: found %s = '%.60s', expected %s", place, name,
                              value, settings[setting].expected);
}

// Every line by itself: what is wrong in one says nothing about the others.
static void read_lines(const char *path, const char *text, vd_preferences *config)
{
    char **lines = g_strsplit(text, "\n", -1);
    int wrong = 0;
    char others[80] = "";
    for (int i = 0; lines[i]; i++) {
        char place[400];
        vd_error why;
        snprintf(place, sizeof place, "%.300s, line %d", path, i + 1);
        if (!read_line(place, lines[i], config, &why))
            continue;
        if (wrong++ == 0)
            g_strlcpy(config->remark, why.text, sizeof config->remark);
        else
            vd_append(others, sizeof others, "%s%d", *others ? ", " : "", i + 1);
    }
    g_strfreev(lines);
    if (wrong > 1)
        vd_append(config->remark, sizeof config->remark, " (wrong, too: line%s %s)",
                  wrong == 2 ? "" : "s", others);
}

char *vd_preferences_path(void)
{
    return vd_config_place("XDG_CONFIG_HOME", ".config", "config");
}

vd_status vd_preferences_read(const char *path, vd_preferences *config, vd_error *err)
{
    char *own = path ? NULL : vd_preferences_path();
    path = path ? path : own;
    if (!path)
        return VD_OK;
    char *text = NULL;
    size_t size;
    vd_error why = {0};
    vd_status status = vd_file_read(path, MOST_BYTES, &text, &size, &why);
    if (status == VD_NO_MEMORY) {
        vd_error_set(err, status, "%s", why.text);
    } else if (status) {
        snprintf(config->remark, sizeof config->remark, "%s",
                 status == VD_NOT_FOUND ? "" : why.text);
        status = VD_OK;
    } else if (memchr(text, 0, size)) {
        snprintf(config->remark, sizeof config->remark, "%.300s: found a NUL byte, expected text",
                 path);
    } else {
        read_lines(path, text, config);
    }
    vd_free(text);
    g_free(own);
    return status;
}
