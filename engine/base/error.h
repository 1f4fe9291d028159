// Errors: every call that can fail returns a vd_status; the text goes into a vd_error that the
// caller owns. The engine never prints, exits or aborts.
#ifndef VD_ERROR_H
#define VD_ERROR_H

#include <stdarg.h>

// code, meaning, exit code of the command line
#define VD_STATUS_LIST(X)                                                                          \
    X(VD_OK, "ok", 0)                                                                              \
    X(VD_USAGE, "invalid usage", 2)                                                                \
    X(VD_NOT_FOUND, "not found", 3)                                                                \
    X(VD_FORMAT, "damaged or unexpected data", 4)                                                  \
    X(VD_MISMATCH, "files that do not match", 5)                                                   \
    X(VD_IO, "reading or writing failed", 6)                                                       \
    X(VD_NO_MEMORY, "out of memory", 7)                                                            \
    X(VD_UNAVAILABLE, "not available on this machine", 8)                                          \
    X(VD_INTERRUPTED, "interrupted", 130)

typedef enum vd_status {
#define X(code, text, exit_code) code,
    VD_STATUS_LIST(X)
#undef X
} vd_status;

// What went wrong, for a person: which file, which place, what was found, what was expected, what
// to do. Untouched on success.
typedef struct vd_error {
    vd_status status;
    char text[768];
} vd_error;

// Fills err (may be NULL) and returns status, so that a failing function can
// `return vd_error_set(err, VD_FORMAT, "%s: ...", path)`. Over-long text is cut.
vd_status vd_error_set(vd_error *err, vd_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same for out of memory: what could not be allocated.
vd_status vd_error_memory(vd_error *err, const char *what);

int vd_status_exit_code(vd_status status);

#endif
