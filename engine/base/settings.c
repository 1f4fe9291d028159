#include "engine/base/settings.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/json.h"
#include "engine/base/json_tree.h"

enum { MOST_ROWS = 64, LONGEST_NAME = 40, LONGEST_TEXT = 32 };

// ---- rows and values ----------------------------------------------------------------------------

// Whether a name of a table, with or without _ for -, is this one.
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
            return false;
    return *a == *b;
}

const vd_setting *vd_settings_find(const vd_setting *rows, const char *name)
{
    for (; rows->name; rows++)
        if (same_name(rows->name, name))
            return rows;
    return NULL;
}

bool vd_listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names ? names : ""; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && strncmp(at, name, size) == 0)
            return true;
        at += size;
    }
    return false;
}

static double value_of(const vd_setting *row, const void *settings)
{
    const char *at = (const char *)settings + row->offset;
    switch (row->kind) {
    case VD_SETTING_REAL:
        return *(const double *)(const void *)at;
    case VD_SETTING_SEED:
        return (double)*(const uint64_t *)(const void *)at;
    default:
        return *(const int *)(const void *)at;
    }
}

static void set_value(const vd_setting *row, void *settings, double value)
{
    char *at = (char *)settings + row->offset;
    if (row->kind == VD_SETTING_REAL)
        *(double *)(void *)at = value;
    else if (row->kind == VD_SETTING_SEED)
        *(uint64_t *)(void *)at = (uint64_t)value;
    else
        *(int *)(void *)at = (int)value;
}

static bool within(const vd_setting *row, double value)
{
    return value >= row->least && value <= row->most; // not a number is not
}

void vd_settings_start(const vd_setting *rows, void *settings)
{
    for (; rows->name; rows++)
        set_value(rows, settings, rows->initial);
}

// "a whole number from 1 to 4", "sigmoid, leaky-relu or elu"
static void format_expected(const vd_setting *row, char *out, size_t room)
{
    *out = '\0';
    if (row->kind != VD_SETTING_CHOICE) {
        snprintf(out, room, "a %snumber from %.15g to %.15g",
                 row->kind == VD_SETTING_REAL ? "" : "whole ", row->least, row->most);
        return;
    }
    for (int i = 0; i <= (int)row->most; i++)
        vd_append(out, room, "%s%s",
                  i == 0                ? ""
                  : i == (int)row->most ? " or "
                                        : ", ",
                  row->choices[i]);
}

vd_status vd_settings_check(const vd_setting *rows, const void *settings, vd_error *err)
{
    char expected[160];
    for (; rows->name; rows++) {
        double value = value_of(rows, settings);
        if (within(rows, value))
            continue;
        format_expected(rows, expected, sizeof expected);
        return vd_error_set(err, VD_USAGE, "%s is %.15g, expected %s", rows->name, value, expected);
    }
    return VD_OK;
}

// ---- text ---------------------------------------------------------------------------------------

static bool parse_value(const vd_setting *row, const char *text, double *value)
{
    char *end = NULL;
    errno = 0;
    if (row->kind == VD_SETTING_CHOICE) {
        for (int i = 0; i <= (int)row->most; i++)
            if (strcmp(row->choices[i], text) == 0) {
                *value = i;
                return true;
            }
        return false;
    }
    *value = row->kind == VD_SETTING_REAL ? strtod(text, &end) : (double)strtoll(text, &end, 10);
    return end != text && !*end && !errno && within(row, *value);
}

vd_status vd_setting_parse(const vd_setting *row, const char *text, void *settings,
                           const char *where, vd_status refused, vd_error *err)
{
    char expected[160];
    double value;
    if (parse_value(row, text, &value)) {
        set_value(row, settings, value);
        return VD_OK;
    }
    format_expected(row, expected, sizeof expected);
    return vd_error_set(err, refused, "%.400s: expected %s, found '%.80s'", where, expected, text);
}

