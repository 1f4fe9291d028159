// A string as Unicode code points, so that rules written for characters (NLTK's) can be followed
// character by character. Internal to features/.
#ifndef VD_RUNES_H
#define VD_RUNES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef struct vd_runes {
    int32_t *at; // owned
    size_t count, room;
} vd_runes;

// Makes room for at least `room` code points and empties it. False when memory is out.
bool vd_runes_reserve(vd_runes *runes, size_t room);
void vd_runes_clear(vd_runes *runes);

// Decodes UTF-8; text that is not valid UTF-8 is VD_FORMAT with the byte's place.
vd_status vd_runes_decode(vd_runes *runes, const char *text, vd_error *err);
// Writes count code points as UTF-8 with a final NUL; out has room for 4 * count + 1 bytes.
// Returns the bytes written without the NUL.
size_t vd_runes_encode(const int32_t *at, size_t count, char *out);

// What Python's regular expressions call \s, \w and \d.
bool vd_rune_is_space(int32_t rune);
bool vd_rune_is_word(int32_t rune);
bool vd_rune_is_digit(int32_t rune);
bool vd_rune_is_letter(int32_t rune); // [^\W\d], the underscore included

#endif
