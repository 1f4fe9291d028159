// Pictures: what is written is read back; everything damaged is refused with the file's name.
#include "features/pictures/image.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>
#include <jpeglib.h>
#include <png.h>

#define ONE_FILE "picture"

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "tests/support/one_file.h"

static long disk_room = -1; // bytes that still fit; -1 = any number

ssize_t write(int file, const void *data, size_t size)
{
    if (disk_room >= 0 && file > 2) {
        if ((long)size > disk_room) {
            errno = ENOSPC;
            return -1;
        }
        disk_room -= (long)size;
    }
    return syscall(SYS_write, file, data, size);
}

static vd_image make_picture(int width, int height)
{
    vd_image image;
    assert_int_equal(vd_image_new(width, height, &image, NULL), VD_OK);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            uint8_t *pixel = image.rgb + 3 * (y * width + x);
            pixel[0] = (uint8_t)(x * 255 / width);
            pixel[1] = (uint8_t)(y * 255 / height);
            pixel[2] = (uint8_t)((x * y) % 251);
        }
    }
    return image;
}

static vd_status read_path(void *context, vd_error *err)
{
    vd_image image;
    vd_status status = vd_image_read(context ? context : path, &image, err);
    if (status)
        assert_null(image.rgb);
    vd_image_clear(&image);
    return status;
}

enum { BASELINE, PROGRESSIVE, RESTARTS, GREY, INKS, ADOBE_INKS, JPEG_KINDS };

// Smooth, so that little is lost: red grows to the right, green downwards.
static void write_jpeg(int kind, int width, int height, int orientation)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(path, "wb");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = (unsigned)width;
    jpeg.image_height = (unsigned)height;
    int channels = kind == GREY ? 1 : kind >= INKS ? 4 : 3;
    jpeg.input_components = channels;
    jpeg.in_color_space = kind == GREY ? JCS_GRAYSCALE : kind >= INKS ? JCS_CMYK : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    jpeg.write_Adobe_marker = kind == ADOBE_INKS;
    jpeg.restart_interval = kind == RESTARTS ? 2 : 0;
    if (kind == PROGRESSIVE)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    if (orientation) {
        unsigned char exif[] =
            "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0";
        exif[25] = (unsigned char)orientation;
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, exif, sizeof exif - 1);
    }
    unsigned char *row = malloc((size_t)width * 4);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width * channels; x++) {
            int channel = x % channels, across = x / channels * 255 / width;
            int value = channel == 0 ? across : channel == 1 ? y * 255 / height : 128;
            value = channel == 3 ? 255 : value; // no black ink, as Adobe writes it
            row[x] = (unsigned char)(kind == INKS ? 255 - value : value);
        }
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    fclose(file);
}

static void png_out_is_png_in(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {3, 2}, {17, 31}, {320, 240}, {1, 16384}, {16384, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vd_image image = make_picture(sizes[i][0], sizes[i][1]), again;
        vd_error err = {0};
        assert_int_equal(vd_image_write_png(path, &image, &err), VD_OK);
        assert_int_equal(vd_image_read(path, &again, &err), VD_OK);
        assert_int_equal(again.width, image.width);
        assert_int_equal(again.height, image.height);
        assert_memory_equal(again.rgb, image.rgb, (size_t)image.width * (size_t)image.height * 3);
        vd_image_clear(&again);
        vd_image_clear(&image);
    }
    vd_image nothing = {0};
    vd_image_clear(&nothing);
    assert_int_equal(support_count_entries(directory), 1);
}

