#include "tui/measure/generate.h"

#include <glib.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "tui/session/captioning.h"

typedef struct generating {
    const vd_pictures_to_caption *pictures;
    const vd_generation *how;
    vd_hard hard;
    vd_captioner captioner[VD_THREADS]; // one a worker, of the same model
    float *image[VD_THREADS];           // (P, D)
    vd_result *caption;                 // (count); the texts are ours
} generating;

static vd_status start_worker(generating *s, const vd_captioner *captioner, int worker,
                              vd_error *err)
{
    const vd_regions *regions = s->pictures->regions;
    size_t size = (size_t)regions->max * (size_t)regions->size;
    s->image[worker] = vd_alloc(size, sizeof *s->image[worker]);
    s->captioner[worker].model = captioner->model;
    return s->image[worker] ? VD_OK : vd_error_memory(err, "the captioner");
}

static vd_status generate_one(void *context, int worker, size_t index, vd_error *err)
{
    generating *s = context;
    const vd_regions *regions = s->pictures->regions;
    vd_result *out = &s->caption[index];
    vd_generation how = *s->how;
    vd_generated_caption generated[VD_MOST_BEAMS];
    size_t row;
    int count;
    out->image_id = s->pictures->image[index];
    how.seed = vd_rng_seed(how.seed, (uint64_t)out->image_id).state;
    vd_status status = vd_regions_find(regions, out->image_id, &row, err);
    if (status == VD_OK)
        status = vd_regions_read(regions, row, s->image[worker], NULL, err);
    if (status == VD_OK)
        status = vd_captioner_look(&s->captioner[worker], s->hard, how.seed, err);
    if (status == VD_OK)
        status = vd_captioner_generate(&s->captioner[worker], s->image[worker], regions->max, &how,
                                       generated, 1, &count, err);
    if (status == VD_OK)
        out->caption =
            vd_generated_caption_text(vd_model_vocab(s->captioner[worker].model), &generated[0]);
    return status;
}

static vd_status check_size(const vd_captioner *captioner, const vd_regions *regions, vd_error *err)
{
    const vd_model *model = captioner->model;
    int expected = vd_model_config(model)->region;
    return expected == regions->size
               ? VD_OK
               : vd_regions_mismatch(regions, vd_model_path(model), expected,
                                     "they must come from one extractor", err);
}

static void clear(generating *s)
{
    for (int w = 0; w < VD_THREADS; w++) {
        vd_arena_free(&s->captioner[w].arena);
        vd_free(s->image[w]);
    }
    for (size_t i = 0; i < s->pictures->count; i++)
        g_free((char *)s->caption[i].caption);
    g_free(s->caption);
}

vd_status vd_generate_captions(const vd_captioner *captioner,
                               const vd_pictures_to_caption *pictures, const vd_generation *how,
                               vd_hard hard, int threads, const vd_watch *watch, const char *name,
                               vd_results **out, vd_error *err)
{
    generating s = {.pictures = pictures, .how = how, .hard = hard};
    *out = NULL;
    vd_status status = check_size(captioner, pictures->regions, err);
    s.caption = g_new0(vd_result, pictures->count);
    for (int w = 0; w < threads && status == VD_OK; w++)
        status = start_worker(&s, captioner, w, err);
    if (status == VD_OK)
        status = vd_parallel(pictures->count, threads, generate_one, &s, watch->report, watch->user,
                             watch->stop, err);
    if (status == VD_OK)
        status = vd_results_new(name, s.caption, pictures->count, out, err);
    clear(&s);
    return status;
}
