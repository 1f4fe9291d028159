#include "engine/base/error.h"

#include <stdio.h>

vd_status vd_error_set(vd_error *err, vd_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

vd_status vd_error_memory(vd_error *err, const char *what)
{
    return vd_error_set(err, VD_NO_MEMORY, "out of memory while allocating %s", what);
}

int vd_status_exit_code(vd_status status)
{
    static const int codes[] = {
#define X(code, text, exit_code) [code] = (exit_code),
        VD_STATUS_LIST(X)
#undef X
    };
    return (unsigned)status < sizeof codes / sizeof *codes ? codes[status] : 1;
}
