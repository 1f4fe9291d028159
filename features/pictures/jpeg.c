#include "features/pictures/image_file.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "engine/base/alloc.h"

// A progressive file of a few bytes can ask for thousands of passes over a large picture.
enum { MOST_SCANS = 100 };

// State of one reading. libjpeg leaves by longjmp, so everything that has to be freed is here and
// not in local variables.
typedef struct jpeg_work {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf out;
    char message[JMSG_LENGTH_MAX];
    bool no_memory, damaged;
    int orientation;
    bool size_only;
    vd_image image;
    unsigned char *row; // four inks a pixel, for pictures made for print
} jpeg_work;

static void leave(j_common_ptr jpeg)
{
    jpeg_work *work = jpeg->client_data;
    work->no_memory = jpeg->err->msg_code == JERR_OUT_OF_MEMORY;
    jpeg->err->format_message(jpeg, work->message);
    longjmp(work->out, 1);
}

// Level -1 is a warning: libjpeg made up what it could not read. Those that mean lost pixels count
// as damage; the rest are small errors of a writer that other readers ignore, too.
static void on_message(j_common_ptr jpeg, int level)
{
    jpeg_work *work = jpeg->client_data;
    int code = jpeg->err->msg_code;
    bool lost = code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_JPEG_EOF ||
                code == JWRN_MUST_RESYNC;
    if (level >= 0 || !lost || work->damaged)
        return;
    work->damaged = true;
    jpeg->err->format_message(jpeg, work->message);
}

static void on_progress(j_common_ptr jpeg)
{
    jpeg_work *work = jpeg->client_data;
    if (work->jpeg.input_scan_number <= MOST_SCANS)
        return;
    snprintf(work->message, sizeof work->message, "more than %d passes", MOST_SCANS);
    longjmp(work->out, 1);
}

// ---- which way up -------------------------------------------------------------------------------

static uint32_t number(const unsigned char *bytes, int count, bool big_endian)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[big_endian ? i : count - 1 - i];
    return value;
}

// The EXIF orientation, 1..8, of an APP1 segment; 1 when there is none. Layout: "Exif\0\0",
// then a TIFF header ("II" or "MM", 42, where the directory is) and a directory of 12-byte entries.
static int orientation_of(const unsigned char *data, size_t size)
{
    if (size < 14 || memcmp(data, "Exif\0\0", 6) != 0)
        return 1;
    const unsigned char *tiff = data + 6;
    size -= 6;
    bool big = tiff[0] == 'M';
    size_t at = number(tiff + 4, 4, big);
    if (at > size || size - at < 2)
        return 1;
    uint32_t entries = number(tiff + at, 2, big);
    at += 2;
    for (uint32_t i = 0; i < entries && size - at >= 12; i++, at += 12) {
        if (number(tiff + at, 2, big) != 0x0112)
            continue;
        uint32_t value = number(tiff + at + 8, 2, big);
        return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

static int orientation(const struct jpeg_decompress_struct *jpeg)
{
    for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker; marker = marker->next) {
        int found = orientation_of(marker->data, marker->data_length);
        if (found != 1)
            return found;
    }
    return 1;
}

// Orientation 1..8: what has to be done is, in this order, swap rows and columns (5..8), mirror
// left to right, mirror top to bottom.
static vd_status turn_upright(const char *path, int orientation, vd_image *image, vd_error *err)
{
    static const struct {
        bool swap, across, down;
    } turns[9] = {[2] = {0, 1, 0}, [3] = {0, 1, 1}, [4] = {0, 0, 1}, [5] = {1, 0, 0},
                  [6] = {1, 1, 0}, [7] = {1, 1, 1}, [8] = {1, 0, 1}};
    if (orientation == 1)
        return VD_OK;
    bool swap = turns[orientation].swap;
    int width = swap ? image->height : image->width, height = swap ? image->width : image->height;
    vd_image turned;
    vd_status status = vd_image_new_of_file(path, width, height, &turned, err);
    if (status)
        return status;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int a = turns[orientation].across ? width - 1 - x : x;
            int b = turns[orientation].down ? height - 1 - y : y;
            size_t from = swap ? (size_t)a * (size_t)image->width + (size_t)b
                               : (size_t)b * (size_t)image->width + (size_t)a;
            memcpy(turned.rgb + 3 * ((size_t)y * (size_t)width + (size_t)x), image->rgb + 3 * from,
                   3);
        }
    }
    vd_image_clear(image);
    *image = turned;
    return VD_OK;
}

