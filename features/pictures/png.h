// PNG, inside of features/pictures/image.c. libpng reads it, too, and not stb_image, which ignores
// the checksums: a damaged picture would be shown as noise and not refused.
#ifndef VD_PICTURES_PNG_H
#define VD_PICTURES_PNG_H

#include <stdbool.h>
#include <stddef.h>

#include "features/pictures/image.h"

bool vd_image_is_png(const unsigned char *data, size_t size);
// Colours behind transparent pixels are mixed with white. path is for errors.
vd_status vd_image_from_png(const char *path, const unsigned char *data, size_t size, vd_image *out,
                            vd_error *err);

#endif
