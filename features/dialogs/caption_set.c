#include "features/dialogs/caption_set.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "features/text/tokenize.h"

// ---- captions of dialogs ------------------------------------------------------------------------

// The words of a caption in lower case (vd_words_clear).
static vd_status read_words(const vd_visdial *dialogs, size_t d, vd_words *out, vd_error *err)
{
    vd_error why = {0};
    vd_status status = vd_tokenize_lower(dialogs->dialogs[d].caption, out, &why);
    return status ? vd_error_set(err, status, "%s: caption %zu: %.400s", dialogs->path, d, why.text)
                  : VD_OK;
}

static vd_status read_reference(const vd_visdial *dialogs, size_t d, const vd_vocab *vocab,
                                vd_reference *out, vd_error *err)
{
    vd_words words;
    vd_status status = read_words(dialogs, d, &words, err);
    if (status)
        return status;
    out->image_id = dialogs->dialogs[d].image_id;
    out->length = words.count < VD_MAX_CAPTION ? (int)words.count : VD_MAX_CAPTION;
    for (int i = 0; i < out->length; i++)
        out->word[i] = vd_vocab_id(vocab, words.word[i]);
    vd_words_clear(&words);
    return VD_OK;
}

vd_status vd_references_of_dialogs(const vd_visdial *dialogs, const vd_vocab *vocab,
                                   vd_reference **out, vd_error *err)
{
    vd_reference *list = vd_alloc(dialogs->dialog_count, sizeof *list);
    vd_status status = list ? VD_OK : vd_error_memory(err, "captions");
    for (size_t d = 0; d < dialogs->dialog_count && status == VD_OK; d++)
        status = read_reference(dialogs, d, vocab, &list[d], err);
    *out = status == VD_OK ? list : NULL;
    if (status != VD_OK)
        vd_free(list);
    return status;
}

vd_status vd_caption_vocab(const vd_visdial *dialogs, int64_t minimum, vd_vocab **out,
                           vd_error *err)
{
    vd_word_counts *counts = NULL;
    *out = NULL;
    vd_status status = vd_word_counts_new(&counts, err);
    for (size_t d = 0; d < dialogs->dialog_count && status == VD_OK; d++) {
        vd_words words = {0};
        status = read_words(dialogs, d, &words, err);
        for (size_t i = 0; i < words.count && status == VD_OK; i++)
            status = vd_word_counts_add(counts, words.word[i], 1, err);
        vd_words_clear(&words);
    }
    if (status == VD_OK)
        status = vd_word_counts_vocab(counts, minimum, out, err);
    vd_word_counts_free(counts);
    return status;
}

// ---- pictures -----------------------------------------------------------------------------------

struct vd_caption_set {
    const vd_regions *regions;
    size_t pictures, captions;
    size_t *row;             // (pictures) in the regions
    size_t *first;           // (pictures + 1) of a picture's captions
    vd_reference *reference; // (captions) picture by picture
};

void vd_caption_set_free(vd_caption_set *set)
{
    if (!set)
        return;
    vd_free(set->row);
    vd_free(set->first);
    vd_free(set->reference);
    vd_free(set);
}

// picture (count): whose each caption is. Counts pictures and, in first[p + 2], their captions.
static vd_status find_pictures(vd_caption_set *set, const vd_reference *list, size_t *picture,
                               vd_error *err)
{
    // Of each row of the regions 1 + its picture; 0: it has none yet.
    size_t *at = vd_alloc(vd_regions_count(set->regions), sizeof *at), row;
    vd_status status = at ? VD_OK : vd_error_memory(err, "captions");
    for (size_t c = 0; c < set->captions && status == VD_OK; c++) {
        status = vd_regions_find(set->regions, list[c].image_id, &row, err);
        if (status != VD_OK)
            break;
        if (!at[row]) {
            set->row[set->pictures] = row;
            at[row] = ++set->pictures;
        }
        picture[c] = at[row] - 1;
        set->first[picture[c] + 2]++;
    }
    vd_free(at);
    return status;
}

// Puts the captions in the order of their pictures.
static void order_captions(vd_caption_set *set, const vd_reference *list, const size_t *picture)
{
    size_t *next = set->first + 1; // of a picture's next caption, then where the next begins
    for (size_t p = 1; p < set->pictures; p++)
        next[p] += next[p - 1];
    for (size_t c = 0; c < set->captions; c++)
        set->reference[next[picture[c]]++] = list[c];
}

