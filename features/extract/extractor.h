// Inside of the extractor, for its training.
#ifndef VD_EXTRACTOR_H
#define VD_EXTRACTOR_H

#include "features/extract/classify.h"
#include "features/extract/extract.h"
#include "features/extract/outlier.h"

struct vd_extractor {
    vd_convnet *net;
    vd_conv_pass *pass; // its input is the last picture's
    // NULL where the file has none: a region is what the detector says.
    vd_convnet *classifier;
    vd_conv_pass *near; // of a crop and its mirror image
    vd_outlier outlier;
};

// The file that vd_extractor_load reads. classifier NULL: it has none. outlier NULL: it has no
// outlier test.
vd_status vd_extractor_write(const vd_convnet *net, const vd_convnet *classifier,
                             const vd_outlier *outlier, const char *path, vd_error *err);

#endif
