// Binary PNM (P5 grey, P6 colour), inside of features/pictures/image.c: what many tools write to a
// pipe. "P6", width, height and the largest sample as words, comments from # to the end of the
// line, one blank, the samples; of two bytes, big end first, when the largest is above 255.
#ifndef VD_PICTURES_PNM_H
#define VD_PICTURES_PNM_H

#include <stdbool.h>
#include <stddef.h>

#include "features/pictures/image.h"

bool vd_image_is_pnm(const unsigned char *data, size_t size);
// path is for errors.
vd_status vd_image_from_pnm(const char *path, const unsigned char *data, size_t size, vd_image *out,
                            vd_error *err);

#endif
