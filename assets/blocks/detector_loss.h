// The parts of training the detector: its pictures (detector_augment.c), its targets for a scene,
// the loss, and what a confidence of one half should mean.
#ifndef BLOCKS_DETECTOR_LOSS_H
#define BLOCKS_DETECTOR_LOSS_H

#include <stdint.h>

#include "assets/blocks/scene.h"
#include "engine/base/error.h"
#include "engine/base/real.h"
#include "engine/base/rng.h"
#include "features/extract/convnet.h"
#include "features/extract/detect.h"

// An object as a target of the detector: pixels of the 320x240 picture.
typedef struct detector_target {
    double box[4];
    double place[2];                   // where it stands (features/extract/detect.h)
    int attribute[VD_ATTRIBUTE_KINDS]; // colour, shape, material, size
} detector_target;

// The pictures that the extractor is trained on, never twice the same: mirrored and shifted, with
// other light, tint, contrast, blur and noise.
// rgb: the scene's picture. input: as the detector reads it, (240, 320, 4). target: room for
// BLOCKS_MAX. Returns how many targets there are; what was shifted out of sight is none.
int blocks_augment(const blocks_scene *scene, const uint8_t *rgb, vd_rng *rng, vd_real *input,
                   detector_target *target);

typedef struct blocks_detector_loss {
    double heat, box, place, attributes;
} blocks_detector_loss;

// output, gradient: (60, 80, 23) of one picture; gradient is overwritten with the derivative of
// scale * (heat + box + place + attributes). The losses are added to *loss, unscaled. At most 64
// targets.
//
// heat: the focal loss of Zhou et al. 2019, eq. 1, around a Gaussian at each box centre; box: the
// sides' distances relative to the box; place: the distance; attributes: cross entropy. All but the
// first are computed at the centre's cell and, with less weight, at its neighbours, so that a peak
// one cell off is still read well.
void blocks_detection_loss(const vd_real *output, const detector_target *target, int targets,
                           double scale, vd_real *gradient, blocks_detector_loss *loss);

// weight times the cross entropy of the first `kinds` kinds of attributes; its derivative times
// scale is added to gradient, itself to *loss.
void blocks_attribute_loss(const vd_real *logit, const int *attribute, int kinds, double weight,
                           double scale, vd_real *gradient, blocks_detector_loss *loss);

// What to add to the heat's logit so that the objects found with a confidence of 0.5 or more have
// the best F1 (precision with recall), measured on scenes first .. first + count - 1 of the train
// split, which training should not have seen. pass: of one picture, for inference.
vd_status blocks_confidence_shift(vd_conv_pass *pass, uint64_t seed, int first, int count,
                                  double *shift, vd_error *err);

#endif
