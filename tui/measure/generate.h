// Generates captions of many pictures.
#ifndef VD_MEASURE_GENERATE_H
#define VD_MEASURE_GENERATE_H

#include "engine/base/parallel.h"
#include "engine/model/captioner.h"
#include "features/captions/results.h"
#include "features/regions/regions.h"

typedef struct vd_pictures_to_caption {
    const vd_regions *regions;
    size_t count;
    const int64_t *image; // (count) their numbers, each with features
} vd_pictures_to_caption;

// A caption of each picture, independent of the number of threads (1 to VD_THREADS). Sampling
// depends on the seed and the picture only. hard: where captioners with hard attention look,
// VD_USAGE where others are to look elsewhere than at the largest share. name: used as the file
// name in errors about the results. VD_MISMATCH: the captioner expects other regions.
vd_status vd_generate_captions(const vd_captioner *captioner,
                               const vd_pictures_to_caption *pictures, const vd_generation *how,
                               vd_hard hard, int threads, const vd_watch *watch, const char *name,
                               vd_results **out, vd_error *err);

#endif
