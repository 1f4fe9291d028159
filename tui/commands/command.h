// The commands of the program `visdial`: one table from which dispatch, help, man page and the
// shell completions are made.
#ifndef VD_COMMAND_H
#define VD_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/base/error.h"
#include "features/pictures/photos.h"
#include "features/regions/regions.h"
#include "tui/base/options.h"
#include "tui/base/output.h"

// In the order of the help. X(name): a file of this folder with a vd_cmd_name.
// clang-format off
#define VD_COMMANDS(X)                                                                             \
    X(chat) X(ask) X(caption) X(walk) X(train) X(curves) X(eval) X(compare) X(replay) X(blocks) X(extract)    \
    X(data) X(features) X(study) X(pool) X(import) X(info) X(help)
// clang-format on

typedef struct vd_command {
    const char *name;
    // argv[0] is the name. Data goes to stdout, messages to stderr. The exit code is that of the
    // status; the error is printed unless its text is empty (already reported). `--help` never
    // comes here: vd_command_main answers it from the table.
    vd_status (*run)(int argc, char **argv, vd_error *err);
    const char *summary;      // one line
    const char *usage;        // what follows "visdial name"
    const char *text;         // paragraphs for --help, may be empty
    const char *example;      // command lines
    const vd_option *options; // ends with a NULL name
    const char *words;        // what its first operand may be, for completion; NULL: files
} vd_command;

#define X(name) extern const vd_command vd_cmd_##name;
VD_COMMANDS(X)
#undef X
extern const vd_command *const vd_commands[]; // ends with NULL

typedef enum vd_shell { VD_BASH, VD_ZSH, VD_FISH } vd_shell;
void vd_command_print_completion(vd_shell shell, FILE *out); // the script
void vd_command_print_manual(FILE *out);                     // the man page, in roff

// The whole program. No command starts chat.
int vd_command_main(int argc, char **argv);

// The file of the extractor (g_free): the one given, else the bundled one, else where `extract
// --train` writes.
char *vd_extractor_path(const char *given);

// Rows that describe region features (`visdial features info`), with photos or NULL. Fails when one
// cannot be read; of large files none is tried, which a row says.
vd_status vd_regions_print(vd_regions *regions, const vd_photos *photos, vd_error *err);

// Prints the kind of the file at path, then its contents (`visdial info`). tensors: also lists the
// tensors of a safetensors file.
vd_status vd_info_print(const char *path, bool tensors, vd_error *err);

// The parts of it about JSON files of one entry a picture: a list of annotations, rankings, scenes
// or results; and captions.
vd_status vd_info_rows(const char *path, vd_error *err);
vd_status vd_info_captions(const char *path, vd_error *err);

// The parts about what a training run writes: its log, its event file, what it reads; the directory
// with all of it. Weights of a run (g_free): its checkpoint, before the first one the model; NULL:
// the directory is of no run.
vd_status vd_info_log(const char *path, vd_error *err);
vd_status vd_info_events(const char *path, vd_error *err);
vd_status vd_info_inputs(const char *path, vd_error *err);
char *vd_info_weights(const char *directory);
vd_status vd_info_run(const char *path, const char *weights, bool tensors, vd_error *err);

// Prints "visdial <command>: <error>" on stderr.
void vd_command_complain(const char *command, const vd_error *err);

#endif
