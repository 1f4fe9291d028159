#include "features/image_stb.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "engine/alloc.h"
#include "features/image_file.h"

// Only the readers without tables or compression: what is left can be checked before it is read.
#define STB_IMAGE_IMPLEMENTATION
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

static bool is_bmp(const unsigned char *data, size_t size)
{
    return size >= 2 && memcmp(data, "BM", 2) == 0;
}

bool vd_image_is_simple(const unsigned char *data, size_t size)
{
    return is_bmp(data, size) ||
           (size >= 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '6'));
}

static uint32_t little_16(const unsigned char *bytes)
{
    return (uint32_t)bytes[1] << 8 | bytes[0];
}

static uint32_t little_32(const unsigned char *bytes)
{
    return little_16(bytes + 2) << 16 | little_16(bytes);
}

// stb_image takes what is behind the end of a file for zeros.
static bool bmp_is_complete(const unsigned char *data, size_t size, int width, int height)
{
    if (size < 30)
        return false;
    int64_t bits = little_16(data + (little_32(data + 14) == 12 ? 24 : 28));
    int64_t needed = little_32(data + 10) + height * ((width * bits + 31) / 32 * 4);
    return needed <= (int64_t)size;
}

// The pixels follow four words (P6, width, height, most) and one blank.
static bool pnm_is_complete(const unsigned char *data, size_t size, int width, int height,
                            int channels)
{
    size_t at = 0;
    int64_t most = 0;
    for (int word = 0; word < 4; word++) {
        while (at < size && (isspace(data[at]) || data[at] == '#'))
            if (data[at++] == '#')
                while (at < size && data[at] != '\n')
                    at++;
        most = 0;
        while (at < size && !isspace(data[at]))
            most = (most * 10 + (data[at++] - '0')) % 100000;
    }
    int64_t bytes = most > 255 ? 2 : 1;
    return at + 1 <= size && (int64_t)(size - at - 1) >= (int64_t)width * height * channels * bytes;
}

vd_status vd_image_from_simple(const char *path, const unsigned char *data, size_t size,
                               vd_image *out, vd_error *err)
{
    const char *name = is_bmp(data, size) ? "BMP" : "PNM";
    int width, height, channels;
    uint8_t *rgb = NULL;
    if (stbi_info_from_memory(data, (int)size, &width, &height, &channels)) {
        vd_image room;
        vd_status status = vd_image_new_of_file(path, width, height, &room, err); // sizes checked
        vd_image_clear(&room);
        if (status)
            return status;
        if (is_bmp(data, size) ? !bmp_is_complete(data, size, width, height)
                               : !pnm_is_complete(data, size, width, height, channels))
            return vd_error_set(err, VD_FORMAT, "%s: %s: the file is cut off after %zu bytes", path,
                                name, size);
        rgb = stbi_load_from_memory(data, (int)size, &width, &height, &channels, 3);
    }
    if (!rgb) {
        const char *reason = stbi_failure_reason();
        if (reason && strcmp(reason, "Out of memory") == 0)
            return vd_error_memory(err, path);
        return vd_error_set(err, VD_FORMAT, "%s: %s: cannot be read: %s", path, name,
                            reason ? reason : "damaged");
    }
    *out = (vd_image){width, height, rgb};
    return VD_OK;
}
