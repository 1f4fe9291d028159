#include "tui/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/alloc.h"
#include "engine/scorer.h"
#include "features/dataset.h"

// ---- scoring ------------------------------------------------------------------------------------

enum { AT_ONCE = 16 };

// What it takes to score the data set with one model.
typedef struct lane {
    vd_dataset *dataset; // tokenised with the model's vocabulary
    vd_loader *loader;
    vd_scorer *scorer;
    float *scores; // (AT_ONCE, R, O)
    size_t room;
    const vd_batch *batch;
} lane;

static vd_status lane_open(lane *l, const vd_cases *cases, int which, vd_error *err)
{
    const vd_model *model = cases->model[which];
    vd_status status = vd_dataset_new(cases->corpus->dialogs, cases->corpus->regions,
                                      vd_model_vocab(model), &l->dataset, err);
    if (status == VD_OK)
        status = vd_loader_new(l->dataset, &l->loader, err);
    if (status == VD_OK)
        status = vd_scorer_new(model, &l->scorer, err);
    return status;
}

static void lane_close(lane *l)
{
    vd_free(l->scores);
    vd_scorer_free(l->scorer);
    vd_loader_free(l->loader);
    vd_dataset_free(l->dataset);
}

static vd_status lane_score(lane *l, const size_t *dialogs, size_t count, vd_error *err)
{
    const vd_dataset_view plain = {0};
    vd_status status = vd_loader_batch(l->loader, dialogs, count, &plain, &l->batch, err);
    if (status)
        return status;
    size_t wanted =
        (size_t)l->batch->dialogs * (size_t)l->batch->rounds * (size_t)l->batch->candidates;
    if (wanted > l->room) {
        vd_free(l->scores);
        l->scores = vd_alloc(wanted, sizeof *l->scores);
        l->room = l->scores ? wanted : 0;
        if (!l->scores)
            return vd_error_memory(err, "scores");
    }
    return vd_scorer_run(l->scorer, NULL, l->batch, l->scores, err);
}

// The first of the highest scores; 0 when none is a number.
static int32_t first_of(const float *scores, int n)
{
    int32_t best = 0;
    for (int i = 1; i < n; i++)
        if (scores[i] > scores[best] || isnan(scores[best]))
            best = i;
    return best;
}

static double sum_of_exp(const float *scores, int n, float most)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += exp((double)scores[i] - (double)most);
    return sum;
}

// Half the sum of |p_a - p_b| (total variation distance) of the two softmaxes.
static float moved(const float *a, const float *b, int n)
{
    float most_a = a[first_of(a, n)], most_b = b[first_of(b, n)];
    double sum_a = sum_of_exp(a, n, most_a), sum_b = sum_of_exp(b, n, most_b), sum = 0;
    for (int i = 0; i < n; i++)
        sum += fabs(exp((double)a[i] - (double)most_a) / sum_a -
                    exp((double)b[i] - (double)most_b) / sum_b);
    return (float)(sum / 2);
}

static vd_case judge(const vd_visdial_round *round, const float *const scores[2], float *ranks)
{
    vd_case made = {0};
    int n = round->option_count;
    for (int side = 0; side < 2; side++) {
        vd_case_side *to = &made.side[side];
        vd_metrics_ranks(scores[side], n, ranks);
        vd_metrics_add(&to->metrics, ranks, n, round->truth, round->relevance);
        to->rank = round->truth >= 0 ? ranks[round->truth] : 0;
        to->first = first_of(scores[side], n);
    }
    made.moved = moved(scores[0], scores[1], n);
    return made;
}

static void judge_batch(vd_cases *cases, const lane lanes[2], size_t first, size_t count,
                        float *ranks)
{
    for (size_t b = 0; b < count; b++) {
        const vd_visdial_dialog *dialog = &cases->corpus->dialogs->dialogs[first + b];
        for (int r = 0; r < dialog->round_count; r++) {
            const float *scores[2];
            for (int side = 0; side < 2; side++) {
                const vd_batch *batch = lanes[side].batch;
                scores[side] = lanes[side].scores +
                               (b * (size_t)batch->rounds + (size_t)r) * (size_t)batch->candidates;
            }
            if (dialog->rounds[r].option_count == 0)
                continue;
            vd_case *to = &cases->at[cases->count++];
            *to = judge(&dialog->rounds[r], scores, ranks);
            to->dialog = (uint32_t)(first + b);
            to->round = r;
        }
    }
}

