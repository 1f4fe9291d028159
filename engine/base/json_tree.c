#include "engine/base/json_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/json.h"
#include "engine/base/string_arena.h"

// The root comes first, so that it is also what is freed.
typedef struct document {
    vd_json_value root;
    vd_string_arena arena; // the other values, keys and texts
} document;

typedef struct builder {
    const char *where;
    vd_error *err;
    vd_status refused;
    document *tree;
    size_t values;
    vd_json_value *open[VD_JSON_DEEPEST]; // lists and maps that are not closed yet
    int depth;
    const char *key; // for the next member
} builder;

// The path of the value that is being read, as ."key" in a map and [index] in a list.
static void format_path(const builder *b, char *out, size_t room)
{
    *out = '\0';
    for (int i = 0; i < b->depth; i++) {
        const vd_json_value *in = b->open[i];
        bool inner = i + 1 < b->depth;
        const char *key = inner ? b->open[i + 1]->key : b->key;
        if (in->type == VD_JSON_LIST)
            vd_append(out, room, "[%zu]", inner ? in->count - 1 : in->count);
        else if (key)
            vd_append(out, room, ".\"%.40s\"", key);
    }
}

__attribute__((format(printf, 2, 3))) static int refuse(builder *b, const char *format, ...)
{
    char what[160], path[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    format_path(b, path, sizeof path);
    b->refused =
        vd_error_set(b->err, VD_FORMAT, "%s%s%s: %s", b->where, *path ? ": at " : "", path, what);
    return 0;
}

static int fail_memory(builder *b)
{
    b->refused = vd_error_memory(b->err, b->where);
    return 0;
}

// The new value in its place, NULL when memory is out or there are too many.
static vd_json_value *add(builder *b, vd_json_type type)
{
    vd_json_value *made = &b->tree->root;
    if (b->depth > 0 && ++b->values == VD_JSON_MOST_VALUES) {
        refuse(b, "more than %d values", VD_JSON_MOST_VALUES);
        return NULL;
    }
    if (b->depth > 0 && !(made = vd_string_arena_take(&b->tree->arena, 1, sizeof *made))) {
        fail_memory(b);
        return NULL;
    }
    made->type = type;
    made->key = b->key;
    b->key = NULL;
    if (b->depth == 0)
        return made;
    vd_json_value *into = b->open[b->depth - 1];
    if (into->last)
        into->last->next = made;
    else
        into->first = made;
    into->last = made;
    into->count++;
    return made;
}

static int on_null(void *context)
{
    return add(context, VD_JSON_NULL) != NULL;
}

static int on_truth(void *context, int truth)
{
    vd_json_value *made = add(context, VD_JSON_TRUTH);
    if (made)
        made->number = truth != 0;
    return made != NULL;
}

// A copy of a text, NULL when it holds a NUL or memory is out.
static const char *keep(builder *b, const char *text, size_t length)
{
    const char *kept = NULL;
    if (memchr(text, 0, length))
        refuse(b, "a string holds a NUL character");
    else if (!(kept = vd_string_arena_text(&b->tree->arena, text, length)))
        fail_memory(b);
    return kept;
}

static int on_number(void *context, const char *digits, size_t length)
{
    enum { LONGEST = 63 };
    builder *b = context;
    if (length > LONGEST)
        return refuse(b, "a number of %zu digits", length);
    const char *text = keep(b, digits, length);
    vd_json_value *made = text ? add(b, VD_JSON_NUMBER) : NULL;
    if (!made)
        return 0;
    char *end;
    made->text = text;
    made->number = strtod(text, NULL);
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    made->whole = *end || errno ? 0 : whole;
    return 1;
}

static int on_text(void *context, const unsigned char *bytes, size_t length)
{
    const char *text = keep(context, (const char *)bytes, length);
    vd_json_value *made = text ? add(context, VD_JSON_TEXT) : NULL;
    if (made)
        made->text = text;
    return made != NULL;
}

static int open_value(builder *b, vd_json_type type)
{
    if (b->depth == VD_JSON_DEEPEST)
        return refuse(b, "nested deeper than %d levels", VD_JSON_DEEPEST);
    vd_json_value *made = add(b, type);
    if (made)
        b->open[b->depth++] = made;
    return made != NULL;
}

static int on_map(void *context)
{
    return open_value(context, VD_JSON_MAP);
}

static int on_list(void *context)
{
    return open_value(context, VD_JSON_LIST);
}

static int on_end(void *context)
{
    ((builder *)context)->depth--;
    return 1;
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
    builder *b = context;
    b->key = keep(b, (const char *)text, length);
    return b->key != NULL;
}

vd_status vd_json_value_read(const char *where, const char *text, size_t length,
                             vd_json_value **out, vd_error *err)
{
    static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                             .yajl_boolean = on_truth,
                                             .yajl_number = on_number,
                                             .yajl_string = on_text,
                                             .yajl_start_map = on_map,
                                             .yajl_map_key = on_key,
                                             .yajl_end_map = on_end,
                                             .yajl_start_array = on_list,
                                             .yajl_end_array = on_end};
    document *tree = vd_alloc(1, sizeof *tree);
    builder b = {.where = where, .err = err, .tree = tree};
    *out = NULL;
    if (!b.tree)
        return vd_error_memory(err, where);
    vd_status status = vd_json_read(where, text, length, &callbacks, &b, &b.refused, err);
    if (status == VD_OK)
        *out = &b.tree->root;
    else
        vd_json_value_free(&b.tree->root);
    return status;
}

void vd_json_value_free(vd_json_value *value)
{
    if (value)
        vd_string_arena_clear(&((document *)(void *)value)->arena);
    vd_free(value);
}

const char *vd_json_type_name(const vd_json_value *value)
{
    static const char *const names[] = {"null",     "true",     "a number",
                                        "a string", "an array", "an object"};
    return value->type == VD_JSON_TRUTH && value->number == 0 ? "false" : names[value->type];
}

const vd_json_value *vd_json_member(const vd_json_value *value, const char *key, vd_json_type type)
{
    if (!value || value->type != VD_JSON_MAP)
        return NULL;
    for (const vd_json_value *member = value->first; member; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member->type == type ? member : NULL;
    return NULL;
}

bool vd_json_true(const vd_json_value *value, const char *key)
{
    const vd_json_value *member = vd_json_member(value, key, VD_JSON_TRUTH);
    return member && member->number > 0;
}

const char *vd_json_text(const vd_json_value *value, const char *key)
{
    const vd_json_value *member = vd_json_member(value, key, VD_JSON_TEXT);
    return member ? member->text : NULL;
}
