// What a run over captions needs beside them: with what those of its epochs are measured and, for
// SCST, what captions are worth.
#ifndef VD_RUN_JUDGE_H
#define VD_RUN_JUDGE_H

#include "tui/train/rewards.h"
#include "tui/train/run_inputs.h"
#include "tui/train/training.h"

// Zero-initialise.
typedef struct vd_run_judge {
    vd_run_rewards *rewards, *validation_rewards; // with scst
    vd_caption_judge *judge;                      // with validation data
    char beside[2][4096 + 32];                    // where scenes are that nobody named
} vd_run_judge;

typedef struct vd_run_judged {
    vd_trainer *trainer; // gets its rewards
    const vd_caption_set *captions, *validation;
    const vd_regions *validation_regions;
    const char *validation_split; // NULL: all pictures
    bool measures;                // this process measures the epochs
} vd_run_judged;

// Scenes that `in` does not name are those beside the data, where they are there; then it names
// them. Sets what the training measures with. VD_USAGE when the best epoch is known by what scenes
// say and there are none.
vd_status vd_run_judge_open(vd_run_judge *judge, const vd_run_judged *judged, vd_run_inputs *in,
                            vd_training *training, vd_error *err);
void vd_run_judge_close(vd_run_judge *judge);

#endif
