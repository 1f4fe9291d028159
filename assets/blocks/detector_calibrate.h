// The last step of training the detector: what a confidence of one half should mean.
#ifndef BLOCKS_DETECTOR_CALIBRATE_H
#define BLOCKS_DETECTOR_CALIBRATE_H

#include <stdint.h>

#include "engine/base/error.h"
#include "features/extract/convnet.h"

// What to add to the heat's logit so that the objects found with a confidence of 0.5 or more have
// the best F1 (precision with recall), measured on scenes first .. first + count - 1 of the train
// split, which training should not have seen. pass: of one picture, for inference.
vd_status blocks_detector_calibrate(vd_conv_pass *pass, uint64_t seed, int first, int count,
                                    double *shift, vd_error *err);

#endif
