// The extractor: regions of a Blocks picture from its pixels alone. A small convolutional detector
// (CenterNet-like: Zhou, Wang, Krähenbühl, "Objects as Points", 2019) finds objects with boxes and
// attributes; each becomes a region with a feature vector. It never sees a scene file.
#ifndef VD_EXTRACT_H
#define VD_EXTRACT_H

#include "engine/error.h"
#include "features/image.h"

enum { VD_EXTRACT_MAX = 36 };

typedef struct vd_extractor vd_extractor;

// Weights from a safetensors file (assets/extractor.safetensors).
vd_status vd_extractor_load(const char *path, vd_extractor **out, vd_error *err);
void vd_extractor_free(vd_extractor *extractor);
int vd_extractor_size(const vd_extractor *extractor); // D

typedef struct vd_extraction {
    int count;                          // regions found, 1..VD_EXTRACT_MAX, by confidence
    float box[VD_EXTRACT_MAX][4];       // x1 y1 x2 y2 in 0..1
    float confidence[VD_EXTRACT_MAX];   // 0..1; >= 0.5 is a confident one
    int shape[VD_EXTRACT_MAX], color[VD_EXTRACT_MAX]; // the detector's best guess (names: scene.h)
    int material[VD_EXTRACT_MAX], size[VD_EXTRACT_MAX];
} vd_extraction;

// features: (VD_EXTRACT_MAX, D), zero beyond count. The image may have any size; it is resampled
// to 320x240. One thread at a time per extractor.
vd_status vd_extractor_run(vd_extractor *extractor, const vd_image *image, vd_extraction *out,
                           float *features, vd_error *err);

#endif
