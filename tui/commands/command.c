#include "tui/commands/command.h"

#include <ctype.h>
#include <glib.h>
#include <signal.h>
#include <string.h>

#include "tui/base/nearest.h"
#include "tui/screen/wrap.h"
#include "tui/session/session.h"

enum { HELP_WIDTH = 80, HELP_INDENT = 22 }; // columns of the help, and of its option names

#define X(name) &vd_cmd_##name,
const vd_command *const vd_commands[] = {VD_COMMANDS(X) NULL};
#undef X

// NULL when there is no such command.
static const vd_command *find(const char *name)
{
    const vd_command *const *at = vd_commands;
    while (*at && strcmp((*at)->name, name) != 0)
        at++;
    return *at;
}

void vd_command_complain(const char *command, const vd_error *err)
{
    fflush(stdout); // so that what came before the error stands before it
    char text[sizeof err->text];
    snprintf(text, sizeof text, "%s", err->text);
    g_strdelimit(text, "\r\n", ' '); // of the name of a file: an error is one line
    fprintf(stderr, "visdial %s: %s\n", command, text);
}

static int run_command(const vd_command *command, int argc, char **argv)
{
    vd_error err = {0};
    vd_status status = command->run(argc, argv, &err);
    if (status && err.text[0])
        vd_command_complain(command->name, &err);
    return vd_status_exit_code(status);
}

// ---- help ---------------------------------------------------------------------------------------

static void print_program_help(FILE *out)
{
    fprintf(out, "visdial: chat about a picture (visual dialog)\n\n"
                 "Usage: visdial [chat options] [PICTURE ...]\n       visdial COMMAND "
                 "[options]\n\nCommands:\n");
    for (const vd_command *const *at = vd_commands; *at; at++)
        fprintf(out, "  %-10s %s\n", (*at)->name, (*at)->summary);
    fprintf(out, "\n  --help     print this text; `visdial COMMAND --help` explains a command\n"
                 "  --version  print the version\n\nExit codes:\n");
#define X(code, text, exit_code) fprintf(out, "  %3d  %s\n", exit_code, text);
    VD_STATUS_LIST(X)
#undef X
    fprintf(out, "\nExample:\n"
                 "  visdial ask --image 1000003 \"what is on the left\" \"what color is it\"\n");
}

// Text from column `at` on, wrapped between column `indent` and the right margin.
static void print_wrapped(const char *text, int at, int indent, FILE *out)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    while (vd_wrap_next(text, length, HELP_WIDTH - indent, &offset, &line)) {
        fprintf(out, "%*s%.*s\n", indent - at, "", (int)line.length, text + line.start);
        at = 0;
    }
}

static int option_width(const vd_option *option)
{
    size_t value = option->argument ? strlen(option->argument) + 1 : 0;
    return (int)(strlen("  --") + strlen(option->name) + value);
}

// The help of an option stands beside its name, or below where the name is long.
static void print_option(const vd_option *option, int indent, FILE *out)
{
    int width = option_width(option);
    fprintf(out, "  --%s%s%s", option->name, option->argument ? " " : "",
            option->argument ? option->argument : "");
    if (width + 2 > indent)
        fprintf(out, "\n");
    print_wrapped(option->help, width + 2 > indent ? 0 : width, indent, out);
}

static void print_help(const vd_command *command, FILE *out)
{
    static const vd_option help = {.name = "help", .help = "print this text"};
    if (!command) {
        print_program_help(out);
        return;
    }
    fprintf(out, "Usage: visdial %s %s\n\n%c%s.\n", command->name, command->usage,
            toupper((unsigned char)*command->summary), command->summary + 1);
    if (*command->text)
        fprintf(out, "\n");
    print_wrapped(command->text, 0, 0, out);
    fprintf(out, "\nOptions:\n");
    int indent = option_width(&help) + 2;
    for (const vd_option *option = command->options; option->name; option++) {
        int width = option_width(option) + 2;
        if (width > indent && width <= HELP_INDENT)
            indent = width;
    }
    for (const vd_option *option = command->options; option->name; option++)
        print_option(option, indent, out);
    print_option(&help, indent, out);
    fprintf(out, "\nExample:\n%s", command->example);
}

