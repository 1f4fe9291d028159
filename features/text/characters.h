// Characters and regular expressions as Python has them, whose rules (NLTK's) are followed.
#ifndef VD_CHARACTERS_H
#define VD_CHARACTERS_H

#define PCRE2_CODE_UNIT_WIDTH 8

#include <glib.h>
#include <pcre2.h>
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
// PCRE2 itself, with GLib's memory: GRegex crashes where memory is out, and may check all of a text
// again for every match in it.
pcre2_code *vd_pattern(pcre2_code **compiled, const char *pattern);
bool vd_is_space(gunichar c); // \s

// Where a group of a match begins and ends, in bytes; both -1: it has no part in it. Group 0 is all
// of the match.
enum { VD_MATCH_GROUPS = 4 };
typedef struct vd_match {
    struct {
        gssize start, stop;
    } group[VD_MATCH_GROUPS];
} vd_match;

// The first match in text [start, length), which is valid UTF-8; what is before start is looked
// back at. options: PCRE2_ANCHORED or 0. False: there is none.
bool vd_match_next(const pcre2_code *pattern, const char *text, size_t length, size_t start,
                   uint32_t options, vd_match *out);

// What stands for each match of a pattern, with $0, $1 as its groups. needs: characters, a byte of
// one of which a text must have for the rule to have any effect: most have few of them. NULL: none.
typedef struct vd_text_rule {
    const char *needs, *pattern, *by;
} vd_text_rule;

// Applies the rules to a text in valid UTF-8, one after the other; it becomes another (g_free).
// compiled: (count), of the patterns, static.
void vd_text_rules(const vd_text_rule *rules, pcre2_code **compiled, size_t count, char **text);

// The text with what `other` makes of each match (borrowed until its next call), new (g_free).
char *vd_text_replace(const pcre2_code *pattern, const char *text,
                      const char *(*other)(const char *match, const void *context),
                      const void *context);

// VD_FORMAT, with the number of the byte, for text that is not valid UTF-8.
vd_status vd_text_check(const char *text, vd_error *err);

#endif
