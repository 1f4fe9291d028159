// Picture features in half precision in a device's memory: if they fit, those of the whole data
// set, each uploaded when first needed; otherwise those of the current batches, uploaded for each
// batch.
#ifndef VD_PICTURE_CACHE_H
#define VD_PICTURE_CACHE_H

#include "engine/backend/backend.h"
#include "engine/networks/batch.h"
#include "features/regions/regions.h"

typedef struct vd_picture_cache vd_picture_cache;

typedef enum vd_pictures_kept {
    VD_PICTURES_READ,     // not kept: batches have floats that are read from the file
    VD_PICTURES_STREAMED, // those of the batches under way
    VD_PICTURES_RESIDENT  // all
} vd_pictures_kept;

// Keeps at most what `most` allows, and less if there is no room or no gain: nothing on the CPU,
// and no features that are not in half precision, because their numbers would change. All pictures
// are kept when they leave a quarter of the free memory, or 8 GB. batches: how many of up to
// `dialogs` pictures are used at the same time. *out is NULL when nothing is kept.
vd_status vd_picture_cache_new(const vd_regions *regions, const vd_backend *backend, size_t batches,
                               size_t dialogs, vd_pictures_kept most, vd_picture_cache **out,
                               vd_error *err);
void vd_picture_cache_free(vd_picture_cache *cache);
// A message in `text`: what is kept, and why not more; cache may be NULL.
vd_pictures_kept vd_picture_cache_describe(const vd_picture_cache *cache, char *text, size_t size);

// Fills batch->kept with the pictures in these rows of the regions file, batch->regions each, and
// waits until they are uploaded. row, real: the caller's room for kept.row and kept.real. One
// thread at a time; what was made `batches` calls ago may be overwritten.
vd_status vd_picture_cache_batch(vd_picture_cache *cache, const size_t *rows, size_t count,
                                 vd_batch *batch, int32_t *row, uint8_t *real, vd_error *err);

#endif
