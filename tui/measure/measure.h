// Metrics of a model over a data set: all rounds, each dialog, each place in a dialog, and by kind
// of question and by how far back a question refers, if the data has that (Blocks).
#ifndef VD_MEASURE_H
#define VD_MEASURE_H

#include <stdatomic.h>
#include <yajl/yajl_gen.h>

#include "engine/base/parallel.h"
#include "engine/measure/statistics.h"
#include "engine/model/model.h"
#include "features/dialogs/dataset.h"
#include "features/dialogs/ranks.h"
#include "tui/base/progress.h"

typedef struct vd_measure_group {
    const char *name; // borrowed from the data set
    vd_metrics metrics;
} vd_measure_group;

// Distances 0..VD_MEASURE_FAR-1, and VD_MEASURE_FAR for all beyond; most dialogs whose scores are
// kept at a time.
enum { VD_MEASURE_FAR = 10, VD_MEASURE_SPAN = 4096 };

typedef struct vd_measure {
    vd_metrics all;
    size_t dialogs;
    vd_metrics *dialog; // (dialogs) of each measured one, what intervals draw from
                        // (engine/measure/statistics.h)
    int rounds;
    vd_metrics *round; // (rounds) of all first rounds, all second ones, ...
    size_t family_count;
    vd_measure_group *family; // by name
    vd_metrics coreference[VD_MEASURE_FAR + 1];
} vd_measure;

// A source of scores: a model.
typedef struct vd_measure_source {
    void *context;
    int workers; // score is called by so many threads at a time, each with its own number; 0 = 1
    // Gets the candidates that the next dialogs share; never called at the same time as score. The
    // watch gets how many are ready. NULL: every batch has candidates of its own.
    vd_status (*prepare)(void *context, const vd_candidates *candidates, const vd_watch *watch,
                         vd_error *err);
    // Scores of a batch, (B, R, O).
    vd_status (*score)(void *context, int worker, const vd_batch *batch, float *scores,
                       vd_error *err);
} vd_measure_source;

// A loaded model as a source: candidates are encoded once for the dialogs that share them. by: the
// decoders that score, of those the model has. Closed with vd_measure_model_close.
vd_measure_source vd_measure_model_open(vd_model *model, vd_decoders by, int workers);
void vd_measure_model_close(vd_measure_source *source);

// Called for each round with candidates, in the order of the data; scores: one per candidate.
typedef vd_status (*vd_measure_round)(void *user, const vd_visdial_dialog *dialog, int32_t round,
                                      const float *scores, vd_error *err);

typedef struct vd_measure_options {
    size_t first; // dialogs before it are left out
    size_t limit; // dialogs from there on; 0 = all
    size_t batch; // dialogs at a time; 0 = 8. Scores depend on it in their last bits
    // Dialogs share at most so many different candidates, a limit for memory; 0 = 131,072, which is
    // 268 MB for 512 states.
    size_t answers;
    vd_dataset_view view;
    const atomic_int *stop;  // VD_INTERRUPTED when it becomes non-zero; may be NULL
    vd_progress *progress;   // started; updated with the dialogs done; may be NULL
    int64_t before;          // added to the count of dialogs in the progress
    vd_measure_round report; // may be NULL
    void *user;              // of report
} vd_measure_options;

// How many dialogs, from options->first on, share their candidates: at most VD_MEASURE_SPAN.
vd_status vd_measure_span(const vd_dataset *dataset, const vd_measure_options *options, size_t *out,
                          vd_error *err);
// The result does not depend on the number of workers.
vd_status vd_measure_run(const vd_dataset *dataset, const vd_measure_source *source,
                         const vd_measure_options *options, vd_measure *out, vd_error *err);
// The same for rankings from a file. VD_MISMATCH when a round that can be measured has none.
vd_status vd_measure_ranks(const vd_visdial *dialogs, const vd_ranks *ranks,
                           const vd_measure_options *options, vd_measure *out, vd_error *err);
void vd_measure_clear(vd_measure *measure);

// How a metric is printed: its name, the width of its column, digits after the point.
typedef struct vd_measure_column {
    const char *label;
    int width, digits;
} vd_measure_column;
extern const vd_measure_column vd_measure_columns[VD_METRICS];

// The measurements as tables on standard output and as JSON (report.c).
// intervals: (VD_METRICS) of the metrics over all rounds, at this confidence level, or NULL.
void vd_measure_print(const vd_measure *measure, const vd_interval *intervals, double level);
// Keys and values into the object that is open: "dialogs", "all", "interval", "round", "family",
// "rounds_back".
void vd_measure_json(yajl_gen json, const vd_measure *measure, const vd_interval *intervals,
                     double level);

#endif
