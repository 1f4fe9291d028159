// Inside of features/image*.c.
#ifndef VD_IMAGE_FILE_H
#define VD_IMAGE_FILE_H

#include "features/pictures/image.h"

// Whether a picture of these sides may be read; path is for the error.
vd_status vd_image_check_size(const char *path, int64_t width, int64_t height, vd_error *err);
// vd_image_new with a file that errors name.
vd_status vd_image_new_of_file(const char *path, int width, int height, vd_image *out,
                               vd_error *err);

#endif
