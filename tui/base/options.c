#include "tui/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/base/nearest.h"

enum { MOST_OPTIONS = VD_MOST_OPTIONS, MOST_LETTERS = 40 };

// ---- values -------------------------------------------------------------------------------------

static void store(const vd_option *option, void *value, int64_t number)
{
    if (option->size == sizeof(int64_t))
        *(int64_t *)value = number;
    else
        *(int32_t *)value = (int32_t)number;
}

static vd_status read_integer(const vd_option *option, void *value, const char *text, vd_error *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < option->low || number > option->high)
        return vd_error_set(err, VD_USAGE,
                            "--%s: expected a whole number from %lld to %lld, found '%.80s'",
                            option->name, (long long)option->low, (long long)option->high, text);
    store(option, value, number);
    return VD_OK;
}

static vd_status read_number(const vd_option *option, double *value, const char *text,
                             vd_error *err)
{
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || number < option->least || number > option->most)
        return vd_error_set(err, VD_USAGE, "--%s: expected a number from %g to %g, found '%.80s'",
                            option->name, option->least, option->most, text);
    *value = number;
    return VD_OK;
}

const char *vd_choice_next(const char **choices, size_t *length)
{
    const char *name = *choices, *end = name + strcspn(name, ", ");
    *length = (size_t)(end - name);
    *choices = end + (*end == ',' ? strlen(", ") : *end ? strlen(" or ") : 0);
    return *name ? name : NULL;
}

int vd_choice_find(const char *choices, const char *text)
{
    const char *name;
    size_t length;
    for (int choice = 0; (name = vd_choice_next(&choices, &length)) != NULL; choice++)
        if (length == strlen(text) && strncmp(name, text, length) == 0)
            return choice;
    return -1;
}

void vd_option_words(const vd_option *option, char *out, size_t size)
{
    bool model = option->argument && strcmp(option->argument, "MODEL") == 0;
    const char *const *names = model ? vd_bundled_models : option->names;
    int count = model ? VD_BUNDLED_MODELS : names ? (int)option->most + 1 : 0;
    const char *choices = option->choices ? option->choices : "", *name;
    size_t length;
    out[0] = '\0';
    for (int i = 0; i < count; i++)
        vd_append(out, size, "%s%s", *out ? " " : "", names[i]);
    while ((name = vd_choice_next(&choices, &length)) != NULL)
        vd_append(out, size, "%s%.*s", *out ? " " : "", (int)length, name);
}

static vd_status read_choice(const vd_option *option, void *value, const char *text, vd_error *err)
{
    int choice = vd_choice_find(option->choices, text);
    if (choice < 0)
        return vd_error_set(err, VD_USAGE, "--%s: expected %s, found '%.80s'", option->name,
                            option->choices, text);
    store(option, value, choice);
    return VD_OK;
}

// text: NULL for a switch.
static vd_status read_value(const vd_option *option, void *value, const char *text, vd_error *err)
{
    if (option->read)
        return option->read(value, option->name, text, err);
    if (option->choices)
        return read_choice(option, value, text, err);
    if (option->kind == VD_OPTION_INTEGER)
        return read_integer(option, value, text, err);
    if (option->kind == VD_OPTION_NUMBER)
        return read_number(option, value, text, err);
    if (option->kind == VD_OPTION_SWITCH)
        *(bool *)value = true;
    else
        *(const char **)value = text;
    return VD_OK;
}

// ---- command line -------------------------------------------------------------------------------

