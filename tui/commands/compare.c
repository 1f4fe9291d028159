// The command `visdial compare`: two to four models over a data set.
#include "tui/commands/command.h"

#include <glib.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tui/compare/compare.h"
#include "tui/base/progress.h"
#include "tui/compare/cases_view.h"

typedef struct comparing {
    vd_corpus_paths paths;
    const char *html, *markdown;
    bool json, screen, force;
    vd_cases_options options;
    unsigned right; // human, relevant, not given
    int64_t per_group;
    int resamples;
    vd_case_filter filter;
    vd_corpus corpus;
    vd_cases *cases;
    vd_compare compare;
    vd_preferences wanted; // of the screen
} comparing;

// ---- options ------------------------------------------------------------------------------------

static vd_status read_groups(void *groups, const char *name, const char *text, vd_error *err)
{
    bool known = true;
    char **words = g_strsplit(text, ",", -1);
    for (char **word = words; *word && known; word++) {
        known = false;
        for (int i = 0; i < VD_CASE_UNKNOWN && !known; i++)
            if ((known = strcmp(*word, vd_case_group_key((vd_case_group)i)) == 0))
                *(unsigned *)groups |= 1u << i;
    }
    g_strfreev(words);
    return known && *text ? VD_OK
                          : vd_error_set(err, VD_USAGE,
                                         "--%s: expected both, first, second or neither (more with "
                                         "commas), found '%.80s'",
                                         name, text);
}

enum { RIGHT_NOT_GIVEN = VD_RIGHT_RELEVANT + 1 };

static const vd_option options[] = {
    {"model", "MODEL", VD_HELP_MODEL "; give two to four: each is compared with the first",
     VD_INTO(comparing, options), .read = vd_cases_add_model},
    VD_DECODER_OPTION(comparing, options, vd_cases_add_decoder,
                      VD_DECODER_OF_EVALUATIONS "; give it once, or once per model"),
    VD_CORPUS_OPTIONS(comparing),
    {"limit", "N", VD_HELP_LIMIT, VD_INTO(comparing, options.limit), 1, 1000000000},
    {"threads", "N", VD_HELP_THREADS " (default: one per processor)",
     VD_INTO(comparing, options.threads), 1, VD_THREADS},
    {"right", "BY",
     "the answer ranked first is right if it is the human answer (human) or its relevance is 1 "
     "(relevant; default where every question has relevance)",
     VD_INTO(comparing, right), .choices = "human or relevant"},
    {"group", "GROUP",
     "only questions that these models answer right: both, first (only the first), second (only "
     "another), neither; or several, separated by commas",
     VD_INTO(comparing, filter.groups), .read = read_groups},
    {"family", "NAME", "only questions of this family", VD_INTO(comparing, filter.family)},
    {"round", "N", "only questions of round N", VD_INTO(comparing, filter.round), 1, 1000},
    {"find", "TEXT",
     "only questions with TEXT in the question, the human answer or an answer ranked first, or "
     "about the picture with this id",
     VD_INTO(comparing, filter.text)},
    {"cases", "N", "largest number of questions written per group (20; 0: all)",
     VD_INTO(comparing, per_group), 0, 1000000000},
    {"resamples", "N", VD_HELP_RESAMPLES, VD_INTO(comparing, resamples), 100, 10000000},
    {"html", "FILE", "write everything as one self-contained HTML page", VD_INTO(comparing, html)},
    {"markdown", "FILE", "write the tables and questions as Markdown",
     VD_INTO(comparing, markdown)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(comparing, force)},
    {"json", NULL, VD_HELP_JSON, VD_INTO(comparing, json)},
    {"screen", NULL, "show the questions one by one in full screen", VD_INTO(comparing, screen)},
    {"quiet", NULL, VD_HELP_NO_PROGRESS, VD_INTO(comparing, options.quiet)},
    {0},
};

static vd_status read_options(comparing *c, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, c, &given, err);
    if (status == VD_OK)
        status = vd_arguments_most(&given, 0, err);
    if (status == VD_OK && c->screen && c->json)
        status =
            vd_error_set(err, VD_USAGE, "--json and --screen exclude each other; give one of them");
    return status ? status : vd_cases_complete(&c->options, err);
}

// ---- comparing ----------------------------------------------------------------------------------

static vd_status keep_inputs(const comparing *c, vd_error *err)
{
    const char *out[] = {c->html, c->markdown};
    const char *in[] = {c->corpus.data, c->corpus.features, c->corpus.dense};
    vd_status status = vd_output_check(out, 2, in, 3, true, err);
    for (int i = 0; i < vd_cases_model_count(&c->options) && status == VD_OK; i++) {
        char *path = vd_world_model_path(c->corpus.directory, c->options.model[i], err);
        status =
            path ? vd_output_check(out, 2, (const char *const *)&path, 1, true, err) : err->status;
        g_free(path);
    }
    return status ? status : vd_output_check(out, 2, NULL, 0, c->force, err);
}

static vd_status score(comparing *c, vd_error *err)
{
    vd_status status = vd_corpus_open(&c->paths, &c->corpus, err);
    if (status == VD_OK)
        status = keep_inputs(c, err);
    if (status)
        return status;
    c->options.stop = c->compare.stop;
    return vd_cases_new(&c->corpus, &c->options, &c->cases, err);
}

