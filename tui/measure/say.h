// What a captioner says about many pictures.
#ifndef VD_MEASURE_SAY_H
#define VD_MEASURE_SAY_H

#include "engine/base/parallel.h"
#include "engine/model/captioner.h"
#include "features/captions/results.h"
#include "features/regions/regions.h"

typedef struct vd_pictures_to_say {
    const vd_regions *regions;
    size_t count;
    const int64_t *image; // (count) their numbers, each with features
} vd_pictures_to_say;

// A caption of each, whatever the threads (1 to VD_THREADS). What is drawn is drawn with numbers of
// the seed and of the picture. name: what stands for a file in errors about the results.
// VD_MISMATCH when the captioner wants other regions.
vd_status vd_say_captions(const vd_captioner *captioner, const vd_pictures_to_say *pictures,
                          const vd_saying *how, int threads, const vd_watch *watch,
                          const char *name, vd_results **out, vd_error *err);

#endif