// A PNG of any kind, all samples of the row 0, then all at their largest.
static void write_png_kind(int colour_type, int depth, int interlace)
{
    enum { SIDE = 9 };
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, SIDE, SIDE, depth, colour_type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (colour_type == PNG_COLOR_TYPE_PALETTE) {
        png_color colours[16] = {{0, 0, 0}, {255, 255, 255}};
        for (int i = 2; i < 16; i++)
            colours[i] = colours[1];
        png_set_PLTE(png, info, colours, depth < 4 ? 1 << depth : 16);
    }
    png_write_info(png, info);
    unsigned char rows[SIDE][SIDE * 8];
    png_bytep pointers[SIDE];
    for (int y = 0; y < SIDE; y++) {
        unsigned char bright = depth == 8 && colour_type == PNG_COLOR_TYPE_PALETTE ? 1 : 255;
        memset(rows[y], y % 2 ? bright : 0, sizeof rows[y]);
        pointers[y] = rows[y];
    }
    png_write_image(png, pointers);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void every_kind_of_png_is_read(void **state)
{
    (void)state;
    static const int kinds[][2] = {{PNG_COLOR_TYPE_GRAY, 1},       {PNG_COLOR_TYPE_GRAY, 2},
                                   {PNG_COLOR_TYPE_GRAY, 4},       {PNG_COLOR_TYPE_GRAY, 8},
                                   {PNG_COLOR_TYPE_GRAY, 16},      {PNG_COLOR_TYPE_PALETTE, 1},
                                   {PNG_COLOR_TYPE_PALETTE, 4},    {PNG_COLOR_TYPE_PALETTE, 8},
                                   {PNG_COLOR_TYPE_RGB, 8},        {PNG_COLOR_TYPE_RGB, 16},
                                   {PNG_COLOR_TYPE_GRAY_ALPHA, 8}, {PNG_COLOR_TYPE_RGB_ALPHA, 8},
                                   {PNG_COLOR_TYPE_RGB_ALPHA, 16}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int interlace = 0; interlace < 2; interlace++) {
            write_png_kind(kinds[i][0], kinds[i][1], interlace);
            vd_image image;
            vd_error err = {0};
            assert_int_equal(vd_image_read(path, &image, &err), VD_OK);
            assert_int_equal(image.width, 9);
            for (int at = 0; at < 9 * 9 * 3; at++) {
                bool odd = at / 27 % 2 == 1;
                // Rows of alpha 0 are white, as what lies behind them.
                bool transparent = kinds[i][0] & PNG_COLOR_MASK_ALPHA;
                assert_int_equal(image.rgb[at], odd || transparent ? 255 : 0);
            }
            vd_image_clear(&image);
        }
    }
}

static void every_kind_of_jpeg_is_read(void **state)
{
    (void)state;
    enum { WIDTH = 40, HEIGHT = 30 };
    for (int kind = 0; kind < JPEG_KINDS; kind++) {
        write_jpeg(kind, WIDTH, HEIGHT, 0);
        vd_image image;
        vd_error err = {0};
        assert_int_equal(vd_image_read(path, &image, &err), VD_OK);
        assert_int_equal(image.width, WIDTH);
        assert_int_equal(image.height, HEIGHT);
        for (int at = 0; at < WIDTH * HEIGHT; at++) {
            int red = at % WIDTH * 255 / WIDTH, green = at / WIDTH * 255 / HEIGHT;
            assert_in_range(image.rgb[3 * at] + 12 - red, 0, 24);
            assert_in_range(image.rgb[3 * at + 1] + 12 - (kind == GREY ? red : green), 0, 24);
            assert_in_range(image.rgb[3 * at + 2] + 12 - (kind == GREY ? red : 128), 0, 24);
        }
        vd_image_clear(&image);
    }
}

// Red and green of the four corners, where the camera says which way is up: EXIF's own table.
static void photos_are_turned_upright(void **state)
{
    (void)state;
    enum { RED = 1, GREEN = 2 };
    static const int corners[9][4] = {
        // top left, top right, bottom left, bottom right
        [1] = {0, RED, GREEN, RED | GREEN}, [2] = {RED, 0, RED | GREEN, GREEN},
        [3] = {RED | GREEN, GREEN, RED, 0}, [4] = {GREEN, RED | GREEN, 0, RED},
        [5] = {0, GREEN, RED, RED | GREEN}, [6] = {GREEN, 0, RED | GREEN, RED},
        [7] = {RED | GREEN, RED, GREEN, 0}, [8] = {RED, RED | GREEN, 0, GREEN}};
    for (int orientation = 1; orientation <= 8; orientation++) {
        write_jpeg(BASELINE, 64, 32, orientation);
        vd_image image;
        vd_error err = {0};
        assert_int_equal(vd_image_read(path, &image, &err), VD_OK);
        assert_int_equal(image.width, orientation < 5 ? 64 : 32);
        assert_int_equal(image.height, orientation < 5 ? 32 : 64);
        int width, height;
        assert_int_equal(vd_image_size(path, &width, &height, &err), VD_OK);
        assert_true(width == image.width && height == image.height);
        const int last = image.width - 1, bottom = image.width * (image.height - 1);
        const int at[4] = {0, last, bottom, bottom + last};
        for (int i = 0; i < 4; i++) {
            const uint8_t *pixel = image.rgb + 3 * at[i];
            int seen = (pixel[0] > 127 ? RED : 0) | (pixel[1] > 127 ? GREEN : 0);
            assert_int_equal(seen, corners[orientation][i]);
        }
        vd_image_clear(&image);
    }
    write_jpeg(BASELINE, 64, 32, 9); // there is no such orientation
    assert_int_equal(read_path(NULL, NULL), VD_OK);
}

