#include "tui/screen/typed.h"

#include <wchar.h>

#include "engine/base/utf8.h"
#include "tui/screen/wrap.h"

int32_t vd_typed_character(int byte, int (*next)(void), int (*back)(int))
{
    char bytes[4] = {(char)byte};
    int other = -1;
    size_t count = 1, used, all = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    while (count < all && (other = next()) >= 0x80 && other < 0xC0)
        bytes[count++] = (char)other;
    if (count < all && other >= 0)
        back(other);
    int32_t whole = vd_utf8_next(bytes, count, &used);
    if (whole >= 0)
        return whole;
    while (count > 1)
        back((unsigned char)bytes[--count]);
    wchar_t own;
    mbstate_t none = {0};
    if (mbrtowc(&own, bytes, 1, &none) == 1) // of another locale
        return (int32_t)own;
    if (other >= 0 || all == 1)
        return VD_REPLACEMENT;
    back(byte);
    return -1;
}
