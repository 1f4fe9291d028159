// The data loader: while the network works on one batch, a thread makes the next.
#ifndef VD_DIALOGS_DATA_LOADER_H
#define VD_DIALOGS_DATA_LOADER_H

#include "features/dialogs/picture_cache.h"
#include "features/dialogs/dataset.h"

// The dialogs of batch n (0, 1, ...) and how many they are, valid until the next call; 0: there is
// no such batch. Called on one thread, with n as it rises.
typedef size_t (*vd_data_loader_plan)(void *context, size_t n, const size_t **dialogs);

typedef struct vd_data_loader vd_data_loader;

// Batches that are in use or being made at the same time.
enum { VD_DATA_LOADER_BATCHES = 2 };

// Only the loader may use the context until it is freed, and the cache, which holds the pictures of
// its batches; cache NULL: the pictures are in the batches themselves.
vd_status vd_data_loader_new(const vd_dataset *dataset, vd_data_loader_plan plan, void *context,
                             vd_picture_cache *cache, vd_data_loader **out, vd_error *err);
// The next batch, owned by the loader and valid until the next call; NULL after the last. After a
// failure every call fails.
vd_status vd_data_loader_next(vd_data_loader *loader, const vd_batch **out, vd_error *err);
void vd_data_loader_free(vd_data_loader *loader);

#endif
