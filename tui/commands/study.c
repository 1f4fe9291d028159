// visdial study: do the runs of one model differ from the runs of others by more than chance?
#include "tui/commands/command.h"

#include <glib.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/json.h"
#include "engine/measure/statistics.h"
#include "features/dialogs/ranks.h"
#include "features/dialogs/visdial.h"
#include "tui/compare/compare.h"
#include "tui/measure/corpus.h"
#include "tui/measure/measure.h"

enum { MOST_RUNS = 64, MOST_ARMS = 17 };

// The runs of one model.
typedef struct arm {
    char name[48];
    const char *path[MOST_RUNS];
    size_t count;
    vd_sample run[MOST_RUNS];
    bool *right[MOST_RUNS];       // (rounds) whether the human answer came first
    double mean[VD_METRICS];      // over runs
    double deviation[VD_METRICS]; // of runs; NaN with one run
} arm;

// The first model against another.
typedef struct versus {
    vd_interval by_dialogs[VD_METRICS]; // the other - the first, these very runs
    vd_interval by_runs[VD_METRICS];    // the same with runs resampled too
    double holm[VD_METRICS]; // p of by_dialogs, corrected for asking several metrics, of all models
    size_t pairs;            // of runs that are compared one by one
    vd_pairs pair[MOST_RUNS];
} versus;

typedef struct study {
    const char *data, *features, *dense;
    vd_missing missing;
    bool json;
    vd_measure_options options;
    vd_bootstrap_options bootstrap;
    vd_visdial *dialogs;
    size_t rounds; // with a known human answer
    int arms;      // models with runs; the first is compared with each other one
    arm arm[MOST_ARMS];
    versus against[MOST_ARMS]; // of every arm but the first
} study;

// ---- measuring ----------------------------------------------------------------------------------

typedef struct marking {
    bool *right;
    size_t count, room;
} marking;

static vd_status mark_round(void *user, const vd_visdial_dialog *dialog, int32_t round,
                            const float *scores, vd_error *err)
{
    marking *m = user;
    const vd_visdial_round *r = &dialog->rounds[round];
    (void)err;
    if (r->truth < 0 || m->count == m->room)
        return VD_OK;
    // First and without a tie, as for R@1.
    bool right = true;
    for (int i = 0; i < r->option_count; i++)
        right = right && (i == r->truth || scores[i] < scores[r->truth]);
    m->right[m->count++] = right;
    return VD_OK;
}

static vd_status measure_run(study *s, arm *one, size_t i, vd_error *err)
{
    vd_ranks *ranks = NULL;
    vd_measure measure = {0};
    marking m = {0};
    for (size_t d = 0; d < s->dialogs->dialog_count; d++)
        m.room += (size_t)s->dialogs->dialogs[d].round_count;
    m.right = one->right[i] = g_new(bool, m.room);
    vd_measure_options options = s->options;
    options.report = mark_round;
    options.user = &m;
    vd_status status = vd_ranks_read(one->path[i], s->dialogs, &ranks, err);
    if (status == VD_OK)
        status = vd_measure_ranks(s->dialogs, ranks, &options, &measure, err);
    if (status == VD_OK && !measure.all.rounds && !measure.all.dense_rounds)
        status =
            vd_error_set(err, VD_FORMAT,
                         "%.300s: no round has a human answer or relevance, so there is nothing "
                         "to compare",
                         s->data);
    if (status == VD_OK)
        status = vd_sample_new(measure.dialog, measure.dialogs, &one->run[i], err);
    s->rounds = m.count;
    vd_measure_clear(&measure);
    vd_ranks_free(ranks);
    return status;
}

static vd_status measure_arm(study *s, arm *one, vd_error *err)
{
    vd_status status = VD_OK;
    double mean[MOST_RUNS][VD_METRICS];
    for (size_t i = 0; status == VD_OK && i < one->count; i++) {
        status = measure_run(s, one, i, err);
        if (status == VD_OK)
            vd_sample_means(&one->run[i], mean[i]);
    }
    for (int k = 0; status == VD_OK && k < VD_METRICS; k++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < one->count; i++)
            sum += mean[i][k];
        one->mean[k] = sum / (double)one->count;
        for (size_t i = 0; i < one->count; i++)
            squares += (mean[i][k] - one->mean[k]) * (mean[i][k] - one->mean[k]);
        one->deviation[k] = one->count > 1 ? sqrt(squares / (double)(one->count - 1)) : NAN;
    }
    return status;
}

