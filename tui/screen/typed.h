// Characters from the bytes that were typed. Does not use the terminal.
#ifndef VD_TYPED_H
#define VD_TYPED_H

#include <stdint.h>

// The character that starts with this byte (0x80 to 0xFF), UTF-8 in every locale; next gives the
// bytes after it, or a negative number when none has come yet, back takes one that is none of it. A
// byte that is no start of a character, of the locale either, is VD_REPLACEMENT. -1: the rest is
// still to come, and all was taken back.
int32_t vd_typed_character(int byte, int (*next)(void), int (*back)(int));

#endif
