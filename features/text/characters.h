// Characters and regular expressions as Python has them, whose rules (NLTK's) are followed.
#ifndef VD_CHARACTERS_H
#define VD_CHARACTERS_H

#include <glib.h>
#include <stdbool.h>

#include "engine/base/error.h"

// What Python's \w and \s are, whatever the version of the library takes for them; and as patterns,
// with \S. A group must not be repeated so often as a text pleases, unless possessively: the
// library gives up on a long one.
#define VD_LETTERS "\\p{L}\\p{N}_"
#define VD_SPACES                                                                                  \
    "\\t-\\r\\x1c- \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}" \
    "\\x{3000}"
#define VD_WORD      "[" VD_LETTERS "]"
#define VD_SPACE     "[" VD_SPACES "]"
#define VD_NOT_SPACE "[^" VD_SPACES "]"

// A pattern, compiled at its first use by any thread, and kept in *compiled: static, NULL at first.
GRegex *vd_pattern(GRegex **compiled, const char *pattern);
bool vd_is_space(gunichar c); // \s

// What stands for each match of a pattern. needs: characters, a byte of one of which a text must
// have for the rule to have any effect: most have few of them. NULL: none.
typedef struct vd_text_rule {
    const char *needs, *pattern, *by;
} vd_text_rule;

// Applies the rules to a text in valid UTF-8, one after the other; it becomes another (g_free).
// compiled: (count), of the patterns, static.
vd_status vd_text_rules(const vd_text_rule *rules, GRegex **compiled, size_t count, char **text,
                        vd_error *err);

// VD_FORMAT, with the number of the byte, for text that is not valid UTF-8.
vd_status vd_text_check(const char *text, vd_error *err);

#endif
