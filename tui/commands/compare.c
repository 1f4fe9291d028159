// The command `visdial compare`: two to four models over a data set.
#include "tui/commands/command.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tui/base/option_texts.h"
#include "tui/compare/compare.h"
#include "tui/base/interrupt.h"
#include "tui/compare/cases_view.h"

enum {
    MODEL,
    DECODER,
    DATA,
    FEATURES,
    DENSE,
    PICTURES,
    ASSETS,
    LIMIT,
    THREADS,
    RIGHT,
    GROUP,
    FAMILY,
    ROUND,
    FIND,
    CASES,
    RESAMPLES,
    HTML,
    MARKDOWN,
    JSON,
    SCREEN,
    QUIET
};

const vd_option vd_cmd_compare_options[] = {
    {"model", "MODEL", VD_HELP_MODEL "; give two to four, all are compared with the first"},
    {"decoder", "WHICH",
     VD_HELP_DECODER " (default: all that the model has); once, or once per model"},
    {"data", "FILE", VD_HELP_DATA},
    {"features", "FILE", VD_HELP_FEATURES},
    {"dense", "FILE", VD_HELP_DENSE},
    {"pictures", "DIR", VD_HELP_PICTURES},
    {"assets", "DIR", VD_HELP_ASSETS},
    {"limit", "N", VD_HELP_LIMIT},
    {"threads", "N", VD_HELP_THREADS " (default: one per processor)"},
    {"right", "BY",
     "an answer is right when it is first in the ranking and: human, people gave it; "
     "relevant, its relevance is 1 (default where relevance is known)"},
    {"group", "GROUP",
     "only questions that these models answer right: both, first, second (another "
     "than the first), neither; several with commas"},
    {"family", "NAME", "only questions of this family"},
    {"round", "N", "only questions of round N"},
    {"find", "TEXT", "only questions with this text, or of the picture with this number"},
    {"cases", "N", "most questions of each group in what is written (20; 0: all)"},
    {"resamples", "N", VD_HELP_RESAMPLES},
    {"html", "FILE", "write everything as one self-contained HTML page"},
    {"markdown", "FILE", "write the tables and questions as Markdown"},
    {"json", NULL, VD_HELP_JSON},
    {"screen", NULL, "go through the questions on the whole screen"},
    {"quiet", NULL, VD_HELP_NO_PROGRESS},
    {0},
};

typedef struct comparing {
    const char *given[QUIET + 1];
    vd_cases_options options;
    int64_t limit, threads, round, per_group, resamples;
    vd_case_filter filter;
    vd_corpus corpus;
    vd_cases *cases;
    vd_compare compare;
    vd_preferences wanted; // of the screen
} comparing;

// ---- options ------------------------------------------------------------------------------------

static vd_status read_groups(const char *text, unsigned *out, vd_error *err)
{
    static const char *const names[] = {"both", "first", "second", "neither"};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        int found = -1;
        for (int i = 0; i < 4; i++)
            if (strlen(names[i]) == length && strncmp(names[i], at, length) == 0)
                found = i;
        if (found < 0)
            return vd_error_set(err, VD_USAGE,
                                "--group: expected both, first, second or neither (more with "
                                "commas), found '%.80s'",
                                text);
        *out |= 1u << found;
        at += length;
        if (!*at)
            return VD_OK;
    }
}

static vd_status read_option(comparing *c, int option, const char *given, vd_error *err)
{
    const char *name = vd_cmd_compare_options[option].name;
    const char *value = given ? given : ""; // a switch has none
    c->given[option] = value;
    switch (option) {
    case MODEL:
        return vd_cases_add_model(&c->options, value, err);
    case DECODER:
        return vd_cases_add_decoder(&c->options, value, err);
    case LIMIT:
        return vd_option_int(name, value, 1, 1000000000, &c->limit, err);
    case THREADS:
        return vd_option_int(name, value, 1, VD_THREADS, &c->threads, err);
    case ROUND:
        return vd_option_int(name, value, 1, 1000, &c->round, err);
    case CASES:
        return vd_option_int(name, value, 0, 1000000000, &c->per_group, err);
    case RESAMPLES:
        return vd_option_int(name, value, 100, 10000000, &c->resamples, err);
    case GROUP:
        return read_groups(value, &c->filter.groups, err);
    case RIGHT:
        if (strcmp(value, "human") != 0 && strcmp(value, "relevant") != 0)
            return vd_error_set(err, VD_USAGE, "--right: expected human or relevant, found '%.80s'",
                                value);
        return VD_OK;
    default:
        return VD_OK;
    }
}

