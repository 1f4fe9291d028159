// Large JSON files of a known form, read in chunks of constant size. The form is a table of rules.
// Every value is checked against the table before the caller sees it: kinds, missing keys, keys
// given twice, nesting. Keys without a rule are skipped with everything in them. Errors name the
// file, the line, the byte, the caller's own location and what was found.
#ifndef VD_JSON_STREAM_H
#define VD_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef enum vd_json_kind {
    VD_JSON_STRING,
    VD_JSON_INTEGER,
    VD_JSON_REAL,
    VD_JSON_OBJECT,
    VD_JSON_ARRAY
} vd_json_kind;

typedef struct vd_json_rule {
    int container;   // the object or array it stands in; 0 is the file itself
    const char *key; // NULL for an array's elements and the file's one value
    vd_json_kind kind;
    int id; // of an object or array: its own, the container of what is inside it; of a value:
            // passed to `value`
    bool required;
} vd_json_rule;

typedef struct vd_json_scalar {
    const char *text; // strings; no NUL inside, no NUL after it
    size_t length;
    int64_t integer;
    double real;
} vd_json_scalar;

typedef struct vd_json_reader vd_json_reader;

// What the caller does with what is read. Each call returns VD_OK or what vd_json_refuse gave.
typedef struct vd_json_form {
    const vd_json_rule *rules;
    int rule_count; // at most 32
    vd_status (*open)(void *context, vd_json_reader *reader, int container);
    vd_status (*close)(void *context, vd_json_reader *reader, int container);
    vd_status (*value)(void *context, vd_json_reader *reader, int id, const vd_json_scalar *value);
    // The caller's name for where it is ("image 7, round 2"), "" for none.
    void (*where)(const void *context, char *text, size_t size);
} vd_json_form;

// Reads a file of any size. VD_NOT_FOUND or VD_IO: it cannot be read; VD_FORMAT: damaged, or not of
// this form (the error names line and place); VD_NO_MEMORY; or what a call of the form returned.
vd_status vd_json_stream(const char *path, const vd_json_form *form, void *context, vd_error *err);

// For use in the calls above: ends the reading with this status and text.
vd_status vd_json_refuse(vd_json_reader *reader, vd_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
vd_status vd_json_no_memory(vd_json_reader *reader);
// A number of 0 to `most`; refused otherwise, with the key.
vd_status vd_json_whole(vd_json_reader *reader, const char *key, const vd_json_scalar *value,
                        int64_t most, int64_t *out);
// How many bytes of the file were read up to here.
size_t vd_json_byte(const vd_json_reader *reader);

#endif
