// The course of a training run: shuffles, schedule, epochs, checkpoints, log. Everything follows
// from the settings and the trainer's step counter, so that a resumed run is the same run.
#ifndef VD_TRAINING_H
#define VD_TRAINING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/measure/metrics.h"
#include "engine/train/trainer.h"
#include "features/captions/set.h"
#include "features/dialogs/dataset.h"
#include "tui/measure/captions.h"
#include "tui/train/sampler.h"

// How far a run is, for another thread to show; all 0 before the first step.
typedef struct vd_training_place {
    atomic_llong first, step, steps, epoch_steps; // first: where this process went on
} vd_training_place;

typedef struct vd_training {
    vd_trainer *trainer;
    const vd_dataset *data;
    const vd_dataset *validation; // NULL: none
    // Of a captioner, in place of these; validation NULL: none.
    const vd_caption_set *captions, *caption_validation;
    // With scst what captions of the validation data are worth (the trainer has the other's).
    const vd_rewards *validation_rewards;
    vd_caption_judge *judge; // of the captions of the validation data; NULL: none
    vd_train_options settings;
    // Gets model.safetensors, checkpoint.safetensors, log.tsv, an event file (event_file.h) and,
    // with validation data, best.safetensors: the model of the epoch that is the best so far.
    const char *directory;
    // Of two epochs the better one has more of this; of captions the lower cross entropy,
    // with scst the higher reward.
    vd_metric best_by;
    size_t validation_limit;   // dialogs or pictures; 0 = all
    double checkpoint_seconds; // between checkpoints; 0 = never by time
    int64_t checkpoint_steps;  // 0 = never by steps
    int64_t stop_after;        // steps in all; 0 = run to the end
    bool quiet;
    bool silent;              // no line on standard output after an epoch
    const vd_group *group;    // processes that train together, NULL = one; rank 0 writes the files
    vd_group_wait wait;       // of the group; its stop is this one's
    vd_training_place *place; // kept up to date; NULL: nobody looks
    const atomic_int *stop;   // a checkpoint is written and the run ends when it becomes non-zero
} vd_training;

// Runs to the last epoch (VD_OK) or to a stop (VD_INTERRUPTED; err says how to go on). A failed
// checkpoint on the way is a warning on stderr, the one before it stays; at the end it is an error.
vd_status vd_training_run(vd_training *training, vd_error *err);

// Key of the checkpoint's metadata.
#define VD_TRAINING_STATE "run_state"

#endif