static vd_status read_options(comparing *c, int argc, char **argv, vd_error *err)
{
    vd_option_walk walk = {.options = vd_cmd_compare_options, .argc = argc, .argv = argv};
    const char *value;
    int option;
    while ((option = vd_option_next(&walk, &value, err)) >= 0) {
        vd_status status = read_option(c, option, value, err);
        if (status)
            return status;
    }
    if (option == VD_OPTION_ERROR)
        return VD_USAGE;
    if (walk.operands < argc)
        return vd_error_set(err, VD_USAGE, "unexpected '%.80s'; see --help", argv[walk.operands]);
    if (c->given[SCREEN] && c->given[JSON])
        return vd_error_set(err, VD_USAGE,
                            "--json and --screen exclude each other; give one of them");
    c->filter.family = c->given[FAMILY];
    c->filter.text = c->given[FIND];
    c->filter.round = (int)c->round;
    return vd_cases_complete(&c->options, err);
}

// ---- comparing ----------------------------------------------------------------------------------

static vd_status keep_models(const comparing *c, const char *const *out, size_t outs, vd_error *err)
{
    vd_status status = VD_OK;
    for (int i = 0; i < vd_cases_model_count(&c->options) && status == VD_OK; i++) {
        vd_error fault = {0};
        char *path = vd_corpus_model_path(&c->corpus, c->options.model[i], &fault);
        const char *in = path;
        status = path ? vd_output_apart(out, outs, &in, 1, err)
                      : vd_error_set(err, fault.status, "%s", fault.text);
        vd_free(path);
    }
    return status;
}

static vd_status keep_inputs(const comparing *c, vd_error *err)
{
    const char *out[] = {c->given[HTML], c->given[MARKDOWN]};
    const char *in[] = {c->corpus.data, c->corpus.features, c->corpus.dense};
    vd_status status = vd_output_apart(out, 2, in, 3, err);
    return status ? status : keep_models(c, out, 2, err);
}

static vd_status score(comparing *c, vd_error *err)
{
    const vd_corpus_paths paths = {.data = c->given[DATA],
                                   .features = c->given[FEATURES],
                                   .dense = c->given[DENSE],
                                   .pictures = c->given[PICTURES],
                                   .assets = c->given[ASSETS]};
    vd_status status = vd_corpus_open(&paths, &c->corpus, err);
    if (status == VD_OK)
        status = keep_inputs(c, err);
    if (status)
        return status;
    c->options.limit = (size_t)c->limit;
    c->options.threads = (int)c->threads;
    c->options.stop = c->compare.stop;
    return vd_cases_new_with_progress(&c->corpus, &c->options, c->given[QUIET], &c->cases, err);
}

// By relevance where every question has it, unless the person says otherwise.
static vd_status choose_right(comparing *c, vd_error *err)
{
    const char *given = c->given[RIGHT];
    size_t human = 0, relevant = 0;
    for (size_t i = 0; i < c->cases->count; i++) {
        human += c->cases->at[i].side[0].metrics.rounds;
        relevant += c->cases->at[i].side[0].metrics.dense_rounds;
    }
    if (given && strcmp(given, "relevant") == 0 && relevant == 0)
        return vd_error_set(err, VD_USAGE,
                            "--right relevant: the relevance of the answers is not known; name it "
                            "with --dense");
    bool by_human = given ? strcmp(given, "human") == 0 : relevant < human || relevant == 0;
    c->compare.by = c->filter.by = by_human ? VD_RIGHT_HUMAN : VD_RIGHT_RELEVANT;
    return VD_OK;
}

