// `visdial eval --task caption`: the captions of a results file, scored.
#ifndef VD_EVAL_CAPTION_H
#define VD_EVAL_CAPTION_H

#include "tui/measure/captions.h"

typedef struct vd_caption_evaluation {
    vd_caption_paths paths;
    const char *results, *against; // against: another captioner's, NULL: none
    vd_bootstrap_options bootstrap;
    bool intervals, json;
    double level;
} vd_caption_evaluation;

// Measures and prints.
vd_status vd_evaluate_captions(const vd_caption_evaluation *evaluation, vd_error *err);

#endif
