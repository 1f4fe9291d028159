// Pictures: PNG, JPEG, BMP and PNM in, PNG out.
#ifndef VD_IMAGE_H
#define VD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

enum { VD_IMAGE_MAX_SIDE = 16384, VD_IMAGE_MAX_PIXELS = 1 << 27 };

typedef struct vd_image {
    int width, height;
    uint8_t *rgb; // (height, width, 3), owned
} vd_image;

// By content, not by name. A missing file is VD_NOT_FOUND, a damaged one VD_FORMAT; so is one that
// is larger than the numbers above.
vd_status vd_image_read(const char *path, vd_image *out, vd_error *err);
extern const char *const vd_image_suffixes[]; // how their files' names end, up to NULL
// Whether a file that starts so is a picture of these kinds.
bool vd_image_is_picture(const unsigned char *start, size_t size);
// VD_FORMAT says what else it is.
vd_status vd_image_check(const char *path, const unsigned char *start, size_t size, vd_error *err);
// Only how large it is, upright; of a PNG or JPEG nothing but the header is decoded.
vd_status vd_image_size(const char *path, int *width, int *height, vd_error *err);
vd_status vd_image_new(int width, int height, vd_image *out, vd_error *err);
vd_status vd_image_write_png(const char *path, const vd_image *image, vd_error *err);
// The bytes of a PNG file (vd_free); NULL and 0 on failure.
// fast: in a seventh of the time, twice as large.
vd_status vd_image_to_png(const vd_image *image, bool fast, unsigned char **data, size_t *size,
                          vd_error *err);
void vd_image_clear(vd_image *image); // frees the pixels; safe on a zeroed struct

#endif