// Holm's correction over all metrics of all models.
static vd_status correct_p(study *s, vd_error *err)
{
    double known[MOST_ARMS * VD_METRICS];
    size_t n = 0;
    for (int i = 1; i < s->arms; i++)
        for (int k = 0; k < VD_METRICS; k++)
            if (!isnan(s->against[i].by_dialogs[k].p))
                known[n++] = s->against[i].by_dialogs[k].p;
    vd_status status = vd_holm(known, n, err);
    n = 0;
    for (int i = 1; i < s->arms; i++)
        for (int k = 0; k < VD_METRICS; k++)
            s->against[i].holm[k] = isnan(s->against[i].by_dialogs[k].p) ? NAN : known[n++];
    return status;
}

static vd_status compare_with(study *s, int index, vd_error *err)
{
    const arm *a = &s->arm[0], *b = &s->arm[index];
    versus *v = &s->against[index];
    vd_status status =
        vd_bootstrap_paired(b->run, b->count, a->run, a->count, &s->bootstrap, v->by_dialogs, err);
    vd_bootstrap_options both = s->bootstrap;
    both.draw_runs = true;
    if (status == VD_OK && (a->count > 1 || b->count > 1))
        status = vd_bootstrap_paired(b->run, b->count, a->run, a->count, &both, v->by_runs, err);
    else
        for (int k = 0; k < VD_METRICS; k++) // nothing varies
            v->by_runs[k] = (vd_interval){NAN, NAN, NAN, NAN, NAN};
    v->pairs = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; status == VD_OK && i < v->pairs; i++)
        for (size_t r = 0; r < s->rounds; r++)
            vd_pairs_add(&v->pair[i], a->right[i][r], b->right[i][r]);
    return status;
}

// ---- report -------------------------------------------------------------------------------------

// "0.6050"; "-" when it is not known.
static const char *number_text(char out[24], double value)
{
    snprintf(out, 24, isnan(value) ? "-" : "%.4f", value);
    return out;
}

static void add_metric(vd_table *table, const arm *a, const arm *b, const versus *v, int k,
                       bool vary)
{
    const vd_interval *d = &v->by_dialogs[k], *r = &v->by_runs[k];
    char number[4][24], range[48];
    vd_compare_range(range, sizeof range, d);
    vd_table_add(table, "%s\t%s\t%s\t%s\t%s\t%+.4f\t%s\t%.4f\t%.4f", vd_metric_name((vd_metric)k),
                 number_text(number[0], a->mean[k]), number_text(number[1], a->deviation[k]),
                 number_text(number[2], b->mean[k]), number_text(number[3], b->deviation[k]),
                 d->estimate, range, d->p, v->holm[k]);
    vd_compare_range(range, sizeof range, r);
    if (vary)
        vd_table_more(table, "%s\t%.4f", range, r->p);
}

static void print_metrics(const arm *a, const arm *b, const versus *v)
{
    vd_table table = {0};
    bool vary = a->count > 1 || b->count > 1;
    vd_table_add(&table, "\t%.60s\t+-\t%.60s\t+-\t%.60s - %.60s\t95 %% of dialogs\tp\tHolm p",
                 a->name, b->name, b->name, a->name);
    if (vary)
        vd_table_more(&table, "95 %%, runs too\tp");
    for (int k = 0; k < VD_METRICS; k++)
        if (!isnan(v->by_dialogs[k].estimate))
            add_metric(&table, a, b, v, k, vary);
    vd_table_finish(&table, 0);
}

static void print_pairs(const arm *a, const arm *b, const versus *v)
{
    vd_table table = {0};
    vd_table_add(&table, "\tboth\tonly %.60s\tonly %.60s\tneither\tMcNemar, exact\tmid-p", a->name,
                 b->name);
    for (size_t i = 0; i < v->pairs; i++) {
        vd_mcnemar test = vd_mcnemar_test(&v->pair[i]);
        vd_table_add(&table, "%zu\t%zu\t%zu\t%zu\t%zu\t%.4g\t%.4g", i + 1, v->pair[i].both,
                     v->pair[i].only_a, v->pair[i].only_b, v->pair[i].neither, test.exact,
                     test.mid_p);
    }
    vd_table_finish(&table, 0);
}

static void print_study(const study *s)
{
    printf("data     %s, %zu dialog%s\n", s->data, s->arm[0].run[0].dialogs,
           s->arm[0].run[0].dialogs == 1 ? "" : "s");
    for (int i = 0; i < s->arms; i++)
        printf("%-8s %zu run%s\n", s->arm[i].name, s->arm[i].count,
               s->arm[i].count == 1 ? "" : "s");
    for (int i = 1; i < s->arms; i++) {
        printf("\n");
        print_metrics(&s->arm[0], &s->arm[i], &s->against[i]);
    }
    printf("\n+-: standard deviation over runs; Holm p is corrected for %s. Rounds where the "
           "human\nanswer comes first, run by run:\n",
           s->arms > 2 ? "all metrics of all models" : "several metrics");
    for (int i = 1; i < s->arms; i++)
        print_pairs(&s->arm[0], &s->arm[i], &s->against[i]);
}

