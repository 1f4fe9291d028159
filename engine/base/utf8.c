#include "engine/base/utf8.h"

#include <string.h>
#include <utf8proc.h>

int32_t vd_utf8_next(const void *text, size_t length, size_t *used)
{
    const utf8proc_uint8_t *bytes = text;
    utf8proc_int32_t code = *bytes;
    utf8proc_ssize_t own =
        code < 0x80 ? 1 : utf8proc_iterate(bytes, (utf8proc_ssize_t)length, &code);
    *used = own > 0 ? (size_t)own : 1;
    return own > 0 ? code : -1;
}

size_t vd_utf8_valid(const void *text, size_t length)
{
    const char *bytes = text;
    size_t at = 0, used;
    while (at < length) {
        uint64_t eight; // most are ASCII
        for (; length - at >= sizeof eight; at += sizeof eight) {
            memcpy(&eight, bytes + at, sizeof eight);
            if (eight & UINT64_C(0x8080808080808080))
                break;
        }
        for (int k = 0; k < 8 && at < length; k++, at += used)
            if (vd_utf8_next(bytes + at, length - at, &used) < 0)
                return at;
    }
    return at;
}

size_t vd_utf8_whole(const char *text, size_t length, size_t room)
{
    if (length <= room)
        return length;
    while (room > 0 && ((unsigned char)text[room] & 0xC0) == 0x80)
        room--;
    return room;
}
