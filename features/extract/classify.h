// The classifier of the extractor: classifies each region from an enlarged crop (like the second
// stage of R-CNN; Girshick et al. 2014). The detector gives the regions' positions and the objects'
// sizes; its cells are too coarse to distinguish a small cube from a cylinder.
//
// Crop (32, 32, 4): a square around the region's box, 1.35 times as wide as its longer side,
// resampled from the 320x240 picture: red, green, blue in -1..1, and 1 inside the box, -1 outside.
// The net's output is (1, 1, 14): logits of 8 colours, 4 shapes, 2 materials, in the order of a
// detection's attributes (features/extract/detect.h).
#ifndef VD_CLASSIFY_H
#define VD_CLASSIFY_H

#include "features/extract/detect.h"

enum {
    VD_CLASSIFY_SIDE = 32,
    VD_CLASSIFY_INPUTS = 4,
    VD_CLASSIFY_CROP = VD_CLASSIFY_SIDE * VD_CLASSIFY_SIDE * VD_CLASSIFY_INPUTS,
    VD_CLASSIFY_KINDS = 3, // colour, shape, material
    VD_CLASSIFY_OUTPUTS = VD_COLORS + VD_SHAPES + VD_MATERIALS,
};

extern const vd_conv vd_classify_layer[];
extern const int vd_classify_layers;

// input: the detector's, (240, 320, 4); box: x1 y1 x2 y2 in pixels; crop: (32, 32, 4).
void vd_classify_crop(const vd_real *input, const float *box, vd_real *crop);
// crop, mirrored: (32, 32, 4).
void vd_classify_mirror(const vd_real *crop, vd_real *mirrored);
// output: (2, 14), for the crop and for its mirror image. p: the detector's probabilities; those of
// colour, shape and material become softmax((a + b) / 2 + 0.4 log p), with the two outputs a and b.
// (On 1,000 pictures the classifier alone named the shape of an object wrongly in 2.7 % of the
// pictures, with the mirror image in 1.9 %, with the detector as well in 1.5 %.)
void vd_classify_read(const vd_real *output, float p[VD_ATTRIBUTES]);

#endif
