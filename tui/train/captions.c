// Learning captions: batches of pictures with all their captions, cross entropy of the words.
#include "tui/train/task.h"

#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/base/progress.h"

struct vd_feed {
    vd_caption_loader *loader;
    vd_sampler *ahead;
    size_t taken; // micro-batches
};

enum { VALIDATED = 64 }; // pictures at a time

static size_t count(const vd_training *plan)
{
    return vd_caption_set_pictures(plan->captions);
}

static void totals(const vd_training *plan, const size_t *items, size_t n, vd_totals *of)
{
    vd_caption_set_totals(plan->captions, items, n, of);
    if (plan->settings.scst != VD_SCST_NONE)
        of->questions = (int64_t)n; // its own captions, not those of the data
}

static void close_feed(vd_feed *feed)
{
    if (!feed)
        return;
    vd_caption_loader_free(feed->loader);
    vd_free(feed);
}

static vd_status open_feed(const vd_training *plan, vd_sampler *ahead, vd_pictures_kept *most,
                           vd_feed **out, vd_error *err)
{
    vd_feed *feed = vd_alloc(1, sizeof *feed);
    *most = VD_PICTURES_READ;
    vd_status status = feed ? vd_caption_loader_new(plan->captions, &feed->loader, err)
                            : vd_error_memory(err, "batches of captions");
    if (status == VD_OK)
        feed->ahead = ahead;
    *out = status == VD_OK ? feed : NULL;
    if (status != VD_OK)
        close_feed(feed);
    return status;
}

static vd_status next(void *context, const vd_batch **batch, vd_error *err)
{
    vd_feed *feed = context;
    const size_t *pictures;
    size_t n = vd_sampler_micro_batch(feed->ahead, feed->taken++, &pictures);
    return vd_caption_loader_batch(feed->loader, pictures, n, batch, err);
}

// What is measured of all validation pictures, summed.
typedef struct sums {
    double cross_entropy, reward;
} sums;

// What the greedy captions of a batch are worth.
static vd_status add_rewards(const vd_training *plan, const vd_batch *batch, double *sum,
                             vd_error *err)
{
    vd_said_caption said[VALIDATED];
    const vd_rewards *rewards = plan->validation_rewards;
    vd_status status = vd_trainer_describe(plan->trainer, batch, said, err);
    for (int p = 0; p < batch->dialogs && status == VD_OK; p++) {
        int32_t id[VD_MAX_CAPTION + 1];
        memcpy(id, said[p].word, (size_t)said[p].length * sizeof *id);
        id[said[p].length] = VD_END;
        *sum += rewards->of(rewards->context, batch->item[p], id, said[p].length + said[p].ended);
    }
    return status;
}

// Of pictures from `first` on.
static vd_status measure(const vd_training *plan, vd_caption_loader *loader, size_t first, size_t n,
                         sums *all, vd_error *err)
{
    static const vd_totals undivided = {1, 1};
    size_t pictures[VALIDATED];
    const vd_batch *batch;
    vd_caption_loss loss = {0};
    for (size_t i = 0; i < n; i++)
        pictures[i] = first + i;
    vd_status status = vd_caption_loader_batch(loader, pictures, n, &batch, err);
    if (status == VD_OK)
        status = vd_trainer_caption_loss(plan->trainer, batch, &undivided, &loss, err);
    all->cross_entropy += loss.words;
    return status == VD_OK && plan->validation_rewards ? add_rewards(plan, batch, &all->reward, err)
                                                       : status;
}

static int64_t words_of(const vd_caption_set *set, size_t pictures)
{
    int64_t words = 0;
    for (size_t p = 0; p < pictures; p++) {
        vd_totals of;
        vd_caption_set_totals(set, &p, 1, &of);
        words += of.words;
    }
    return words;
}

// Means over words, over pictures.
static vd_status validate(const vd_training *plan, sums *mean, vd_error *err)
{
    const vd_caption_set *set = plan->caption_validation;
    vd_caption_loader *loader;
    size_t most = vd_caption_set_pictures(set);
    most = plan->validation_limit && plan->validation_limit < most ? plan->validation_limit : most;
    vd_progress progress;
    vd_status status = vd_caption_loader_new(set, &loader, err);
    vd_progress_start(&progress, "validating", (int64_t)most, 0, plan->quiet);
    for (size_t p = 0; p < most && status == VD_OK; p += VALIDATED) {
        if (plan->stop && atomic_load(plan->stop))
            status = vd_error_set(err, VD_INTERRUPTED, "stopped");
        else
            status =
                measure(plan, loader, p, most - p < VALIDATED ? most - p : VALIDATED, mean, err);
        vd_progress_update(&progress, (int64_t)p, "");
    }
    vd_progress_clear(&progress);
    vd_caption_loader_free(loader);
    mean->cross_entropy /= (double)words_of(set, most);
    mean->reward /= (double)most;
    return status;
}

static vd_status measure_epoch(const vd_training *plan, vd_epoch *out, vd_error *err)
{
    sums mean = {0};
    bool known = plan->caption_validation != NULL, rewarded = plan->validation_rewards != NULL;
    vd_status status = known ? validate(plan, &mean, err) : VD_OK;
    double loss = mean.cross_entropy;
    *out = (vd_epoch){.count = rewarded ? 3 : 2,
                      .best = rewarded
                                  ? 1 + mean.reward // never 0, which says that nothing was measured
                              : known ? exp(-loss)
                                      : 0};
    out->measure[0] =
        (vd_epoch_measure){"CE a word", "cross-entropy", "val/cross_entropy", 4, known, loss};
    out->measure[1] =
        (vd_epoch_measure){"perplexity", "perplexity", "val/perplexity", 3, known, exp(loss)};
    out->measure[2] =
        (vd_epoch_measure){"val reward", "val-reward", "val/reward", 4, rewarded, mean.reward};
    return status;
}

static const char *best_by(const vd_training *plan)
{
    return plan->settings.scst != VD_SCST_NONE ? "reward" : "ce";
}

const vd_train_task vd_train_captions = {"pictures", count,      totals,        open_feed,
                                         next,       close_feed, measure_epoch, best_by};
