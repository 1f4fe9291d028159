// UTF-8 of texts that come from files and people.
#ifndef VD_UTF8_H
#define VD_UTF8_H

#include <stddef.h>
#include <stdint.h>

// The code point at the start of text and in *used its bytes; -1 and 1 when it is not valid
// (surrogates and overlong forms are not).
int32_t vd_utf8_next(const void *text, size_t length, size_t *used);
// Bytes from the start of text that are valid: `length` when all are.
size_t vd_utf8_valid(const void *text, size_t length);
// How many bytes of text fit into `room` without a character being cut in two.
size_t vd_utf8_whole(const char *text, size_t length, size_t room);

#endif
