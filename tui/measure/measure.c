// Dialogs are measured in spans: the candidates of a span are encoded once, workers score its
// batches in any order, and the metrics are then summed in the order of the data.
#include "tui/measure/measure.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/model/pool.h"

// Dialogs of a batch; different answers of a span.
enum { BATCH = 8, MOST_BATCH = 256, ANSWERS = 1 << 17 };

// ---- counting -----------------------------------------------------------------------------------

// The metrics of a family; a new one is inserted in the order of names.
static vd_metrics *family_metrics(vd_measure *measure, const char *name)
{
    size_t at = 0;
    while (at < measure->family_count && strcmp(measure->family[at].name, name) < 0)
        at++;
    if (at < measure->family_count && strcmp(measure->family[at].name, name) == 0)
        return &measure->family[at].metrics;
    size_t count = measure->family_count++;
    measure->family = g_renew(vd_measure_group, measure->family, count + 1);
    vd_measure_group *group = &measure->family[at];
    memmove(group + 1, group, (count - at) * sizeof *group);
    *group = (vd_measure_group){.name = name};
    return &group->metrics;
}

typedef struct counting {
    const vd_measure_options *options;
    vd_measure *out;
    size_t first; // dialog of the data
    float *ranks; // of the most candidates
} counting;

static vd_status count_round(counting *c, size_t d, const vd_visdial_dialog *dialog, int32_t r,
                             const float *scores, vd_error *err)
{
    const vd_visdial_round *round = &dialog->rounds[r];
    vd_measure *measure = c->out;
    vd_metrics one = {0};
    vd_metrics_ranks(scores, round->option_count, c->ranks);
    vd_metrics_add(&one, c->ranks, round->option_count, round->truth, round->relevance);
    vd_metrics_merge(&measure->all, &one);
    vd_metrics_merge(&measure->dialog[d - c->first], &one);
    vd_metrics_merge(&measure->round[r], &one);
    if (round->family)
        vd_metrics_merge(family_metrics(measure, round->family), &one);
    if (round->coreference >= 0) {
        int distance = round->coreference < VD_MEASURE_FAR ? round->coreference : VD_MEASURE_FAR;
        vd_metrics_merge(&measure->coreference[distance], &one);
    }
    if (c->options->report)
        return c->options->report(c->options->user, dialog, r, scores, err);
    return VD_OK;
}

static size_t first_wanted(const vd_visdial *data, const vd_measure_options *options)
{
    return options->first < data->dialog_count ? options->first : data->dialog_count;
}

static size_t dialogs_wanted(const vd_visdial *data, const vd_measure_options *options)
{
    size_t count = data->dialog_count - first_wanted(data, options);
    return options->limit && options->limit < count ? options->limit : count;
}

// Allocates for the selected dialogs, c->out->dialogs; *candidates: the most of any round.
static void begin_counting(counting *c, const vd_visdial *data, int *candidates)
{
    vd_measure *out = c->out;
    size_t first = first_wanted(data, c->options), count = dialogs_wanted(data, c->options);
    c->first = first;
    *out = (vd_measure){.dialogs = count};
    *candidates = 0;
    for (size_t d = first; d < first + count; d++) {
        out->rounds = MAX(out->rounds, data->dialogs[d].round_count);
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
            *candidates = MAX(*candidates, data->dialogs[d].rounds[r].option_count);
    }
    out->dialog = g_new0(vd_metrics, count);
    out->round = g_new0(vd_metrics, out->rounds);
    c->ranks = g_new(float, *candidates);
}

static vd_status end_counting(counting *c, vd_status status)
{
    g_free(c->ranks);
    if (status)
        vd_measure_clear(c->out);
    return status;
}

// ---- scores of a model --------------------------------------------------------------------------

typedef struct scoring {
    const vd_dataset *dataset;
    const vd_measure_source *source;
    const vd_measure_options *options;
    vd_loader *loader[VD_THREADS];
    float *batch_scores[VD_THREADS];
    size_t batch_room[VD_THREADS];
    int workers;
    size_t batch, first, count; // of the span
    int answers;                // different ones of the span
    size_t rounds, candidates;  // of a dialog's scores
    float *scores;              // (span, rounds, candidates)
    size_t done, reached;       // dialogs before the span, and with those of it that are done
} scoring;

// Copies the scores of a batch to those of its dialogs.
static void place_scores(const scoring *s, size_t first, const vd_batch *batch, const float *from)
{
    size_t n = (size_t)batch->candidates;
    for (size_t b = 0; b < (size_t)batch->dialogs; b++)
        for (size_t r = 0; r < (size_t)batch->rounds; r++)
            memcpy(s->scores + ((first + b) * s->rounds + r) * s->candidates,
                   from + (b * (size_t)batch->rounds + r) * n,
                   (n < s->candidates ? n : s->candidates) * sizeof *from);
}

