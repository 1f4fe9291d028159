// For a run over captions: the metrics of the captions of an epoch, and the rewards of SCST.
#ifndef VD_RUN_JUDGE_H
#define VD_RUN_JUDGE_H

#include "tui/train/rewards.h"
#include "tui/train/run_inputs.h"
#include "tui/train/training.h"

// Zero-initialise.
typedef struct vd_run_judge {
    vd_run_rewards *rewards, *validation_rewards; // with SCST
    vd_caption_judge *judge;                      // with validation data
    char beside[2][4096 + 32];                    // default paths of the scenes
} vd_run_judge;

typedef struct vd_run_judged {
    vd_trainer *trainer; // its rewards are set
    const vd_caption_set *captions, *validation;
    const vd_regions *validation_regions;
    const char *validation_split; // NULL: all pictures
    bool measures;                // this process measures the epochs
} vd_run_judged;

// If `in` names no scenes and there are some beside the data, sets their path there. Sets the judge
// and the rewards of the training. VD_USAGE if --best-by needs scenes and there are none.
vd_status vd_run_judge_open(vd_run_judge *judge, const vd_run_judged *judged, vd_run_inputs *in,
                            vd_training *training, vd_error *err);
void vd_run_judge_close(vd_run_judge *judge);

#endif
