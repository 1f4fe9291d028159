#include "tui/transcript/reading.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"

void vd_reading_refuse(vd_reading *r, const char *format, ...)
{
    char what[200];
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (r->status == VD_OK)
        r->status = vd_error_set(r->err, VD_FORMAT, "%s: %s", r->where, what);
}

void *vd_reading_room(vd_reading *r, size_t count, size_t size)
{
    void *memory = r->status ? NULL : vd_alloc(count, size);
    if (!memory && r->status == VD_OK)
        r->status = vd_error_memory(r->err, r->where);
    return memory;
}

char *vd_reading_copy(vd_reading *r, const vd_json_value *value, const char *key)
{
    if (value && value->type == VD_JSON_TEXT)
        return g_strdup(value->text);
    vd_reading_refuse(r, "\"%s\" is not text, or holds something that is not text", key);
    return NULL;
}

char *vd_reading_text(vd_reading *r, const vd_json_value *map, const char *key)
{
    return vd_reading_copy(r, vd_json_member(map, key, VD_JSON_TEXT), key);
}

char *vd_reading_path(const vd_json_value *map, const char *key)
{
    const char *text = vd_json_text(map, key);
    bool uri = text && g_str_has_prefix(text, "file://"); // vd_recorded_path
    char *path = uri ? g_filename_from_uri(text, NULL, NULL) : NULL;
    return path ? path : g_strdup(text);
}

vd_fingerprint vd_reading_hash(vd_reading *r, const vd_json_value *map, const char *key)
{
    vd_fingerprint out = {0};
    const char *text = vd_json_text(map, key);
    if (!text || strlen(text) >= sizeof out.text)
        vd_reading_refuse(r, "no SHA-256 \"%s\"", key);
    else
        snprintf(out.text, sizeof out.text, "%s", text);
    return out;
}

int64_t vd_reading_whole(vd_reading *r, const vd_json_value *map, const char *key, int64_t low,
                         int64_t high)
{
    const vd_json_value *value = vd_json_member(map, key, VD_JSON_NUMBER);
    if (value && value->whole >= low && value->whole <= high)
        return value->whole;
    vd_reading_refuse(r, "\"%s\" is not a whole number in its range", key);
    return 0;
}

const vd_json_value *vd_reading_checked(vd_reading *r, const vd_json_value *value, const char *key,
                                        size_t least, size_t most)
{
    static const vd_json_value empty = {.type = VD_JSON_LIST};
    if (!value || value->type != VD_JSON_LIST || value->count < least || value->count > most)
        vd_reading_refuse(r, "\"%s\" is not a list of the expected length (%zu to %zu)", key, least,
                          most);
    return r->status ? &empty : value;
}

const vd_json_value *vd_reading_list(vd_reading *r, const vd_json_value *map, const char *key,
                                     size_t least, size_t most)
{
    return vd_reading_checked(r, vd_json_member(map, key, VD_JSON_LIST), key, least, most);
}

static void copy_numbers(vd_reading *r, const vd_json_value *list, const char *key, float *out)
{
    for (const vd_json_value *value = list->first; value; value = value->next) {
        if (value->type != VD_JSON_NUMBER && value->type != VD_JSON_NULL)
            vd_reading_refuse(r, "\"%s\" holds something that is not a number", key);
        *out++ = value->type == VD_JSON_NUMBER ? (float)value->number : NAN; // NaN is written null
    }
}

float *vd_reading_numbers(vd_reading *r, const vd_json_value *map, const char *key, size_t count)
{
    const vd_json_value *list = vd_reading_list(r, map, key, count, count);
    float *out = vd_reading_room(r, list->count, sizeof *out);
    if (out)
        copy_numbers(r, list, key, out);
    return out;
}

float *vd_reading_matrix(vd_reading *r, const vd_json_value *map, const char *key, int rows,
                         int columns)
{
    size_t wide = (size_t)columns;
    const vd_json_value *list = vd_reading_list(r, map, key, (size_t)rows, (size_t)rows);
    float *out = vd_reading_room(r, list->count, wide * sizeof *out), *to = out;
    for (const vd_json_value *row = list->first; row && out; row = row->next, to += wide)
        copy_numbers(r, vd_reading_checked(r, row, key, wide, wide), key, to);
    return out;
}

// ---- lists and parts of conversations -----------------------------------------------------------

// It doubles whenever the count is a power of two.
void *vd_reading_add(void *list, size_t *count, size_t size)
{
    char *array;
    memcpy(&array, list, sizeof array);
    if ((*count & (*count - 1)) == 0)
        array = g_realloc_n(array, 2 * *count + 1, size);
    memcpy(list, &array, sizeof array);
    return memset(array + (*count)++ * size, 0, size);
}

void vd_reading_pair(vd_reading *r, const vd_json_value *pair, const char *key, const char *what,
                     char **first, char **second)
{
    bool two = pair->type == VD_JSON_LIST && pair->count == 2 &&
               pair->first->type == VD_JSON_TEXT && pair->last->type == VD_JSON_TEXT;
    if (!two)
        vd_reading_refuse(r, "\"%s\" holds something that is not [%s]", key, what);
    *first = two ? g_strdup(pair->first->text) : NULL;
    *second = two ? g_strdup(pair->last->text) : NULL;
}

vd_turn *vd_reading_turns(vd_reading *r, const vd_json_value *map, const char *key, int *count)
{
    const vd_json_value *list = vd_reading_list(r, map, key, 0, VD_MOST_RECORDED_ROUNDS);
    vd_turn *turns = g_new0(vd_turn, list->count);
    for (const vd_json_value *pair = list->first; pair && r->status == VD_OK; pair = pair->next) {
        vd_turn *to = &turns[(*count)++];
        vd_reading_pair(r, pair, key, "question, answer", &to->question, &to->answer);
    }
    return turns;
}

vd_caption_by vd_reading_caption_by(vd_reading *r, const vd_json_value *map)
{
    const char *name = vd_json_text(map, "caption_by");
    int by = 0;
    if (!name)
        return VD_CAPTION_PEOPLE;
    while (by < VD_CAPTION_BYS && strcmp(vd_caption_by_names[by], name) != 0)
        by++;
    if (by < VD_CAPTION_BYS)
        return (vd_caption_by)by;
    vd_reading_refuse(r, "\"caption_by\" is '%.40s'; expected captioner, scene, found or typed",
                      name);
    return VD_CAPTION_PEOPLE;
}

bool vd_same_turns(const vd_turn *a, const vd_turn *b, int count, bool answers)
{
    for (int i = 0; i < count; i++)
        if (strcmp(a[i].question, b[i].question) != 0 ||
            (answers && strcmp(a[i].answer, b[i].answer) != 0))
            return false;
    return true;
}
