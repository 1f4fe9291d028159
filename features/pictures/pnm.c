#include "features/pictures/image_file.h"

#include <stdint.h>

enum { NO_NUMBER = -1, LARGEST = 99999999 /* and more */ };

static bool is_blank(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

// The next word of the header as a number; *at is left on what ended it.
static int next_number(const unsigned char *data, size_t size, size_t *at)
{
    while (*at < size && (is_blank(data[*at]) || data[*at] == '#')) {
        if (data[*at] == '#')
            while (*at < size && data[*at] != '\n')
                ++*at;
        else
            ++*at;
    }
    int number = NO_NUMBER;
    for (; *at < size && data[*at] >= '0' && data[*at] <= '9'; ++*at) {
        number = (number == NO_NUMBER ? 0 : number) * 10 + (data[*at] - '0');
        number = number < LARGEST ? number : LARGEST;
    }
    return number;
}

vd_status vd_image_from_pnm(const char *path, const unsigned char *data, size_t size,
                            bool size_only, vd_image *out, vd_error *err)
{
    (void)size_only;
    *out = (vd_image){0};
    size_t at = 2;
    int width = next_number(data, size, &at), height = next_number(data, size, &at);
    int largest = next_number(data, size, &at);
    if (at >= size || !is_blank(data[at]) || largest < 1 || largest > 65535)
        return vd_error_set(err, VD_FORMAT,
                            "%s: PNM: byte %zu: expected width, height and a largest sample of 1 "
                            "to 65535",
                            path, at);
    vd_status status = vd_image_check_size(path, width, height, err);
    if (status)
        return status;
    size_t channels = data[1] == '5' ? 1 : 3, bytes = largest > 255 ? 2 : 1;
    size_t samples = (size_t)width * (size_t)height * channels;
    data += ++at;
    if (size - at < samples * bytes)
        return vd_error_set(err, VD_FORMAT,
                            "%s: PNM: the file is cut off: %zu bytes of pixels where %zu are "
                            "expected",
                            path, size - at, samples * bytes);
    status = vd_image_new_of_file(path, width, height, out, err);
    if (status)
        return status;
    for (size_t i = 0; i < samples; i++) {
        uint32_t value = bytes == 2 ? (uint32_t)data[2 * i] << 8 | data[2 * i + 1] : data[i];
        value = value > (uint32_t)largest ? (uint32_t)largest : value;
        uint8_t level = (uint8_t)((value * 255 + (uint32_t)largest / 2) / (uint32_t)largest);
        for (size_t c = 0; c < 3 / channels; c++)
            out->rgb[i * (3 / channels) + c] = level;
    }
    return VD_OK;
}