void vd_setting_text(const vd_setting *row, const void *settings, char *out, size_t room)
{
    double value = value_of(row, settings);
    if (row->kind == VD_SETTING_CHOICE)
        snprintf(out, room, "%s", row->choices[(int)value]);
    else if (row->kind == VD_SETTING_REAL)
        snprintf(out, room, "%.17g", value);
    else
        snprintf(out, room, "%.0f", value);
}

// ---- JSON ---------------------------------------------------------------------------------------

static bool is_string(const vd_setting *row)
{
    return row->kind == VD_SETTING_CHOICE || row->kind == VD_SETTING_SEED;
}

static yajl_gen_status emit_row(yajl_gen gen, const vd_setting *row, const void *settings)
{
    char name[LONGEST_NAME], text[LONGEST_TEXT];
    snprintf(name, sizeof name, "%s", row->name);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    vd_setting_text(row, settings, text, sizeof text);
    if (is_string(row))
        return vd_json_put(gen, "%s: %s", name, text);
    yajl_gen_status status = vd_json_put(gen, "%s:", name);
    return status ? status : yajl_gen_number(gen, text, strlen(text));
}

typedef struct written_settings {
    const vd_setting *rows;
    const void *settings;
} written_settings;

static yajl_gen_status emit(yajl_gen gen, void *context)
{
    const written_settings *w = context;
    yajl_gen_status status = vd_json_put(gen, "{");
    for (const vd_setting *row = w->rows; row->name && status == yajl_gen_status_ok; row++)
        status = emit_row(gen, row, w->settings);
    return status ? status : vd_json_put(gen, "}");
}

vd_status vd_settings_write(const vd_setting *rows, const void *settings, const char *what,
                            char **json, vd_error *err)
{
    written_settings w = {rows, settings};
    size_t length;
    return vd_json_write(what, emit, &w, json, &length, err);
}

static vd_status read_member(const vd_setting *rows, const vd_json_value *member, const char *where,
                             bool *seen, void *settings, vd_error *err)
{
    char prefix[500];
    const vd_setting *row = vd_settings_find(rows, member->key);
    snprintf(prefix, sizeof prefix, "%.400s: %.40s", where, member->key);
    if (!row)
        return vd_error_set(err, VD_FORMAT, "%s: a setting that this version does not know",
                            prefix);
    if (seen[row - rows])
        return vd_error_set(err, VD_FORMAT, "%s: given twice", prefix);
    seen[row - rows] = true;
    if (member->type != (is_string(row) ? VD_JSON_TEXT : VD_JSON_NUMBER))
        return vd_error_set(err, VD_FORMAT, "%s: expected %s, found %s", prefix,
                            is_string(row) ? "a string" : "a number", vd_json_type_name(member));
    return vd_setting_parse(row, member->text, settings, prefix, VD_FORMAT, err);
}

static vd_status read_members(const vd_setting *rows, const vd_json_value *object,
                              const char *where, void *settings, vd_error *err)
{
    bool seen[MOST_ROWS] = {false};
    vd_status status = VD_OK;
    if (object->type != VD_JSON_MAP)
        return vd_error_set(err, VD_FORMAT, "%s: expected an object of settings, found %s", where,
                            vd_json_type_name(object));
    vd_settings_start(rows, settings);
    for (const vd_json_value *m = object->first; m && status == VD_OK; m = m->next)
        status = read_member(rows, m, where, seen, settings, err);
    for (const vd_setting *row = rows; row->name && status == VD_OK; row++)
        if (!row->optional && !seen[row - rows])
            status = vd_error_set(err, VD_FORMAT, "%s: \"%s\" is missing", where, row->name);
    return status;
}

vd_status vd_settings_read(const vd_setting *rows, const char *json, const char *where,
                           void *settings, vd_error *err)
{
    vd_json_value *object;
    vd_status status = vd_json_value_read(where, json, strlen(json), &object, err);
    if (status)
        return status;
    status = read_members(rows, object, where, settings, err);
    vd_json_value_free(object);
    return status;
}
