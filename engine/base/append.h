// Texts that are put together in a buffer of fixed size.
#ifndef VD_APPEND_H
#define VD_APPEND_H

#include <stdbool.h>
#include <stddef.h>

// Appends to the text in `out` (ended by NUL; size: bytes of the buffer) what printf would write,
// cut where the buffer ends. Returns whether all of it fitted.
bool vd_append(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
