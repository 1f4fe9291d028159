// Region features of a whole split without picture files: each scene is rendered and the extractor
// looks at the pixels.
#ifndef BLOCKS_SURVEY_H
#define BLOCKS_SURVEY_H

#include "engine/base/parallel.h"
#include "assets/blocks/world.h"
#include "features/regions/regions.h"

// extractor: path of its weights, loaded once for each thread. The set has room for as many
// regions as the fullest picture needs. Where pictures is not NULL, picture i < picture_count is
// written as DIR/<image_id>.png on the way.
typedef struct blocks_survey_options {
    const char *extractor;
    int threads;
    const char *pictures;
    size_t picture_count;
    const atomic_int *stop;
    vd_parallel_report report; // may be NULL
    void *user;
} blocks_survey_options;

vd_status blocks_survey(const blocks_world *world, const blocks_survey_options *options,
                        vd_region_set *out, vd_error *err);

#endif
