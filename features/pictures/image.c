#include "features/pictures/image.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "features/pictures/image_file.h"

enum { MAX_FILE = 1 << 29 };

vd_status vd_image_check_size(const char *path, int64_t width, int64_t height, vd_error *err)
{
    if (width >= 1 && height >= 1 && width <= VD_IMAGE_MAX_SIDE && height <= VD_IMAGE_MAX_SIDE &&
        width * height <= VD_IMAGE_MAX_PIXELS)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%s%sa picture of %" PRId64 " x %" PRId64
                        " pixels; sides of 1 to %d and %d million pixels in all are possible",
                        path, *path ? ": " : "", width, height, VD_IMAGE_MAX_SIDE,
                        VD_IMAGE_MAX_PIXELS >> 20);
}

vd_status vd_image_new_of_file(const char *path, int width, int height, vd_image *out,
                               vd_error *err)
{
    *out = (vd_image){0};
    vd_status status = vd_image_check_size(path, width, height, err);
    if (status)
        return status;
    uint8_t *rgb = vd_alloc((size_t)width * (size_t)height, 3);
    if (!rgb)
        return vd_error_memory(err, *path ? path : "a picture");
    *out = (vd_image){width, height, rgb};
    return VD_OK;
}

vd_status vd_image_new(int width, int height, vd_image *out, vd_error *err)
{
    return vd_image_new_of_file("", width, height, out, err);
}

void vd_image_clear(vd_image *image)
{
    vd_free(image->rgb);
    *image = (vd_image){0};
}

// What a file that is no readable picture looks like.
static const char *kind_of(const unsigned char *data, size_t size)
{
    static const struct {
        size_t at, length;
        const char *bytes, *kind;
    } kinds[] = {
        {0, 4, "GIF8", "a GIF picture"},
        {8, 4, "WEBP", "a WebP picture"},
        {0, 4, "II*\0", "a TIFF picture"},
        {0, 4, "MM\0*", "a TIFF picture"},
        {4, 4, "ftyp", "a HEIC, AVIF or MP4 file"},
        {0, 4, "%PDF", "a PDF document"},
        {0, 1, "<", "a text file (SVG, HTML)"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].at + kinds[i].length &&
            memcmp(data + kinds[i].at, kinds[i].bytes, kinds[i].length) == 0)
            return kinds[i].kind;
    return size == 0 ? "empty" : "not a picture";
}

static const struct {
    const char *start;
    size_t length;
    vd_image_decoder *decode;
} decoders[] = {
    {"\x89PNG\r\n\x1a\n", 8, vd_image_from_png},
    {"\xff\xd8", 2, vd_image_from_jpeg},
    {"BM", 2, vd_image_from_bmp},
    {"P5", 2, vd_image_from_pnm},
    {"P6", 2, vd_image_from_pnm},
};

const char *const vd_image_suffixes[] = {".png", ".jpg", ".jpeg", ".bmp",
                                         ".ppm", ".pgm", ".pnm",  NULL};

// By what the file starts with; NULL: it is of none of these kinds.
static vd_image_decoder *decoder_of(const unsigned char *start, size_t size)
{
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
        if (size >= decoders[i].length && memcmp(start, decoders[i].start, decoders[i].length) == 0)
            return decoders[i].decode;
    return NULL;
}

vd_status vd_image_check(const char *path, const unsigned char *start, size_t size, vd_error *err)
{
    return vd_image_is_picture(start, size)
               ? VD_OK
               : vd_error_set(
                     err, VD_FORMAT,
                     "%.400s: the file is %s; PNG, JPEG, BMP and binary PNM (P5, P6) can be read",
                     path, kind_of(start, size));
}

bool vd_image_is_picture(const unsigned char *start, size_t size)
{
    return decoder_of(start, size) != NULL;
}

static vd_status decode(const char *path, bool size_only, vd_image *out, vd_error *err)
{
    char *data;
    size_t size;
    *out = (vd_image){0};
    vd_status status = vd_file_read(path, MAX_FILE, &data, &size, err);
    const unsigned char *bytes = (const unsigned char *)data;
    if (!status)
        status = vd_image_check(path, bytes, size, err);
    if (!status)
        status = decoder_of(bytes, size)(path, bytes, size, size_only, out, err);
    vd_free(data);
    return status;
}

vd_status vd_image_size(const char *path, int *width, int *height, vd_error *err)
{
    vd_image image;
    vd_status status = decode(path, true, &image, err);
    *width = image.width;
    *height = image.height;
    vd_image_clear(&image);
    return status;
}

vd_status vd_image_read(const char *path, vd_image *out, vd_error *err)
{
    return decode(path, false, out, err);
}
