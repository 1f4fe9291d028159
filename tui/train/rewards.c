#include "tui/train/rewards.h"

#include <inttypes.h>

#include "assets/blocks/claim.h"
#include "assets/blocks/world.h"
#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "features/captions/reward.h"

struct vd_run_rewards {
    vd_rewards table;
    const vd_vocab *vocab;
    vd_caption_reward *cider;
    // bits; of: (pictures of the set)
    blocks_scene *scene;
    const blocks_scene **of;
    blocks_shares *shares;
};

static double cider_of(const void *context, size_t item, const int32_t *id, int count)
{
    const vd_run_rewards *r = context;
    return vd_caption_reward_of(r->cider, item, id, count);
}

// Words of a longer text are left out.
typedef struct caption_text {
    char of[(VD_MAX_CAPTION + 1) * 40];
} caption_text;

static caption_text text_of(const vd_run_rewards *r, const int32_t *id, int count)
{
    caption_text text = {""};
    for (int i = 0; i < count && id[i] != VD_END; i++)
        vd_append(text.of, sizeof text.of, "%s%s", i ? " " : "", vd_vocab_word(r->vocab, id[i]));
    return text;
}

static double bits_of(const void *context, size_t item, const int32_t *id, int count)
{
    const vd_run_rewards *r = context;
    const caption_text text = text_of(r, id, count);
    return blocks_caption_bits(r->shares, text.of, r->of[item]);
}

// The sort of its claim; of places and relations, which way.
static int form_of(const void *context, const int32_t *id, int count)
{
    blocks_claim claim;
    const caption_text text = text_of(context, id, count);
    if (!blocks_claim_read(text.of, &claim))
        return -1;
    switch (claim.sort) {
    case BLOCKS_CLAIM_PLACE:
        return (int)BLOCKS_CLAIM_PLACE + (int)claim.direction;
    case BLOCKS_CLAIM_RELATION:
        return (int)BLOCKS_CLAIM_PLACE + (int)BLOCKS_DIRECTIONS + (int)claim.direction;
    default:
        return (int)claim.sort;
    }
}

static vd_status complain(const char *path, const char *what, size_t missing, int64_t first,
                          vd_error *err)
{
    return missing == 0
               ? VD_OK
               : vd_error_set(
                     err, VD_MISMATCH,
                     "%.300s: no %s of %zu of the training pictures, the first is %" PRId64, path,
                     what, missing, first);
}

// ---- CIDEr-D ------------------------------------------------------------------------------------

// Which picture of the file: both lists are mostly in one order.
static const vd_captioned *find(const vd_captions *file, size_t guess, int64_t image)
{
    bool right = guess < file->count && file->image[guess].image_id == image;
    return right ? &file->image[guess] : vd_captions_find(file, image);
}

// The set's pictures in its order: (count) of the file.
static vd_status list_pictures(const vd_captions *file, const vd_caption_set *set,
                               vd_captioned *list, vd_error *err)
{
    size_t count = vd_caption_set_pictures(set), missing = 0;
    int64_t first = 0;
    for (size_t p = 0, guess = 0; p < count; p++) {
        int64_t image = vd_caption_set_image(set, p);
        const vd_captioned *found = find(file, guess, image);
        guess = found ? (size_t)(found - file->image) + 1 : guess;
        first = found || missing++ ? first : image;
        if (found)
            list[p] = *found;
    }
    return complain(file->path, "captions", missing, first, err);
}

static vd_status open_cider(vd_run_rewards *r, const vd_rewards_source *source, vd_error *err)
{
    vd_captions *file;
    size_t count = vd_caption_set_pictures(source->set);
    vd_captioned *list = vd_alloc(count, sizeof *list);
    vd_status status = list ? VD_OK : vd_error_memory(err, "references");
    if (status == VD_OK)
        status = vd_captions_read(source->captions, &file, err);
    if (status == VD_OK) {
        vd_captions chosen = *file;
        chosen.image = list;
        chosen.count = count;
        status = list_pictures(file, source->set, list, err);
        if (status == VD_OK)
            status = vd_caption_reward_new(&chosen, source->vocab, source->eos == VD_EOS_IN,
                                           &r->cider, err);
        vd_captions_free(file);
    }
    vd_free(list);
    r->table.of = cider_of;
    return status;
}

// ---- true bits ----------------------------------------------------------------------------------

static vd_status find_scenes(vd_run_rewards *r, const vd_rewards_source *source, size_t scenes,
                             vd_error *err)
{
    size_t count = vd_caption_set_pictures(source->set), missing = 0;
    int64_t first = 0;
    r->of = vd_alloc(count, sizeof *r->of);
    if (!r->of)
        return vd_error_memory(err, "scenes");
    for (size_t p = 0; p < count; p++) {
        int64_t image = vd_caption_set_image(source->set, p);
        r->of[p] = blocks_scenes_find(r->scene, scenes, image);
        first = r->of[p] || missing++ ? first : image;
    }
    return complain(source->scenes, "scenes", missing, first, err);
}

static vd_status open_bits(vd_run_rewards *r, const vd_rewards_source *source, vd_error *err)
{
    size_t count;
    vd_status status = blocks_scenes_read(source->scenes, &r->scene, &count, err);
    if (status == VD_OK)
        status = find_scenes(r, source, count, err);
    if (status == VD_OK)
        status = blocks_shares_new(r->scene, count, &r->shares, err);
    r->table.of = bits_of;
    r->table.form = form_of;
    return status;
}

vd_status vd_run_rewards_new(const vd_rewards_source *source, vd_run_rewards **out, vd_error *err)
{
    *out = NULL;
    vd_run_rewards *r = vd_alloc(1, sizeof *r);
    if (!r)
        return vd_error_memory(err, "rewards");
    r->table.context = r;
    r->vocab = source->vocab;
    vd_status status =
        source->scst == VD_SCST_BITS ? open_bits(r, source, err) : open_cider(r, source, err);
    if (status == VD_OK)
        *out = r;
    else
        vd_run_rewards_free(r);
    return status;
}

void vd_run_rewards_free(vd_run_rewards *r)
{
    if (!r)
        return;
    vd_caption_reward_free(r->cider);
    blocks_shares_free(r->shares);
    vd_free(r->scene);
    vd_free(r->of);
    vd_free(r);
}

const vd_rewards *vd_run_rewards_table(const vd_run_rewards *rewards)
{
    return rewards ? &rewards->table : NULL;
}