static vd_status score_batch(void *context, int worker, size_t index, vd_error *err)
{
    scoring *s = context;
    size_t dialogs[MOST_BATCH], first = index * s->batch;
    size_t n = s->count - first < s->batch ? s->count - first : s->batch;
    for (size_t i = 0; i < n; i++)
        dialogs[i] = s->first + first + i;
    const vd_batch *batch;
    vd_status status =
        vd_loader_batch(s->loader[worker], dialogs, n, &s->options->view, &batch, err);
    if (status)
        return status;
    size_t size = (size_t)batch->dialogs * (size_t)batch->rounds * (size_t)batch->candidates;
    if (size > s->batch_room[worker]) {
        vd_free(s->batch_scores[worker]);
        s->batch_scores[worker] = vd_alloc(size, sizeof *s->scores);
        s->batch_room[worker] = s->batch_scores[worker] ? size : 0;
    }
    if (!s->batch_scores[worker])
        return vd_error_memory(err, "the scores");
    status = s->source->score(s->source->context, worker, batch, s->batch_scores[worker], err);
    if (status == VD_OK)
        place_scores(s, first, batch, s->batch_scores[worker]);
    return status;
}

static void report_progress(const scoring *s, const char *suffix)
{
    if (s->options->progress)
        vd_progress_update(s->options->progress, s->options->before + (int64_t)s->reached, suffix);
}

static void report_batches(void *context, size_t batches)
{
    scoring *s = context;
    size_t dialogs = batches * s->batch;
    s->reached = s->done + (dialogs < s->count ? dialogs : s->count);
    report_progress(s, NULL);
}

static vd_status score_batches(scoring *s, vd_error *err)
{
    size_t batches = (s->count + s->batch - 1) / s->batch;
    vd_status status = VD_OK;
    if (s->workers > 1)
        return vd_parallel(batches, s->workers, score_batch, s, report_batches, s, s->options->stop,
                           err);
    for (size_t i = 0; status == VD_OK && i < batches; i++) {
        if (s->options->stop && atomic_load(s->options->stop))
            return vd_error_set(err, VD_INTERRUPTED, "interrupted");
        status = score_batch(s, 0, i, err);
        if (status == VD_OK)
            report_batches(s, i + 1);
    }
    return status;
}

static void report_answers(void *context, size_t answers)
{
    const scoring *s = context;
    char suffix[64];
    snprintf(suffix, sizeof suffix, "%zu of %d answers encoded", answers, s->answers);
    report_progress(s, suffix);
}

// Prepares the candidates of the span, if the source shares them, and scores its batches.
static vd_status score_span(scoring *s, vd_error *err)
{
    vd_candidates candidates = {0};
    vd_status status = VD_OK;
    const vd_watch watch = {.report = report_answers, .user = s, .stop = s->options->stop};
    bool shared = s->source->prepare;
    if (shared)
        status = vd_dataset_candidates(s->dataset, s->first, s->count, &candidates, err);
    s->answers = candidates.count;
    if (status == VD_OK && shared && candidates.count > 0)
        status = s->source->prepare(s->source->context, &candidates, &watch, err);
    for (int w = 0; w < s->workers; w++)
        vd_loader_share(s->loader[w], shared ? &candidates : NULL);
    if (status == VD_OK && (!shared || candidates.count > 0))
        status = score_batches(s, err);
    vd_candidates_clear(&candidates);
    return status;
}

static vd_status count_span(const scoring *s, counting *c, vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t d = 0; d < s->count; d++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(s->dataset, s->first + d);
        for (int32_t r = 0; status == VD_OK && r < dialog->round_count; r++)
            if (dialog->rounds[r].option_count > 0)
                status = count_round(c, s->first + d, dialog, r,
                                     s->scores + (d * s->rounds + (size_t)r) * s->candidates, err);
    }
    return status;
}

static size_t batch_size(const vd_measure_options *options)
{
    size_t batch = options->batch ? options->batch : BATCH;
    return batch < MOST_BATCH ? batch : MOST_BATCH;
}

static vd_status make_workers(scoring *s, size_t most, vd_error *err)
{
    int wanted = s->source->workers;
    wanted = wanted < 1 ? 1 : wanted > VD_THREADS ? VD_THREADS : wanted;
    for (; s->workers < wanted; s->workers++) {
        vd_status status = vd_loader_new(s->dataset, &s->loader[s->workers], err);
        if (status)
            return status;
    }
    s->batch = batch_size(s->options);
    s->scores = vd_alloc((most < VD_MEASURE_SPAN ? most : VD_MEASURE_SPAN) * s->rounds,
                         s->candidates * sizeof *s->scores);
    return s->scores ? VD_OK : vd_error_memory(err, "the scores");
}

// A span is whole batches, so that where it ends does not change them.
vd_status vd_measure_span(const vd_dataset *dataset, const vd_measure_options *options, size_t *out,
                          vd_error *err)
{
    const vd_visdial *data = vd_dataset_data(dataset);
    size_t batch = batch_size(options), count = dialogs_wanted(data, options);
    size_t most = count < VD_MEASURE_SPAN ? count : VD_MEASURE_SPAN / batch * batch;
    vd_status status = vd_dataset_span(dataset, first_wanted(data, options), most,
                                       options->answers ? options->answers : ANSWERS, out, err);
    if (status == VD_OK && *out < count)
        *out = *out < batch ? batch : *out / batch * batch;
    *out = *out < count ? *out : count;
    return status;
}

