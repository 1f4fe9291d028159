// The output directory of a run, locked by one process.
#ifndef VD_RUN_DIRECTORY_H
#define VD_RUN_DIRECTORY_H

#include "engine/base/error.h"

// Locks the directory until *hold is closed; VD_USAGE if another process holds the lock. If the
// file system has no locks or the directory cannot be opened, *hold is -1.
vd_status vd_run_directory_hold(const char *out, int *hold, vd_error *err);
// Creates it if needed and locks it; VD_USAGE if it contains a run already.
vd_status vd_run_directory_make(const char *out, int *hold, vd_error *err);

#endif
