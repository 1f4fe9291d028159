// A directory in which one process at a time trains.
#ifndef VD_DIRECTORY_HOLD_H
#define VD_DIRECTORY_HOLD_H

#include "engine/base/error.h"

// Locks it until vd_directory_release or the end of this process. VD_USAGE: another process has it.
// VD_OK with *hold -1 where the file system has no locks, and where the directory cannot be opened.
vd_status vd_directory_hold(const char *path, int *hold, vd_error *err);
void vd_directory_release(int hold); // -1 is fine

#endif