vd_status vd_measure_run(const vd_dataset *dataset, const vd_measure_source *source,
                         const vd_measure_options *options, vd_measure *out, vd_error *err)
{
    counting c = {.options = options, .out = out};
    scoring s = {.dataset = dataset, .source = source, .options = options};
    int candidates;
    begin_counting(&c, vd_dataset_data(dataset), &candidates);
    size_t count = out->dialogs;
    s.rounds = (size_t)out->rounds;
    s.candidates = (size_t)candidates;
    vd_status status = make_workers(&s, count, err);
    for (s.done = 0; status == VD_OK && s.done < count; s.done += s.count) {
        vd_measure_options left = *options;
        left.first = s.first = c.first + s.done;
        left.limit = count - s.done;
        status = vd_measure_span(dataset, &left, &s.count, err);
        if (status == VD_OK)
            status = score_span(&s, err);
        if (status == VD_OK)
            status = count_span(&s, &c, err);
    }
    if (status == VD_INTERRUPTED)
        vd_error_set(err, status, "interrupted after %zu of %zu dialogs", s.reached, count);
    for (int w = 0; w < s.workers; w++) {
        vd_loader_free(s.loader[w]);
        vd_free(s.batch_scores[w]);
    }
    vd_free(s.scores);
    return end_counting(&c, status);
}

// ---- a model as a source ------------------------------------------------------------------------

typedef struct scorers {
    const vd_model *model;
    vd_decoders by;
    vd_pool *pool; // of the dialogs that are scored now
    vd_arena arena[VD_THREADS];
} scorers;

static vd_status prepare_model(void *context, const vd_candidates *candidates,
                               const vd_watch *watch, vd_error *err)
{
    scorers *s = context;
    vd_pool_free(s->pool);
    return vd_pool_new(s->model, candidates->tokens, candidates->length, candidates->count,
                       candidates->width, watch, &s->pool, err);
}

static vd_status score_by_model(void *context, int worker, const vd_batch *batch, float *scores,
                                vd_error *err)
{
    scorers *s = context;
    return vd_model_scores(s->model, s->by, &s->arena[worker], s->pool, batch, scores, err);
}

vd_measure_source vd_measure_model_open(vd_model *model, vd_decoders by, int workers)
{
    scorers *s = g_new0(scorers, 1);
    s->model = model;
    s->by = by;
    // A generative decoder scores a candidate given the question: there is nothing to share.
    return (vd_measure_source){.context = s,
                               .workers = CLAMP(workers, 1, VD_THREADS),
                               .prepare = vd_has_discriminative(by) ? prepare_model : NULL,
                               .score = score_by_model};
}

void vd_measure_model_close(vd_measure_source *source)
{
    scorers *s = source->context;
    if (s) {
        vd_pool_free(s->pool);
        for (int i = 0; i < VD_THREADS; i++)
            vd_arena_free(&s->arena[i]);
    }
    g_free(s);
    *source = (vd_measure_source){0};
}

// ---- rankings from a file -----------------------------------------------------------------------

vd_status vd_measure_ranks(const vd_visdial *data, const vd_ranks *ranks,
                           const vd_measure_options *options, vd_measure *out, vd_error *err)
{
    counting c = {.options = options, .out = out};
    int most;
    size_t irregular = vd_ranks_irregular(ranks);
    if (irregular > 0)
        fprintf(stderr,
                "%s: in %zu round%s the ranks are not each number from 1 to that of the candidates "
                "once; shared places count by their mean. The challenge's server refuses such a "
                "file\n",
                vd_ranks_path(ranks), irregular, irregular == 1 ? "" : "s");
    vd_status status = VD_OK;
    begin_counting(&c, data, &most);
    float *scores = g_new(float, MAX(most, 1));
    for (size_t d = c.first; status == VD_OK && d < c.first + out->dialogs; d++) {
        const vd_visdial_dialog *dialog = &data->dialogs[d];
        for (int32_t r = 0; status == VD_OK && r < dialog->round_count; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            const float *given = vd_ranks_of(ranks, d, r);
            if (!given && (round->truth >= 0 || round->relevance))
                status = vd_error_set(err, VD_MISMATCH,
                                      "%.400s: image %" PRId64 ", round %" PRId32
                                      " has no ranks; expected all rounds of the dialogs measured "
                                      "(--features FILE leaves out dialogs whose pictures have "
                                      "none)",
                                      vd_ranks_path(ranks), dialog->image_id, r + 1);
            if (!given || status)
                continue;
            for (int i = 0; i < round->option_count; i++)
                scores[i] = -given[i];
            status = count_round(&c, d, dialog, r, scores, err);
        }
    }
    g_free(scores);
    return end_counting(&c, status);
}

void vd_measure_clear(vd_measure *measure)
{
    g_free(measure->dialog);
    g_free(measure->round);
    g_free(measure->family);
    *measure = (vd_measure){0};
}
