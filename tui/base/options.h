// Command-line options as a table: a row has the name of an option, its help, where its value goes
// and which values are allowed. One function reads a whole command line with such a table.
#ifndef VD_OPTIONS_H
#define VD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "engine/networks/settings.h"
#include "tui/base/bundled.h"

typedef enum vd_option_kind {
    VD_OPTION_SWITCH,  // bool
    VD_OPTION_TEXT,    // const char *, borrowed from the command line
    VD_OPTION_INTEGER, // of four or eight bytes; an enum with choices
    VD_OPTION_NUMBER,  // double
    VD_OPTION_OTHER    // read by a function of the row
} vd_option_kind;

typedef struct vd_option {
    const char *name;     // without "--"; NULL ends a table
    const char *argument; // what to call its value in the help; NULL for a switch
    const char *help;
    vd_option_kind kind;
    size_t offset, size;      // of the value in the settings of the command
    int64_t low, high;        // bounds of an integer
    double least, most;       // bounds of a number
    const char *choices;      // names of the values 0, 1, ...: (vd_choice_find)
    const char *const *names; // (most + 1) other values that completion offers
    // If set, reads the value instead; called each time the option is given.
    vd_status (*read)(void *value, const char *name, const char *text, vd_error *err);
} vd_option;

// Kind and place of an option's value: a member of a type of settings.
// clang-format off
#define VD_INTO(type, member)                                                                      \
    .kind = _Generic(((type *)NULL)->member,                                                       \
        bool: VD_OPTION_SWITCH, const char *: VD_OPTION_TEXT, double: VD_OPTION_NUMBER,            \
        int: VD_OPTION_INTEGER, unsigned: VD_OPTION_INTEGER,                                       \
        long: VD_OPTION_INTEGER, unsigned long: VD_OPTION_INTEGER, default: VD_OPTION_OTHER),      \
    .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
// clang-format on

enum { VD_MOST_OPTIONS = 128 };

// What a command line has besides the values.
typedef struct vd_arguments {
    const vd_option *options;
    bool given[VD_MOST_OPTIONS]; // which of the options
    int count;                   // operands
    char **operand;              // borrowed from argv, which ends with a NULL
} vd_arguments;

// Reads argv[1..argc-1]. Options may stand anywhere before "--", in full or abbreviated, values as
// "--name value" or "--name=value". argv is permuted so that operands come last. Values that were
// not given stay as they are in *settings. VD_USAGE says what was found and expected: "--epochs:
// expected a whole number from 1 to 1000, found 'x'". One call at a time in a process (it is
// getopt_long inside).
vd_status vd_arguments_read(const vd_option *options, int argc, char **argv, void *settings,
                            vd_arguments *out, vd_error *err);
bool vd_arguments_have(const vd_arguments *arguments, const char *name);
// names: options, with spaces between them. VD_USAGE for the first that was not given.
vd_status vd_arguments_need(const vd_arguments *arguments, const char *names, vd_error *err);
// VD_USAGE for the first of them that was given: "--name why".
vd_status vd_arguments_refuse(const vd_arguments *arguments, const char *names, const char *why,
                              vd_error *err);
// Index of the first operand among verbs ("info or import"), for a command that takes a verb and
// then so many files. VD_USAGE for another verb, or another number of files.
vd_status vd_arguments_verb(const vd_arguments *arguments, const char *verbs, int files, int *out,
                            vd_error *err);
// VD_USAGE for more operands.
vd_status vd_arguments_most(const vd_arguments *arguments, int operands, vd_error *err);

// The values that completion offers, with spaces between them: the choices, or the bundled models
// where the argument is a MODEL; "" none.
void vd_option_words(const vd_option *option, char *out, size_t size);
// Index of a text among choices ("human or relevant"; "train, val or test"), -1: none of them.
int vd_choice_find(const char *choices, const char *text);
// The next one of them, which *choices moves behind, of *length bytes; NULL at the end.
const char *vd_choice_next(const char **choices, size_t *length);

// ---- options of several commands ----------------------------------------------------------------

// The same option has the same help everywhere. A command may add its default, or a remark after
// ";" (tests/unit/test_command.c).
#define VD_HELP_ASSETS    "directory of the bundled models, dialogs and pictures"
#define VD_HELP_CAPTIONER "captioner for your own pictures (default: the bundled one)"
#define VD_HELP_TASK      "dialog (default) or caption"
#define VD_HELP_DATA      "dialogs (VisDial JSON, or packed with `data pack`)"
#define VD_HELP_DECODER   "decoder that ranks the answers: discriminative, generative or both"
#define VD_HELP_DENSE     "relevance of the candidates (VisDial dense annotations)"
#define VD_HELP_FEATURES  "region features of the pictures (any format of `visdial features`)"
#define VD_HELP_FOLD      "group answers with the same meaning (\"yes\", \"yes it is\")"
#define VD_HELP_FORCE     "overwrite existing files"
#define VD_HELP_IMAGES    "directory of photos, found by the image id at the end of their names"
#define VD_HELP_JSON      "print one JSON object"
#define VD_HELP_IMAGE     "an image id, a picture file, or blocks:SEED for a new picture"
#define VD_HELP_LIMIT     "use only the first N dialogs"
#define VD_HELP_MIN_COUNT                                                                          \
    "how often a word must occur to be in the vocabulary (" VD_TEXT_OF(VD_MIN_COUNT) ")"
#define VD_HELP_MISSING                                                                            \
    "pictures without features: skip (default for dialogs) or refuse (an error; default for "      \
    "captions)"
#define VD_HELP_MODEL       VD_MODEL_NAMES " or a model file"
#define VD_HELP_NO_PROGRESS "do not show progress"
#define VD_HELP_RESAMPLES   "bootstrap samples (10000)"
#define VD_HELP_THREADS     "number of threads"
#define VD_HELP_WATCH       "show the curves in full screen; q leaves"

// A vd_backend_choice (engine/backend/open.h).
// clang-format off
#define VD_BACKEND_OPTION(type, member)                                                            \
    {"backend", "NAME", "cpu, cuda or auto (default: auto, cuda where it can be used)",            \
     VD_INTO(type, member), .choices = "auto, cpu or cuda"}
// clang-format on

#endif
