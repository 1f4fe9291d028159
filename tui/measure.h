// Metrics of a model over a data set: all rounds, and by kind of question and by how far back a
// question refers, where the data says so (Blocks).
#ifndef VD_MEASURE_H
#define VD_MEASURE_H

#include <stdatomic.h>

#include "engine/metrics.h"
#include "features/dataset.h"
#include "tui/progress.h"

typedef struct vd_measure_group {
    const char *name; // borrowed from the data set
    vd_metrics metrics;
} vd_measure_group;

// Distances 0..VD_MEASURE_FAR-1, and VD_MEASURE_FAR for all beyond.
enum { VD_MEASURE_FAR = 10 };

typedef struct vd_measure {
    vd_metrics all;
    size_t dialogs;
    size_t family_count;
    vd_measure_group *family; // by name
    vd_metrics coreference[VD_MEASURE_FAR + 1];
} vd_measure;

// Scores of a batch, (B, R, O).
typedef vd_status (*vd_measure_score)(void *context, const vd_batch *batch, float *scores,
                                      vd_error *err);

typedef struct vd_measure_options {
    size_t limit; // dialogs from the start; 0 = all
    size_t batch; // dialogs at a time; 0 = 16
    vd_dataset_view view;
    const atomic_int *stop; // VD_INTERRUPTED when it becomes non-zero; may be NULL
    vd_progress *progress;  // started; updated with the dialogs done; may be NULL
} vd_measure_options;

vd_status vd_measure_run(const vd_dataset *dataset, vd_measure_score score, void *context,
                         const vd_measure_options *options, vd_measure *out, vd_error *err);
void vd_measure_clear(vd_measure *measure);

#endif
