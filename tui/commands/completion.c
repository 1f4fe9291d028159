#include <string.h>

#include "tui/commands/command.h"

// What an option takes.
typedef enum value { FILES, DIRECTORIES, ANYTHING } value;

static value value_of(const vd_option *option)
{
    static const char *const files[] = {"FILE", "MODEL", "PATH"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strncmp(option->argument, files[i], strlen(files[i])) == 0)
            return FILES;
    return strncmp(option->argument, "DIR", 3) == 0 ? DIRECTORIES : ANYTHING;
}

static void bash_value(const vd_command *command, const vd_option *option, FILE *out)
{
    static const char *const flags[] = {[FILES] = "-f", [DIRECTORIES] = "-d", [ANYTHING] = NULL};
    char words[400];
    const char *flag = flags[value_of(option)];
    vd_option_words(option, words, sizeof words);
    fprintf(out, "    '%s --%s') COMPREPLY=(", command->name, option->name);
    if (*words)
        fprintf(out, "$(compgen -W '%s' -- \"$word\") ", words);
    if (flag)
        fprintf(out, "$(compgen %s -- \"$word\")", flag);
    fprintf(out, "); return ;;\n");
}

static void bash_words(const vd_command *command, FILE *out)
{
    fprintf(out, "    %s) options='", command->name);
    for (const vd_option *option = command->options; option->name; option++)
        fprintf(out, "--%s ", option->name);
    fprintf(out, "--help'");
    if (command->words)
        fprintf(out, " words='%s'", command->words);
    fprintf(out, " ;;\n");
}

static void bash(FILE *out)
{
    fprintf(out, "# bash completion for visdial; made by `visdial help --completion bash`\n"
                 "_visdial() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local command=${COMP_WORDS[1]} options= words=\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ] && [ \"${word#-}\" = \"$word\" ]; then\n"
                 "        COMPREPLY=($(compgen -W '");
    for (const vd_command *const *at = vd_commands; *at; at++)
        fprintf(out, "%s ", (*at)->name);
    // "--theme=d" is three words; chat needs no name.
    fprintf(out, "' -- \"$word\") $(compgen -f -- \"$word\"))\n" // a command or a picture
                 "        return\n"
                 "    fi\n"
                 "    if [ \"$word\" = = ]; then word=\n"
                 "    elif [ \"$previous\" = = ]; then previous=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "    fi\n"
                 "    [ \"${command#-}\" = \"$command\" ] || command=chat\n"
                 "    case \"$command $previous\" in\n");
    for (const vd_command *const *at = vd_commands; *at; at++)
        for (const vd_option *option = (*at)->options; option->name; option++)
            if (option->argument)
                bash_value(*at, option, out);
    fprintf(out, "    esac\n    case $command in\n");
    for (const vd_command *const *at = vd_commands; *at; at++)
        bash_words(*at, out);
    fprintf(out, "    esac\n"
                 "    [ \"$COMP_CWORD\" -gt 1 ] || options=\"$options --version\"\n"
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

static void zsh_option(const vd_option *option, FILE *out)
{
    static const char *const actions[] = {
        [FILES] = "_files", [DIRECTORIES] = "_files -/", [ANYTHING] = " "};
    char words[400];
    fprintf(out, "        '--%s%s[", option->name, option->argument ? "=" : "");
    quoted(option->help, "[]", out);
    fputc(']', out);
    if (option->argument) {
        vd_option_words(option, words, sizeof words);
        fprintf(out, ":%s:", option->argument);
        if (*words && value_of(option) == FILES)
            fprintf(out, "_visdial_models");
        else if (*words)
            fprintf(out, "(%s)", words);
        else
            fprintf(out, "%s", actions[value_of(option)]);
    }
    fprintf(out, "' \\\n");
}

static void zsh(FILE *out)
{
    fprintf(out, "#compdef visdial\n"
                 "# zsh completion for visdial; made by `visdial help --completion zsh`\n"
                 "_visdial_models() {\n"
                 "    _alternative 'models:model:(");
    for (int i = 0; i < VD_BUNDLED_MODELS; i++)
        fprintf(out, "%s%s", i ? " " : "", vd_bundled_models[i]);
    fprintf(out, ")' 'files:file:_files'\n"
                 "}\n"
                 "_visdial() {\n"
                 "    if [[ $words[2] == -* ]]; then\n" // chat needs no name
                 "        words=($words[1] chat \"${(@)words[2,-1]}\")\n"
                 "        (( CURRENT++ ))\n"
                 "    fi\n"
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
                 "        _files\n"
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
        for (const vd_option *option = command->options; option->name; option++)
            zsh_option(option, out);
        fprintf(out, "        '--help[show help]' ");
        if (command->words)
            fprintf(out, "'1:what:(%s)' ", command->words);
        fprintf(out, "'*:file:_files' ;;\n");
    }
    fprintf(out, "    esac\n}\n_visdial \"$@\"\n");
}

static void fish_option(const vd_command *command, const vd_option *option, FILE *out)
{
    char words[400] = "";
    bool chat = command == &vd_cmd_chat;
    bool files = option->argument && value_of(option) == FILES;
    if (option->argument)
        vd_option_words(option, words, sizeof words);
    if (option->argument && value_of(option) == DIRECTORIES)
        snprintf(words, sizeof words, "(__fish_complete_directories)");
    fprintf(out, "complete -c visdial -n '%s__fish_seen_subcommand_from %s' -l %s%s",
            chat ? "__fish_use_subcommand; or " : "", command->name, option->name,
            !option->argument ? ""
            : files           ? " -r"
                              : " -x");
    if (*words)
        fprintf(out, " -a '%s'", words);
    fprintf(out, " -d '");
    quoted(option->help, "", out);
    fprintf(out, "'\n");
}

static void fish(FILE *out)
{
    fprintf(out, "# fish completion for visdial; made by `visdial help --completion fish`\n"
                 "complete -c visdial -n __fish_use_subcommand -F\n"
                 "complete -c visdial -n __fish_use_subcommand -l version -d 'show the version'\n"
                 "complete -c visdial -l help -d 'show help'\n");
    for (const vd_command *const *at = vd_commands; *at; at++) {
        const vd_command *command = *at;
        fprintf(out, "complete -c visdial -n __fish_use_subcommand -f -a %s -d '", command->name);
        quoted(command->summary, "", out);
        fprintf(out, "'\n");
        for (const vd_option *option = command->options; option->name; option++)
            fish_option(command, option, out);
    }
}

void vd_command_print_completion(vd_shell shell, FILE *out)
{
    static void (*const print[])(FILE *) = {bash, zsh, fish};
    print[shell](out);
}