static void is_a_photo(const char *photo)
{
    vd_image image;
    vd_error err = {0};
    assert_int_equal(vd_image_read(photo, &image, &err), VD_OK);
    assert_int_equal(image.width, 640);
    assert_int_equal(image.height, 480);
    uint64_t sum = 0;
    for (int i = 0; i < 640 * 480 * 3; i++)
        sum += image.rgb[i];
    assert_in_range(sum / (640 * 480 * 3), 30, 220);
    vd_image_clear(&image);
}

static void a_picture_of_a_photos_size_is_read(void **state)
{
    (void)state;
    write_jpeg(BASELINE, 640, 480, 0);
    is_a_photo(path);
}

static void a_real_photo_is_read(void **state)
{
    (void)state;
    is_a_photo(support_shared("data/features/COCO_test2015_000000000001.jpg"));
}

static void what_cannot_be_read_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *words;
    } others[] = {
        {"", 0, "empty"},
        {"GIF89a", 6, "a GIF picture"},
        {"RIFF\0\0\0\0WEBPVP8 ", 16, "WebP"},
        {"II*\0", 4, "TIFF"},
        {"\0\0\0\x18"
         "ftypheic",
         12, "HEIC"},
        {"%PDF-1.4", 8, "PDF"},
        {"<svg>", 5, "SVG"},
        {"hello", 5, "not a picture"},
        {"\x89PNG\r\n\x1a\n", 8, "PNG"},
        {"\xff\xd8", 2, "JPEG"},
        {"\xff\xd8\xff\xe0\0\x10JFIF\0", 11, "JPEG"},
        {"BM", 2, "BMP"},
        {"P6\n2 2\n255\nabc", 14, "PNM"},
        {"P6\n99999 2\n255\n", 15, "99999"},
        {"P6\n0 2\n255\nabc", 14, "0 x 2"},
        {"P6\n-1 2\n255\nabc", 15, "PNM"},
        {"P6\n999999999999 2\n255\nabc", 25, "99999999 x 2"},
        {"P6\n1 1\n0\nabc", 12, "PNM"},
        {"P6\n1 1\n65536\nabcdef", 19, "PNM"},
        {"P6\n1 1\n255abc", 13, "PNM"},
        {"P6\n1 1 #", 8, "PNM"},
    };
    vd_error err = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        support_write_file(path, others[i].bytes, others[i].size);
        support_refused(read_path(NULL, &err), VD_FORMAT, &err, path, others[i].words, NULL);
        assert_int_equal(read_path(NULL, NULL), VD_FORMAT);
    }
    support_refused(read_path(directory, &err), VD_FORMAT, &err, directory, "directory", NULL);
    char *missing = support_join(directory, "missing.png");
    support_refused(read_path(missing, &err), VD_NOT_FOUND, &err, missing, NULL);
    char *pipe = support_join(directory, "pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    support_refused(read_path(pipe, &err), VD_FORMAT, &err, pipe, "pipe", NULL);
    free(pipe);
    free(missing);
}

