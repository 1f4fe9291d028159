#include "features/text/codepoints.h"

#include <utf8proc.h>

#include "engine/base/alloc.h"
#include "engine/base/utf8.h"

bool vd_codepoints_reserve(vd_codepoints *text, size_t room)
{
    text->count = 0;
    if (text->at && room <= text->room)
        return true;
    vd_free(text->at);
    text->at = vd_alloc(room, sizeof *text->at);
    text->room = text->at ? room : 0;
    return text->at != NULL;
}

void vd_codepoints_clear(vd_codepoints *text)
{
    vd_free(text->at);
    *text = (vd_codepoints){0};
}

vd_status vd_codepoints_decode(vd_codepoints *text, const char *utf8, vd_error *err)
{
    size_t length = strlen(utf8);
    if (!vd_codepoints_reserve(text, length + 1))
        return vd_error_memory(err, "the characters of a text");
    for (size_t i = 0; i < length;) {
        size_t used;
        int32_t c = vd_utf8_next(utf8 + i, length - i, &used);
        if (c < 0)
            return vd_error_set(err, VD_FORMAT,
                                "text is not valid UTF-8: byte %zu is 0x%02x; save it as UTF-8",
                                i + 1, (unsigned char)utf8[i]);
        text->at[text->count++] = c;
        i += used;
    }
    return VD_OK;
}

size_t vd_codepoints_encode(const int32_t *at, size_t count, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)utf8proc_encode_char(at[i], (utf8proc_uint8_t *)out + length);
    out[length] = '\0';
    return length;
}

int vd_codepoint_range_compare(const void *range, const void *entry)
{
    const vd_codepoint_range *text = range;
    const char *other = *(const char *const *)entry;
    for (size_t i = 0; i < text->count; i++) {
        int32_t a = vd_codepoint_lower(text->at[i]), b = (unsigned char)other[i];
        if (a != b)
            return a < b ? -1 : 1;
    }
    return other[text->count] ? -1 : 0;
}

bool vd_codepoint_is_space(int32_t c)
{
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

bool vd_codepoint_is_letter(int32_t c)
{
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return vd_codepoint_is_word(c) && !vd_codepoint_is_digit(c);
}

bool vd_codepoint_is_digit(int32_t c)
{
    if (c < 0x80)
        return c >= '0' && c <= '9';
    return utf8proc_category(c) == UTF8PROC_CATEGORY_ND;
}

bool vd_codepoint_is_word(int32_t c)
{
    if (c < 0x80)
        return vd_codepoint_is_letter(c) || vd_codepoint_is_digit(c);
    utf8proc_category_t category = utf8proc_category(c);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
           (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}
