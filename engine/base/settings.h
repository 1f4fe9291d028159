// A struct of settings as a table of rows. From a row are made: the start value, the bounds that
// are checked, the value's text on a command line, and its form in the JSON object that model files
// and checkpoints keep in their metadata, {"embed": 64, ..., "gate": "sigmoid"}.
#ifndef VD_SETTINGS_H
#define VD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/error.h"

typedef enum vd_setting_kind {
    VD_SETTING_INT,
    VD_SETTING_SWITCH, // int, 0 or 1
    VD_SETTING_SEED,   // uint64_t; a string in JSON, where not every reader keeps all its digits
    VD_SETTING_REAL,   // double
    VD_SETTING_CHOICE  // an enum that counts from 0
} vd_setting_kind;

typedef struct vd_setting {
    const char *name; // in JSON with _ for -; NULL ends a table
    vd_setting_kind kind;
    size_t offset;
    double least, most, initial; // both bounds are possible values
    const char *const *choices;  // CHOICE: the names of least .. most
    bool optional;               // may be left out in JSON: its initial value
} vd_setting;

// The row of that name, NULL when there is none.
const vd_setting *vd_settings_find(const vd_setting *rows, const char *name);
// Whether a name is among `names`, with spaces between them; NULL: there are none.
bool vd_listed(const char *names, const char *name);
void vd_settings_start(const vd_setting *rows, void *settings); // initial values

// The whole text must be a value within the bounds; else `refused`, with an error that starts with
// where: "--embed: expected a whole number from 1 to 65536, found 'x'".
vd_status vd_setting_parse(const vd_setting *row, const char *text, void *settings,
                           const char *where, vd_status refused, vd_error *err);
// The value as such a text, with so many digits that it is parsed to the same value.
void vd_setting_text(const vd_setting *row, const void *settings, char *out, size_t room);

// A new string (vd_free); NULL on failure. `what` names the settings in errors.
vd_status vd_settings_write(const vd_setting *rows, const void *settings, const char *what,
                            char **json, vd_error *err);
// `where` names the source in errors. Every row that is not optional must be there, once; other
// members are refused.
vd_status vd_settings_read(const vd_setting *rows, const char *json, const char *where,
                           void *settings, vd_error *err);
// The bounds for what a caller filled in; VD_USAGE names the row.
vd_status vd_settings_check(const vd_setting *rows, const void *settings, vd_error *err);

#endif