// By relevance when every question has it, unless --right is given.
static vd_status choose_right(comparing *c, vd_error *err)
{
    size_t human = 0, relevant = 0;
    for (size_t i = 0; i < c->cases->count; i++) {
        human += c->cases->at[i].side[0].metrics.rounds;
        relevant += c->cases->at[i].side[0].metrics.dense_rounds;
    }
    if (c->right == VD_RIGHT_RELEVANT && relevant == 0)
        return vd_error_set(err, VD_USAGE,
                            "--right relevant: the relevance of the answers is not known; name it "
                            "with --dense");
    if (c->right == RIGHT_NOT_GIVEN)
        c->right = relevant < human || relevant == 0 ? VD_RIGHT_HUMAN : VD_RIGHT_RELEVANT;
    c->compare.by = c->filter.by = (vd_right)c->right;
    return VD_OK;
}

static vd_status check_family(const comparing *c, vd_error *err)
{
    const vd_cases *cases = c->cases;
    char known[256] = "";
    for (size_t i = 0; i < cases->family_count; i++) {
        if (c->filter.family && strcmp(c->filter.family, cases->family[i]) == 0)
            return VD_OK;
        vd_append(known, sizeof known, "%s%s", i ? ", " : "", cases->family[i]);
    }
    if (!c->filter.family)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "--family: no question is of the family '%.80s'; there are: %s",
                        c->filter.family, *known ? known : "none");
}

// The cases of the filter by difference, of each group the first c->per_group.
static void choose_cases(comparing *c)
{
    vd_compare *compare = &c->compare;
    compare->at = g_new(const vd_case *, c->cases->count);
    compare->shown_of = vd_cases_select(c->cases, &c->filter, VD_CASE_BY_DIFFERENCE, compare->at);
    int64_t taken[VD_CASE_GROUPS] = {0};
    for (size_t i = 0; i < compare->shown_of; i++) {
        vd_case_group group = vd_case_group_of(c->cases, compare->at[i], compare->by);
        if (c->per_group == 0 || taken[group]++ < c->per_group)
            compare->at[compare->count++] = compare->at[i];
    }
}

static vd_status export_to(comparing *c, vd_error *err)
{
    const struct {
        const char *path;
        vd_status (*write)(const vd_compare *, const char *, vd_error *);
    } formats[] = {{c->html, vd_compare_html}, {c->markdown, vd_compare_markdown}};
    vd_status status = VD_OK;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && status == VD_OK; i++) {
        if (!formats[i].path)
            continue;
        vd_progress progress;
        vd_progress_start(&progress, "cases", (int64_t)c->compare.count, 0, c->options.quiet);
        c->compare.progress = &progress;
        status = formats[i].write(&c->compare, formats[i].path, err);
        vd_progress_clear(&progress);
        c->compare.progress = NULL;
        if (status == VD_OK && !c->options.quiet)
            fprintf(stderr, "%s was written\n", formats[i].path);
    }
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    comparing c = {.per_group = 20, .right = RIGHT_NOT_GIVEN};
    vd_status status = read_options(&c, argc, argv, err);
    if (status == VD_OK && c.screen)
        status = vd_cases_screen_ready(&c.wanted, err);
    c.compare.stop = vd_interrupt_watch();
    if (status == VD_OK)
        status = score(&c, err);
    c.compare.cases = c.cases;
    if (status == VD_OK)
        status = choose_right(&c, err);
    if (status == VD_OK)
        status = check_family(&c, err);
    // The screen shows only the cases: with --screen alone there is no bootstrap to wait for.
    if (status == VD_OK && (!c.screen || c.html || c.markdown))
        status = vd_cases_slices(c.cases, c.resamples, c.compare.stop, &c.compare.slices, err);
    if (status == VD_OK) {
        choose_cases(&c);
        status = export_to(&c, err);
    }
    if (status == VD_OK && c.json)
        vd_compare_json(&c.compare);
    else if (status == VD_OK && !c.screen)
        status = vd_compare_print(&c.compare, err);
    vd_interrupt_release();
    if (status == VD_OK && c.screen)
        status = vd_cases_screen(c.cases, &c.filter, VD_CASE_BY_DIFFERENCE, NULL, &c.wanted, err);
    g_free(c.compare.at);
    vd_slices_clear(&c.compare.slices);
    vd_cases_free(c.cases);
    vd_corpus_close(&c.corpus);
    return status;
}

const vd_command vd_cmd_compare = {
    "compare",
    run,
    "compare models, question by question",
    "[options]",
    "Ranks the candidates of every round with two to four models and compares each model with the "
    "first. " VD_HELP_COMPARED
    "Prints how many questions both models, one or neither answer right (McNemar's test); "
    "the difference in every metric, that model minus the first (paired bootstrap over dialogs), "
    "also by family of question and by round; and the questions on which the models differ most. "
    "--screen shows the questions one by one; --html and --markdown write them with picture, "
    "dialog, rankings and attentions. Without --data and --features the bundled dialogs are used.",
    "  visdial compare\n"
    "  visdial compare --screen\n"
    "  visdial compare --html compare.html --group first,second\n"
    "  visdial compare --model base --model run1/model.safetensors --data val.json \\\n"
    "      --features val_features.safetensors --dense val_dense.json\n"
    "  visdial compare --model base --model run1/model.safetensors \\\n"
    "      --model run2/model.safetensors\n"
    "  visdial compare --model run1/model.safetensors --decoder discriminative \\\n"
    "      --model run1/model.safetensors --decoder generative\n",
    .options = options};
