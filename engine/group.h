// Several processes that train one model: each takes its part of every step's dialogs, gradients
// and losses are summed over all. Started by mpirun (`mpirun -n 4 visdial train ...`), one process
// a rank; the MPI library is behind a plugin, visdial-mpi.so, opened only then.
#ifndef VD_GROUP_H
#define VD_GROUP_H

#include <stddef.h>

#include "engine/error.h"

enum { VD_GROUP_ABI = 1 };

typedef struct vd_group {
    int abi;        // VD_GROUP_ABI
    int rank, size; // 0 <= rank < size
    int local;      // number of this process among those of its machine: the GPU it takes
    // Sums over all processes, in place: the same numbers in every process afterwards. Every
    // process must call it, in the same order. What went wrong, or NULL.
    const char *(*sum_floats)(float *x, size_t n);
    const char *(*sum_doubles)(double *x, size_t n);
    void (*leave)(void); // when all is done; not after a failure, which ends all processes
} vd_group;

// Looked for in directories, or with NULL where plugins are (plugin.h). *out NULL: this process is
// alone. VD_UNAVAILABLE: it was started as one of several, but the
// plugin is missing or MPI does not start.
vd_status vd_group_join(const char *const *directories, const vd_group **out, vd_error *err);

#endif
