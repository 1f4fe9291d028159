#include "tui/compare/cases.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/parallel.h"
#include "tui/screen/wrap.h"

// ---- which models are compared ------------------------------------------------------------------

int vd_cases_model_count(const vd_cases_options *options)
{
    int count = 0;
    while (count < VD_MODELS && options->model[count])
        count++;
    return count;
}

static int decoder_count(const vd_cases_options *options)
{
    int count = 0;
    while (count < VD_MODELS && options->decoder[count].made)
        count++;
    return count;
}

vd_status vd_cases_add_model(void *options, const char *name, const char *text, vd_error *err)
{
    int count = vd_cases_model_count(options);
    if (count == VD_MODELS)
        return vd_error_set(err, VD_USAGE, "--%s '%.80s' is one too many; at most %d are compared",
                            name, text, VD_MODELS);
    ((vd_cases_options *)options)->model[count] = text;
    return VD_OK;
}

vd_status vd_cases_add_decoder(void *options, const char *name, const char *text, vd_error *err)
{
    int count = decoder_count(options);
    if (count == VD_MODELS)
        return vd_error_set(err, VD_USAGE,
                            "--%s '%.80s' is one too many; at most %d models are compared", name,
                            text, VD_MODELS);
    return vd_decoder_read(&((vd_cases_options *)options)->decoder[count], name, text, err);
}

vd_status vd_cases_complete(vd_cases_options *options, vd_error *err)
{
    static const char *const bundled[] = {"base", "improved"};
    int models = vd_cases_model_count(options), decoders = decoder_count(options);
    if (models == 1)
        return vd_error_set(err, VD_USAGE,
                            "no model to compare '%.80s' with; name it with another --model",
                            options->model[0]);
    for (; models < 2; models++)
        options->model[models] = bundled[models];
    if (decoders > 1 && decoders != models)
        return vd_error_set(err, VD_USAGE,
                            "--decoder: found %d, expected one for all models or one for each of "
                            "the %d",
                            decoders, models);
    for (int i = 1; i < models && decoders == 1; i++)
        options->decoder[i] = options->decoder[0];
    return VD_OK;
}

// ---- making -------------------------------------------------------------------------------------

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Room for every round, and which families there are.
static void survey(vd_cases *cases)
{
    const vd_visdial_dialog *first = &cases->corpus->dialogs->dialogs[cases->first];
    const vd_visdial_dialog *end = first + cases->dialogs;
    size_t rounds = 0, count = 0;
    for (const vd_visdial_dialog *dialog = first; dialog < end; dialog++) {
        rounds += (size_t)dialog->round_count;
        cases->rounds = dialog->round_count > cases->rounds ? dialog->round_count : cases->rounds;
    }
    cases->at = g_new0(vd_case, rounds);
    cases->family = g_new(const char *, rounds);
    for (const vd_visdial_dialog *dialog = first; dialog < end; dialog++)
        for (int r = 0; r < dialog->round_count; r++)
            if (dialog->rounds[r].family)
                cases->family[count++] = dialog->rounds[r].family;
    if (count > 0)
        qsort(cases->family, count, sizeof *cases->family, by_text);
    for (size_t i = 0; i < count; i++) // each once
        if (i == 0 || strcmp(cases->family[i], cases->family[cases->family_count - 1]) != 0)
            cases->family[cases->family_count++] = cases->family[i];
}

static vd_status choose_one(vd_cases *cases, int64_t image_id, vd_error *err)
{
    const vd_visdial *data = cases->corpus->dialogs;
    const vd_visdial_dialog *found = vd_visdial_find(data, image_id);
    if (!found)
        return vd_error_set(err, VD_NOT_FOUND,
                            "%.400s: no dialog about the picture %lld; it has %zu, the first about "
                            "%lld",
                            cases->corpus->data, (long long)image_id, data->dialog_count,
                            data->dialog_count ? (long long)data->dialogs[0].image_id : 0);
    cases->first = (size_t)(found - data->dialogs);
    cases->dialogs = 1;
    return VD_OK;
}

// The last parts of a path.
static const char *path_tail(const char *path, int parts)
{
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --parts > 0))
        at--;
    return at;
}

// Their names contain different decoders: only chosen decoders are part of a name.
static bool told_by_decoders(const vd_cases *cases, const vd_cases_options *options, int a, int b)
{
    return cases->by[a] != cases->by[b] && (options->decoder[a].made || options->decoder[b].made);
}

