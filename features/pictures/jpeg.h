// JPEG, inside of features/pictures/image.c, by libjpeg. Not by stb_image: Debian's (2022) writes
// behind its tables when a Huffman table in the file is too long, and takes what is missing for
// zeros.
#ifndef VD_PICTURES_JPEG_H
#define VD_PICTURES_JPEG_H

#include <stdbool.h>
#include <stddef.h>

#include "features/pictures/image.h"

bool vd_image_is_jpeg(const unsigned char *data, size_t size);
// Turned upright as the camera says (EXIF). path is for errors.
vd_status vd_image_from_jpeg(const char *path, const unsigned char *data, size_t size,
                             vd_image *out, vd_error *err);

// Only the sides of *out, upright, from the header; no pixels.
vd_status vd_image_jpeg_size(const char *path, const unsigned char *data, size_t size,
                             vd_image *out, vd_error *err);
#endif
