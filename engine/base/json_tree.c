#include "engine/base/json_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/json.h"

enum { DEEPEST = 16 };

typedef struct builder {
    const char *where;
    vd_error *err;
    vd_status refused;
    vd_json_value *root;
    vd_json_value *open[DEEPEST]; // lists and maps that are not closed yet
    int depth;
    char *key; // for the next member
} builder;

static int fail_memory(builder *b)
{
    b->refused = vd_error_memory(b->err, b->where);
    return 0;
}

// The new value in its place, NULL when memory is out.
static vd_json_value *add(builder *b, vd_json_type type)
{
    vd_json_value *made = vd_alloc(1, sizeof *made);
    if (!made) {
        fail_memory(b);
        return NULL;
    }
    made->type = type;
    made->key = b->key;
    b->key = NULL;
    if (b->depth == 0) {
        b->root = made;
        return made;
    }
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

static int on_number(void *context, const char *digits, size_t length)
{
    char text[64];
    builder *b = context;
    if (length >= sizeof text) {
        b->refused =
            vd_error_set(b->err, VD_FORMAT, "%s: a number of %zu digits", b->where, length);
        return 0;
    }
    vd_json_value *made = add(b, VD_JSON_NUMBER);
    if (!made)
        return 0;
    memcpy(text, digits, length);
    text[length] = '\0';
    made->number = strtod(text, NULL);
    char *end;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    made->whole = *end || errno ? 0 : whole;
    return 1;
}

static int on_text(void *context, const unsigned char *text, size_t length)
{
    builder *b = context;
    if (memchr(text, 0, length)) {
        b->refused = vd_error_set(b->err, VD_FORMAT, "%s: a string holds a zero byte", b->where);
        return 0;
    }
    vd_json_value *made = add(b, VD_JSON_TEXT);
    if (!made)
        return 0;
    made->text = vd_strndup((const char *)text, length);
    return made->text ? 1 : fail_memory(b);
}

static int open_value(builder *b, vd_json_type type)
{
    if (b->depth == DEEPEST) {
        b->refused =
            vd_error_set(b->err, VD_FORMAT, "%s: nested deeper than %d levels", b->where, DEEPEST);
        return 0;
    }
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
    b->key = vd_strndup((const char *)text, length);
    return b->key ? 1 : fail_memory(b);
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
    builder b = {.where = where, .err = err};
    *out = NULL;
    vd_status status = vd_json_read(where, text, length, &callbacks, &b, &b.refused, err);
    vd_free(b.key);
    if (status) {
        vd_json_value_free(b.root);
        return status;
    }
    *out = b.root;
    return VD_OK;
}

void vd_json_value_free(vd_json_value *value)
{
    // At most DEEPEST calls deep.
    while (value) {
        vd_json_value *next = value->next;
        vd_json_value_free(value->first);
        vd_free(value->key);
        vd_free(value->text);
        vd_free(value);
        value = next;
    }
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

const char *vd_json_text(const vd_json_value *value, const char *key)
{
    const vd_json_value *member = vd_json_member(value, key, VD_JSON_TEXT);
    return member ? member->text : NULL;
}
