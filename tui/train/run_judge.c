#include "tui/train/run_judge.h"

#include <glib.h>
#include <inttypes.h>
#include <unistd.h>

#include "assets/blocks/claim.h"
#include "assets/blocks/world.h"
#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "features/captions/reward.h"
#include "tui/measure/verdict.h"

// ---- rewards ------------------------------------------------------------------------------------

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

// ---- true bits ----------------------------------------------------------------------------------

static vd_status find_scenes(vd_run_rewards *r, const vd_captions *captions, const char *path,
                             size_t scenes, vd_error *err)
{
    size_t missing = 0;
    int64_t first = 0;
    r->of = g_new(const blocks_scene *, captions->count);
    for (size_t p = 0; p < captions->count; p++) {
        r->of[p] = blocks_scenes_find(r->scene, scenes, captions->image[p].image_id);
        first = r->of[p] || missing++ ? first : captions->image[p].image_id;
    }
    return missing == 0
               ? VD_OK
               : vd_error_set(
                     err, VD_MISMATCH,
                     "%.300s: no scenes of %zu of the training pictures, the first is %" PRId64,
                     path, missing, first);
}

static vd_status open_bits(vd_run_rewards *r, const vd_captions *captions, const char *scenes,
                           vd_error *err)
{
    size_t count;
    vd_status status = blocks_scenes_read(scenes, &r->scene, &count, err);
    if (status == VD_OK)
        status = find_scenes(r, captions, scenes, count, err);
    if (status == VD_OK)
        status = blocks_shares_new(r->scene, count, &r->shares, err);
    r->table.of = bits_of;
    r->table.form = form_of;
    return status;
}

static vd_status open_rewards(const vd_trainer *trainer, const vd_captions *captions,
                              const char *scenes, vd_run_rewards **out, vd_error *err)
{
    const vd_train_options *options = vd_trainer_options(trainer);
    vd_run_rewards *r = *out = g_new0(vd_run_rewards, 1);
    r->table.context = r;
    r->table.of = cider_of;
    r->vocab = vd_trainer_vocab(trainer);
    return options->scst == VD_SCST_BITS
               ? open_bits(r, captions, scenes, err)
               : vd_caption_reward_new(captions, r->vocab, options->eos == VD_EOS_IN, &r->cider,
                                       err);
}

static void free_rewards(vd_run_rewards *r)
{
    if (!r)
        return;
    vd_caption_reward_free(r->cider);
    blocks_shares_free(r->shares);
    vd_free(r->scene);
    g_free(r->of);
    g_free(r);
}

// ---- the judge ----------------------------------------------------------------------------------

static void find_scenes_beside(const char *data, const char **scenes, char *room, size_t size)
{
    if (*scenes || !data)
        return;
    vd_scenes_beside(data, room, size);
    if (access(room, F_OK) == 0)
        *scenes = room;
}

// Of the training data and, where there are some, of the validation data.
static vd_status open_both_rewards(vd_run_judge *j, vd_training *training, const vd_run_inputs *in,
                                   vd_error *err)
{
    const vd_captions *validation = training->validation.captions;
    vd_status status = open_rewards(training->trainer, training->data.captions,
                                    in->scenes ? in->scenes : j->beside[0], &j->rewards, err);
    if (status == VD_OK && validation)
        status = open_rewards(training->trainer, validation,
                              in->val_scenes ? in->val_scenes : j->beside[1], &j->val_rewards, err);
    if (status == VD_OK && validation)
        training->validation_rewards = &j->val_rewards->table;
    if (status == VD_OK)
        vd_trainer_reward(training->trainer, &j->rewards->table);
    return status;
}

// The best epoch is known by what scenes say: there must be some.
static vd_status check_scenes(const vd_training *training, const vd_run_inputs *in, vd_error *err)
{
    vd_best_by by = vd_trainer_options(training->trainer)->best_by;
    bool wanted = by == VD_BEST_FAITHFUL || by == VD_BEST_BITS;
    return wanted && training->validation.captions && !in->val_scenes
               ? vd_error_set(err, VD_USAGE,
                              "--best-by %s needs the scenes of --val; name them with --val-scenes",
                              vd_best_names[by])
               : VD_OK;
}

vd_status vd_run_judge_open(vd_run_judge *j, vd_training *training, vd_run_inputs *in,
                            bool measures, vd_error *err)
{
    const vd_run_data *validation = &training->validation;
    find_scenes_beside(in->data, &in->scenes, j->beside[0], sizeof j->beside[0]);
    find_scenes_beside(in->val, &in->val_scenes, j->beside[1], sizeof j->beside[1]);
    vd_status status = check_scenes(training, in, err);
    if (status == VD_OK && vd_trainer_options(training->trainer)->scst != VD_SCST_NONE)
        status = open_both_rewards(j, training, in, err);
    const vd_caption_paths paths = {.references = in->val,
                                    .split = validation->split,
                                    .missing = VD_MISSING_SKIP,
                                    .told = true,
                                    .scenes = in->val_scenes,
                                    .regions = validation->regions,
                                    .limit = in->val_limit};
    if (status == VD_OK && validation->captions && measures)
        status = vd_caption_judge_open(&paths, &j->judge, err);
    training->judge = j->judge;
    return status;
}

void vd_run_judge_close(vd_run_judge *j)
{
    vd_caption_judge_close(j->judge);
    free_rewards(j->val_rewards);
    free_rewards(j->rewards);
}