// Whether another model with the same decoders has the same last parts of its path.
static bool same_tail(const vd_cases *cases, const vd_cases_options *options, int model, int parts)
{
    const char *own = path_tail(vd_model_path(cases->model[model]), parts);
    for (int i = 0; i < cases->models; i++)
        if (i != model && !told_by_decoders(cases, options, model, i) &&
            strcmp(own, path_tail(vd_model_path(cases->model[i]), parts)) == 0)
            return true;
    return false;
}

// Files with the same name get their folder ("run1/model"), or else a number.
static void name_models(vd_cases *cases, const vd_cases_options *options)
{
    for (int i = 0; i < cases->models; i++) {
        const char *tail = path_tail(vd_model_path(cases->model[i]), 2);
        const char *dot = strrchr(path_tail(tail, 1), '.');
        size_t length = dot ? (size_t)(dot - tail) : strlen(tail);
        char name[160];
        if (!same_tail(cases, options, i, 1))
            snprintf(name, sizeof name, "%.130s", vd_model_name(cases->model[i]));
        else if (!same_tail(cases, options, i, 2))
            snprintf(name, sizeof name, "%.*s", (int)(length < 130 ? length : 130), tail);
        else
            snprintf(name, sizeof name, "%.120s (%d)", vd_model_name(cases->model[i]), i + 1);
        if (options->decoder[i].made)
            vd_append(name, sizeof name, ", %s", vd_decoders_name(cases->by[i]));
        cases->name[i] = g_strdup(name);
    }
}

static vd_status load_models(vd_cases *cases, const vd_cases_options *options, vd_error *err)
{
    vd_status status = VD_OK;
    cases->models = vd_cases_model_count(options);
    for (int i = 0; i < cases->models && status == VD_OK; i++) {
        status = vd_corpus_model(cases->corpus, options->model[i], &cases->model[i], err);
        if (status == VD_OK)
            status = vd_decoder_of(cases->model[i], &options->decoder[i], &cases->by[i], err);
    }
    if (status == VD_OK)
        name_models(cases, options);
    return status;
}

// Refuses data without a single question whose right answer is known.
static vd_status check_known(const vd_cases *cases, vd_error *err)
{
    for (size_t i = 0; i < cases->count; i++)
        if (cases->at[i].side[0].metrics.rounds || cases->at[i].side[0].metrics.dense_rounds)
            return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%.300s: no round has a human answer among its candidates, so there "
                        "is nothing to compare",
                        cases->corpus->data);
}

vd_status vd_cases_new(const vd_corpus *corpus, const vd_cases_options *options, vd_cases **out,
                       vd_error *err)
{
    *out = NULL;
    vd_cases *cases = g_new0(vd_cases, 1);
    cases->corpus = corpus;
    cases->dialogs = corpus->dialogs->dialog_count;
    if (options->limit && options->limit < cases->dialogs)
        cases->dialogs = options->limit;
    cases->threads = options->threads ? options->threads : vd_parallel_threads();
    vd_status status = options->one ? choose_one(cases, options->image_id, err) : VD_OK;
    if (status == VD_OK)
        status = load_models(cases, options, err);
    if (status == VD_OK) {
        survey(cases);
        status = vd_case_scores(cases, options, err);
    }
    if (status == VD_OK)
        status = check_known(cases, err);
    if (status)
        vd_cases_free(cases);
    else
        *out = cases;
    return status;
}

void vd_cases_free(vd_cases *cases)
{
    if (!cases)
        return;
    for (int i = 0; i < VD_MODELS; i++) {
        vd_model_free(cases->model[i]);
        g_free(cases->name[i]);
    }
    g_free(cases->family);
    g_free(cases->at);
    g_free(cases);
}

// ---- texts --------------------------------------------------------------------------------------

const vd_visdial_dialog *vd_case_dialog(const vd_cases *cases, const vd_case *at)
{
    return &cases->corpus->dialogs->dialogs[at->dialog];
}

const vd_visdial_round *vd_case_round(const vd_cases *cases, const vd_case *at)
{
    return &vd_case_dialog(cases, at)->rounds[at->round];
}

const char *vd_case_option(const vd_cases *cases, const vd_case *at, int option)
{
    return cases->corpus->dialogs->answers[vd_case_round(cases, at)->options[option]];
}

const char *vd_case_question(const vd_cases *cases, const vd_case *at)
{
    return cases->corpus->dialogs->questions[vd_case_round(cases, at)->question];
}

