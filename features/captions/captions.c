// What is done with captions that were read.
#include "features/captions/captions.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/hash.h"

void vd_captions_free(vd_captions *captions)
{
    if (!captions)
        return;
    vd_free(captions->image);
    vd_free(captions->path);
    vd_word_counts_clear(&captions->words);
    vd_string_arena_clear(&captions->arena);
    vd_free(captions);
}

size_t vd_captions_total(const vd_captions *captions)
{
    size_t total = 0;
    for (size_t i = 0; i < captions->count; i++)
        total += (size_t)captions->image[i].captions;
    return total;
}

static uint64_t hash_image(uint64_t hash, const vd_word_counts *words, const vd_captioned *image)
{
    hash = vd_hash_with(hash, (uint64_t)image->image_id);
    for (int c = 0; c < image->captions; c++) {
        vd_tokens caption = image->caption[c].words;
        for (int w = 0; w < caption.count; w++)
            hash = vd_hash_text(hash, words->words[caption.id[w]].text);
        hash = vd_hash_with(hash, 1);
    }
    return hash;
}

uint64_t vd_captions_hash(const vd_captions *captions)
{
    uint64_t hash = VD_HASH_START;
    for (size_t i = 0; i < captions->count; i++)
        hash = hash_image(hash, &captions->words, &captions->image[i]);
    return hash;
}

const vd_captioned *vd_captions_find(const vd_captions *captions, int64_t image_id)
{
    for (size_t i = 0; i < captions->count; i++)
        if (captions->image[i].image_id == image_id)
            return &captions->image[i];
    return NULL;
}

// ---- splits -------------------------------------------------------------------------------------

static bool is_of(const vd_captioned *image, const char *split)
{
    return strcmp(image->split, split) == 0 ||
           (strcmp(split, "train") == 0 && strcmp(image->split, "restval") == 0);
}

bool vd_captions_mixed(const vd_captions *captions)
{
    for (size_t i = 1; i < captions->count; i++)
        if (strcmp(captions->image[i].split, captions->image[0].split) != 0)
            return true;
    return false;
}

// The names of the splits, each once, as a text.
static void list_splits(const vd_captions *captions, char *text, size_t size)
{
    const char *seen[8];
    size_t count = 0;
    for (size_t i = 0; i < captions->count && count < 8; i++) {
        size_t k = 0;
        while (k < count && strcmp(seen[k], captions->image[i].split) != 0)
            k++;
        if (k < count)
            continue;
        seen[count++] = captions->image[i].split;
        vd_append(text, size, "%s%.40s", *text ? ", " : "", seen[k]);
    }
}

vd_status vd_captions_choose(vd_captions *captions, const char *split, vd_error *err)
{
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < captions->count; i++) {
        any |= *captions->image[i].split != 0;
        kept += is_of(&captions->image[i], split);
    }
    if (!any)
        return VD_OK;
    if (!kept) {
        char there[200] = "";
        list_splits(captions, there, sizeof there);
        return vd_error_set(err, VD_NOT_FOUND, "%.300s: no picture of split \"%.40s\"; it has %s",
                            captions->path, split, there);
    }
    kept = 0;
    for (size_t i = 0; i < captions->count; i++)
        if (is_of(&captions->image[i], split))
            captions->image[kept++] = captions->image[i];
    captions->count = kept;
    return VD_OK;
}

// ---- features -----------------------------------------------------------------------------------

static vd_status refuse_missing(const vd_captions *captions, const vd_regions *regions,
                                size_t missing, int64_t first, vd_error *err)
{
    const char *advice = missing < captions->count ? "; --missing skip leaves them out" : "";
    return vd_error_set(
        err, VD_NOT_FOUND,
        "%.300s: %zu of the %zu pictures of %.300s have no features here, the first "
        "is image %" PRId64 "%s",
        regions->path, missing, captions->count, captions->path, first, advice);
}

vd_status vd_captions_match(vd_captions *captions, const vd_regions *regions, vd_missing missing,
                            size_t *skipped, vd_error *err)
{
    size_t row, kept = 0;
    int64_t first = 0;
    *skipped = 0;
    for (size_t i = 0; i < captions->count; i++) {
        int64_t id = captions->image[i].image_id;
        if (vd_regions_find(regions, id, &row, NULL) == VD_OK)
            continue;
        first = *skipped ? first : id;
        ++*skipped;
    }
    if (*skipped && (missing == VD_MISSING_REFUSE || *skipped == captions->count))
        return refuse_missing(captions, regions, *skipped, first, err);
    for (size_t i = 0; i < captions->count && *skipped; i++)
        if (vd_regions_find(regions, captions->image[i].image_id, &row, NULL) == VD_OK)
            captions->image[kept++] = captions->image[i];
    captions->count = *skipped ? kept : captions->count;
    return VD_OK;
}

// ---- vocabulary ---------------------------------------------------------------------------------

// times: of each word of the file, in the chosen pictures.
static void count_words(const vd_captions *captions, int most, int64_t *times)
{
    for (size_t i = 0; i < captions->count; i++)
        for (int c = 0; c < captions->image[i].captions; c++) {
            vd_tokens words = captions->image[i].caption[c].words;
            for (int w = 0; w < words.count && (most <= 0 || w < most); w++)
                times[words.id[w]]++;
        }
}

vd_status vd_captions_vocab(const vd_captions *captions, int64_t minimum, int most, vd_vocab **out,
                            vd_error *err)
{
    size_t count = captions->words.count;
    int64_t *times = vd_alloc(count, sizeof *times);
    vd_word_counts counts = {0};
    *out = NULL;
    if (!times)
        return vd_error_memory(err, "a vocabulary of captions");
    count_words(captions, most, times);
    vd_status status = VD_OK;
    for (size_t i = 0; i < count && status == VD_OK; i++)
        if (times[i])
            status = vd_word_counts_add(&counts, captions->words.words[i].text, times[i], err);
    if (status == VD_OK)
        status = vd_word_counts_vocab(&counts, minimum, out, err);
    vd_word_counts_clear(&counts);
    vd_free(times);
    return status;
}

vd_status vd_captions_ids(const vd_captions *captions, const vd_vocab *vocab, int32_t **out,
                          vd_error *err)
{
    size_t count = captions->words.count;
    *out = vd_alloc(count, sizeof **out);
    if (!*out)
        return vd_error_memory(err, "the words of captions");
    for (size_t i = 0; i < count; i++)
        (*out)[i] = vd_vocab_id(vocab, captions->words.words[i].text);
    return VD_OK;
}
