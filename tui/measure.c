#include "tui/measure.h"

#include <stdlib.h>
#include <string.h>

#include "engine/alloc.h"

// The metrics of a family, added in order of name when new; NULL when memory is out.
static vd_metrics *family_metrics(vd_measure *measure, const char *name)
{
    size_t at = 0;
    while (at < measure->family_count && strcmp(measure->family[at].name, name) < 0)
        at++;
    if (at < measure->family_count && strcmp(measure->family[at].name, name) == 0)
        return &measure->family[at].metrics;
    size_t count = measure->family_count;
    vd_measure_group *grown = vd_grow(measure->family, count, count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    measure->family = grown;
    memmove(grown + at + 1, grown + at, (count - at) * sizeof *grown);
    grown[at] = (vd_measure_group){.name = name};
    measure->family_count++;
    return &grown[at].metrics;
}

static vd_status add_round(vd_measure *measure, const vd_visdial_round *round, const float *scores,
                           float *ranks, vd_error *err)
{
    int n = round->option_count;
    vd_metrics one = {0};
    vd_metrics_ranks(scores, n, ranks);
    vd_metrics_add(&one, ranks, n, round->truth, round->relevance);
    vd_metrics_merge(&measure->all, &one);
    if (round->family) {
        vd_metrics *family = family_metrics(measure, round->family);
        if (!family)
            return vd_error_memory(err, "the metrics");
        vd_metrics_merge(family, &one);
    }
    if (round->coreference >= 0) {
        int distance = round->coreference < VD_MEASURE_FAR ? round->coreference : VD_MEASURE_FAR;
        vd_metrics_merge(&measure->coreference[distance], &one);
    }
    return VD_OK;
}

static vd_status add_batch(vd_measure *measure, const vd_dataset *dataset, size_t first,
                           const vd_batch *batch, const float *scores, float *ranks, vd_error *err)
{
    for (int b = 0; b < batch->dialogs; b++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(dataset, first + (size_t)b);
        for (int r = 0; r < dialog->round_count && r < batch->rounds; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            size_t place = (size_t)b * (size_t)batch->rounds + (size_t)r;
            if (round->option_count == 0 || round->option_count > batch->candidates ||
                batch->question_length[place] == 0)
                continue;
            vd_status status =
                add_round(measure, round, scores + place * (size_t)batch->candidates, ranks, err);
            if (status)
                return status;
        }
    }
    return VD_OK;
}

// Room for at least `count` numbers in *memory, which holds *room now.
static vd_status make_room(float **memory, size_t *room, size_t count, vd_error *err)
{
    if (count <= *room)
        return VD_OK;
    vd_free(*memory);
    *memory = vd_alloc(count, sizeof **memory);
    *room = *memory ? count : 0;
    return *memory ? VD_OK : vd_error_memory(err, "scores");
}

static vd_status measure_batches(const vd_dataset *dataset, vd_loader *loader, size_t count,
                                 vd_measure_score score, void *context,
                                 const vd_measure_options *options, vd_measure *out, vd_error *err)
{
    enum { MOST_AT_ONCE = 256 };
    float *scores = NULL, *ranks = NULL;
    size_t score_room = 0, rank_room = 0, index[MOST_AT_ONCE];
    size_t step = options->batch ? options->batch : 16;
    step = step < MOST_AT_ONCE ? step : MOST_AT_ONCE;
    vd_status status = VD_OK;
    for (size_t first = 0; first < count && status == VD_OK; first += step) {
        size_t n = count - first < step ? count - first : step;
        for (size_t i = 0; i < n; i++)
            index[i] = first + i;
        const vd_batch *batch;
        if (options->stop && atomic_load(options->stop)) {
            status = vd_error_set(err, VD_INTERRUPTED, "interrupted after %zu of %zu dialogs",
                                  first, count);
            break;
        }
        if ((status = vd_loader_batch(loader, index, n, &options->view, &batch, err)))
            break;
        size_t wanted = (size_t)batch->dialogs * (size_t)batch->rounds * (size_t)batch->candidates;
        status = make_room(&scores, &score_room, wanted, err);
        if (status == VD_OK)
            status = make_room(&ranks, &rank_room, (size_t)batch->candidates, err);
        if (status == VD_OK)
            status = score(context, batch, scores, err);
        if (status == VD_OK)
            status = add_batch(out, dataset, first, batch, scores, ranks, err);
        if (status == VD_OK && options->progress)
            vd_progress_update(options->progress, (int64_t)(first + n), NULL);
    }
    vd_free(ranks);
    vd_free(scores);
    return status;
}

vd_status vd_measure_run(const vd_dataset *dataset, vd_measure_score score, void *context,
                         const vd_measure_options *options, vd_measure *out, vd_error *err)
{
    *out = (vd_measure){0};
    size_t count = vd_dataset_count(dataset);
    if (options->limit && options->limit < count)
        count = options->limit;
    out->dialogs = count;
    vd_loader *loader;
    vd_status status = vd_loader_new(dataset, &loader, err);
    if (status)
        return status;
    status = measure_batches(dataset, loader, count, score, context, options, out, err);
    vd_loader_free(loader);
    if (status)
        vd_measure_clear(out);
    return status;
}

void vd_measure_clear(vd_measure *measure)
{
    vd_free(measure->family);
    *measure = (vd_measure){0};
}
