#include "features/dialogs/picture_cache.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"

struct vd_picture_cache {
    const vd_regions *regions;
    const vd_backend *be;
    vd_pictures_kept kept;
    size_t slots;      // pictures there is room for
    size_t stride;     // numbers of a picture
    size_t free_bytes; // of the device, before
    uint16_t *halves;  // (slots, stride), the backend's
    bool *there;       // (slots), resident only: whether a row's picture was sent
    uint8_t *real;     // (slots, P): whether a region is more than zeros
    size_t next;       // streamed only: the slot of the next batch's first picture
    size_t dialogs;    // the most of a batch
};

static bool fits(const vd_picture_cache *c, size_t bytes)
{
    static const size_t most = (size_t)8 << 30;
    size_t left = c->free_bytes / 4 < most ? c->free_bytes / 4 : most;
    return bytes <= c->free_bytes - left;
}

static bool try_slots(vd_picture_cache *c, size_t slots)
{
    size_t bytes;
    if (__builtin_mul_overflow(slots, c->stride * sizeof *c->halves, &bytes) || !fits(c, bytes))
        return false;
    c->halves = c->be->memory->allocate(bytes);
    c->slots = slots;
    return c->halves != NULL;
}

vd_status vd_picture_cache_new(const vd_regions *regions, const vd_backend *backend, size_t batches,
                               size_t dialogs, vd_pictures_kept most, vd_picture_cache **out,
                               vd_error *err)
{
    *out = NULL;
    if (most == VD_PICTURES_READ || !backend->memory->room || !regions->halves)
        return VD_OK;
    vd_picture_cache *c = vd_alloc(1, sizeof *c);
    if (!c)
        return vd_error_memory(err, "kept pictures");
    size_t p = (size_t)regions->max;
    c->regions = regions;
    c->be = backend;
    c->stride = p * (size_t)regions->size;
    c->free_bytes = backend->memory->room();
    c->dialogs = dialogs;
    if (most == VD_PICTURES_RESIDENT && try_slots(c, regions->count))
        c->kept = VD_PICTURES_RESIDENT;
    else if (try_slots(c, batches * dialogs))
        c->kept = VD_PICTURES_STREAMED;
    if (c->kept == VD_PICTURES_READ) {
        vd_picture_cache_free(c);
        return vd_backend_status(backend, err);
    }
    c->there = vd_alloc(c->slots, sizeof *c->there);
    c->real = vd_alloc(c->slots, p);
    if (!c->there || !c->real) {
        vd_picture_cache_free(c);
        return vd_error_memory(err, "kept pictures");
    }
    *out = c;
    return VD_OK;
}

void vd_picture_cache_free(vd_picture_cache *cache)
{
    if (!cache)
        return;
    cache->be->memory->release(cache->halves);
    vd_free(cache->there);
    vd_free(cache->real);
    vd_free(cache);
}

vd_pictures_kept vd_picture_cache_describe(const vd_picture_cache *cache, char *text, size_t size)
{
    if (!cache) {
        snprintf(text, size, "read from the file for every step");
        return VD_PICTURES_READ;
    }
    size_t all = cache->regions->count;
    double bytes = (double)all * (double)cache->stride * sizeof *cache->halves;
    if (cache->kept == VD_PICTURES_RESIDENT)
        snprintf(text, size, "%zu stay on the device once they were needed, %.1f of %.1f GB free",
                 all, bytes / 1e9, (double)cache->free_bytes / 1e9);
    else
        snprintf(text, size,
                 "sent to the device a step ahead; all %zu are %.1f GB, %.1f GB were free", all,
                 bytes / 1e9, (double)cache->free_bytes / 1e9);
    return cache->kept;
}

static vd_status send(vd_picture_cache *c, size_t row, size_t slot, vd_error *err)
{
    size_t used = (size_t)c->regions->used[row] * (size_t)c->regions->size;
    const uint16_t *from;
    vd_status status =
        vd_regions_halves(c->regions, row, &from, c->real + slot * (size_t)c->regions->max, err);
    if (status != VD_OK)
        return status;
    uint16_t *to = c->halves + slot * c->stride;
    c->be->memory->upload(to, from, used * sizeof *to);
    c->be->memory->zero(to + used, (c->stride - used) * sizeof *to);
    return VD_OK;
}

// The slot of a picture, which is there afterwards.
static vd_status slot_of(vd_picture_cache *c, size_t row, size_t *slot, vd_error *err)
{
    bool resident = c->kept == VD_PICTURES_RESIDENT;
    *slot = resident ? row : c->next++;
    vd_status status = resident && c->there[row] ? VD_OK : send(c, row, *slot, err);
    c->there[*slot] = status == VD_OK;
    return status;
}

vd_status vd_picture_cache_batch(vd_picture_cache *c, const size_t *rows, size_t count,
                                 vd_batch *batch, int32_t *row, uint8_t *real, vd_error *err)
{
    size_t p = (size_t)c->regions->max, used = (size_t)batch->regions;
    vd_status status = VD_OK;
    if (c->kept == VD_PICTURES_STREAMED && c->slots - c->next < c->dialogs)
        c->next = 0;
    if (c->kept == VD_PICTURES_STREAMED && count > c->dialogs)
        return vd_error_set(err, VD_USAGE, "a batch of %zu pictures; room was made for %zu", count,
                            c->dialogs);
    size_t after = c->next + c->dialogs;
    for (size_t i = 0; status == VD_OK && i < count; i++) {
        size_t slot = 0;
        status = slot_of(c, rows[i], &slot, err);
        row[i] = (int32_t)slot;
        memcpy(real + i * used, c->real + slot * p, used);
    }
    c->next = after;
    vd_status sent = vd_backend_status(c->be, status ? NULL : err);
    if (sent != VD_OK) // what was sent is lost, and will be sent again
        memset(c->there, 0, c->slots * sizeof *c->there);
    batch->image = NULL;
    batch->kept.halves = c->halves;
    batch->kept.stride = c->stride;
    batch->kept.row = row;
    batch->kept.real = real;
    return status ? status : sent;
}
