// The pictures that the extractor is trained on, never twice the same: mirrored and shifted, with
// other light, tint, contrast, blur and noise.
#ifndef BLOCKS_DETECTOR_AUGMENT_H
#define BLOCKS_DETECTOR_AUGMENT_H

#include <stdint.h>

#include "assets/blocks/detector_loss.h"
#include "assets/blocks/scene.h"
#include "engine/base/rng.h"

// rgb: the scene's picture. input: as the detector reads it, (240, 320, 4). target: room for
// BLOCKS_MAX. Returns how many targets there are; what was shifted out of sight is none.
int blocks_augment(const blocks_scene *scene, const uint8_t *rgb, vd_rng *rng, vd_real *input,
                   detector_target *target);

#endif
