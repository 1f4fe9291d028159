#include <string.h>

#include "tui/commands/command.h"

static void bash(FILE *out)
{
    fprintf(out, "# bash completion for visdial; made by `visdial help --completion bash`\n"
                 "_visdial() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                 "        COMPREPLY=($(compgen -W '");
    for (const vd_command *const *at = vd_commands; *at; at++)
        fprintf(out, "%s ", (*at)->name);
    fprintf(out, "--help --version' -- \"$word\"))\n"
                 "        return\n"
                 "    fi\n"
                 "    case $previous in\n"
                 "    --model) COMPREPLY=($(compgen -W 'base improved' -- \"$word\")\n"
                 "                        $(compgen -f -- \"$word\")); return ;;\n"
                 "    --preset) COMPREPLY=($(compgen -W 'base improved' -- \"$word\")); return ;;\n"
                 "    esac\n"
                 "    local options= words=\n"
                 "    case ${COMP_WORDS[1]} in\n");
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        fprintf(out, "    %s) options='", command->name);
        for (const vd_option *option = command->options; option->name; option++)
            fprintf(out, "--%s ", option->name);
        fprintf(out, "--help'");
        if (command->words)
            fprintf(out, " words='%s'", command->words);
        fprintf(out, " ;;\n");
    }
    fprintf(out, "    esac\n"
                 "    if [ \"${word#-}\" != \"$word\" ]; then\n"
                 "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                 "    elif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$words\" ]; then\n"
                 "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                 "    else\n"
                 "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
                 "    fi\n"
                 "}\n"
                 "complete -o filenames -F _visdial visdial\n");
}

// Help texts inside '...' of zsh's _arguments and fish.
static void quoted(const char *text, const char *special, FILE *out)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr(special, *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void zsh(FILE *out)
{
    fprintf(out, "#compdef visdial\n"
                 "# zsh completion for visdial; made by `visdial help --completion zsh`\n"
                 "_visdial() {\n"
                 "    if (( CURRENT == 2 )); then\n"
                 "        local -a commands=(\n");
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        fprintf(out, "            '%s:", command->name);
        quoted(command->summary, ":", out);
        fprintf(out, "'\n");
    }
    fprintf(out, "        )\n"
                 "        _describe command commands\n"
                 "        _arguments '--help[show help]' '--version[show the version]'\n"
                 "        return\n"
                 "    fi\n"
                 "    local command=$words[2]\n"
                 "    shift words\n"
                 "    (( CURRENT-- ))\n"
                 "    case $command in\n");
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        fprintf(out, "    %s) _arguments \\\n", command->name);
        for (const vd_option *option = command->options; option->name; option++) {
            fprintf(out, "        '--%s[", option->name);
            quoted(option->help, "[]", out);
            fprintf(out, "]%s%s%s' \\\n", option->argument ? ":" : "",
                    option->argument ? option->argument : "", option->argument ? ":_files" : "");
        }
        fprintf(out, "        '--help[show help]' ");
        if (command->words)
            fprintf(out, "'1:what:(%s)' ", command->words);
        fprintf(out, "'*:file:_files' ;;\n");
    }
    fprintf(out, "    esac\n}\n_visdial \"$@\"\n");
}

static void fish(FILE *out)
{
    fprintf(out, "# fish completion for visdial; made by `visdial help --completion fish`\n"
                 "complete -c visdial -n __fish_use_subcommand -l version -d 'show the version'\n"
                 "complete -c visdial -l help -d 'show help'\n");
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        fprintf(out, "complete -c visdial -n __fish_use_subcommand -f -a %s -d '", command->name);
        quoted(command->summary, "", out);
        fprintf(out, "'\n");
        for (const vd_option *option = command->options; option->name; option++) {
            fprintf(out, "complete -c visdial -n '__fish_seen_subcommand_from %s' -l %s%s -d '",
                    command->name, option->name, option->argument ? " -r" : "");
            quoted(option->help, "", out);
            fprintf(out, "'\n");
        }
    }
}

void vd_command_print_completion(vd_shell shell, FILE *out)
{
    static void (*const print[])(FILE *) = {bash, zsh, fish};
    print[shell](out);
}
