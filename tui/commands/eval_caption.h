// `visdial eval --task caption`: captions of a results file, or of a captioner that says them now,
// scored.
#ifndef VD_EVAL_CAPTION_H
#define VD_EVAL_CAPTION_H

#include "engine/backend/open.h"
#include "engine/model/captioner.h"
#include "tui/measure/captions.h"

// Where captions come from: one of them.
typedef struct vd_captions_from {
    const char *results, *model;
} vd_captions_from;

typedef struct vd_caption_evaluation {
    vd_caption_paths paths;   // references NULL: nothing is scored, all pictures are captioned
    vd_captions_from from[2]; // the second is what the first is compared with, or nothing
    const char *features;     // of captioners
    const char *out;          // gets what the first captioner says; NULL: nothing does
    vd_generation how;
    int hard; // of vd_hard_names
    int threads;
    vd_backend_choice backend;
    vd_bootstrap_options bootstrap; // no resamples: no intervals
    size_t cases;                   // pictures on which both differ most, shown
    bool json, quiet, force;
} vd_caption_evaluation;

// Measures and prints.
vd_status vd_evaluate_captions(vd_caption_evaluation *evaluation, vd_error *err);

#endif
