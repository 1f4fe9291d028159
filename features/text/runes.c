#include "features/text/runes.h"

#include <utf8proc.h>

#include "engine/base/alloc.h"

bool vd_runes_reserve(vd_runes *runes, size_t room)
{
    runes->count = 0;
    if (runes->at && room <= runes->room)
        return true;
    vd_free(runes->at);
    runes->at = vd_alloc(room, sizeof *runes->at);
    runes->room = runes->at ? room : 0;
    return runes->at != NULL;
}

void vd_runes_clear(vd_runes *runes)
{
    vd_free(runes->at);
    *runes = (vd_runes){0};
}

vd_status vd_runes_decode(vd_runes *runes, const char *text, vd_error *err)
{
    size_t length = strlen(text);
    if (!vd_runes_reserve(runes, length))
        return vd_error_memory(err, "the characters of a text");
    for (size_t i = 0; i < length;) {
        unsigned char first = (unsigned char)text[i];
        if (first < 0x80) {
            runes->at[runes->count++] = first;
            i++;
            continue;
        }
        utf8proc_int32_t rune;
        utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                                 (utf8proc_ssize_t)(length - i), &rune);
        if (used <= 0)
            return vd_error_set(err, VD_FORMAT,
                                "text is not valid UTF-8: byte %zu is 0x%02x; save it as UTF-8",
                                i + 1, first);
        runes->at[runes->count++] = rune;
        i += (size_t)used;
    }
    return VD_OK;
}

size_t vd_runes_encode(const int32_t *at, size_t count, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)utf8proc_encode_char(at[i], (utf8proc_uint8_t *)out + length);
    out[length] = '\0';
    return length;
}

bool vd_rune_is_space(int32_t rune)
{
    return rune == ' ' || (rune >= 9 && rune <= 13) || (rune >= 28 && rune <= 31) || rune == 0x85 ||
           rune == 0xa0 || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) || rune == 0x2028 ||
           rune == 0x2029 || rune == 0x202f || rune == 0x205f || rune == 0x3000;
}

bool vd_rune_is_letter(int32_t rune)
{
    if (rune < 0x80)
        return (rune >= 'a' && rune <= 'z') || (rune >= 'A' && rune <= 'Z') || rune == '_';
    return vd_rune_is_word(rune) && !vd_rune_is_digit(rune);
}

bool vd_rune_is_digit(int32_t rune)
{
    if (rune < 0x80)
        return rune >= '0' && rune <= '9';
    return utf8proc_category(rune) == UTF8PROC_CATEGORY_ND;
}

bool vd_rune_is_word(int32_t rune)
{
    if (rune < 0x80)
        return vd_rune_is_letter(rune) || vd_rune_is_digit(rune);
    switch (utf8proc_category(rune)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return true;
    default:
        return false;
    }
}
