// Rewards of captions for SCST (engine/train/scst.h): CIDEr-D against the captions of the data, or
// the true bits of captions of Blocks pictures, whose scenes are known.
#ifndef VD_RUN_REWARDS_H
#define VD_RUN_REWARDS_H

#include "engine/train/trainer.h"
#include "features/captions/set.h"

typedef struct vd_run_rewards vd_run_rewards;

typedef struct vd_rewards_source {
    vd_scst scst; // CIDER_D or BITS
    vd_scst_eos eos;
    const vd_vocab *vocab;     // outlives the rewards
    const vd_caption_set *set; // its pictures, by index
    // cider-d: references, any file of features/captions/captions.h; document frequencies are
    // computed over the set's pictures. bits: scenes (assets/blocks/world.h); the shares of claims
    // are computed over them.
    const char *captions, *scenes;
} vd_rewards_source;

// VD_MISMATCH if pictures are missing in the file; the error gives their number and the first one.
vd_status vd_run_rewards_new(const vd_rewards_source *source, vd_run_rewards **out, vd_error *err);
void vd_run_rewards_free(vd_run_rewards *rewards); // NULL is fine
const vd_rewards *vd_run_rewards_table(const vd_run_rewards *rewards);

#endif