typedef struct help_settings {
    vd_shell shell;
    bool manual;
} help_settings;

static const vd_option help_options[] = {
    {"completion", "SHELL", "print the completion script for bash, zsh or fish",
     VD_INTO(help_settings, shell), .choices = "bash, zsh or fish"},
    {"manual", NULL, "print the man page", VD_INTO(help_settings, manual)},
    {0},
};

static vd_status run_help(int argc, char **argv, vd_error *err)
{
    help_settings settings = {0};
    vd_arguments given;
    vd_status status = vd_arguments_read(help_options, argc, argv, &settings, &given, err);
    if (status)
        return status;
    const vd_command *command = given.count ? find(given.operand[0]) : NULL;
    if (settings.manual)
        vd_command_print_manual(stdout);
    else if (vd_arguments_have(&given, "completion"))
        vd_command_print_completion(settings.shell, stdout);
    else if (given.count && !command)
        return vd_error_set(err, VD_USAGE,
                            "there is no command '%.80s'; `visdial --help` lists them",
                            given.operand[0]);
    else
        print_help(command, stdout);
    return VD_OK;
}

#define X(name) #name " "
const vd_command vd_cmd_help = {
    "help",       run_help,      "explain a command", "[COMMAND]", "", "  visdial help train\n",
    help_options, VD_COMMANDS(X)};
#undef X

// ---- dispatch -----------------------------------------------------------------------------------

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static int refuse_command(const char *typed)
{
    vd_nearest nearest = {.typed = typed, .most = VD_EDITS_OF_NAMES};
    for (const vd_command *const *at = vd_commands; *at; at++)
        vd_nearest_try(&nearest, (*at)->name);
    bool number = *typed && !typed[strspn(typed, "0123456789")];
    bool file = !nearest.name && strpbrk(typed, "./");
    fprintf(stderr, "visdial: there is no %s '%.80s'", file ? "picture file or command" : "command",
            typed);
    if (nearest.name)
        fprintf(stderr, "; did you mean `visdial %s`?\n", nearest.name);
    else if (number)
        fprintf(stderr, "; did you mean `visdial --image %s`?\n", typed);
    else if (!file && strchr(typed, ' ')) // a question
        fprintf(stderr, "; to ask: `visdial ask --image PICTURE \"%s\"`\n", typed);
    else
        fputs(file ? "\n" : "; `visdial --help` lists them\n", stderr);
    return vd_status_exit_code(VD_USAGE);
}

// `visdial my.png`, and not a command with a file of its name beside it.
static bool is_picture(const char *first)
{
    return !find(first) && vd_names_picture(first);
}

static int dispatch(int argc, char **argv)
{
    static char chat[] = "chat";
    const char *first = argc > 1 ? argv[1] : "-";
    if (strcmp(first, "--version") == 0) {
        printf("visdial %s\n", VD_VERSION);
        return 0;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        print_help(NULL, stdout);
        return 0;
    }
    const vd_command *command = &vd_cmd_chat;
    char *lone[] = {chat, NULL};
    if (argc == 0) {
        argv = lone;
        argc = 1;
    } else if (first[0] == '-' || is_picture(first)) {
        argv[0] = chat;
    } else {
        command = find(first);
        argv++;
        argc--;
    }
    if (!command)
        return refuse_command(first);
    if (asks_for_help(argc, argv)) {
        print_help(command, stdout);
        return 0;
    }
    return run_command(command, argc, argv);
}

int vd_command_main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); // a file-size limit is to be an error of write(), with a message
    int code = dispatch(argc, argv);
    // A full disk is found only when the buffer is written.
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
        perror("visdial: writing standard output");
        code = vd_status_exit_code(VD_IO);
    }
    return code;
}