static vd_status check_family(const comparing *c, vd_error *err)
{
    const vd_cases *cases = c->cases;
    char known[256] = "none";
    size_t used = 0;
    for (size_t i = 0; i < cases->family_count; i++) {
        if (c->filter.family && strcmp(c->filter.family, cases->family[i]) == 0)
            return VD_OK;
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                     cases->family[i]);
    }
    if (!c->filter.family)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "--family: no question is of the family '%.80s'; there are: %s",
                        c->filter.family, known);
}

// The cases of the filter, by difference; of each group the first few.
static vd_status choose_cases(comparing *c, vd_error *err)
{
    vd_compare *compare = &c->compare;
    compare->at = vd_alloc(c->cases->count, sizeof *compare->at);
    if (!compare->at)
        return vd_error_memory(err, "the cases");
    compare->shown_of = vd_cases_select(c->cases, &c->filter, VD_CASE_BY_DIFFERENCE, compare->at);
    int64_t taken[VD_CASE_GROUPS] = {0};
    for (size_t i = 0; i < compare->shown_of; i++) {
        vd_case_group group = vd_case_group_of(c->cases, compare->at[i], compare->by);
        if (c->per_group == 0 || taken[group]++ < c->per_group)
            compare->at[compare->count++] = compare->at[i];
    }
    return VD_OK;
}

static vd_status export_to(comparing *c, vd_error *err)
{
    static const struct {
        int option;
        vd_status (*write)(const vd_compare *, const char *, vd_error *);
    } formats[] = {{HTML, vd_compare_html}, {MARKDOWN, vd_compare_markdown}};
    vd_status status = VD_OK;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && status == VD_OK; i++) {
        const char *path = c->given[formats[i].option];
        if (!path)
            continue;
        vd_progress progress;
        vd_progress_start(&progress, "cases", (int64_t)c->compare.count, 0, c->given[QUIET]);
        c->compare.progress = &progress;
        status = formats[i].write(&c->compare, path, err);
        vd_progress_clear(&progress);
        c->compare.progress = NULL;
    }
    return status;
}

// The screen shows the cases alone: who only wants that need not wait for the bootstrap.
static bool is_tabled(const comparing *c)
{
    return !c->given[SCREEN] || c->given[HTML] || c->given[MARKDOWN];
}

int vd_cmd_compare(int argc, char **argv)
{
    comparing c = {.per_group = 20};
    vd_error err = {0};
    vd_status status = read_options(&c, argc, argv, &err);
    if (status == VD_OK && c.given[SCREEN])
        status = vd_cases_screen_ready(&c.wanted, &err);
    c.compare.stop = vd_interrupt_watch();
    if (status == VD_OK)
        status = score(&c, &err);
    c.compare.cases = c.cases;
    if (status == VD_OK)
        status = choose_right(&c, &err);
    if (status == VD_OK)
        status = check_family(&c, &err);
    if (status == VD_OK && is_tabled(&c))
        status =
            vd_cases_slices(c.cases, (int)c.resamples, c.compare.stop, &c.compare.slices, &err);
    if (status == VD_OK)
        status = choose_cases(&c, &err);
    if (status == VD_OK)
        status = export_to(&c, &err);
    if (status == VD_OK && !c.given[SCREEN])
        status = (c.given[JSON] ? vd_compare_json : vd_compare_print)(&c.compare, &err);
    vd_interrupt_release();
    if (status == VD_OK && c.given[SCREEN])
        status = vd_cases_screen(c.cases, &c.filter, VD_CASE_BY_DIFFERENCE, NULL, &c.wanted, &err);
    vd_free(c.compare.at);
    vd_slices_clear(&c.compare.slices);
    vd_cases_free(c.cases);
    vd_corpus_close(&c.corpus);
    return status ? vd_command_fail("compare", &err) : 0;
}
