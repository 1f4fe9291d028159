// Out-of-distribution test: whether a picture looks like those that the extractor was trained on. A
// detector trained only on solids on a grey table finds solids everywhere, even in a photo of a
// dog. Seven features of a picture are compared with those of Blocks pictures by their Mahalanobis
// distance, as Lee et al. do with a network's features ("A simple unified framework for detecting
// out-of-distribution samples", NeurIPS 2018). Of the background, the area outside all confident
// regions:
//   colour   how far its channels are apart
//   table    how far it is from the mean table, which is made as bright as this picture first
//   edges    how much neighbouring pixels differ
//   light    |log| of how much brighter than the mean table it is
// and of the regions: how uncertain the confident ones are, the number of weak ones, and the number
// of confident ones. features/README.md has the results.
#ifndef VD_OUTLIER_H
#define VD_OUTLIER_H

#include <stdbool.h>

#include "engine/base/error.h"
#include "engine/base/real.h"

enum { VD_OUTLIER_FEATURES = 7, VD_OUTLIER_COLUMNS = 40, VD_OUTLIER_ROWS = 30 };
enum { VD_OUTLIER_TABLE = VD_OUTLIER_ROWS * VD_OUTLIER_COLUMNS * 3 };

typedef struct vd_outlier {
    bool known;                    // else nothing below is
    float table[VD_OUTLIER_TABLE]; // (rows, columns, 3) the mean table, red, green, blue in 0..255
    float mean[VD_OUTLIER_FEATURES];
    // (features, features) the inverse covariance, scaled: the distance of 99 % of the world's
    // pictures is below 1
    float precision[VD_OUTLIER_FEATURES * VD_OUTLIER_FEATURES];
} vd_outlier;

// The detector's input (features/extract/detect.h) and the regions found in it.
typedef struct vd_outlier_picture {
    const vd_real *input;
    const float (*box)[4]; // (count) in 0..1
    const float *confidence;
    int count;
} vd_outlier_picture;

// The seven numbers; only the table of *outlier is used.
vd_status vd_outlier_features(const vd_outlier *outlier, const vd_outlier_picture *picture,
                              double features[VD_OUTLIER_FEATURES], vd_error *err);
// Above 1: not a Blocks picture.
double vd_outlier_distance(const vd_outlier *outlier, const double features[VD_OUTLIER_FEATURES]);

// Fitting. Adds the background of a picture to the sums of the table, (rows, columns, 4): red,
// green, blue and the number of pixels.
vd_status vd_outlier_add_table(const vd_outlier_picture *picture, double *sums, vd_error *err);
// Mean and precision from the features (count, VD_OUTLIER_FEATURES) of pictures of the world.
vd_status vd_outlier_fit(vd_outlier *outlier, const double *features, int count, vd_error *err);

#endif