// A 2 x 2 picture: red, green / blue, white.
static void bmp_and_pnm_are_read_and_refused_when_cut(void **state)
{
    (void)state;
    static const unsigned char pixels[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    unsigned char pnm[11 + 12] = "P6\n2 2\n255\n", bmp[54 + 16] = {'B', 'M', 70};
    vd_error err = {0};
    vd_image image;
    memcpy(pnm + 11, pixels, sizeof pixels);
    bmp[10] = 54;
    bmp[14] = 40;
    bmp[18] = bmp[22] = 2;
    bmp[26] = 1;
    bmp[28] = 24;
    for (int y = 0; y < 2; y++) // bottom row first, blue first, rows of 8 bytes
        for (int x = 0; x < 2; x++)
            for (int c = 0; c < 3; c++)
                bmp[54 + (1 - y) * 8 + x * 3 + c] = pixels[(y * 2 + x) * 3 + 2 - c];
    const struct {
        const unsigned char *bytes;
        size_t size;
    } files[] = {{pnm, sizeof pnm}, {bmp, sizeof bmp}};
    for (size_t i = 0; i < 2; i++) {
        support_write_file(path, files[i].bytes, files[i].size);
        assert_int_equal(vd_image_read(path, &image, &err), VD_OK);
        assert_int_equal(image.width, 2);
        assert_int_equal(image.height, 2);
        assert_memory_equal(image.rgb, pixels, sizeof pixels);
        vd_image_clear(&image);
        for (size_t cut = 2; cut < files[i].size; cut++) {
            support_write_file(path, files[i].bytes, cut);
            support_refused(vd_image_read(path, &image, &err), VD_FORMAT, &err, path, NULL);
        }
    }
}

// Samples of 16 bits, grey, comments, a largest sample that is no power of two, rows top down.
static void uncommon_bmp_and_pnm_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        uint8_t rgb[6];
    } pnm[] = {
        {"P5\n2 1\n65535\n\xff\xff\x7f\xff", 17, {255, 255, 255, 127, 127, 127}},
        {"P5 #two\n# grey\n2 1 10 \x0a\x05", 24, {255, 255, 255, 128, 128, 128}},
        {"P6\r\n1\t2\n1000\n\x03\xe8\0\0\0\0\0\0\x01\xf4\xff\xff", 25, {255, 0, 0, 0, 128, 255}},
    };
    vd_error err = {0};
    vd_image image;
    for (size_t i = 0; i < 3; i++) {
        support_write_file(path, pnm[i].bytes, pnm[i].size);
        assert_int_equal(vd_image_read(path, &image, &err), VD_OK);
        assert_memory_equal(image.rgb, pnm[i].rgb, 6);
        vd_image_clear(&image);
    }
    unsigned char bmp[54 + 16] = {
        'B', 'M', 70, [10] = 54, [14] = 40, [18] = 2, [26] = 1, [28] = 24};
    memset(bmp + 22, 0xff, 4);
    bmp[22] = 0xfe;         // -2
    bmp[54 + 2] = 255;      // the first pixel in the file is the top left one
    bmp[54 + 8 + 3] = 0x40; // and this the bottom right one
    support_write_file(path, bmp, sizeof bmp);
    assert_int_equal(vd_image_read(path, &image, &err), VD_OK);
    static const uint8_t expected[12] = {255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40};
    assert_memory_equal(image.rgb, expected, sizeof expected);
    vd_image_clear(&image);
}

static void too_large_pictures_are_refused_before_memory_is_taken(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_image image = make_picture(4, 4);
    assert_int_equal(vd_image_write_png(path, &image, &err), VD_OK);
    vd_image_clear(&image);
    size_t size;
    char *bytes = support_read_file(path, &size);
    static const uint32_t sides[][2] = {{16385, 4},      {4, 16385},     {0x7fffffff, 0x7fffffff},
                                        {0xffffffff, 1}, {16384, 16384}, {0, 4}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        for (int b = 0; b < 8; b++)
            bytes[16 + b] = (char)(sides[i][b / 4] >> (24 - 8 * (b % 4)));
        // The header's checksum, so that the size is what is refused.
        uint32_t crc = 0xffffffff;
        for (int b = 12; b < 29; b++) {
            crc ^= (unsigned char)bytes[b];
            for (int k = 0; k < 8; k++)
                crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        }
        crc = ~crc;
        for (int b = 0; b < 4; b++)
            bytes[29 + b] = (char)(crc >> (24 - 8 * b));
        support_write_file(path, bytes, size);
        support_refused(read_path(NULL, &err), VD_FORMAT, &err, path, i < 2 ? "1 to 16384" : NULL,
                        NULL);
    }
    free(bytes);
    assert_int_equal(vd_image_new(0, 1, &image, &err), VD_FORMAT);
    assert_int_equal(vd_image_new(-1, 1, &image, &err), VD_FORMAT);
    assert_int_equal(vd_image_new(16384, 16384, &image, &err), VD_FORMAT);
    assert_null(image.rgb);
}

