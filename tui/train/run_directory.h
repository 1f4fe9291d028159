// The directory that a run writes to, which only one process has.
#ifndef VD_RUN_DIRECTORY_H
#define VD_RUN_DIRECTORY_H

#include "engine/base/error.h"

// Locks the directory until *hold is closed: VD_USAGE when another process has it. Where the file
// system has no locks, and where the directory cannot be opened, *hold is -1.
vd_status vd_run_directory_hold(const char *out, int *hold, vd_error *err);
// Makes it where it is not there, and locks it; VD_USAGE where it has a run already.
vd_status vd_run_directory_make(const char *out, int *hold, vd_error *err);

#endif
