// The commands of the program `visdial`: one table from which dispatch, help and the shell
// completions are made.
//
// A command is called with argv[0] = its own name ("train") and returns the exit code of the
// program (engine/base/error.h lists them). Data goes to stdout, messages to stderr. `--help` never
// reaches a command: vd_command_main answers it from the table.
#ifndef VD_COMMAND_H
#define VD_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "engine/base/error.h"
#include "tui/base/options.h"
#include "tui/base/version.h"

int vd_cmd_chat(int argc, char **argv);
int vd_cmd_ask(int argc, char **argv);
int vd_cmd_walk(int argc, char **argv);
int vd_cmd_train(int argc, char **argv);
int vd_cmd_curves(int argc, char **argv);
int vd_cmd_eval(int argc, char **argv);
int vd_cmd_compare(int argc, char **argv);
int vd_cmd_replay(int argc, char **argv);
int vd_cmd_blocks(int argc, char **argv);
int vd_cmd_extract(int argc, char **argv);
int vd_cmd_import(int argc, char **argv);
int vd_cmd_data(int argc, char **argv);
int vd_cmd_features(int argc, char **argv);
int vd_cmd_study(int argc, char **argv);
int vd_cmd_pool(int argc, char **argv);
int vd_cmd_info(int argc, char **argv);
int vd_cmd_help(int argc, char **argv);

typedef struct vd_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;      // one line
    const char *usage;        // what follows "visdial name"
    const char *text;         // paragraphs for --help, may be empty
    const char *example;      // command lines
    const vd_option *options; // ends with a NULL name
    const char *words;        // what its first operand may be, for completion; NULL: files
} vd_command;

extern const vd_command vd_commands[]; // ends with a NULL name

// The options of single commands, beside the code that reads them.
extern const vd_option vd_cmd_chat_options[];
extern const vd_option vd_cmd_ask_options[];
extern const vd_option vd_cmd_walk_options[];
extern const vd_option vd_cmd_train_options[];
extern const vd_option vd_cmd_curves_options[];
extern const vd_option vd_cmd_eval_options[];
extern const vd_option vd_cmd_compare_options[];
extern const vd_option vd_cmd_replay_options[];
extern const vd_option vd_cmd_blocks_options[];
extern const vd_option vd_cmd_extract_options[];
extern const vd_option vd_cmd_import_options[];
extern const vd_option vd_cmd_data_options[];
extern const vd_option vd_cmd_features_options[];
extern const vd_option vd_cmd_study_options[];
extern const vd_option vd_cmd_pool_options[];

// NULL when there is no such command.
const vd_command *vd_command_find(const char *name);
// The command whose name is nearest to what was typed, NULL when none is near.
const vd_command *vd_command_nearest(const char *typed);

void vd_command_print_help(const vd_command *command, FILE *out); // NULL: of the program
// "bash", "zsh" or "fish": the completion script for the table. 0, or -1 for another shell.
int vd_command_print_completion(const char *shell, FILE *out);
void vd_command_print_manual(FILE *out); // the man page, in roff

// The whole program. No command starts chat.
int vd_command_main(int argc, char **argv);

// Prints "visdial <command>: <error>" on stderr and returns the exit code of its status.
int vd_command_fail(const char *command, const vd_error *err);

#endif
