// Inside of features/pictures/: what image.c chooses from, a file a format. The decoders take the
// bytes of a whole file; path is for errors. *out is empty on failure. size_only: only the sides of
// *out, upright, are wanted; of a PNG or JPEG nothing but the header is decoded then.
#ifndef VD_IMAGE_FILE_H
#define VD_IMAGE_FILE_H

#include "features/pictures/image.h"

typedef vd_status vd_image_decoder(const char *path, const unsigned char *data, size_t size,
                                   bool size_only, vd_image *out, vd_error *err);
// By libpng: stb_image ignores the checksums, and a damaged picture would be shown as noise.
// Transparent pixels are blended with white.
vd_image_decoder vd_image_from_png;
// By libjpeg: Debian's stb_image (2022) writes beyond its tables when a Huffman table in the file
// is too long, and treats missing data as zeros. Rotated upright by the EXIF orientation.
vd_image_decoder vd_image_from_jpeg;
vd_image_decoder vd_image_from_bmp; // by stb_image
// Binary PNM (P5 grey, P6 colour), what many tools write to a pipe: "P6", width, height and the
// largest sample as words, comments from # to the end of the line, one blank, the samples; of two
// bytes, big end first, when the largest is above 255. Not by stb_image, which does not scale
// samples and reads beyond two-byte pixels.
vd_image_decoder vd_image_from_pnm;

// Whether a picture of these sides may be read; path is for the error.
vd_status vd_image_check_size(const char *path, int64_t width, int64_t height, vd_error *err);
// vd_image_new with a file that errors name.
vd_status vd_image_new_of_file(const char *path, int width, int height, vd_image *out,
                               vd_error *err);

#endif