// given: what getopt_long refused for the reason `kind`.
static vd_status refuse_option(const vd_option *options, const char *given, int kind, vd_error *err)
{
    if (kind == ':')
        return vd_error_set(err, VD_USAGE, "%.80s needs a value", given);
    if (optopt) // a short one, of which there are none
        return vd_error_set(err, VD_USAGE, "there is no option -%c; see --help", optopt);
    char typed[MOST_LETTERS + 1] = "";
    strncpy(typed, given + 2, MOST_LETTERS);
    typed[strcspn(typed, "=")] = '\0';
    vd_nearest nearest = {.typed = typed, .most = VD_EDITS_OF_NAMES};
    for (const vd_option *option = options; option->name; option++) {
        if (strcmp(typed, option->name) == 0) // known, so the value is the error
            return vd_error_set(err, VD_USAGE, "--%s takes no value, found '%.80s'", typed, given);
        vd_nearest_try(&nearest, option->name);
    }
    if (nearest.name)
        return vd_error_set(err, VD_USAGE, "there is no option --%s; did you mean --%s?", typed,
                            nearest.name);
    return vd_error_set(err, VD_USAGE, "there is no option --%s; see --help", typed);
}

vd_status vd_arguments_read(const vd_option *options, int argc, char **argv, void *settings,
                            vd_arguments *out, vd_error *err)
{
    struct option table[MOST_OPTIONS + 1] = {0};
    for (int i = 0; options[i].name && i < MOST_OPTIONS; i++) {
        table[i].name = options[i].name;
        table[i].has_arg = options[i].argument ? required_argument : no_argument;
    }
    *out = (vd_arguments){.options = options};
    optind = 0; // glibc: start over, forgetting an earlier command line
    opterr = 0;
    for (int kind, index; (kind = getopt_long(argc, argv, ":", table, &index)) != -1;) {
        if (kind != 0)
            return refuse_option(options, argv[optind - 1], kind, err);
        const vd_option *option = &options[index];
        out->given[index] = true;
        if (read_value(option, (char *)settings + option->offset, optarg, err))
            return VD_USAGE;
    }
    out->count = argc - optind;
    out->operand = argv + optind;
    return VD_OK;
}

bool vd_arguments_have(const vd_arguments *arguments, const char *name)
{
    for (int i = 0; arguments->options[i].name; i++)
        if (arguments->given[i] && strcmp(arguments->options[i].name, name) == 0)
            return true;
    return false;
}

// The first of the names that was given, or was not; NULL when there is none.
static const char *first_of(const vd_arguments *arguments, const char *names, bool given,
                            char name[MOST_LETTERS])
{
    for (; *names; names += strspn(names, " ")) {
        size_t length = strcspn(names, " ");
        snprintf(name, MOST_LETTERS, "%.*s", (int)length, names);
        if (vd_arguments_have(arguments, name) == given)
            return name;
        names += length;
    }
    return NULL;
}

vd_status vd_arguments_need(const vd_arguments *arguments, const char *names, vd_error *err)
{
    char room[MOST_LETTERS];
    const char *name = first_of(arguments, names, false, room);
    return name ? vd_error_set(err, VD_USAGE, "--%s is missing; see --help", name) : VD_OK;
}

vd_status vd_arguments_refuse(const vd_arguments *arguments, const char *names, const char *why,
                              vd_error *err)
{
    char room[MOST_LETTERS];
    const char *name = first_of(arguments, names, true, room);
    return name ? vd_error_set(err, VD_USAGE, "--%s %s", name, why) : VD_OK;
}

vd_status vd_arguments_verb(const vd_arguments *arguments, const char *verbs, int files, int *out,
                            vd_error *err)
{
    const char *verb = arguments->count > 0 ? arguments->operand[0] : NULL;
    *out = verb ? vd_choice_find(verbs, verb) : -1;
    if (!verb)
        return vd_error_set(err, VD_USAGE, "expected %s; see --help", verbs);
    if (*out < 0)
        return vd_error_set(err, VD_USAGE, "expected %s, found '%.80s'; see --help", verbs, verb);
    if (arguments->count < 1 + files)
        return vd_error_set(err, VD_USAGE, "%s: expected a file; see --help", verb);
    return vd_arguments_most(arguments, 1 + files, err);
}

vd_status vd_arguments_most(const vd_arguments *arguments, int operands, vd_error *err)
{
    return arguments->count <= operands
               ? VD_OK
               : vd_error_set(err, VD_USAGE, "unexpected '%.80s'; see --help",
                              arguments->operand[operands]);
}
