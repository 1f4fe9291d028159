// Several processes that train one model: each processes a part of every step's dialogs; gradients
// and losses are summed over all. One process a rank (and a GPU), started by
//
//   mpirun -n 4 visdial train ...
//   srun --mpi=pmix -n 4 visdial train ...
// MPI is used through a plugin, visdial-mpi.so, which is opened only if the launcher's environment
// says that this process is one of several.
#ifndef VD_GROUP_H
#define VD_GROUP_H

#include <stdatomic.h>
#include <stddef.h>

#include "engine/backend/backend.h"

enum { VD_GROUP_ABI = 3 };

typedef struct vd_group {
    int abi;          // VD_GROUP_ABI
    const char *name; // "MPI"
    int rank, size;   // 0 <= rank < size
    int local;        // index of this process on its machine: the GPU it uses
    // Sums over all processes, in place: the same numbers in every process afterwards. Every
    // process must call it, in the same order. Returns an error text, or NULL.
    const char *(*sum_floats)(float *x, size_t n);
    const char *(*sum_doubles)(double *x, size_t n);
    // How long sums wait from now on; by default they wait forever.
    void (*wait_with)(const vd_wait_limit *limit);
    // At the end: waits for the other processes. Not after a failure, which ends all processes.
    void (*leave)(void);
} vd_group;

// Searches for the plugin in directories, or with NULL in the default ones (plugin.h). *out NULL:
// this process is alone. VD_UNAVAILABLE: it was started as one of several, but without MPI, or the
// plugin is missing or MPI does not start. VD_USAGE: a variable that should say how many processes
// there are is not a number.
vd_status vd_group_join(const char *const *directories, const vd_group **out, vd_error *err);

// How long this process waits for the others at a sum: `seconds`, and a few seconds once a signal
// has set *stop (may be NULL), so that the processes can stop together. It must outlive all sums.
typedef struct vd_group_wait {
    double seconds;
    const atomic_int *stop;
    double signalled; // initially 0: seconds into a sum when the signal was seen
    char text[80];
    vd_wait_limit limit;
} vd_group_wait;

// For the group's sums and the backend's (NULL: only the group's). NULL group: nothing.
void vd_group_use_wait(const vd_group *group, const vd_backend *backend, vd_group_wait *wait);

// All processes must have the same text (what they train on, with which settings): otherwise
// VD_MISMATCH in every process, naming the one that differs. `what` names it. NULL group: VD_OK.
vd_status vd_group_agree(const vd_group *group, const char *what, const char *text, vd_error *err);

// How many threads this process should use, so that those which may run on the same processors of
// one machine (mpirun may have bound each to its own) share them out; at least 1. NULL group: all
// that this process may run on. Every process must call it.
vd_status vd_group_threads(const vd_group *group, int *threads, vd_error *err);

// Whether the devices of the processes sum arrays themselves (vd_devices, backend.h).
// Connects the devices if all processes can; otherwise *out is NULL in every process. `how` (of
// `room` bytes) gets a text that says how arrays are summed, and if not by the devices, why: "by
// NCCL 2.27.3 on the devices". Every process of the group must call it. VD_IO: communication
// failed.
vd_status vd_group_devices(const vd_group *group, const vd_backend *backend, const vd_devices **out,
                           char *how, size_t room, vd_error *err);

// VD_IO with what went wrong in a sum of the group; VD_OK for NULL.
vd_status vd_group_status(const char *error, vd_error *err);

#endif