static void json_metric(yajl_gen json, const arm *a, const arm *b, const versus *v, int k)
{
    const vd_interval *d = &v->by_dialogs[k], *r = &v->by_runs[k];
    vd_json_put(json, "%s: {mean: [%.9g, %.9g], deviation: [%.9g, %.9g]",
                vd_metric_name((vd_metric)k), a->mean[k], b->mean[k], a->deviation[k],
                b->deviation[k]);
    vd_json_put(json, "difference: %.9g, interval: [%.9g, %.9g], p: %.9g, p_holm: %.9g",
                d->estimate, d->low, d->high, d->p, v->holm[k]);
    vd_json_put(json, "interval_runs: [%.9g, %.9g], p_runs: %.9g}", r->low, r->high, r->p);
}

static void json_versus(yajl_gen json, const arm *a, const arm *b, const versus *v)
{
    vd_json_put(json, "against: %s, sign: %s, metrics: {", b->name, "against - first");
    for (int k = 0; k < VD_METRICS; k++)
        if (!isnan(v->by_dialogs[k].estimate))
            json_metric(json, a, b, v, k);
    vd_json_put(json, "}, mcnemar: [");
    for (size_t i = 0; i < v->pairs; i++) {
        const vd_pairs *pair = &v->pair[i];
        vd_mcnemar test = vd_mcnemar_test(pair);
        vd_json_put(json, "{both: %zu, only_first: %zu, only_against: %zu, neither: %zu",
                    pair->both, pair->only_a, pair->only_b, pair->neither);
        vd_json_put(json, "exact: %.9g, mid_p: %.9g}", test.exact, test.mid_p);
    }
    vd_json_put(json, "]");
}

// Members about the second model, as if it were the only one; a list of the further ones.
static void print_json(const study *s)
{
    yajl_gen json = vd_output_object();
    vd_json_put(json, "first: %s", s->arm[0].name);
    json_versus(json, &s->arm[0], &s->arm[1], &s->against[1]);
    if (s->arms > 2)
        vd_json_put(json, "others: [");
    for (int i = 2; i < s->arms; i++) {
        vd_json_put(json, "{");
        json_versus(json, &s->arm[0], &s->arm[i], &s->against[i]);
        vd_json_put(json, "}");
    }
    if (s->arms > 2)
        vd_json_put(json, "]");
    vd_output_object_end(json);
}

// ---- command ------------------------------------------------------------------------------------

// Splits "NAME=FILE", unless the whole is the name of a file. Returns the file; NULL: name is
// longer.
static const char *split_name(const char *given, const char *otherwise, char *name, size_t size)
{
    const char *equals = strchr(given, '=');
    bool named = equals && equals > given && !memchr(given, '/', (size_t)(equals - given)) &&
                 access(given, F_OK) != 0;
    size_t length = named ? (size_t)(equals - given) : strlen(otherwise);
    snprintf(name, size, "%.*s", (int)length, named ? given : otherwise);
    return length >= size ? NULL : named ? equals + 1 : given;
}

// A run of the first model, all of which have one name, or of another; runs with the same name
// belong to the same model.
static vd_status add_run(study *s, const char *given, bool first, vd_error *err)
{
    char name[sizeof s->arm->name];
    const char *known = s->arm[0].count ? s->arm[0].name : "first";
    const char *path = split_name(given, first ? known : "against", name, sizeof name);
    int i = first ? 0 : 1;
    if (!path)
        return vd_error_set(err, VD_USAGE,
                            "'%.80s': expected a name of at most %zu bytes before '='", given,
                            sizeof name - 1);
    if (first && s->arm[0].count && strcmp(name, known) != 0)
        return vd_error_set(err, VD_USAGE,
                            "'%.80s': the first model is '%s'; name runs of others with --against",
                            given, known);
    while (!first && i < s->arms && strcmp(s->arm[i].name, name) != 0)
        i++;
    if (i == MOST_ARMS)
        return vd_error_set(err, VD_USAGE, "--against '%.80s': more than %d other models", given,
                            MOST_ARMS - 1);
    s->arms = i < s->arms ? s->arms : i + 1;
    arm *one = &s->arm[i];
    snprintf(one->name, sizeof one->name, "%s", name);
    if (one->count == MOST_RUNS)
        return vd_error_set(err, VD_USAGE, "more than %d runs of a model", MOST_RUNS);
    one->path[one->count++] = path;
    return VD_OK;
}

