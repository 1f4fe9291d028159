// The index beside adaptive features: a Python pickle of {image id: row}, both whole numbers, as
// pickle.dump writes it with protocol 2 to 5. Read by a small machine that knows the few
// instructions such a dictionary needs; nothing else of pickle exists here, and nothing can be
// executed. Internal to features/.
#ifndef VD_PICKLE_H
#define VD_PICKLE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef struct vd_pickle_pair {
    int64_t key, value;
} vd_pickle_pair;

// *out (vd_free): the pairs in the order of the file. Errors name file and byte.
vd_status vd_pickle_read(const char *path, vd_pickle_pair **out, size_t *count, vd_error *err);

#endif
