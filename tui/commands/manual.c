#include <stdbool.h>

#include "tui/commands/command.h"

// Text as roff: requests and escapes in it are quoted, "-" stays a plain minus. line_feed: what a
// line feed becomes.
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
        fprintf(out, ".TP\n.B \\-\\-");
        roff(option->name, out);
        if (option->argument)
            fprintf(out, " \\fI%s\\fR", option->argument);
        fprintf(out, "\n");
        roff(option->help, out);
        fprintf(out, "\n");
    }
    fprintf(out, ".PP\nExample:\n.PP\n.nf\n.RS\n");
    roff(command->example, out);
    fprintf(out, ".RE\n.fi\n");
}

void vd_command_print_manual(FILE *out)
{
    fprintf(out,
            ".\\\" Made by `visdial help --manual`.\n"
            ".TH VISDIAL 1 \"\" \"visdial %s\" \"User Commands\"\n"
            ".SH NAME\nvisdial \\- chat about a picture\n"
            ".SH SYNOPSIS\n.B visdial\n[\\fIchat options\\fR]\n.br\n.B visdial\n"
            "\\fICOMMAND\\fR [\\fIoptions\\fR]\n"
            ".SH DESCRIPTION\n"
            "Answers questions about a picture in a conversation (visual dialog) with the\n"
            "network MVAN, shows what the network attended to, trains it and evaluates it.\n"
            "Without a command it opens the chat. \\-\\-help explains each command.\n"
            ".SH COMMANDS\n",
            VD_VERSION);
    for (const vd_command *command = vd_commands; command->name; command++)
        print_command(command, out);
    fprintf(out, ".SH EXIT STATUS\n");
#define X(code, text, exit_code) fprintf(out, ".TP\n.B %d\n%s\n", exit_code, text);
    VD_STATUS_LIST(X)
#undef X
    fprintf(out,
            ".SH ENVIRONMENT\n"
            ".TP\n.B VISDIAL_ASSETS\ndirectory of the bundled models, dialogs and pictures.\n"
            "Default: the first of ./assets, ../assets beside the program and\n"
            "PREFIX/share/visdial that exists\n"
            ".TP\n.B NO_COLOR\nno colours, when it is not empty\n"
            ".TP\n.B XDG_CONFIG_HOME, XDG_STATE_HOME\nwhere the chat keeps its settings, and its\n"
            "history and transcripts\n"
            ".SH FILES\n"
            "dialogs.json, dense.json, features.safetensors, pool.txt, pictures/ID.png,\n"
            "base.safetensors, improved.safetensors and extractor.safetensors in the directory of\n"
            "assets.\n");
}