static vd_status add_against(void *into, const char *name, const char *text, vd_error *err)
{
    (void)name;
    return add_run(into, text, false, err);
}

static const vd_option options[] = {
    {"data", "FILE", VD_HELP_DATA, VD_INTO(study, data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(study, features)},
    {"dense", "FILE", VD_HELP_DENSE, VD_INTO(study, dense)},
    VD_MISSING_OPTION(study, missing),
    {"against", "[NAME=]RANKS", "a run of another model; give it once per run",
     .read = add_against},
    {"limit", "N", VD_HELP_LIMIT, VD_INTO(study, options.limit), 1, 10000000},
    {"resamples", "N", VD_HELP_RESAMPLES, VD_INTO(study, bootstrap.resamples), 1, 10000000},
    {"seed", "N", "seed of the bootstrap (0)", VD_INTO(study, bootstrap.seed), 0, INT64_MAX},
    {"json", NULL, VD_HELP_JSON, VD_INTO(study, json)},
    {0},
};

static vd_status read_options(study *s, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, s, &given, err);
    for (int i = 0; status == VD_OK && i < given.count; i++)
        status = add_run(s, given.operand[i], true, err);
    if (status == VD_OK && !s->data)
        status = vd_error_set(err, VD_USAGE, "which dialogs were ranked? name them with --data");
    if (status == VD_OK && !s->features)
        status = vd_arguments_refuse(&given, "missing", "needs --features", err);
    if (status == VD_OK && (s->arm[0].count == 0 || s->arms == 1))
        status = vd_error_set(err, VD_USAGE,
                              "expected rankings of one model (`visdial eval --ranks` writes them) "
                              "and, with --against, of another");
    for (int i = 1; i < s->arms && status == VD_OK; i++)
        if (strcmp(s->arm[i].name, s->arm[0].name) == 0)
            status = vd_error_set(err, VD_USAGE,
                                  "--against: the first model is called '%.60s', too; expected two "
                                  "names",
                                  s->arm[0].name);
    return status;
}

static void clear_arm(arm *one)
{
    for (size_t i = 0; i < one->count; i++) {
        vd_sample_clear(&one->run[i]);
        g_free(one->right[i]);
    }
}

// Those whose pictures have features, if these are given: `eval --ranks` ranked no others.
static vd_status open_dialogs(study *s, vd_error *err)
{
    vd_regions *regions = NULL;
    vd_status status = vd_visdial_open(s->data, &s->dialogs, err);
    if (status == VD_OK && s->dense)
        status = vd_visdial_read_dense(s->dialogs, s->dense, err);
    if (status == VD_OK && s->features)
        status = vd_regions_open(s->features, &regions, err);
    if (regions)
        status = vd_corpus_match(s->dialogs, regions, s->missing, true, err);
    vd_regions_close(regions);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    static study s;
    s = (study){.arms = 1};
    vd_status status = read_options(&s, argc, argv, err);
    if (status == VD_OK)
        status = open_dialogs(&s, err);
    for (int i = 0; i < s.arms && status == VD_OK; i++)
        status = measure_arm(&s, &s.arm[i], err);
    for (int i = 1; i < s.arms && status == VD_OK; i++)
        status = compare_with(&s, i, err);
    if (status == VD_OK)
        status = correct_p(&s, err);
    if (status == VD_OK && s.json)
        print_json(&s);
    else if (status == VD_OK)
        print_study(&s);
    for (int i = 0; i < s.arms; i++)
        clear_arm(&s.arm[i]);
    vd_visdial_free(s.dialogs);
    return status;
}

const vd_command vd_cmd_study = {
    "study",
    run,
    "test whether runs of models differ by more than chance",
    "--data FILE RANKS... --against [NAME=]RANKS... [options]",
    "Takes rankings written by `eval --ranks`, one file per run (seed): those of one model and, "
    "with --against, of one or several others. Prints the difference in the mean of each metric "
    "over the runs (other model minus first model, as in `compare`) with confidence intervals and "
    "p-values from a paired bootstrap over dialogs (with several runs also over runs), corrected "
    "for the number of metrics and models (Holm), and McNemar's test of R@1 for each run. "
    "--features leaves out dialogs whose pictures have none, as `eval` does.",
    "  visdial study --data val.json --dense val_dense.json a1.json a2.json a3.json \\\n"
    "      --against b1.json --against b2.json --against b3.json\n"
    "  visdial study --data val.json base=a1.json --against gates=b1.json \\\n"
    "      --against margin=c1.json\n",
    .options = options};
