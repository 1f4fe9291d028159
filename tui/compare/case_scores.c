// Dialogs are scored in spans, by one model after the other with all processors. Only one span of
// the first model's scores, which the others are compared with, is in memory, and only one model's
// buffers.
#include "tui/compare/cases.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "tui/measure/measure.h"

typedef struct judging {
    vd_cases *cases;
    int side;                       // model whose scores are reported
    vd_case *next;                  // of the round that is reported next
    size_t options;                 // most of a round
    float *ranks;                   // (options)
    float *baseline;                // (cases of a span, options) scores of the first model
    vd_case *begin;                 // of the span
    vd_dataset *dataset[VD_MODELS]; // tokenised with each model's vocabulary
    vd_progress progress;
} judging;

// ---- one round ----------------------------------------------------------------------------------

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

static vd_status judge(void *user, const vd_visdial_dialog *dialog, int32_t r, const float *scores,
                       vd_error *err)
{
    judging *j = user;
    const vd_visdial_round *round = &dialog->rounds[r];
    int n = round->option_count;
    vd_case *at = j->next++;
    vd_case_side *to = &at->side[j->side];
    float *baseline = j->baseline + (size_t)(at - j->begin) * j->options;
    (void)err;
    vd_metrics_ranks(scores, n, j->ranks);
    vd_metrics_add(&to->metrics, j->ranks, n, round->truth, round->relevance);
    to->rank = round->truth >= 0 ? j->ranks[round->truth] : 0;
    to->first = first_of(scores, n);
    if (j->side == 0) {
        at->dialog = (uint32_t)(dialog - j->cases->corpus->dialogs->dialogs);
        at->round = r;
        memcpy(baseline, scores, (size_t)n * sizeof *scores);
    } else {
        to->moved = moved(baseline, scores, n);
        at->moved = fmaxf(at->moved, to->moved);
    }
    return VD_OK;
}

// ---- all ----------------------------------------------------------------------------------------

static vd_status score_with(judging *j, const vd_measure_options *span, vd_error *err)
{
    vd_model *model = j->cases->model[j->side];
    vd_measure_source source =
        vd_measure_model_open(model, j->cases->by[j->side], j->cases->threads);
    vd_measure measure = {0};
    vd_status status = vd_measure_run(j->dataset[j->side], &source, span, &measure, err);
    vd_measure_clear(&measure);
    vd_measure_model_close(&source);
    return status;
}

// Of `count` dialogs after the first `done`.
static vd_status score_span(judging *j, const vd_cases_options *options, size_t done, size_t count,
                            vd_error *err)
{
    vd_cases *cases = j->cases;
    vd_status status = VD_OK;
    j->begin = cases->at + cases->count;
    for (j->side = 0; j->side < cases->models && status == VD_OK; j->side++) {
        const vd_measure_options span = {
            .first = cases->first + done,
            .limit = count,
            .stop = options->stop,
            .progress = &j->progress,
            .before = (int64_t)(done * (size_t)cases->models + count * (size_t)j->side),
            .report = judge,
            .user = j};
        j->next = j->begin;
        status = score_with(j, &span, err);
    }
    cases->count = (size_t)(j->next - cases->at);
    if (status == VD_INTERRUPTED)
        vd_error_set(err, status, "interrupted after %zu of %zu dialogs", done, cases->dialogs);
    return status;
}

static vd_status read_words(judging *j, vd_error *err)
{
    const vd_cases *cases = j->cases;
    vd_status status = VD_OK;
    for (int i = 0; i < cases->models && status == VD_OK; i++)
        status = vd_dataset_new(cases->corpus->dialogs, cases->corpus->regions,
                                vd_model_vocab(cases->model[i]), &j->dataset[i], err);
    return status;
}

static void make_room(judging *j)
{
    const vd_cases *cases = j->cases;
    size_t most_rounds = 0;
    for (size_t d = cases->first; d < cases->first + cases->dialogs; d++) {
        const vd_visdial_dialog *dialog = &cases->corpus->dialogs->dialogs[d];
        most_rounds = MAX(most_rounds, (size_t)dialog->round_count);
        for (int r = 0; r < dialog->round_count; r++)
            j->options = MAX(j->options, (size_t)dialog->rounds[r].option_count);
    }
    size_t rounds = MIN(cases->dialogs, VD_MEASURE_SPAN) * most_rounds;
    j->ranks = g_new(float, j->options);
    j->baseline = g_new(float, rounds * j->options);
}

vd_status vd_case_scores(vd_cases *cases, const vd_cases_options *options, vd_error *err)
{
    judging j = {.cases = cases};
    vd_progress_start(&j.progress, "dialogs by model", (int64_t)cases->dialogs * cases->models, 0,
                      options->quiet);
    vd_status status = read_words(&j, err);
    make_room(&j);
    for (size_t done = 0, count = 0; done < cases->dialogs && status == VD_OK; done += count) {
        const vd_measure_options left = {.first = cases->first + done,
                                         .limit = cases->dialogs - done};
        status = vd_measure_span(j.dataset[0], &left, &count, err);
        if (status == VD_OK)
            status = score_span(&j, options, done, count, err);
    }
    vd_progress_clear(&j.progress);
    for (int i = 0; i < cases->models; i++)
        vd_dataset_free(j.dataset[i]);
    g_free(j.baseline);
    g_free(j.ranks);
    return status;
}
