#include "tui/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 64, MOST_LETTERS = 40 };

int vd_option_distance(const char *a, const char *b)
{
    size_t n = strnlen(a, MOST_LETTERS), m = strnlen(b, MOST_LETTERS);
    int row[MOST_LETTERS + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int replace = diagonal + (a[i - 1] != b[j - 1]);
            int shorter = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = replace < shorter ? replace : shorter;
        }
    }
    return row[m];
}

static void complain(const vd_option_walk *walk, int kind, vd_error *err)
{
    const char *given = walk->argv[optind - 1];
    if (kind == ':') {
        vd_error_set(err, VD_USAGE, "%.80s needs a value", given);
        return;
    }
    if (strncmp(given, "--", 2) != 0) {
        vd_error_set(err, VD_USAGE, "there is no option -%c; see --help", optopt);
        return;
    }
    char typed[MOST_LETTERS + 1] = "";
    strncpy(typed, given + 2, MOST_LETTERS);
    typed[strcspn(typed, "=")] = '\0';
    const char *nearest = NULL;
    int least = 4;
    for (const vd_option *option = walk->options; option->name; option++) {
        int distance = vd_option_distance(typed, option->name);
        if (strcmp(typed, option->name) == 0) { // known, so the value is the error
            vd_error_set(err, VD_USAGE, "--%s takes no value, found '%.80s'", typed, given);
            return;
        }
        if (distance < least) {
            least = distance;
            nearest = option->name;
        }
    }
    if (nearest)
        vd_error_set(err, VD_USAGE, "there is no option --%s; did you mean --%s?", typed, nearest);
    else
        vd_error_set(err, VD_USAGE, "there is no option --%s; see --help", typed);
}

int vd_option_next(vd_option_walk *walk, const char **value, vd_error *err)
{
    struct option table[MOST_OPTIONS + 1];
    int count = 0;
    memset(table, 0, sizeof table);
    for (; walk->options[count].name && count < MOST_OPTIONS; count++) {
        table[count].name = walk->options[count].name;
        table[count].has_arg = walk->options[count].argument ? required_argument : no_argument;
    }
    if (!walk->started) {
        walk->started = 1;
        optind = 0; // glibc: start over, forgetting an earlier walk
    }
    opterr = 0;
    int index = -1;
    int kind = getopt_long(walk->argc, walk->argv, ":", table, &index);
    *value = NULL;
    if (kind == -1) {
        walk->operands = optind;
        return VD_OPTION_END;
    }
    if (kind != 0) {
        complain(walk, kind, err);
        return VD_OPTION_ERROR;
    }
    *value = optarg;
    return index;
}

vd_status vd_options_given(const vd_option *options, int argc, char **argv, const char **given,
                           int *operands, vd_error *err)
{
    vd_option_walk walk = {.options = options, .argc = argc, .argv = argv};
    const char *value;
    int option;
    while ((option = vd_option_next(&walk, &value, err)) >= 0)
        given[option] = value ? value : "";
    *operands = walk.operands;
    return option == VD_OPTION_ERROR ? VD_USAGE : VD_OK;
}

vd_status vd_option_int(const char *name, const char *text, int64_t low, int64_t high, int64_t *out,
                        vd_error *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high)
        return vd_error_set(err, VD_USAGE,
                            "--%s: expected a whole number from %lld to %lld, found '%.80s'", name,
                            (long long)low, (long long)high, text);
    *out = value;
    return VD_OK;
}

vd_status vd_options_int(const vd_option *options, const char *const *given,
                         const vd_option_range *range, size_t count, vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const vd_option_range *r = &range[i];
        if (given[r->option])
            status = vd_option_int(options[r->option].name, given[r->option], r->low, r->high,
                                   r->value, err);
    }
    return status;
}

vd_status vd_option_number(const char *name, const char *text, double low, double high, double *out,
                           vd_error *err)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < low || value > high)
        return vd_error_set(err, VD_USAGE, "--%s: expected a number from %g to %g, found '%.80s'",
                            name, low, high, text);
    *out = value;
    return VD_OK;
}
