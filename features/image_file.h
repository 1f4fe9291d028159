// Inside of features/image*.c.
#ifndef VD_IMAGE_FILE_H
#define VD_IMAGE_FILE_H

#include "features/image.h"

// vd_image_new with a file that errors name.
vd_status vd_image_new_of_file(const char *path, int width, int height, vd_image *out,
                               vd_error *err);

#endif