// ---- reading ------------------------------------------------------------------------------------

// Adobe's programs store inks the other way round.
static void inks_to_rgb(const jpeg_work *work, unsigned char *rgb)
{
    bool inverted = work->jpeg.saw_Adobe_marker;
    for (int x = 0; x < work->image.width; x++) {
        const unsigned char *ink = work->row + 4 * x;
        unsigned black = inverted ? ink[3] : 255u - ink[3];
        for (int c = 0; c < 3; c++) {
            unsigned light = inverted ? ink[c] : 255u - ink[c];
            rgb[3 * x + c] = (unsigned char)((light * black + 127u) / 255u);
        }
    }
}

static vd_status start(jpeg_work *work, const char *path, const unsigned char *data, size_t size,
                       vd_error *err)
{
    struct jpeg_decompress_struct *jpeg = &work->jpeg;
    jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xffff);
    jpeg_mem_src(jpeg, data, size);
    jpeg_read_header(jpeg, TRUE);
    work->orientation = orientation(jpeg);
    if (work->size_only) {
        bool swap = work->orientation > 4;
        work->image.width = (int)(swap ? jpeg->image_height : jpeg->image_width);
        work->image.height = (int)(swap ? jpeg->image_width : jpeg->image_height);
        return vd_image_check_size(path, work->image.width, work->image.height, err);
    }
    vd_status status = vd_image_new_of_file(path, (int)jpeg->image_width, (int)jpeg->image_height,
                                            &work->image, err);
    if (status)
        return status;
    bool inks = jpeg->num_components == 4;
    jpeg->out_color_space = inks ? JCS_CMYK : JCS_RGB;
    if (inks && !(work->row = vd_alloc(jpeg->image_width, 4)))
        return vd_error_memory(err, path);
    return VD_OK;
}

static vd_status decode(jpeg_work *work, const char *path, const unsigned char *data, size_t size,
                        vd_error *err)
{
    struct jpeg_decompress_struct *jpeg = &work->jpeg;
    if (setjmp(work->out)) {
        if (work->no_memory)
            return vd_error_memory(err, path);
        return vd_error_set(err, VD_FORMAT, "%s: JPEG: cannot be read: %s", path, work->message);
    }
    jpeg_create_decompress(jpeg);
    jpeg->progress = &work->progress;
    vd_status status = start(work, path, data, size, err);
    if (status || work->size_only)
        return status;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        unsigned char *rgb =
            work->image.rgb + (size_t)jpeg->output_scanline * jpeg->output_width * 3;
        JSAMPROW row = work->row ? work->row : rgb;
        jpeg_read_scanlines(jpeg, &row, 1);
        if (work->row)
            inks_to_rgb(work, rgb);
    }
    jpeg_finish_decompress(jpeg);
    if (work->damaged)
        return vd_error_set(err, VD_FORMAT, "%s: JPEG: damaged or cut off: %s", path,
                            work->message);
    return turn_upright(path, work->orientation, &work->image, err);
}

vd_status vd_image_from_jpeg(const char *path, const unsigned char *data, size_t size,
                             bool size_only, vd_image *out, vd_error *err)
{
    *out = (vd_image){0};
    jpeg_work *work = vd_alloc(1, sizeof *work);
    if (!work)
        return vd_error_memory(err, path);
    work->size_only = size_only;
    work->jpeg.err = jpeg_std_error(&work->errors);
    work->jpeg.client_data = work;
    work->errors.error_exit = leave;
    work->errors.emit_message = on_message;
    work->progress.progress_monitor = on_progress;
    vd_status status = decode(work, path, data, size, err);
    jpeg_destroy_decompress(&work->jpeg);
    if (status)
        vd_image_clear(&work->image);
    *out = work->image;
    vd_free(work->row);
    vd_free(work);
    return status;
}
