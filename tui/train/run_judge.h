// For a run over captions: the metrics of the captions of an epoch, and the rewards of SCST
// (engine/train/scst.h): CIDEr-D against the captions of the data, with document frequencies of its
// pictures, or the true bits of captions of Blocks pictures, whose claims have the shares that they
// have in the file of scenes.
#ifndef VD_RUN_JUDGE_H
#define VD_RUN_JUDGE_H

#include "tui/train/run_inputs.h"
#include "tui/train/training.h"

typedef struct vd_run_rewards vd_run_rewards;

// Zero-initialise.
typedef struct vd_run_judge {
    vd_run_rewards *rewards, *val_rewards; // with SCST
    vd_caption_judge *judge;               // with validation data
    char beside[2][4096 + 32];             // default paths of the scenes
} vd_run_judge;

// If `in` names no scenes and there are some beside the data, sets their path there. Sets the judge
// and the rewards of the training, and those of its trainer. measures: this process measures the
// epochs. VD_USAGE if --best-by needs scenes and there are none; VD_MISMATCH if pictures have no
// scene: the error gives their number and the first one.
vd_status vd_run_judge_open(vd_run_judge *judge, vd_training *training, vd_run_inputs *in,
                            bool measures, vd_error *err);
void vd_run_judge_close(vd_run_judge *judge);

#endif
