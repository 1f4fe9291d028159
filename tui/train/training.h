// The training loop: shuffling, schedule, epochs, checkpoints, log. It depends only on the settings
// and the trainer's step counter, so a resumed run gives the same result.
#ifndef VD_TRAINING_H
#define VD_TRAINING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/measure/metrics.h"
#include "engine/train/trainer.h"
#include "tui/measure/captions.h"
#include "tui/train/run_data.h"
#include "tui/train/sampler.h"

// The progress of a run, to be shown by another thread; all 0 before the first step.
typedef struct vd_training_place {
    atomic_llong first, step, steps, epoch_steps; // first: where this process started
} vd_training_place;

typedef struct vd_training {
    vd_trainer *trainer;
    vd_run_data data, validation; // numbered, the caller's; validation zero: none
    // With SCST: rewards of captions of the validation data (the trainer has those of the training
    // data).
    const vd_rewards *validation_rewards;
    vd_caption_judge *judge; // of the captions of the validation data; NULL: none
    vd_train_options settings;
    // Gets model.safetensors, checkpoint.safetensors, log.tsv, an event file (event_file.h) and,
    // with validation data, best.safetensors: the model of the epoch that is the best so far.
    const char *directory;
    // The metric that decides which epoch is the best; captioners: the cross entropy (the lower,
    // the better), with SCST the reward.
    vd_metric best_by;
    size_t validation_limit;   // dialogs or pictures; 0 = all
    double checkpoint_seconds; // between checkpoints; 0 = never by time
    int64_t checkpoint_steps;  // 0 = never by steps
    int64_t stop_after;        // steps in all; 0 = run to the end
    bool quiet;
    bool silent;              // no line on standard output after an epoch
    const vd_group *group;    // processes that train together, NULL = one; rank 0 writes the files
    vd_group_wait wait;       // of the group; its `stop` is set to the one below
    vd_training_place *place; // kept up to date; NULL: not needed
    bool has_best;            // set at the end: best.safetensors is of this run
    const atomic_int *stop;   // a checkpoint is written and the run ends when it becomes non-zero
} vd_training;

// Runs to the last epoch (VD_OK) or to a stop (VD_INTERRUPTED; err says how to continue). A failed
// checkpoint during the run is a warning on stderr, and the previous one stays; at the end it is an
// error.
vd_status vd_training_run(vd_training *training, vd_error *err);

// Key of the checkpoint's metadata.
#define VD_TRAINING_STATE "run_state"

#endif
