// A string as Unicode code points, so that rules written for characters (NLTK's) can be followed
// character by character. Internal to features/.
#ifndef VD_CODEPOINTS_H
#define VD_CODEPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/error.h"

typedef struct vd_codepoints {
    int32_t *at; // owned
    size_t count, room;
} vd_codepoints;

// Makes room for at least `room` code points and empties it. False when memory is out.
bool vd_codepoints_reserve(vd_codepoints *text, size_t room);
void vd_codepoints_clear(vd_codepoints *text);

// Decodes UTF-8, with room for one code point more; VD_FORMAT, with the number of the byte, for
// text that is not valid UTF-8.
vd_status vd_codepoints_decode(vd_codepoints *text, const char *utf8, vd_error *err);
// Writes count code points as UTF-8 with a final NUL; out has room for 4 * count + 1 bytes.
// Returns the bytes written without the NUL.
size_t vd_codepoints_encode(const int32_t *at, size_t count, char *out);

// A part of a text.
typedef struct vd_codepoint_range {
    const int32_t *at;
    size_t count;
} vd_codepoint_range;

// For bsearch: a vd_codepoint_range in any case with the lower-case ASCII text that *entry, a
// const char *, points at.
int vd_codepoint_range_compare(const void *range, const void *entry);

static inline bool vd_codepoint_is_one_of(int32_t c, const char *ascii)
{
    return c > 0 && c < 0x80 && strchr(ascii, (int)c) != NULL;
}

// Of ASCII letters; others are returned as they are.
static inline int32_t vd_codepoint_lower(int32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

// What Python's regular expressions call \s, \w and \d.
bool vd_codepoint_is_space(int32_t c);
bool vd_codepoint_is_word(int32_t c);
bool vd_codepoint_is_digit(int32_t c);
bool vd_codepoint_is_letter(int32_t c); // [^\W\d], the underscore included

#endif
