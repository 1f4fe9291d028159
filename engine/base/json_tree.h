// A JSON value as a tree, for texts that fit in memory: the metadata of models, vocabularies, lines
// of a transcript. Large files of data are read as streams (json_stream.h).
#ifndef VD_BASE_JSON_TREE_H
#define VD_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef enum vd_json_type {
    VD_JSON_NULL,
    VD_JSON_TRUTH,
    VD_JSON_NUMBER,
    VD_JSON_TEXT,
    VD_JSON_LIST,
    VD_JSON_MAP
} vd_json_type;

typedef struct vd_json_value {
    vd_json_type type;
    const char *key;                           // in a map
    const char *text;                          // TEXT, without NUL inside; NUMBER: as it is written
    double number;                             // NUMBER; TRUTH: 0 or 1
    int64_t whole;                             // NUMBER without fraction; else 0
    size_t count;                              // of a list's or map's members
    struct vd_json_value *first, *next, *last; // first and last member; the next of this one's list
} vd_json_value;

enum { VD_JSON_DEEPEST = 16, VD_JSON_MOST_VALUES = 1 << 22 };

// *out: the tree, NULL on failure (VD_FORMAT, VD_NO_MEMORY). where names the source in errors,
// which also say at which member or element. Deeper nesting and more values than these are refused.
// A key may be there twice: both are members.
vd_status vd_json_value_read(const char *where, const char *text, size_t length,
                             vd_json_value **out, vd_error *err);
void vd_json_value_free(vd_json_value *value); // what vd_json_value_read gave; NULL is fine

// The member of a map; NULL when value is NULL, no map, has no such member or one of another type.
const vd_json_value *vd_json_member(const vd_json_value *value, const char *key, vd_json_type type);
// Whether it has a member of that name that is true.
bool vd_json_true(const vd_json_value *value, const char *key);
const char *vd_json_text(const vd_json_value *value, const char *key); // NULL: none
const char *vd_json_type_name(const vd_json_value *value); // "a number", "an array", "null", ...

#endif
