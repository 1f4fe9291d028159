#include "features/captions/set.h"

#include "engine/base/alloc.h"

// ---- pictures -----------------------------------------------------------------------------------

void vd_caption_set_free(vd_caption_set *set)
{
    if (!set)
        return;
    vd_free(set->id);
    vd_free(set->row);
    vd_free(set);
}

vd_status vd_caption_set_new(const vd_captions *captions, const vd_vocab *vocab,
                             const vd_regions *regions, vd_caption_set **out, vd_error *err)
{
    vd_caption_set *set = vd_alloc(1, sizeof *set);
    *out = NULL;
    if (!set)
        return vd_error_memory(err, "captions");
    set->captions = captions;
    set->regions = regions;
    set->row = vd_alloc(captions->count, sizeof *set->row);
    vd_status status = set->row ? vd_captions_ids(captions, vocab, &set->id, err)
                                : vd_error_memory(err, "captions");
    for (size_t i = 0; i < captions->count && status == VD_OK; i++)
        status = vd_regions_find(regions, captions->image[i].image_id, &set->row[i], err);
    if (status == VD_OK)
        *out = set;
    else
        vd_caption_set_free(set);
    return status;
}

static int words_of(const vd_caption *caption)
{
    return caption->words.count < VD_MAX_CAPTION ? caption->words.count : VD_MAX_CAPTION;
}

void vd_caption_set_totals(const vd_caption_set *set, const size_t *pictures, size_t count,
                           vd_totals *out)
{
    *out = (vd_totals){0};
    for (size_t i = 0; i < count; i++) {
        const vd_captioned *image = &set->captions->image[pictures[i]];
        out->questions += image->captions;
        for (int c = 0; c < image->captions; c++)
            out->words += words_of(&image->caption[c]) + 1;
    }
}

// ---- batches ------------------------------------------------------------------------------------

static bool make_room(vd_caption_loader *l, size_t pictures, size_t captions)
{
    size_t each = (size_t)l->set->regions->max * (size_t)l->set->regions->size;
    vd_arena_reset(&l->arena);
    l->image = vd_arena_take_raw(&l->arena, pictures * each, sizeof *l->image);
    l->word = vd_arena_take_raw(&l->arena, captions * VD_MAX_CAPTION, sizeof *l->word);
    l->length = vd_arena_take_raw(&l->arena, captions, sizeof *l->length);
    l->picture = vd_arena_ints(&l->arena, captions);
    return !l->arena.failed;
}

static vd_status read_images(vd_caption_loader *l, const size_t *pictures, size_t count,
                             vd_error *err)
{
    size_t each = (size_t)l->batch.regions * (size_t)l->set->regions->size;
    vd_status status = VD_OK;
    for (size_t i = 0; i < count && status == VD_OK; i++)
        status = vd_regions_read(l->set->regions, l->set->row[pictures[i]], l->image + i * each,
                                 NULL, err);
    return status;
}

static void copy_caption(vd_caption_loader *l, const vd_caption *caption, int n)
{
    int32_t *word = l->word + (size_t)n * VD_MAX_CAPTION;
    l->length[n] = words_of(caption);
    for (int w = 0; w < VD_MAX_CAPTION; w++)
        word[w] = w < l->length[n] ? l->set->id[caption->words.id[w]] : 0;
}

static void copy_captions(vd_caption_loader *l, const size_t *pictures, size_t count)
{
    int n = 0;
    for (size_t i = 0; i < count; i++) {
        const vd_captioned *image = &l->set->captions->image[pictures[i]];
        for (int c = 0; c < image->captions; c++, n++) {
            copy_caption(l, &image->caption[c], n);
            l->picture[n] = (int)i;
        }
    }
    l->captions = (vd_caption_batch){n, VD_MAX_CAPTION, l->word, l->length, l->picture};
}

vd_status vd_caption_loader_batch(vd_caption_loader *l, const size_t *pictures, size_t count,
                                  const vd_batch **out, vd_error *err)
{
    vd_totals of;
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (pictures[i] >= l->set->captions->count)
            return vd_error_set(err, VD_USAGE, "picture %zu of %zu was asked for", pictures[i],
                                l->set->captions->count);
    vd_caption_set_totals(l->set, pictures, count, &of);
    if (!make_room(l, count, (size_t)of.questions))
        return vd_error_memory(err, "batches of captions");
    l->batch = (vd_batch){.dialogs = (int)count, .regions = l->set->regions->max};
    vd_status status = read_images(l, pictures, count, err);
    if (status != VD_OK)
        return status;
    copy_captions(l, pictures, count);
    l->batch.image = l->image;
    l->batch.captions = &l->captions;
    l->batch.item = pictures;
    *out = &l->batch;
    return VD_OK;
}