static vd_status score_all(vd_cases *cases, lane lanes[2], const vd_cases_options *options,
                           float *ranks, vd_error *err)
{
    for (size_t done = 0; done < cases->dialogs; done += AT_ONCE) {
        size_t index[AT_ONCE], first = cases->first + done;
        size_t n = cases->dialogs - done < AT_ONCE ? cases->dialogs - done : AT_ONCE;
        for (size_t i = 0; i < n; i++)
            index[i] = first + i;
        for (int side = 0; side < 2; side++) {
            if (options->stop && atomic_load(options->stop))
                return vd_error_set(err, VD_INTERRUPTED, "interrupted after %zu of %zu dialogs",
                                    done, cases->dialogs);
            vd_status status = lane_score(&lanes[side], index, n, err);
            if (status)
                return status;
        }
        judge_batch(cases, lanes, first, n, ranks);
        if (options->progress)
            vd_progress_update(options->progress, (int64_t)(done + n), NULL);
    }
    return VD_OK;
}

// ---- making -------------------------------------------------------------------------------------

// Room for every round, the longest round's options, and which families there are.
static vd_status survey(vd_cases *cases, float **ranks, vd_error *err)
{
    const vd_visdial *data = cases->corpus->dialogs;
    size_t rounds = 0;
    int32_t options = 1;
    for (size_t d = cases->first; d < cases->first + cases->dialogs; d++) {
        const vd_visdial_dialog *dialog = &data->dialogs[d];
        rounds += (size_t)dialog->round_count;
        cases->rounds = dialog->round_count > cases->rounds ? dialog->round_count : cases->rounds;
        for (int r = 0; r < dialog->round_count; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            options = round->option_count > options ? round->option_count : options;
            if (!round->family)
                continue;
            size_t at = 0, count = cases->family_count;
            while (at < count && strcmp(cases->family[at], round->family) < 0)
                at++;
            if (at < count && strcmp(cases->family[at], round->family) == 0)
                continue;
            const char **grown = vd_grow(cases->family, count, count + 1, sizeof *grown);
            if (!grown)
                return vd_error_memory(err, "the families of questions");
            cases->family = grown;
            memmove(grown + at + 1, grown + at, (count - at) * sizeof *grown);
            grown[at] = round->family;
            cases->family_count++;
        }
    }
    cases->at = vd_alloc(rounds, sizeof *cases->at);
    *ranks = vd_alloc((size_t)options, sizeof **ranks);
    return cases->at && *ranks ? VD_OK : vd_error_memory(err, "the questions to compare");
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

vd_status vd_cases_new(const vd_corpus *corpus, const vd_cases_options *options, vd_cases **out,
                       vd_error *err)
{
    *out = NULL;
    lane lanes[2] = {0};
    float *ranks = NULL;
    vd_cases *cases = vd_alloc(1, sizeof *cases);
    if (!cases)
        return vd_error_memory(err, "the questions to compare");
    cases->corpus = corpus;
    cases->dialogs = corpus->dialogs->dialog_count;
    if (options->limit && options->limit < cases->dialogs)
        cases->dialogs = options->limit;
    vd_status status = options->one ? choose_one(cases, options->image_id, err) : VD_OK;
    for (int side = 0; side < 2 && status == VD_OK; side++)
        status = vd_corpus_model(corpus, options->model[side], &cases->model[side], err);
    for (int side = 0; side < 2 && status == VD_OK; side++)
        status = lane_open(&lanes[side], cases, side, err);
    if (status == VD_OK)
        status = survey(cases, &ranks, err);
    if (status == VD_OK)
        status = score_all(cases, lanes, options, ranks, err);
    bool known = false;
    for (size_t i = 0; i < cases->count && !known; i++)
        known = cases->at[i].side[0].metrics.rounds || cases->at[i].side[0].metrics.dense_rounds;
    if (status == VD_OK && !known)
        status = vd_error_set(err, VD_FORMAT,
                              "%.300s: no round has a human answer among its candidates, so there "
                              "is nothing to compare",
                              corpus->data);
    lane_close(&lanes[0]);
    lane_close(&lanes[1]);
    vd_free(ranks);
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
    vd_model_free(cases->model[0]);
    vd_model_free(cases->model[1]);
    vd_free(cases->family);
    vd_free(cases->at);
    vd_free(cases);
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
    return by == VD_RIGHT_HUMAN ? metrics->recall[0] > 0 : metrics->correct >= 1;
}

vd_case_group vd_case_group_of(const vd_case *at, vd_right by)
{
    const vd_metrics *metrics = &at->side[0].metrics;
    if ((by == VD_RIGHT_HUMAN ? metrics->rounds : metrics->dense_rounds) == 0)
        return VD_CASE_UNKNOWN;
    bool first = vd_case_right(at, 0, by), second = vd_case_right(at, 1, by);
    return first && second ? VD_CASE_BOTH
           : first         ? VD_CASE_FIRST
           : second        ? VD_CASE_SECOND
                           : VD_CASE_NEITHER;
}

void vd_case_group_name(const vd_cases *cases, vd_case_group group, char *out, size_t size)
{
    static const char *const names[] = {"both right", NULL, NULL, "both wrong", "not known"};
    if (names[group])
        snprintf(out, size, "%s", names[group]);
    else
        snprintf(out, size, "only %s right", vd_model_name(cases->model[group == VD_CASE_SECOND]));
}

static bool has(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; text && *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return false;
}

bool vd_case_matches(const vd_cases *cases, const vd_case *at, const vd_case_filter *filter)
{
    const vd_visdial_round *round = vd_case_round(cases, at);
    if (filter->groups && !(filter->groups & 1u << vd_case_group_of(at, filter->by)))
        return false;
    if (filter->family && (!round->family || strcmp(filter->family, round->family) != 0))
        return false;
    if (filter->round && filter->round != at->round + 1)
        return false;
    if (!filter->text || !*filter->text)
        return true;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)vd_case_dialog(cases, at)->image_id);
    return has(vd_case_question(cases, at), filter->text) ||
           has(vd_case_human(cases, at), filter->text) ||
           has(vd_case_option(cases, at, at->side[0].first), filter->text) ||
           has(vd_case_option(cases, at, at->side[1].first), filter->text) ||
           has(number, filter->text);
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

