#include "features/text/characters.h"

#include <string.h>

#include "engine/base/utf8.h"

GRegex *vd_pattern(GRegex **compiled, const char *pattern)
{
    if (g_once_init_enter(compiled))
        g_once_init_leave(compiled, g_regex_new(pattern, G_REGEX_OPTIMIZE, 0, NULL));
    return *compiled;
}

bool vd_is_space(gunichar c)
{
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

vd_status vd_text_rules(const vd_text_rule *rules, GRegex **compiled, size_t count, char **text,
                        vd_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (rules[i].needs && !strpbrk(*text, rules[i].needs))
            continue;
        GRegex *pattern = vd_pattern(&compiled[i], rules[i].pattern);
        char *other = g_regex_replace(pattern, *text, -1, 0, rules[i].by, 0, NULL);
        if (!other)
            return vd_error_memory(err, "the words of a text");
        g_free(*text);
        *text = other;
    }
    return VD_OK;
}

vd_status vd_text_check(const char *text, vd_error *err)
{
    size_t length = strlen(text), valid = vd_utf8_valid(text, length);
    return valid == length
               ? VD_OK
               : vd_error_set(err, VD_FORMAT,
                              "text is not valid UTF-8: byte %zu is 0x%02x; save it as UTF-8",
                              valid + 1, (unsigned char)text[valid]);
}
