#include "features/captions/reward.h"

#include <string.h>

#include "engine/base/alloc.h"

typedef struct picture {
    const vd_tokens *reference; // (references)
    int references;
} picture;

struct vd_caption_reward {
    vd_cider cider;
    picture *picture;
    vd_string_arena arena;
    // Number of each word of the vocabulary, (size); of one that no caption has: one of its own.
    int32_t *number;
    int32_t size;
    bool with_end;
};

// References have the numbers of words in the file; behind them come the vocabulary's ids, for what
// is not in the file, </S> among them.
static int32_t number_of(const vd_captions *captions, const vd_vocab *vocab, int32_t id)
{
    int32_t number =
        id < VD_FIRST_WORD ? -1 : vd_word_counts_number(&captions->words, vd_vocab_word(vocab, id));
    return number >= 0 ? number : (int32_t)captions->words.count + id;
}

static bool copy_reference(vd_caption_reward *r, vd_tokens words, vd_tokens *out)
{
    size_t count = (size_t)words.count;
    bool room = words.count < VD_CAPTION_MOST;
    int32_t *id = vd_string_arena_take(&r->arena, count + 1, sizeof *id);
    if (!id)
        return false;
    memcpy(id, words.id, count * sizeof *id);
    id[count] = r->number[VD_END];
    *out = (vd_tokens){id, words.count + (r->with_end && room)};
    return true;
}

static vd_status add_picture(vd_caption_reward *r, const vd_captioned *image, picture *out,
                             vd_error *err)
{
    vd_tokens *list = vd_string_arena_take(&r->arena, (size_t)image->captions, sizeof *list);
    for (int c = 0; c < image->captions; c++)
        if (!list || !copy_reference(r, image->caption[c].words, &list[c]))
            return vd_error_memory(err, "references");
    *out = (picture){list, image->captions};
    return vd_cider_add(&r->cider, list, image->captions, err);
}

vd_status vd_caption_reward_new(const vd_captions *captions, const vd_vocab *vocab, bool with_end,
                                vd_caption_reward **out, vd_error *err)
{
    vd_caption_reward *r = vd_alloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return vd_error_memory(err, "references");
    r->with_end = with_end;
    r->size = vd_vocab_size(vocab);
    r->number = vd_alloc((size_t)r->size, sizeof *r->number);
    r->picture = vd_alloc(captions->count, sizeof *r->picture);
    vd_status status = r->number && r->picture ? VD_OK : vd_error_memory(err, "references");
    for (int32_t id = 0; id < r->size && status == VD_OK; id++)
        r->number[id] = number_of(captions, vocab, id);
    for (size_t i = 0; i < captions->count && status == VD_OK; i++)
        status = add_picture(r, &captions->image[i], &r->picture[i], err);
    if (status)
        vd_caption_reward_free(r);
    else
        *out = r;
    return status;
}

void vd_caption_reward_free(vd_caption_reward *reward)
{
    if (!reward)
        return;
    vd_cider_clear(&reward->cider);
    vd_free(reward->picture);
    vd_free(reward->number);
    vd_string_arena_clear(&reward->arena);
    vd_free(reward);
}

double vd_caption_reward_of(const vd_caption_reward *reward, size_t picture_number,
                            const int32_t *id, int count)
{
    const picture *p = &reward->picture[picture_number];
    int32_t hypothesis[VD_CAPTION_MOST];
    int words = 0;
    bool ended = false;
    for (int i = 0; i < count && i < VD_CAPTION_MOST && !ended; i++) {
        ended = id[i] == VD_END;
        if (!ended || reward->with_end)
            hypothesis[words++] =
                reward->number[id[i] >= 0 && id[i] < reward->size ? id[i] : VD_UNKNOWN];
    }
    return vd_cider_score(&reward->cider, (vd_tokens){hypothesis, words}, p->reference,
                          p->references);
}
