// Learning captions: batches of pictures with all their captions.
#include "tui/train/task.h"

#include <glib.h>

struct vd_feed {
    vd_caption_loader *loader;
    vd_sampler *ahead;
    size_t taken; // micro-batches
};

static void totals(const vd_training *plan, const size_t *items, size_t n, vd_totals *of)
{
    vd_caption_set_totals(plan->data.set, items, n, of);
    if (plan->settings.scst != VD_SCST_NONE)
        of->questions = (int64_t)n; // its own captions, not those of the data
}

static void close_feed(vd_feed *feed)
{
    if (!feed)
        return;
    vd_caption_loader_free(feed->loader);
    g_free(feed);
}

static vd_status open_feed(const vd_training *plan, vd_sampler *ahead, vd_pictures_kept *most,
                           vd_feed **out, vd_error *err)
{
    vd_feed *feed = g_new0(vd_feed, 1);
    *most = VD_PICTURES_READ;
    feed->ahead = ahead;
    vd_status status = vd_caption_loader_new(plan->data.set, &feed->loader, err);
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

const vd_train_task vd_train_captions = {totals,     open_feed,        next,
                                         close_feed, vd_caption_epoch, vd_caption_best_by};
