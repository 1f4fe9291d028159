// Training and evaluating the extractor's detector (features/extract/detect.h) and its classifier
// of regions (features/extract/classify.h) on scenes rendered on the fly: the only place that uses
// both the true scene and the extractor.
#ifndef BLOCKS_DETECTOR_H
#define BLOCKS_DETECTOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "assets/blocks/scene.h"
#include "engine/base/error.h"
#include "features/extract/extract.h"

typedef struct blocks_detector_options {
    uint64_t seed; // of scenes, weights and augmentation
    int pictures;  // scenes 0 .. pictures - 1 of the train split, kept in memory (230 kB each)
    int epochs;
    int batch;              // even: two micro-batches (detector_trainer.h)
    double rate;            // highest learning rate
    const char *out;        // safetensors file, rewritten after every epoch
    const atomic_int *stop; // may be NULL; non-zero: VD_INTERRUPTED after the current step
} blocks_detector_options;

// The defaults of `visdial extract --train`: about 30 minutes on two cores.
blocks_detector_options blocks_detector_defaults(void);

typedef struct blocks_detector_progress {
    const char *stage; // "rendering", "training", "classifier" or "calibrating"
    int done, total;   // pictures or steps
    // Training: the losses per object, averaged over the last steps.
    double heat, box, place, attributes;
    double seconds; // since the start of the stage
} blocks_detector_progress;

typedef void (*blocks_detector_report)(void *user, const blocks_detector_progress *progress);

// Trains the detector and the classifier, then fits the outlier test. from: a file whose
// detector is kept, so that the last two steps are left; NULL: all.
// The same weights for the same options on the same machine. OpenBLAS is limited to one thread
// during the call (a process-wide setting). report may be NULL.
vd_status blocks_detector_train(const blocks_detector_options *options, const char *from,
                                blocks_detector_report report, void *user, vd_error *err);

// Pictures of the train split that training leaves out, behind those it sees.
enum { BLOCKS_DETECTOR_HELD_OUT = 200 };

// The last step of training, also alone: adds to the extractor `from` what its world looks like
// (features/extract/outlier.h), from as many pictures as it was trained on, at most 1,000, behind
// the held out ones; writes options->out, which may be the same file.
vd_status blocks_detector_fit_outlier(const blocks_detector_options *options, const char *from,
                                      blocks_detector_report report, void *user, vd_error *err);

typedef struct blocks_detector_scores {
    int pictures, objects;
    int found;      // objects overlapped (IoU >= 0.5) by a confident region of their own
    int spurious;   // confident regions left over
    int regions;    // regions kept, confident or not
    int doubted;    // pictures that do not look like the world's (vd_extraction.distance)
    double overlap; // mean IoU of the found
    double color, shape, material, size; // share of the found that is named right
    double relations; // share of right "is left of" and "is in front of" between the found
    double seconds;   // spent in the extractor
} blocks_detector_scores;

// Pictures first .. first + count - 1 of a split.
vd_status blocks_detector_evaluate(vd_extractor *extractor, uint64_t seed, blocks_split split,
                                   int first, int count, blocks_detector_scores *out,
                                   vd_error *err);

#endif