// ---- what the difference is worth ---------------------------------------------------------------

// dialog: (dialogs compared) of each model.
static void add_case(const vd_case *at, size_t place, vd_metrics *const dialog[2],
                     vd_comparison *out)
{
    out->cases++;
    for (int side = 0; side < 2; side++) {
        vd_metrics_merge(&dialog[side][place], &at->side[side].metrics);
        vd_metrics_merge(&out->metrics[side], &at->side[side].metrics);
    }
    for (int by = 0; by < 2; by++)
        if (vd_case_group_of(at, (vd_right)by) != VD_CASE_UNKNOWN)
            vd_pairs_add(&out->right[by], vd_case_right(at, 0, (vd_right)by),
                         vd_case_right(at, 1, (vd_right)by));
}

vd_status vd_cases_compare(const vd_cases *cases, const vd_case_filter *filter, int resamples,
                           vd_comparison *out, vd_error *err)
{
    *out = (vd_comparison){0};
    vd_sample sample[2] = {0};
    vd_metrics *dialog[2];
    dialog[0] = vd_alloc(cases->dialogs, sizeof *dialog[0]);
    dialog[1] = vd_alloc(cases->dialogs, sizeof *dialog[1]);
    vd_status status = VD_OK;
    if (!dialog[0] || !dialog[1])
        status = vd_error_memory(err, "the metrics of the dialogs");
    for (size_t i = 0; status == VD_OK && i < cases->count; i++)
        if (vd_case_matches(cases, &cases->at[i], filter))
            add_case(&cases->at[i], cases->at[i].dialog - cases->first, dialog, out);
    for (int side = 0; side < 2 && status == VD_OK; side++)
        status = vd_sample_new(dialog[side], cases->dialogs, &sample[side], err);
    const vd_bootstrap_options options = {.resamples = resamples};
    if (status == VD_OK)
        status = vd_bootstrap_paired(&sample[1], 1, &sample[0], 1, &options, out->difference, err);
    for (int by = 0; by < 2; by++)
        out->test[by] = vd_mcnemar_test(&out->right[by]);
    vd_sample_clear(&sample[0]);
    vd_sample_clear(&sample[1]);
    vd_free(dialog[0]);
    vd_free(dialog[1]);
    return status;
}

vd_status vd_cases_slices(const vd_cases *cases, int resamples, const atomic_int *stop,
                          vd_slices *out, vd_error *err)
{
    *out = (vd_slices){.count = 1 + cases->family_count + (size_t)cases->rounds};
    out->slice = vd_alloc(out->count, sizeof *out->slice);
    if (!out->slice)
        return vd_error_memory(err, "the comparison");
    vd_status status = VD_OK;
    for (size_t i = 0; i < out->count && status == VD_OK; i++) {
        vd_slice *slice = &out->slice[i];
        if (i > cases->family_count)
            slice->round = (int)(i - cases->family_count);
        else if (i > 0)
            slice->family = cases->family[i - 1];
        if (stop && atomic_load(stop))
            status = vd_error_set(err, VD_INTERRUPTED, "interrupted while resampling");
        const vd_case_filter filter = {.family = slice->family, .round = slice->round};
        if (status == VD_OK)
            status = vd_cases_compare(cases, &filter, resamples, &slice->comparison, err);
    }
    if (status)
        vd_slices_clear(out);
    return status;
}

void vd_slices_clear(vd_slices *slices)
{
    vd_free(slices->slice);
    *slices = (vd_slices){0};
}
