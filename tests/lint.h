// Forced into every file by `make lint`, never by a build: tells the analyzer, which sees one file
// at a time, that what reports an error returns the status it was given. Without it, it follows
// paths on which vd_error_memory() said VD_OK.
#ifndef VD_LINT_H
#define VD_LINT_H

#include "engine/base/error.h"

#define vd_error_set(err, status, ...) ((void)(vd_error_set)(err, status, __VA_ARGS__), (status))
#define vd_error_memory(err, what)     ((void)(vd_error_memory)(err, what), VD_NO_MEMORY)

#endif