const char *vd_case_human(const vd_cases *cases, const vd_case *at)
{
    int32_t answer = vd_case_round(cases, at)->answer;
    return answer >= 0 ? cases->corpus->dialogs->answers[answer] : NULL;
}

// ---- groups and choosing ------------------------------------------------------------------------

bool vd_case_right(const vd_case *at, int side, vd_right by)
{
    const vd_metrics *metrics = &at->side[side].metrics;
    return by == VD_RIGHT_HUMAN ? metrics->sum[VD_R1] > 0 : metrics->sum[VD_CORRECT] >= 1;
}

vd_case_group vd_case_group_of(const vd_cases *cases, const vd_case *at, vd_right by)
{
    const vd_metrics *metrics = &at->side[0].metrics;
    if ((by == VD_RIGHT_HUMAN ? metrics->rounds : metrics->dense_rounds) == 0)
        return VD_CASE_UNKNOWN;
    int others = 0;
    for (int side = 1; side < cases->models; side++)
        others += vd_case_right(at, side, by);
    if (vd_case_right(at, 0, by))
        return others == cases->models - 1 ? VD_CASE_BOTH : VD_CASE_FIRST;
    return others ? VD_CASE_SECOND : VD_CASE_NEITHER;
}

const char *vd_case_group_key(vd_case_group group)
{
    static const char *const keys[] = {"both", "first", "second", "neither", NULL};
    return keys[group];
}

void vd_case_marks(const vd_cases *cases, const vd_case *at, vd_right by, bool ascii, char *out,
                   size_t size)
{
    bool known = vd_case_group_of(cases, at, by) != VD_CASE_UNKNOWN;
    *out = '\0';
    for (int side = 0; side < cases->models; side++) {
        bool right = vd_case_right(at, side, by);
        const char *mark = !known ? "?" : ascii ? right ? "+" : "-" : right ? "\u2713" : "\u2717";
        vd_append(out, size, "%s", mark);
    }
}

void vd_case_pair_name(const vd_cases *cases, int side, vd_case_group group, char *out, size_t size)
{
    static const char *const fixed[] = {"both right", NULL, NULL, "both wrong", "not known"};
    if (fixed[group])
        snprintf(out, size, "%s", fixed[group]);
    else
        snprintf(out, size, "only %.60s right", cases->name[group == VD_CASE_SECOND ? side : 0]);
}

void vd_case_group_name(const vd_cases *cases, vd_case_group group, char *out, size_t size)
{
    static const char *const of_more[] = {"all right", "right, not all", "wrong, not all",
                                          "all wrong", "not known"};
    bool named = group == VD_CASE_FIRST || group == VD_CASE_SECOND;
    if (cases->models == 2)
        vd_case_pair_name(cases, 1, group, out, size);
    else
        snprintf(out, size, "%.60s%s%s", named ? cases->name[0] : "", named ? " " : "",
                 of_more[group]);
}

void vd_cases_names(const vd_cases *cases, char *out, size_t size)
{
    *out = '\0';
    for (int i = 0; i < cases->models; i++)
        vd_append(out, size, "%s%.80s",
                  i == 0                   ? ""
                  : i == cases->models - 1 ? " and "
                                           : ", ",
                  cases->name[i]);
}

static bool has(const char *text, const char *part)
{
    return text && vd_text_find(text, part);
}

bool vd_case_matches(const vd_cases *cases, const vd_case *at, const vd_case_filter *filter)
{
    const vd_visdial_round *round = vd_case_round(cases, at);
    if (filter->groups && !(filter->groups & 1u << vd_case_group_of(cases, at, filter->by)))
        return false;
    if (filter->family && (!round->family || strcmp(filter->family, round->family) != 0))
        return false;
    if (filter->round && filter->round != at->round + 1)
        return false;
    if (!filter->text || !*filter->text)
        return true;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)vd_case_dialog(cases, at)->image_id);
    bool said = has(vd_case_question(cases, at), filter->text) ||
                has(vd_case_human(cases, at), filter->text) || strcmp(number, filter->text) == 0;
    for (int side = 0; side < cases->models && !said; side++)
        said = has(vd_case_option(cases, at, at->side[side].first), filter->text);
    return said;
}

// Largest difference first, then by place in the data.
static int by_difference(const void *a, const void *b)
{
    const vd_case *x = *(const vd_case *const *)a, *y = *(const vd_case *const *)b;
    if (x->moved > y->moved || x->moved < y->moved)
        return x->moved < y->moved ? 1 : -1;
    return x < y ? -1 : x > y;
}

