// The detector inside the extractor: which objects are where, as points (Zhou, Wang, Krähenbühl,
// "Objects as Points", 2019). This header is what inference and training agree on.
//
// Picture (240, 320, 4): red, green, blue in -1..1 and the row's height in -1..1 (the table's
// perspective makes size depend on it). The net's output is (60, 80, 23), one cell per 4x4 pixels:
//   heat       logit of "the centre of an object's visible box lies in this cell"
//   box        distances from the cell's centre to left, top, right, bottom, in units of 32 pixels
//   place      from the cell's centre to where it stands, in units of 32 pixels: across, its
//              middle; down, the point of the table under its middle (hidden or not), which tells
//              how near it is
//   attributes logits of 8 colours, 4 shapes, 2 materials, 2 sizes
#ifndef VD_DETECT_H
#define VD_DETECT_H

#include "engine/base/error.h"
#include "features/extract/convnet.h"
#include "features/pictures/image.h"

enum {
    VD_DETECT_WIDTH = 320,
    VD_DETECT_HEIGHT = 240,
    VD_DETECT_STRIDE = 4,
    VD_DETECT_COLUMNS = VD_DETECT_WIDTH / VD_DETECT_STRIDE,
    VD_DETECT_ROWS = VD_DETECT_HEIGHT / VD_DETECT_STRIDE,
    VD_DETECT_INPUTS = 4,
    VD_DETECT_UNIT = 32, // pixels per unit of a distance
    // output channels
    VD_DETECT_HEAT = 0,
    VD_DETECT_BOX = 1,
    VD_DETECT_PLACE = 5,
    VD_DETECT_ATTRIBUTES = 7,
    VD_DETECT_OUTPUTS = 23,
    // attributes
    VD_COLORS = 8,
    VD_SHAPES = 4,
    VD_MATERIALS = 2,
    VD_SIZES = 2,
    VD_ATTRIBUTES = VD_COLORS + VD_SHAPES + VD_MATERIALS + VD_SIZES,
    VD_ATTRIBUTE_KINDS = 4,
};

// Where each kind of attribute starts among the 16 and how many it has: colour, shape, material,
// size.
extern const int vd_attribute_first[VD_ATTRIBUTE_KINDS];
extern const int vd_attribute_count[VD_ATTRIBUTE_KINDS];

extern const vd_conv vd_detect_layer[];
extern const int vd_detect_layers;

typedef struct vd_detection {
    float box[4];   // x1 y1 x2 y2 in pixels of the 320x240 picture
    float place[2]; // across, down, in the same pixels; may lie outside
    float confidence;
    float p[VD_ATTRIBUTES]; // each kind sums to 1
} vd_detection;

// Resamples (area where it shrinks, bilinear where it grows) and scales to the net's input.
vd_status vd_detect_input(const vd_image *image, vd_real *input, vd_error *err);
// The same for a 320x240 picture of packed RGB bytes.
void vd_detect_input_bytes(const uint8_t *rgb, vd_real *input);

// Peaks of the heat above `threshold`, without duplicates, by falling confidence; at most `max`.
// At least one when max >= 1: the best, however weak. Returns how many.
int vd_detect_decode(const vd_real *output, float threshold, int max, vd_detection *found);

// Softmax of one kind's logits: those of a kind, and its p, start at vd_attribute_first of both.
void vd_attribute_softmax(const vd_real *logits, int kind, float *p);

float vd_box_overlap(const float *a, const float *b); // intersection over union

// NaN becomes low.
static inline float vd_between(float value, float low, float high)
{
    return value > low ? (value < high ? value : high) : low;
}

#endif
