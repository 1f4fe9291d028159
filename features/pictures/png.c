#include "features/pictures/image_file.h"

#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"

// State of one reading. libpng leaves by longjmp, so everything that has to be freed is
// here and not in local variables.
typedef struct png_work {
    const char *path;
    vd_error *err;
    vd_status status; // what a callback of ours refused with
    char message[128];
    png_structp png;
    png_infop info;
    const unsigned char *data; // what is left
    size_t left;
    vd_image image;
    png_bytep pixels; // with alpha, when the picture has it
    png_bytepp rows;
    bool size_only;
} png_work;

static png_voidp take(png_structp png, png_alloc_size_t size)
{
    png_work *work = png_get_mem_ptr(png);
    void *memory = vd_alloc(1, size);
    // libpng goes on without some of its memory (colour profiles); a picture read that way would
    // depend on how much memory is free.
    if (!memory)
        work->status = VD_NO_MEMORY;
    return memory;
}

static void give(png_structp png, png_voidp memory)
{
    (void)png;
    vd_free(memory);
}

static void on_error(png_structp png, png_const_charp message)
{
    png_work *work = png_get_error_ptr(png);
    snprintf(work->message, sizeof work->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static vd_status refuse(const png_work *work, const char *what)
{
    if (work->status == VD_NO_MEMORY)
        return vd_error_memory(work->err, work->path);
    return vd_error_set(work->err, VD_FORMAT, "%s: PNG: %s: %s", work->path, what, work->message);
}

// ---- reading ------------------------------------------------------------------------------------

static void read_bytes(png_structp png, png_bytep out, size_t size)
{
    png_work *work = png_get_io_ptr(png);
    if (size > work->left)
        png_error(png, "the file is cut off");
    memcpy(out, work->data, size);
    work->data += size;
    work->left -= size;
}

static void skip_what_is_not_pixels(png_structp png)
{
    static const unsigned char chunks[] = "iCCP\0tEXt\0zTXt\0iTXt\0eXIf\0sPLT\0hIST\0pCAL\0sCAL";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, chunks, sizeof chunks / 5);
}

static void ask_for_bytes_of_rgb(png_work *work)
{
    png_set_expand(work->png);
    png_set_scale_16(work->png);
    png_set_gray_to_rgb(work->png);
    png_set_interlace_handling(work->png);
    png_read_update_info(work->png, work->info);
}

static void mix_with_white(const png_work *work)
{
    size_t count = (size_t)work->image.width * (size_t)work->image.height;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *from = work->pixels + i * 4;
        unsigned alpha = from[3];
        for (int c = 0; c < 3; c++)
            work->image.rgb[i * 3 + (size_t)c] =
                (uint8_t)((from[c] * alpha + 255u * (255u - alpha) + 127u) / 255u);
    }
}

static vd_status make_room(png_work *work, size_t channels)
{
    int width = work->image.width, height = work->image.height;
    vd_status status = vd_image_new_of_file(work->path, width, height, &work->image, work->err);
    if (status)
        return status;
    work->rows = vd_alloc((size_t)height, sizeof *work->rows);
    if (channels == 4)
        work->pixels = vd_alloc((size_t)width * (size_t)height, 4);
    if (!work->rows || (channels == 4 && !work->pixels))
        return vd_error_memory(work->err, work->path);
    unsigned char *first = channels == 4 ? work->pixels : work->image.rgb;
    for (int y = 0; y < height; y++)
        work->rows[y] = first + (size_t)y * (size_t)width * channels;
    return VD_OK;
}

static vd_status decode(png_work *work)
{
    if (setjmp(png_jmpbuf(work->png)))
        return refuse(work, "cannot be read");
    png_set_read_fn(work->png, work, read_bytes);
    png_set_user_limits(work->png, INT32_MAX, INT32_MAX); // ours are checked below
    skip_what_is_not_pixels(work->png);
    png_set_crc_action(work->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT); // of any chunk
    png_read_info(work->png, work->info);
    work->image.width = (int)png_get_image_width(work->png, work->info);
    work->image.height = (int)png_get_image_height(work->png, work->info);
    work->status =
        vd_image_check_size(work->path, work->image.width, work->image.height, work->err);
    if (work->status || work->size_only)
        return work->status;
    ask_for_bytes_of_rgb(work);
    size_t channels = png_get_channels(work->png, work->info);
    if (channels != 3 && channels != 4)
        png_error(work->png, "unexpected number of colours");
    work->status = make_room(work, channels);
    if (work->status)
        return work->status;
    png_read_image(work->png, work->rows);
    png_read_end(work->png, NULL);
    if (work->status)
        return refuse(work, "");
    if (channels == 4)
        mix_with_white(work);
    return VD_OK;
}

vd_status vd_image_from_png(const char *path, const unsigned char *data, size_t size,
                            bool size_only, vd_image *out, vd_error *err)
{
    png_work work = {.path = path, .err = err, .data = data, .left = size, .size_only = size_only};
    work.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &work, on_error, on_warning, &work,
                                        take, give);
    work.info = work.png ? png_create_info_struct(work.png) : NULL;
    vd_status status = work.info ? decode(&work) : vd_error_memory(err, path);
    png_destroy_read_struct(&work.png, &work.info, NULL);
    vd_free(work.rows);
    vd_free(work.pixels);
    if (status)
        vd_image_clear(&work.image);
    *out = work.image;
    return status;
}

// ---- writing ------------------------------------------------------------------------------------

// Nothing but memory can be missing.
static vd_status to_bytes(const char *path, const vd_image *image, bool fast, unsigned char **data,
                          size_t *size, vd_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)image->width,
                     .height = (png_uint_32)image->height,
                     .format = PNG_FORMAT_RGB,
                     .flags = fast ? PNG_IMAGE_FLAG_FAST : 0};
    *size = PNG_IMAGE_PNG_SIZE_MAX(png);
    *data = vd_alloc_raw(*size);
    if (*data && png_image_write_to_memory(&png, *data, size, 0, image->rgb, 0, NULL))
        return VD_OK;
    vd_free(*data);
    *data = NULL;
    *size = 0;
    return vd_error_memory(err, path);
}

vd_status vd_image_to_png(const vd_image *image, bool fast, unsigned char **data, size_t *size,
                          vd_error *err)
{
    return to_bytes("a picture", image, fast, data, size, err);
}

vd_status vd_image_write_png(const char *path, const vd_image *image, vd_error *err)
{
    unsigned char *data;
    size_t size;
    vd_status status = to_bytes(path, image, false, &data, &size, err);
    if (status)
        return status;
    status = vd_output_file(path, data, size, err);
    vd_free(data);
    return status;
}
