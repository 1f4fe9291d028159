#include "assets/blocks/world.h"

#include <inttypes.h>
#include <string.h>

#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/extract/extract.h"
#include "features/pictures/image.h"

// What one thread works with.
typedef struct resources {
    vd_extractor *extractor;
    vd_image image;
    float *features; // (VD_EXTRACT_MAX, D)
} resources;

// What is kept of a picture until it is known how many regions the fullest has.
typedef struct found {
    int count;
    uint16_t *features; // (count, D)
    float box[VD_EXTRACT_MAX][4];
} found;

typedef struct extraction {
    const blocks_world *world;
    const blocks_extract_options *options;
    int size; // D
    resources worker[VD_THREADS];
    found *found; // (pictures)
} extraction;

static vd_status resources_init(extraction *s, resources *t, vd_error *err)
{
    vd_status status = vd_extractor_load(s->options->extractor, &t->extractor, err);
    if (status)
        return status;
    s->size = VD_FEATURE_SIZE;
    t->features = vd_alloc((size_t)s->size * VD_EXTRACT_MAX, sizeof *t->features);
    if (!t->features)
        return vd_error_memory(err, "region features");
    return vd_image_new(BLOCKS_WIDTH, BLOCKS_HEIGHT, &t->image, err);
}

static void resources_clear(resources *t)
{
    vd_image_clear(&t->image);
    vd_free(t->features);
    vd_extractor_free(t->extractor);
}

static vd_status look(void *context, int worker, size_t index, vd_error *err)
{
    extraction *s = context;
    resources *t = &s->worker[worker];
    const blocks_scene *scene = &s->world->scene[index];
    found *f = &s->found[index];
    blocks_render(scene, t->image.rgb);
    if (s->options->pictures && index < s->options->picture_count) {
        char path[4096];
        snprintf(path, sizeof path, "%.4000s/%" PRId64 ".png", s->options->pictures,
                 scene->image_id);
        vd_status status = vd_image_write_png(path, &t->image, err);
        if (status)
            return status;
    }
    vd_extraction seen;
    vd_status status = vd_extractor_run(t->extractor, &t->image, &seen, t->features, err);
    if (status)
        return status;
    size_t values = (size_t)seen.count * (size_t)s->size;
    f->features = vd_alloc(values, sizeof *f->features);
    if (!f->features)
        return vd_error_memory(err, "region features");
    for (size_t i = 0; i < values; i++)
        f->features[i] = vd_half_from_float(t->features[i]);
    memcpy(f->box, seen.box, (size_t)seen.count * sizeof *seen.box);
    f->count = seen.count;
    return VD_OK;
}

static vd_status gather(const extraction *s, vd_region_set *out, vd_error *err)
{
    int most = 1;
    for (size_t i = 0; i < s->world->count; i++)
        most = s->found[i].count > most ? s->found[i].count : most;
    vd_status status = vd_region_set_new(s->world->count, most, s->size, out, err);
    if (status)
        return status;
    size_t row = (size_t)most * (size_t)s->size;
    for (size_t i = 0; i < s->world->count; i++) {
        const found *f = &s->found[i];
        size_t count = (size_t)f->count;
        out->image_id[i] = s->world->scene[i].image_id;
        out->used[i] = f->count;
        memcpy(out->features + i * row, f->features, count * (size_t)s->size * sizeof *f->features);
        memcpy(out->boxes + i * (size_t)most * 4, f->box, count * sizeof *f->box);
    }
    return VD_OK;
}

vd_status blocks_extract_regions(const blocks_world *world, const blocks_extract_options *options,
                                 vd_region_set *out, vd_error *err)
{
    *out = (vd_region_set){0};
    extraction s = {.world = world, .options = options};
    int threads = options->threads < 1            ? 1
                  : options->threads > VD_THREADS ? VD_THREADS
                                                  : options->threads;
    vd_status status = VD_OK;
    s.found = vd_alloc(world->count, sizeof *s.found);
    if (!s.found)
        status = vd_error_memory(err, "regions");
    for (int i = 0; i < threads && !status; i++)
        status = resources_init(&s, &s.worker[i], err);
    if (!status)
        status = vd_parallel(world->count, threads, look, &s, options->report, options->user,
                             options->stop, err);
    if (!status)
        status = gather(&s, out, err);
    for (int i = 0; i < threads; i++)
        resources_clear(&s.worker[i]);
    for (size_t i = 0; s.found && i < world->count; i++)
        vd_free(s.found[i].features);
    vd_free(s.found);
    return status;
}
