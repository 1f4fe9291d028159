// Learning captions: batches of pictures with all their captions.
#include "tui/train/task.h"

#include <glib.h>

struct vd_batches {
    vd_caption_loader *loader;
    vd_sampler *prefetch;
    size_t taken; // micro-batches
};

static void totals(const vd_training *plan, const size_t *items, size_t n, vd_totals *of)
{
    vd_caption_set_totals(plan->data.set, items, n, of);
    if (plan->settings.scst != VD_SCST_NONE)
        of->questions = (int64_t)n; // its own captions, not those of the data
}

static void close_batches(vd_batches *batches)
{
    if (!batches)
        return;
    vd_caption_loader_free(batches->loader);
    g_free(batches);
}

static vd_status open_batches(const vd_training *plan, vd_sampler *prefetch, vd_pictures_kept *most,
                              vd_batches **out, vd_error *err)
{
    vd_batches *batches = g_new0(vd_batches, 1);
    *most = VD_PICTURES_READ;
    batches->prefetch = prefetch;
    vd_status status = vd_caption_loader_new(plan->data.set, &batches->loader, err);
    *out = status == VD_OK ? batches : NULL;
    if (status != VD_OK)
        close_batches(batches);
    return status;
}

static vd_status next(void *context, const vd_batch **batch, vd_error *err)
{
    vd_batches *batches = context;
    const size_t *pictures;
    size_t n = vd_sampler_micro_batch(batches->prefetch, batches->taken++, &pictures);
    return vd_caption_loader_batch(batches->loader, pictures, n, batch, err);
}

const vd_train_task vd_train_captions = {totals,        open_batches,     next,
                                         close_batches, vd_caption_epoch, vd_caption_best_by};
