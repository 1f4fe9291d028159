#include <string.h>

#include "tui/commands/command.h"
#include "tui/screen/places.h"

// Text as roff: requests and escapes in it are quoted, "-" stays a plain minus. line_feed: what is
// written for a line feed.
static void roff_lines(const char *text, const char *line_feed, FILE *out)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\n')
            fputs(line_feed, out);
        else
            fputc(*text, out);
        line_start = *text == '\n';
    }
}

static void roff(const char *text, FILE *out)
{
    roff_lines(text, "\n", out);
}

// argument: may be NULL.
static void print_entry(const char *what, const char *argument, const char *meaning, FILE *out)
{
    fprintf(out, ".TP\n.B ");
    roff(what, out);
    if (argument)
        fprintf(out, " \\fI%s\\fR", argument);
    fprintf(out, "\n");
    roff(meaning, out);
    fprintf(out, "\n");
}

static void print_command(const vd_command *command, FILE *out)
{
    fprintf(out, ".SS visdial %s ", command->name);
    roff(command->usage, out);
    fprintf(out, "\n");
    roff(command->summary, out);
    fprintf(out, ".\n");
    if (*command->text) {
        fprintf(out, ".PP\n");
        roff_lines(command->text, "\n.PP\n", out);
        fprintf(out, "\n");
    }
    for (const vd_option *option = command->options; option->name; option++) {
        char name[80];
        snprintf(name, sizeof name, "--%s", option->name);
        print_entry(name, option->argument, option->help, out);
    }
    fprintf(out, ".PP\nExample:\n.PP\n.nf\n.RS\n");
    roff(command->example, out);
    fprintf(out, ".RE\n.fi\n");
}

// Whether the help of a place has this line, too.
static bool has_line(vd_place place, const char *keys, const char *meaning)
{
    char own[96];
    const char *says;
    for (size_t i = 0; vd_keymap_help(place, i, own, sizeof own, &says); i++)
        if (strcmp(own, keys) == 0 && strcmp(says, meaning) == 0)
            return true;
    return false;
}

static void print_commands(const char *where, vd_place screen, FILE *out)
{
    char text[96];
    const vd_binding *binding;
    fprintf(out, ".SS Commands %s\n", where);
    for (size_t i = 0; (binding = vd_keymap_command(screen, i)) != NULL; i++) {
        snprintf(text, sizeof text, "%s%s%s", binding->command, binding->argument ? " " : "",
                 binding->argument ? binding->argument : "");
        print_entry(text, NULL, binding->meaning, out);
    }
}

// The keys of every place; those of the first place of its kind (the chat, the cases of a
// comparison, the curves) only there.
static void print_keys(FILE *out)
{
    char text[96];
    const char *meaning;
    fprintf(out, ".SH KEYS\n");
    for (int place = 0; place < VD_ALL_PLACES; place++) {
        vd_place first = place < VD_PLACES         ? VD_PLACE_CHAT
                         : place < VD_PLACE_CURVES ? VD_PLACE_CASES
                                                   : VD_PLACE_CURVES;
        fprintf(out, ".SS %s\n", vd_keymap_title((vd_place)place));
        for (size_t i = 0; vd_keymap_help((vd_place)place, i, text, sizeof text, &meaning); i++)
            if ((vd_place)place == first || !has_line(first, text, meaning))
                print_entry(text, NULL, meaning, out);
    }
    fprintf(out, ".SS " VD_HELP_SHOWN "\n");
    for (int i = 0; vd_help_shown[i][0]; i++)
        print_entry(vd_help_shown[i][0], NULL, vd_help_shown[i][1], out);
    print_commands("in the chat", VD_PLACE_CHAT, out);
    print_commands("in the cases of a comparison", VD_PLACE_CASES, out);
    print_commands("in the curves", VD_PLACE_CURVES, out);
    print_commands("while a run is watched", VD_PLACE_RUN, out);
}

void vd_command_print_manual(FILE *out)
{
    fprintf(
        out,
        ".\\\" Made by `visdial help --manual`.\n"
        ".TH VISDIAL 1 \"\" \"visdial %s\" \"User Commands\"\n"
        ".SH NAME\nvisdial \\- chat about a picture\n"
        ".SH SYNOPSIS\n.B visdial\n[\\fIchat options\\fR] [\\fIPICTURE\\fR ...]\n.br\n.B visdial\n"
        "\\fICOMMAND\\fR [\\fIoptions\\fR]\n"
        ".SH DESCRIPTION\n"
        "Answers questions about a picture in a conversation (visual dialog) with MVAN or\n"
        "another network, shows what the network attended to, trains and evaluates it.\n"
        "Without a command it opens the chat. \\-\\-help explains each command.\n"
        ".SH COMMANDS\n",
        VD_VERSION);
    for (const vd_command *const *at = vd_commands; *at; at++)
        print_command(*at, out);
    print_keys(out);
    fprintf(out, ".SH EXIT STATUS\n");
#define X(code, text, exit_code) fprintf(out, ".TP\n.B %d\n%s\n", exit_code, text);
    VD_STATUS_LIST(X)
#undef X
    fprintf(
        out,
        ".SH ENVIRONMENT\n"
        ".TP\n.B VISDIAL_ASSETS\ndirectory of the bundled models, dialogs and pictures.\n"
        "Default: the first of ./assets, ../assets beside the program and\n"
        "PREFIX/share/visdial that exists\n"
        ".TP\n.B VISDIAL_CPU\ninstructions to use: avx512, avx2 or portable. Default: the best "
        "that the\n"
        "processor has\n"
        ".TP\n.B OPENBLAS_NUM_THREADS\nthreads of the CPU backend\n"
        ".TP\n.B COLORTERM\ntruecolor or 24bit: the picture is drawn in 24-bit colours\n"
        ".TP\n.B NO_COLOR\nno colours, when it is not empty\n"
        ".TP\n.B XDG_CONFIG_HOME, XDG_STATE_HOME\nwhere the chat keeps its settings, and its\n"
        "history and transcripts\n"
        ".SH FILES\n"
        "dialogs.json, dense.json, scenes.json, features.safetensors, pool.txt, pictures/ID.png,\n"
        "best.safetensors, base.safetensors, improved.safetensors, captioner.safetensors and\n"
        "extractor.safetensors in the directory of assets.\n");
}
