// What captions are worth to a run of SCST (engine/train/scst.h): CIDEr-D against the captions of
// the data, or true bits of the scenes that Blocks pictures are of.
#ifndef VD_RUN_REWARDS_H
#define VD_RUN_REWARDS_H

#include "engine/train/trainer.h"
#include "features/captions/set.h"

typedef struct vd_run_rewards vd_run_rewards;

typedef struct vd_rewards_source {
    vd_scst scst; // CIDER_D or BITS
    vd_scst_eos eos;
    const vd_vocab *vocab;     // outlives the rewards
    const vd_caption_set *set; // whose pictures are numbered
    // cider-d: references, any file of features/captions/captions.h; document frequencies are of
    // the set's pictures. bits: scenes (assets/blocks/world.h), which shares are of, too.
    const char *captions, *scenes;
} vd_rewards_source;

// VD_MISMATCH with their number and the first when pictures are in neither file.
vd_status vd_run_rewards_new(const vd_rewards_source *source, vd_run_rewards **out, vd_error *err);
void vd_run_rewards_free(vd_run_rewards *rewards); // NULL is fine
const vd_rewards *vd_run_rewards_table(const vd_run_rewards *rewards);

#endif
