#include "features/image.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "engine/alloc.h"
#include "engine/file.h"
#include "features/image_png.h"

// stb_image, without the formats that either need no reading here (PNG is libpng's) or whose
// readers have a history of unfixed faults (GIF, PSD, PIC, HDR, TGA).
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_FAILURE_USERMSG
#define STBI_MAX_DIMENSIONS                   VD_IMAGE_MAX_SIDE
#define STBI_ASSERT(condition)                ((void)0)
#define STBI_MALLOC(size)                     vd_alloc(1, size)
#define STBI_REALLOC_SIZED(memory, old, size) vd_grow(memory, old, size, 1)
#define STBI_FREE(memory)                     vd_free(memory)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

enum { MAX_FILE = 1 << 29 };

static vd_status check_size(const char *path, int64_t width, int64_t height, vd_error *err)
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

vd_status vd_image_new(int width, int height, vd_image *out, vd_error *err)
{
    *out = (vd_image){0};
    vd_status status = check_size("", width, height, err);
    if (status)
        return status;
    uint8_t *rgb = vd_alloc((size_t)width * (size_t)height, 3);
    if (!rgb)
        return vd_error_memory(err, "a picture");
    *out = (vd_image){width, height, rgb};
    return VD_OK;
}

void vd_image_clear(vd_image *image)
{
    vd_free(image->rgb);
    *image = (vd_image){0};
}

// ---- is a picture complete?
// ---------------------------------------------------------------------- stb_image takes what is
// behind the end of the file for zeros.

static uint32_t big_16(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t little_16(const unsigned char *bytes)
{
    return (uint32_t)bytes[1] << 8 | bytes[0];
}

static uint32_t little_32(const unsigned char *bytes)
{
    return little_16(bytes + 2) << 16 | little_16(bytes);
}

// Follows the segments to the end-of-image mark; false when the data stops before it.
static bool jpeg_is_complete(const unsigned char *data, size_t size)
{
    size_t at = 2;
    while (at + 1 < size) {
        if (data[at] != 0xff) { // entropy-coded data, or bytes a writer left between segments
            at++;
            continue;
        }
        unsigned mark = data[at + 1];
        if (mark == 0xd9)
            return true;
        if (mark == 0xff) { // fill byte
            at++;
        } else if (mark == 0 || mark == 1 || (mark >= 0xd0 && mark <= 0xd8)) { // without length
            at += 2;
        } else {
            if (at + 3 >= size)
                return false;
            at += 2 + big_16(data + at + 2);
        }
    }
    return false;
}

static bool bmp_is_complete(const unsigned char *data, size_t size)
{
    if (size < 30)
        return false;
    bool old = little_32(data + 14) == 12;
    int64_t width = old ? little_16(data + 18) : (int64_t)(int32_t)little_32(data + 18);
    int64_t height = old ? little_16(data + 20) : (int64_t)(int32_t)little_32(data + 22);
    int64_t bits = little_16(data + (old ? 24 : 28));
    height = height < 0 ? -height : height;
    if (width < 1 || width > VD_IMAGE_MAX_SIDE || height > VD_IMAGE_MAX_SIDE)
        return true; // not for this reason refused
    int64_t needed = little_32(data + 10) + height * ((width * bits + 31) / 32 * 4);
    return needed <= (int64_t)size;
}

// ---- reading
// -------------------------------------------------------------------------------------

static bool starts_with(const unsigned char *data, size_t size, const char *text, size_t length)
{
    return size >= length && memcmp(data, text, length) == 0;
}

// What a file that is no readable picture looks like.
static const char *kind_of(const unsigned char *data, size_t size)
{
    if (starts_with(data, size, "GIF8", 4))
        return "a GIF picture";
    if (size >= 12 && starts_with(data, size, "RIFF", 4) && memcmp(data + 8, "WEBP", 4) == 0)
        return "a WebP picture";
    if (starts_with(data, size, "II*\0", 4) || starts_with(data, size, "MM\0*", 4))
        return "a TIFF picture";
    if (size >= 8 && memcmp(data + 4, "ftyp", 4) == 0)
        return "a HEIC, AVIF or MP4 file";
    if (starts_with(data, size, "%PDF", 4))
        return "a PDF document";
    if (starts_with(data, size, "<", 1))
        return "a text file (SVG, HTML)";
    return size == 0 ? "empty" : "of an unknown kind";
}

static vd_status decode(const char *path, const unsigned char *data, size_t size, vd_image *out,
                        vd_error *err)
{
    if (vd_image_is_png(data, size))
        return vd_image_from_png(path, data, size, out, err);
    bool jpeg = starts_with(data, size, "\xff\xd8", 2), bmp = starts_with(data, size, "BM", 2);
    bool pnm = starts_with(data, size, "P5", 2) || starts_with(data, size, "P6", 2);
    if (!jpeg && !bmp && !pnm)
        return vd_error_set(err, VD_FORMAT,
                            "%s: the file is %s; PNG, JPEG, BMP and PNM pictures "
                            "can be read",
                            path, kind_of(data, size));
    const char *name = jpeg ? "JPEG" : bmp ? "BMP" : "PNM";
    int width, height, channels;
    if (!stbi_info_from_memory(data, (int)size, &width, &height, &channels))
        goto refuse;
    vd_status status = check_size(path, width, height, err);
    if (status)
        return status;
    if ((jpeg && !jpeg_is_complete(data, size)) || (bmp && !bmp_is_complete(data, size)))
        return vd_error_set(err, VD_FORMAT, "%s: %s: the file is cut off after %zu bytes", path,
                            name, size);
    uint8_t *rgb = stbi_load_from_memory(data, (int)size, &width, &height, &channels, 3);
    if (!rgb)
        goto refuse;
    *out = (vd_image){width, height, rgb};
    return VD_OK;
refuse:
    if (strcmp(stbi_failure_reason(), "Out of memory") == 0)
        return vd_error_memory(err, path);
    return vd_error_set(err, VD_FORMAT, "%s: %s: cannot be read: %s", path, name,
                        stbi_failure_reason());
}

vd_status vd_image_read(const char *path, vd_image *out, vd_error *err)
{
    *out = (vd_image){0};
    char *data;
    size_t size;
    vd_status status = vd_file_read(path, MAX_FILE, &data, &size, err);
    if (status)
        return status;
    status = decode(path, (const unsigned char *)data, size, out, err);
    vd_free(data);
    return status;
}
