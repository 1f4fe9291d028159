// A struct of settings as a table of its fields: its bounds, and its form as a JSON object in the
// metadata of model files and checkpoints, {"vocab": 312, "embed": 64, ..., "gate": "sigmoid"}.
#ifndef VD_SETTINGS_H
#define VD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/error.h"

typedef enum vd_field_kind {
    VD_FIELD_INT,
    VD_FIELD_SEED, // uint64_t, any; a string in JSON, which has no such numbers
    VD_FIELD_REAL, // double
    VD_FIELD_FLOAT,
    VD_FIELD_CHOICE // an enum that counts from 0
} vd_field_kind;

typedef struct vd_field {
    const char *name; // NULL ends a table
    vd_field_kind kind;
    size_t offset;
    double least, most;
    const char *(*choice_name)(int); // CHOICE: names of 0, 1, ... until NULL
    bool optional;                   // may be left out in JSON: 0
} vd_field;

// A new string (vd_free) with all digits, so that what is read again is the same; NULL on failure.
// `what` names the settings in errors.
vd_status vd_settings_write(const vd_field *fields, const void *settings, const char *what,
                            char **json, vd_error *err);
// `where` names the source in errors. Every field must be there, in range; unknown ones are
// refused.
vd_status vd_settings_read(const vd_field *fields, const char *json, const char *where,
                           void *settings, vd_error *err);
// The same ranges for what a caller filled in; VD_USAGE names the field.
vd_status vd_settings_check(const vd_field *fields, const void *settings, vd_error *err);

#endif
