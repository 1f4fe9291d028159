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

const char *vd_status_text(vd_status status)
{
    switch (status) {
#define X(code, text, exit_code)                                                                   \
    case code:                                                                                     \
        return text;
        VD_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

int vd_status_exit_code(vd_status status)
{
    switch (status) {
#define X(code, text, exit_code)                                                                   \
    case code:                                                                                     \
        return exit_code;
        VD_STATUS_LIST(X)
#undef X
    }
    return 1;
}
