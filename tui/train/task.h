// The two tasks of a training run: dialogs (dialogs.c) and captions (captions.c). A task supplies
// the batches and the metrics of an epoch; the training loop (training.c) is the same for both.
#ifndef VD_TRAIN_TASK_H
#define VD_TRAIN_TASK_H

#include "features/dialogs/picture_cache.h"
#include "tui/train/training.h"

// One metric of an epoch on the validation data.
typedef struct vd_epoch_measure {
    const char *label; // on the screen; NULL: not printed
    char column[24];   // in the log
    char tag[28];      // of its curve
    int digits;
    bool known;
    double value;
} vd_epoch_measure;

enum { VD_EPOCH_HEADS = 32, VD_EPOCH_MEASURES = 24 + 2 * VD_EPOCH_HEADS };

typedef struct vd_epoch {
    vd_epoch_measure measure[VD_EPOCH_MEASURES];
    int count;
    double best; // the higher, the better; 0: nothing was measured
} vd_epoch;

typedef struct vd_batches vd_batches; // a task's data loader

typedef struct vd_train_task {
    void (*totals)(const vd_training *plan, const size_t *items, size_t count, vd_totals *of);
    // Prefetches the micro-batches of `prefetch`, which only the loader uses until it is closed.
    // *most: how pictures may be kept on the device; set to how they are kept. *out is to be closed
    // also after a failure.
    vd_status (*open)(const vd_training *plan, vd_sampler *prefetch, vd_pictures_kept *most,
                      vd_batches **out, vd_error *err);
    vd_status (*next)(void *batches, const vd_batch **batch, vd_error *err);
    void (*close)(vd_batches *batches); // NULL is fine
    // Without validation data no metric is known.
    vd_status (*measure)(const vd_training *plan, vd_epoch *out, vd_error *err);
    const char *(*best_by)(const vd_training *plan); // the name of vd_epoch.best
} vd_train_task;

extern const vd_train_task vd_train_dialogs, vd_train_captions;

#endif
