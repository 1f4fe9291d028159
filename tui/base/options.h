// Command-line options from a table, with errors that say what to do.
#ifndef VD_OPTIONS_H
#define VD_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef struct vd_option {
    const char *name;     // without "--"; NULL ends a table
    const char *argument; // what to call its value in the help; NULL for a switch
    const char *help;
} vd_option;

// Walks over argv[1..argc-1]. Options may stand anywhere before "--", in full or abbreviated,
// values as "--name value" or "--name=value". argv is permuted so that operands come last. One walk
// at a time in a process (it is getopt_long inside).
typedef struct vd_option_walk {
    const vd_option *options;
    int argc;
    char **argv;
    int started;
    int operands; // index of the first operand in argv; valid at the end of the walk
} vd_option_walk;

enum { VD_OPTION_END = -1, VD_OPTION_ERROR = -2 };

// Index of the next option in the table, its value in *value (NULL for a switch); VD_OPTION_END
// after the last; VD_OPTION_ERROR with err filled for an option that is not in the table.
int vd_option_next(vd_option_walk *walk, const char **value, vd_error *err);

// Walks to the end: given[i] is the value of options[i], "" for a switch, NULL where it was not
// given. given has an element for every option. *operands as in the walk.
vd_status vd_options_given(const vd_option *options, int argc, char **argv, const char **given,
                           int *operands, vd_error *err);

// The whole text must be a number from low to high: "--epochs: expected a whole number from 1 to
// 1000, found 'x'".
vd_status vd_option_int(const char *name, const char *text, int64_t low, int64_t high, int64_t *out,
                        vd_error *err);
vd_status vd_option_number(const char *name, const char *text, double low, double high, double *out,
                           vd_error *err);

// Reads the options of `range` that were given; the values of the others do not change.
typedef struct vd_option_range {
    int option; // its index in the options
    int64_t low, high, *value;
} vd_option_range;
vd_status vd_options_int(const vd_option *options, const char *const *given,
                         const vd_option_range *range, size_t count, vd_error *err);

// How many single-letter edits lie between two names (Levenshtein 1966).
int vd_option_distance(const char *a, const char *b);

#endif