static void refuse_truncations(void)
{
    size_t size;
    vd_error err = {0};
    assert_int_equal(read_path(NULL, &err), VD_OK);
    char *bytes = support_read_file(path, &size);
    for (size_t length = 0; length < size; length++) {
        support_write_file(path, bytes, length);
        support_refused(read_path(NULL, &err), VD_FORMAT, &err, path, NULL);
    }
    support_write_file(path, bytes, size - 1);
    support_refused(read_path(NULL, &err), VD_FORMAT, &err, path, NULL);
    free(bytes);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    vd_image image = make_picture(20, 15);
    assert_int_equal(vd_image_write_png(path, &image, NULL), VD_OK);
    vd_image_clear(&image);
    refuse_truncations();
    for (int kind = 0; kind < JPEG_KINDS; kind++) {
        write_jpeg(kind, 20, 15, 6);
        refuse_truncations();
    }
}

// Any byte of a PNG stands under a checksum: whichever changes, it is noticed, except for the name
// of a chunk that may be skipped, of which ours have none.
static void every_flipped_byte_of_a_png_is_noticed(void **state)
{
    (void)state;
    vd_image image = make_picture(20, 15);
    assert_int_equal(vd_image_write_png(path, &image, NULL), VD_OK);
    vd_image_clear(&image);
    size_t size;
    char *bytes = support_read_file(path, &size);
    for (size_t at = 0; at < size; at++) {
        vd_error err = {0};
        bytes[at] ^= 0x15;
        support_write_file(path, bytes, size);
        support_refused(read_path(NULL, &err), VD_FORMAT, &err, path, NULL);
        bytes[at] ^= 0x15;
    }
    free(bytes);
}

// Of chunks that pixels do not depend on, too: gAMA behind the header.
static void a_damaged_chunk_of_any_kind_is_noticed(void **state)
{
    (void)state;
    enum { HEADER = 33 };
    static const char gamma[] = "\0\0\0\4gAMA\0\0\xb1\x8f\x0b\xfc\x61\x05";
    vd_image image = make_picture(20, 15);
    assert_int_equal(vd_image_write_png(path, &image, NULL), VD_OK);
    vd_image_clear(&image);
    size_t size, more = sizeof gamma - 1;
    char *bytes = support_read_file(path, &size), *with = malloc(size + more);
    memcpy(with, bytes, HEADER);
    memcpy(with + HEADER, gamma, more);
    memcpy(with + HEADER + more, bytes + HEADER, size - HEADER);
    support_write_file(path, with, size + more);
    vd_error err = {0};
    assert_int_equal(read_path(NULL, &err), VD_OK);
    with[HEADER + 9] ^= 1;
    support_write_file(path, with, size + more);
    support_refused(read_path(NULL, &err), VD_FORMAT, &err, path, NULL);
    free(with);
    free(bytes);
}

static size_t damage(int rounds)
{
    size_t size, refused = 0;
    char *bytes = support_read_file(path, &size), *changed = malloc(size);
    vd_rng rng = vd_rng_seed(size, 3);
    for (int round = 0; round < rounds; round++) {
        memcpy(changed, bytes, size);
        for (int flips = 1 + vd_rng_below(&rng, 4); flips > 0; flips--)
            changed[vd_rng_below(&rng, (int)size)] = (char)vd_rng_next(&rng);
        vd_error err = {0};
        support_write_file(path, changed, size);
        vd_status status = read_path(NULL, &err);
        refused += status != VD_OK;
        if (status)
            support_refused(status, VD_FORMAT, &err, path, NULL);
    }
    free(changed);
    free(bytes);
    return refused;
}