size_t vd_cases_select(const vd_cases *cases, const vd_case_filter *filter, vd_case_order order,
                       const vd_case **out)
{
    size_t count = 0;
    for (size_t i = 0; i < cases->count; i++)
        if (vd_case_matches(cases, &cases->at[i], filter))
            out[count++] = &cases->at[i];
    if (order == VD_CASE_BY_DIFFERENCE)
        qsort(out, count, sizeof *out, by_difference);
    return count;
}

// ---- significance of the difference -------------------------------------------------------------

// dialog: (dialogs compared) of each model.
static void add_case(const vd_cases *cases, const vd_case *at, vd_metrics *const dialog[VD_MODELS],
                     vd_comparison *out)
{
    out->cases++;
    for (int side = 0; side < cases->models; side++) {
        vd_metrics_merge(&dialog[side][at->dialog - cases->first], &at->side[side].metrics);
        vd_metrics_merge(&out->metrics[side], &at->side[side].metrics);
    }
    for (int by = 0; by < 2; by++)
        for (int side = 1; side < cases->models; side++)
            if (vd_case_group_of(cases, at, (vd_right)by) != VD_CASE_UNKNOWN)
                vd_pairs_add(&out->against[side].right[by], vd_case_right(at, 0, (vd_right)by),
                             vd_case_right(at, side, (vd_right)by));
}

// Every model against the first one.
static vd_status test_pairs(const vd_cases *cases, const vd_sample *sample, int resamples,
                            vd_comparison *out, vd_error *err)
{
    const vd_bootstrap_options options = {.resamples = resamples};
    vd_status status = VD_OK;
    for (int side = 1; side < cases->models && status == VD_OK; side++)
        status = vd_bootstrap_paired(&sample[side], 1, &sample[0], 1, &options,
                                     out->against[side].difference, err);
    return status;
}

vd_status vd_cases_compare(const vd_cases *cases, const vd_case_filter *filter, int resamples,
                           vd_comparison *out, vd_error *err)
{
    *out = (vd_comparison){0};
    vd_sample sample[VD_MODELS] = {0};
    vd_metrics *dialog[VD_MODELS] = {0};
    vd_status status = VD_OK;
    for (int side = 0; side < cases->models; side++)
        dialog[side] = g_new0(vd_metrics, cases->dialogs);
    for (size_t i = 0; i < cases->count; i++)
        if (vd_case_matches(cases, &cases->at[i], filter))
            add_case(cases, &cases->at[i], dialog, out);
    for (int side = 0; side < cases->models && status == VD_OK; side++)
        status = vd_sample_new(dialog[side], cases->dialogs, &sample[side], err);
    if (status == VD_OK)
        status = test_pairs(cases, sample, resamples, out, err);
    for (int side = 0; side < cases->models; side++) {
        vd_sample_clear(&sample[side]);
        g_free(dialog[side]);
    }
    return status;
}

typedef struct slicing {
    const vd_cases *cases;
    int resamples;
    vd_slices *out;
} slicing;

static vd_status compare_slice(void *context, int worker, size_t index, vd_error *err)
{
    const slicing *s = context;
    vd_slice *slice = &s->out->slice[index];
    (void)worker;
    if (index > s->cases->family_count)
        slice->round = (int)(index - s->cases->family_count);
    else if (index > 0)
        slice->family = s->cases->family[index - 1];
    const vd_case_filter filter = {.family = slice->family, .round = slice->round};
    return vd_cases_compare(s->cases, &filter, s->resamples, &slice->comparison, err);
}

vd_status vd_cases_slices(const vd_cases *cases, int resamples, const atomic_int *stop,
                          vd_slices *out, vd_error *err)
{
    slicing s = {.cases = cases, .resamples = resamples, .out = out};
    *out = (vd_slices){.count = 1 + cases->family_count + (size_t)cases->rounds};
    out->slice = g_new0(vd_slice, out->count);
    vd_status status =
        vd_parallel(out->count, cases->threads, compare_slice, &s, NULL, NULL, stop, err);
    if (status == VD_INTERRUPTED)
        vd_error_set(err, status, "interrupted while resampling");
    if (status)
        vd_slices_clear(out);
    return status;
}

void vd_slices_clear(vd_slices *slices)
{
    g_free(slices->slice);
    *slices = (vd_slices){0};
}
