// Learning dialogs: batches of the data loader, pictures on the device, ranks of the human answers.
#include "tui/train/task.h"

#include <glib.h>
#include <stdio.h>

#include "tui/base/progress.h"
#include "tui/measure/measure.h"

struct vd_batches {
    vd_data_loader *loader;
    vd_picture_cache *pictures; // of the loader's batches
};

static void totals(const vd_training *plan, const size_t *items, size_t n, vd_totals *of)
{
    vd_dataset_totals(plan->data.dataset, items, n, of);
}

static void close_batches(vd_batches *batches)
{
    if (!batches)
        return;
    vd_data_loader_free(batches->loader);
    vd_picture_cache_free(batches->pictures);
    g_free(batches);
}

// Prints where the pictures are kept when a device computes.
static vd_status keep_pictures(const vd_training *plan, const vd_sampler *prefetch,
                               vd_pictures_kept *kept, vd_picture_cache **out, vd_error *err)
{
    const vd_backend *be = vd_trainer_backend(plan->trainer);
    size_t most = prefetch->micro_batch, batch = (size_t)prefetch->batch;
    most = most == 0 || most > batch ? batch : most;
    char text[160];
    vd_status status = vd_picture_cache_new(vd_dataset_regions(plan->data.dataset), be,
                                            VD_DATA_LOADER_BATCHES, most, *kept, out, err);
    *kept = vd_picture_cache_describe(*out, text, sizeof text);
    if (status == VD_OK && !be->memory->host && !plan->quiet)
        fprintf(stderr, "pictures: %s\n", text);
    return status;
}

static vd_status open_batches(const vd_training *plan, vd_sampler *prefetch, vd_pictures_kept *most,
                              vd_batches **out, vd_error *err)
{
    vd_batches *batches = *out = g_new0(vd_batches, 1);
    vd_status status = keep_pictures(plan, prefetch, most, &batches->pictures, err);
    return status ? status
                  : vd_data_loader_new(plan->data.dataset, vd_sampler_micro_batch, prefetch,
                                       batches->pictures, &batches->loader, err);
}

static vd_status next(void *batches, const vd_batch **batch, vd_error *err)
{
    return vd_data_loader_next(((vd_batches *)batches)->loader, batch, err);
}

static vd_status score(void *context, int worker, const vd_batch *batch, float *scores,
                       vd_error *err)
{
    (void)worker;
    return vd_trainer_scores(context, batch, scores, err);
}

static vd_status validate(const vd_training *plan, vd_metrics *out, vd_error *err)
{
    *out = (vd_metrics){0};
    if (!plan->validation.dataset)
        return VD_OK;
    size_t dialogs = vd_dataset_data(plan->validation.dataset)->dialog_count;
    if (plan->validation_limit && plan->validation_limit < dialogs)
        dialogs = plan->validation_limit;
    vd_progress progress;
    vd_progress_start(&progress, "validating", (int64_t)dialogs, 0, plan->quiet);
    vd_measure_options options = {.limit = dialogs, .stop = plan->stop, .progress = &progress};
    const vd_measure_source source = {.context = plan->trainer, .score = score};
    vd_measure measure;
    vd_status status = vd_measure_run(plan->validation.dataset, &source, &options, &measure, err);
    vd_progress_clear(&progress);
    *out = measure.all; // of nothing after a failure
    vd_measure_clear(&measure);
    return status;
}

static vd_status measure_epoch(const vd_training *plan, vd_epoch *out, vd_error *err)
{
    static const char *const columns[VD_METRICS] = {"r@1", "r@5",  "r@10",     "mean",
                                                    "mrr", "ndcg", "correct@1"};
    vd_metrics metrics;
    vd_status status = validate(plan, &metrics, err);
    *out = (vd_epoch){.count = VD_METRICS};
    for (int i = 0; i < VD_METRICS && status == VD_OK; i++) {
        bool known = vd_metrics_rounds(&metrics, (vd_metric)i) > 0;
        vd_epoch_measure *m = &out->measure[i];
        m->label = vd_measure_columns[i].label;
        m->digits = vd_measure_columns[i].digits;
        m->known = known;
        m->value = known ? vd_metrics_mean(&metrics, (vd_metric)i) : 0;
        snprintf(m->column, sizeof m->column, "%s", columns[i]);
        snprintf(m->tag, sizeof m->tag, "val/%s%s", columns[i], i == VD_MEAN_RANK ? "_rank" : "");
    }
    // MRR, where no measured dialog has relevance. Never 0, which says that nothing was measured.
    vd_metric by = out->measure[plan->best_by].known ? plan->best_by : VD_MRR;
    out->best = out->measure[by].known ? 1 + out->measure[by].value : 0;
    return status;
}

static const char *best_by(const vd_training *plan)
{
    return plan->best_by == VD_NDCG ? "ndcg" : "mrr";
}

const vd_train_task vd_train_dialogs = {totals,        open_batches,  next,
                                        close_batches, measure_epoch, best_by};