vd_status vd_caption_set_new(const vd_reference *list, size_t count, const vd_regions *regions,
                             vd_caption_set **out, vd_error *err)
{
    *out = NULL;
    if (count == 0)
        return vd_error_set(err, VD_FORMAT, "there are no captions");
    vd_caption_set *set = vd_alloc(1, sizeof *set);
    size_t *picture = vd_alloc(count, sizeof *picture);
    if (set) {
        set->regions = regions;
        set->captions = count;
        set->row = vd_alloc(count, sizeof *set->row);
        set->first = vd_alloc(count + 2, sizeof *set->first);
        set->reference = vd_alloc(count, sizeof *set->reference);
    }
    vd_status status = VD_OK;
    if (!set || !picture || !set->row || !set->first || !set->reference)
        status = vd_error_memory(err, "captions");
    if (status == VD_OK)
        status = find_pictures(set, list, picture, err);
    if (status == VD_OK)
        order_captions(set, list, picture);
    vd_free(picture);
    if (status == VD_OK)
        *out = set;
    else
        vd_caption_set_free(set);
    return status;
}

size_t vd_caption_set_pictures(const vd_caption_set *set)
{
    return set->pictures;
}

size_t vd_caption_set_captions(const vd_caption_set *set)
{
    return set->captions;
}

int64_t vd_caption_set_image(const vd_caption_set *set, size_t picture)
{
    return vd_regions_image_id(set->regions, set->row[picture]);
}

void vd_caption_set_totals(const vd_caption_set *set, const size_t *pictures, size_t count,
                           vd_totals *out)
{
    *out = (vd_totals){0};
    for (size_t i = 0; i < count; i++)
        for (size_t c = set->first[pictures[i]]; c < set->first[pictures[i] + 1]; c++) {
            out->questions++;
            out->words += set->reference[c].length + 1;
        }
}

// ---- batches ------------------------------------------------------------------------------------

struct vd_caption_loader {
    const vd_caption_set *set;
    vd_batch batch;
    vd_caption_batch captions;
    float *image;
    int32_t *word, *length;
    int *picture;
    size_t image_room, word_room, length_room, picture_room;
};

vd_status vd_caption_loader_new(const vd_caption_set *set, vd_caption_loader **out, vd_error *err)
{
    vd_caption_loader *loader = *out = vd_alloc(1, sizeof *loader);
    if (!loader)
        return vd_error_memory(err, "batches of captions");
    loader->set = set;
    return VD_OK;
}

void vd_caption_loader_free(vd_caption_loader *loader)
{
    if (!loader)
        return;
    vd_free(loader->image);
    vd_free(loader->word);
    vd_free(loader->length);
    vd_free(loader->picture);
    vd_free(loader);
}

static bool make_room(vd_caption_loader *l, size_t pictures, size_t captions)
{
    size_t each =
        (size_t)vd_regions_max(l->set->regions) * (size_t)vd_regions_size(l->set->regions);
    return vd_make_room(&l->image, &l->image_room, pictures * each, sizeof *l->image) &&
           vd_make_room(&l->word, &l->word_room, captions * VD_MAX_CAPTION, sizeof *l->word) &&
           vd_make_room(&l->length, &l->length_room, captions, sizeof *l->length) &&
           vd_make_room(&l->picture, &l->picture_room, captions, sizeof *l->picture);
}

static vd_status read_images(vd_caption_loader *l, const size_t *pictures, size_t count,
                             vd_error *err)
{
    size_t each = (size_t)l->batch.regions * (size_t)vd_regions_size(l->set->regions);
    vd_status status = VD_OK;
    for (size_t i = 0; i < count && status == VD_OK; i++)
        status = vd_regions_read(l->set->regions, l->set->row[pictures[i]], l->image + i * each,
                                 NULL, err);
    return status;
}

static void copy_captions(vd_caption_loader *l, const size_t *pictures, size_t count)
{
    int n = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t c = l->set->first[pictures[i]]; c < l->set->first[pictures[i] + 1]; c++, n++) {
            const vd_reference *r = &l->set->reference[c];
            memcpy(l->word + (size_t)n * VD_MAX_CAPTION, r->word, sizeof r->word);
            l->length[n] = r->length;
            l->picture[n] = (int)i;
        }
    l->captions = (vd_caption_batch){n, VD_MAX_CAPTION, l->word, l->length, l->picture};
}

vd_status vd_caption_loader_batch(vd_caption_loader *l, const size_t *pictures, size_t count,
                                  const vd_batch **out, vd_error *err)
{
    vd_totals of;
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (pictures[i] >= l->set->pictures)
            return vd_error_set(err, VD_USAGE, "picture %zu of %zu was asked for", pictures[i],
                                l->set->pictures);
    vd_caption_set_totals(l->set, pictures, count, &of);
    if (!make_room(l, count, (size_t)of.questions))
        return vd_error_memory(err, "batches of captions");
    l->batch = (vd_batch){.dialogs = (int)count, .regions = vd_regions_max(l->set->regions)};
    vd_status status = read_images(l, pictures, count, err);
    if (status != VD_OK)
        return status;
    copy_captions(l, pictures, count);
    l->batch.image = l->image;
    l->batch.captions = &l->captions;
    *out = &l->batch;
    return VD_OK;
}