static void random_damage_is_refused_or_read(void **state)
{
    (void)state;
    vd_image image = make_picture(8, 8);
    assert_int_equal(vd_image_write_png(path, &image, NULL), VD_OK);
    vd_image_clear(&image);
    assert_true(damage(8000) > 7900);
    write_png_kind(PNG_COLOR_TYPE_PALETTE, 4, 1);
    assert_true(damage(4000) > 3000);
    for (int kind = 0; kind < JPEG_KINDS; kind++) {
        write_jpeg(kind, 24, 24, 6);
        assert_true(damage(2000) > 200);
    }
    static const unsigned char bits[] = {1, 4, 8, 16, 24, 32};
    for (size_t i = 0; i < sizeof bits; i++) { // with zeros as palette and pixels
        int offset = 54 + (bits[i] <= 8 ? 4 << bits[i] : 0);
        unsigned char bmp[54 + 1024 + 64] = {'B', 'M', [14] = 40, [18] = 3, [22] = 3, [26] = 1};
        bmp[10] = (unsigned char)offset;
        bmp[11] = (unsigned char)(offset >> 8);
        bmp[28] = bits[i];
        support_write_file(path, bmp, sizeof bmp);
        assert_int_equal(read_path(NULL, NULL), VD_OK);
        assert_true(damage(2000) > 10);
    }
    support_write_file(path, "P5 3 2 65535 abcdefghijkl", 25);
    assert_int_equal(read_path(NULL, NULL), VD_OK);
    assert_true(damage(4000) > 1000);
}

static void a_full_disk_leaves_the_old_picture(void **state)
{
    (void)state;
    vd_image image = make_picture(200, 200);
    vd_error err = {0};
    support_write_text(path, "old");
    for (int room = 0; room < 2; room++) {
        disk_room = room * 1000;
        vd_status status = vd_image_write_png(path, &image, &err);
        disk_room = -1;
        support_refused(status, VD_IO, &err, path, "No space left", NULL);
        assert_int_equal(support_count_entries(directory), 1);
    }
    char *content = support_read_file(path, NULL);
    assert_string_equal(content, "old");
    free(content);
    support_refused(vd_image_write_png(directory, &image, &err), VD_IO, &err, directory, NULL);
    char *nowhere = support_join(directory, "missing/picture.png");
    support_refused(vd_image_write_png(nowhere, &image, &err), VD_NOT_FOUND, &err, nowhere, NULL);
    free(nowhere);
    vd_image_clear(&image);
}

static vd_status write_small(void *context, vd_error *err)
{
    return vd_image_write_png(path, context, err);
}

static vd_status encode_small(void *context, vd_error *err)
{
    unsigned char *data;
    size_t size;
    vd_status status = vd_image_to_png(context, false, &data, &size, err);
    assert_true(status ? !data && size == 0 : data && size > 0);
    vd_free(data);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    vd_image image = make_picture(20, 15);
    assert_true(support_fail_each_allocation(write_small, &image) >=
                1); // libpng's own are not ours
    assert_int_equal(support_count_entries(directory), 1);
    assert_true(support_fail_each_allocation(encode_small, &image) >= 1);
    vd_image_clear(&image);
    assert_true(support_fail_each_allocation(read_path, NULL) > 5);
    write_png_kind(PNG_COLOR_TYPE_RGB_ALPHA, 8, 1);
    assert_true(support_fail_each_allocation(read_path, NULL) > 5);
    write_jpeg(ADOBE_INKS, 20, 15, 6);
    assert_true(support_fail_each_allocation(read_path, NULL) >= 5);
}

#define PROMISE(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROMISE(png_out_is_png_in),
        PROMISE(every_kind_of_png_is_read),
        PROMISE(every_kind_of_jpeg_is_read),
        PROMISE(photos_are_turned_upright),
        PROMISE(a_picture_of_a_photos_size_is_read),
        PROMISE(a_real_photo_is_read),
        PROMISE(what_cannot_be_read_is_told),
        PROMISE(bmp_and_pnm_are_read_and_refused_when_cut),
        PROMISE(uncommon_bmp_and_pnm_are_read),
        PROMISE(too_large_pictures_are_refused_before_memory_is_taken),
        PROMISE(every_truncation_is_refused),
        PROMISE(every_flipped_byte_of_a_png_is_noticed),
        PROMISE(a_damaged_chunk_of_any_kind_is_noticed),
        PROMISE(random_damage_is_refused_or_read),
        PROMISE(a_full_disk_leaves_the_old_picture),
        PROMISE(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
