// Two loaders take turns: one holds the batch that is being used, the other the one after it.
#include "features/dialogs/data_loader.h"

#include "engine/base/alloc.h"
#include "engine/base/prefetch.h"

enum { TURNS = VD_DATA_LOADER_BATCHES };

// What came of one batch.
typedef struct helping {
    vd_loader *loader;
    const vd_batch *batch;
    vd_status status;
    vd_error err;
} helping;

struct vd_data_loader {
    vd_data_loader_plan plan;
    void *context;
    helping turn[TURNS];
    vd_prefetch *ahead;
};

// False when batch n was the last.
static bool make_helping(void *context, size_t n, size_t place)
{
    vd_data_loader *loader = context;
    helping *h = &loader->turn[place];
    const size_t *dialogs;
    h->batch = NULL;
    h->status = VD_OK;
    size_t count = loader->plan(loader->context, n, &dialogs);
    if (count > 0)
        h->status = vd_loader_batch(h->loader, dialogs, count, NULL, &h->batch, &h->err);
    return count > 0 && h->status == VD_OK;
}

vd_status vd_data_loader_new(const vd_dataset *dataset, vd_data_loader_plan plan, void *context,
                             vd_picture_cache *cache, vd_data_loader **out, vd_error *err)
{
    *out = NULL;
    vd_data_loader *loader = vd_alloc(1, sizeof *loader);
    if (!loader)
        return vd_error_memory(err, "prefetched batches");
    loader->plan = plan;
    loader->context = context;
    vd_status status = VD_OK;
    for (int i = 0; status == VD_OK && i < TURNS; i++)
        status = vd_loader_new(dataset, &loader->turn[i].loader, err);
    for (int i = 0; status == VD_OK && i < TURNS; i++)
        vd_loader_keep(loader->turn[i].loader, cache);
    if (status == VD_OK)
        status = vd_prefetch_new(TURNS, make_helping, loader, &loader->ahead, err);
    if (status == VD_OK)
        *out = loader;
    else
        vd_data_loader_free(loader);
    return status;
}

vd_status vd_data_loader_next(vd_data_loader *loader, const vd_batch **out, vd_error *err)
{
    const helping *h = &loader->turn[vd_prefetch_next(loader->ahead)];
    *out = h->batch;
    return h->status ? vd_error_set(err, h->status, "%s", h->err.text) : VD_OK;
}

void vd_data_loader_free(vd_data_loader *loader)
{
    if (!loader)
        return;
    vd_prefetch_free(loader->ahead);
    for (int i = 0; i < TURNS; i++)
        vd_loader_free(loader->turn[i].loader);
    vd_free(loader);
}
