// The extractor: regions of a Blocks picture from its pixels alone. A small convolutional detector
// (features/extract/detect.h) finds objects with boxes, places and sizes, a classifier
// (features/extract/classify.h) predicts their colours, shapes and materials; each becomes a region
// with a feature vector. Neither uses the scene file.
//
// The vector is a contextual region feature, in the spirit of the attribute heads of bottom-up
// attention (Anderson et al. 2018): the two networks' predictions for the region, its position, and
// its surroundings. It is computed only from their probabilities, boxes and positions. Every
// channel is in 0..1 and, except the position, set to 0 below 0.1. Predictions have full weight for
// confident regions (>= 0.5) and less for the others. Relations use an object's position on the
// table, seen from the front (by the usual Blocks camera, whose parameters are in extract.c): a is
// left of b, or in front of b, by more than a margin; objects within the margin are side by side.
#ifndef VD_EXTRACT_H
#define VD_EXTRACT_H

#include "engine/base/error.h"
#include "features/extract/detect.h"
#include "features/pictures/image.h"

enum { VD_EXTRACT_MAX = 36 };

// a is left of (in front of) b when it is so by more than this, in table units.
#define VD_EXTRACT_MARGIN 0.325f

// Directions, as in "what is ... of this region".
typedef enum { VD_LEFT, VD_RIGHT, VD_FRONT, VD_BEHIND, VD_DIRECTIONS } vd_direction;

// Channels of a count, the last for "as many or more"; kinds of regions counted.
enum { VD_COUNTED = 8, VD_COUNTED_KINDS = 11 };

// The channels. 16 attributes are always colours (8), shapes (4), materials (2), sizes (2).
enum {
    VD_FEATURE_ATTRIBUTES = 0, // 16 probabilities
    // products of probabilities, the first kind's index outermost
    VD_FEATURE_COLOR_SHAPE = VD_FEATURE_ATTRIBUTES + VD_ATTRIBUTES,
    VD_FEATURE_COLOR_MATERIAL = VD_FEATURE_COLOR_SHAPE + VD_COLORS * VD_SHAPES,
    VD_FEATURE_COLOR_SIZE = VD_FEATURE_COLOR_MATERIAL + VD_COLORS * VD_MATERIALS,
    VD_FEATURE_SHAPE_MATERIAL = VD_FEATURE_COLOR_SIZE + VD_COLORS * VD_SIZES,
    VD_FEATURE_SHAPE_SIZE = VD_FEATURE_SHAPE_MATERIAL + VD_SHAPES * VD_MATERIALS,
    VD_FEATURE_MATERIAL_SIZE = VD_FEATURE_SHAPE_SIZE + VD_SHAPES * VD_SIZES,
    // right, left, near, far on the table; width and height of the box
    VD_FEATURE_POSITION = VD_FEATURE_MATERIAL_SIZE + VD_MATERIALS * VD_SIZES,
    // share of the other regions that are left of, right of, in front of, behind this one
    VD_FEATURE_SHARE = VD_FEATURE_POSITION + 6,
    // 1 or 0: leftmost, rightmost, front-most, rearmost, largest box, smallest box
    VD_FEATURE_EXTREME = VD_FEATURE_SHARE + VD_DIRECTIONS,
    VD_FEATURE_ONE = VD_FEATURE_EXTREME + 6, // always 1
    // by direction: 16 attributes of the nearest region there
    VD_FEATURE_NEAREST = VD_FEATURE_ONE + 1,
    // by direction: for each attribute, the most that any region there has of it
    VD_FEATURE_ANY = VD_FEATURE_NEAREST + VD_DIRECTIONS * VD_ATTRIBUTES,
    VD_FEATURE_CLOSEST = VD_FEATURE_ANY + VD_DIRECTIONS * VD_ATTRIBUTES, // of the nearest of all
    // share of the other regions of the same colour, shape, material, size, colour and shape
    VD_FEATURE_SAME = VD_FEATURE_CLOSEST + VD_ATTRIBUTES,
    // probability that no other has the same colour, shape, material, size
    VD_FEATURE_UNIQUE = VD_FEATURE_SAME + VD_ATTRIBUTE_KINDS + 1,
    VD_FEATURE_CONFIDENCE = VD_FEATURE_UNIQUE + VD_ATTRIBUTE_KINDS,
    VD_FEATURE_MIDDLE, // 1 in the middle of the table, 0 far from it
    // number of regions, this one included, one channel per count: of the same colour,
    // shape, material, size, of the same pair of those (in the order of the products above), of any
    // kind. In a single channel, the network's norm over regions would turn n into 1 / sqrt(n).
    VD_FEATURE_COUNT,
    // 1 when all regions of this one's colour (shape, material, size) agree in the other three
    VD_FEATURE_ALIKE = VD_FEATURE_COUNT + VD_COUNTED_KINDS * VD_COUNTED,
    VD_FEATURE_SIZE = VD_FEATURE_ALIKE + VD_ATTRIBUTE_KINDS * (VD_ATTRIBUTE_KINDS - 1) // D = 372
};

typedef struct vd_extractor vd_extractor;

// Weights from a safetensors file (assets/extractor.safetensors): for each layer of
// features/extract/detect.c "<layer>.weight" (kernel, kernel, in, out) and "<layer>.bias" (out);
// and "outlier.table", "outlier.mean", "outlier.precision" of features/extract/outlier.h, which may
// be missing. VD_NOT_FOUND or VD_IO, VD_FORMAT: a tensor is missing or has another shape.
vd_status vd_extractor_load(const char *path, vd_extractor **out, vd_error *err);
void vd_extractor_free(vd_extractor *extractor);

typedef struct vd_extraction {
    int count;                        // regions found, 1..VD_EXTRACT_MAX, by confidence
    float box[VD_EXTRACT_MAX][4];     // x1 y1 x2 y2 in 0..1
    float confidence[VD_EXTRACT_MAX]; // 0..1; >= 0.5 is a confident one
    int shape[VD_EXTRACT_MAX], color[VD_EXTRACT_MAX]; // the detector's best guess (names: scene.h)
    int material[VD_EXTRACT_MAX], size[VD_EXTRACT_MAX];
    // Where it stands, in table units: x to the right as seen, y away from the viewer.
    float x[VD_EXTRACT_MAX], y[VD_EXTRACT_MAX];
    // Distance of the picture from Blocks pictures (features/extract/outlier.h): above 1 it is not
    // one, and the regions mean nothing. 0: the extractor has no such test.
    float distance;
} vd_extraction;

// features: (VD_EXTRACT_MAX, D), zero beyond count; may be NULL. The image may have any size; it
// is resampled to 320x240. One thread at a time per extractor. (Many threads with one extractor
// each: hold OpenBLAS to one thread.)
vd_status vd_extractor_run(vd_extractor *extractor, const vd_image *image, vd_extraction *out,
                           float *features, vd_error *err);

// The features of regions found by other means (and by vd_extractor_run): `found` has count
// detections; features: (count, D).
void vd_extract_features(const vd_detection *found, int count, float *features);

// Where a detection stands on the table.
void vd_extract_place(const vd_detection *found, float *x, float *y);

#endif
