// A picture in another size: the mean of the area where it shrinks, linear between two pixels where
// it grows.
#ifndef VD_PICTURES_RESAMPLE_H
#define VD_PICTURES_RESAMPLE_H

#include "features/pictures/image.h"

// Takes row y of the result: rgb of (width, 3) in 0..255, not rounded.
typedef void vd_take_row(void *context, int y, const float *rgb);

// Gives the rows of the result, from the top. width, height: at least 1. VD_FORMAT: the picture has
// no pixels.
vd_status vd_image_resample(const vd_image *image, int width, int height, vd_take_row *take,
                            void *context, vd_error *err);
// The same as a picture of its own (vd_image_clear), rounded; empty on failure.
vd_status vd_image_scale(const vd_image *image, int width, int height, vd_image *out,
                         vd_error *err);

#endif
