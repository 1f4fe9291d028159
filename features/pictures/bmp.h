// BMP, inside of features/pictures/image.c, by stb_image.
#ifndef VD_PICTURES_BMP_H
#define VD_PICTURES_BMP_H

#include <stdbool.h>
#include <stddef.h>

#include "features/pictures/image.h"

bool vd_image_is_bmp(const unsigned char *data, size_t size);
// path is for errors.
vd_status vd_image_from_bmp(const char *path, const unsigned char *data, size_t size, vd_image *out,
                            vd_error *err);

#endif
