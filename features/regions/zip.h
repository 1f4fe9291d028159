// Single entries of zip files (npz is one). libzip is opened when the first is read: linked, it and
// libcrypto cost 8 ms at every start of the program. Each call opens the file for itself: any
// number of threads may read. Internal to features/.
#ifndef VD_ZIP_H
#define VD_ZIP_H

#include <stddef.h>

#include "engine/base/error.h"

// The first bytes of an entry, at most `size`; *got how many, *whole how many it has. VD_NOT_FOUND
// without words when there is no such entry; VD_UNAVAILABLE without libzip.
vd_status vd_zip_read(const char *path, const char *entry, void *out, size_t size, size_t *got,
                      size_t *whole, vd_error *err);

#endif
