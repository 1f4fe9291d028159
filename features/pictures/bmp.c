#include "features/pictures/image_file.h"

#include <stdint.h>
#include <string.h>

#include "engine/base/alloc.h"

// Only the BMP reader of stb_image: its JPEG reader writes beyond its tables, its PNM reader reads
// beyond pixels of 16 bits, and all take what is missing at the end of a file for zeros.
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_FAILURE_USERMSG
#define STBI_MAX_DIMENSIONS                   VD_IMAGE_MAX_SIDE
#define STBI_ASSERT(condition)                ((void)0)
#define STBI_MALLOC(size)                     vd_alloc(1, size)
#define STBI_REALLOC_SIZED(memory, old, size) vd_grow(memory, old, size, 1)
#define STBI_FREE(memory)                     vd_free(memory)
#include <stb/stb_image.h>

static uint32_t little_16(const unsigned char *bytes)
{
    return (uint32_t)bytes[1] << 8 | bytes[0];
}

static uint32_t little_32(const unsigned char *bytes)
{
    return little_16(bytes + 2) << 16 | little_16(bytes);
}

static bool is_complete(const unsigned char *data, size_t size, int width, int height)
{
    if (size < 30)
        return false;
    int64_t bits = little_16(data + (little_32(data + 14) == 12 ? 24 : 28));
    int64_t needed = little_32(data + 10) + height * ((width * bits + 31) / 32 * 4);
    return needed <= (int64_t)size;
}

vd_status vd_image_from_bmp(const char *path, const unsigned char *data, size_t size,
                            bool size_only, vd_image *out, vd_error *err)
{
    int width, height, channels;
    (void)size_only;
    *out = (vd_image){0};
    if (!stbi_info_from_memory(data, (int)size, &width, &height, &channels))
        goto refuse;
    // A negative height means rows from the top down.
    height = height < 0 && height >= -VD_IMAGE_MAX_SIDE ? -height : height;
    vd_status status = vd_image_check_size(path, width, height, err);
    if (status)
        return status;
    if (!is_complete(data, size, width, height))
        return vd_error_set(err, VD_FORMAT, "%s: BMP: the file is cut off after %zu bytes", path,
                            size);
    uint8_t *rgb = stbi_load_from_memory(data, (int)size, &width, &height, &channels, 3);
    if (!rgb)
        goto refuse;
    *out = (vd_image){width, height, rgb};
    return VD_OK;
refuse:
    if (strcmp(stbi_failure_reason(), "Out of memory") == 0)
        return vd_error_memory(err, path);
    return vd_error_set(err, VD_FORMAT, "%s: BMP: cannot be read: %s", path, stbi_failure_reason());
}
