#include "engine/base/append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool vd_append(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out + used, size - used, format, arguments);
    va_end(arguments);
    return length >= 0 && (size_t)length < size - used;
}
