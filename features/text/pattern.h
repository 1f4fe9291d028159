// Regular expressions over texts. Internal to features/.
#ifndef VD_PATTERN_H
#define VD_PATTERN_H

#include <glib.h>

// Python's \w and \s, whatever the version of the library takes for them.
#define VD_WORD "[\\p{L}\\p{N}_]"
#define VD_SPACE                                                                                   \
    "[\\t-\\r\\x1c- "                                                                              \
    "\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"               \
    "\\x{3000}]"

// A pattern, compiled at its first use by any thread, and kept in *compiled: static, NULL at first.
static inline GRegex *vd_pattern(GRegex **compiled, const char *pattern)
{
    if (g_once_init_enter(compiled))
        g_once_init_leave(compiled, g_regex_new(pattern, G_REGEX_OPTIMIZE, 0, NULL));
    return *compiled;
}

#endif
