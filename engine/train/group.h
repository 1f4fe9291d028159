// Several processes that train one model: each takes its part of every step's dialogs, gradients
// and losses are summed over all. One process a rank (and a GPU), started by
//
//   mpirun -n 4 visdial train ...    the MPI library is behind a plugin, visdial-mpi.so, opened
//                                    only then
//   torchrun, srun, or by hand       RANK, WORLD_SIZE, LOCAL_RANK (as in PyTorch; srun: SLURM_*)
//                                    say who is who; the processes meet over TCP at MASTER_ADDR
//                                    (127.0.0.1), MASTER_PORT (29500), see group_tcp.h
#ifndef VD_GROUP_H
#define VD_GROUP_H

#include <stddef.h>

#include "engine/base/error.h"

enum { VD_GROUP_ABI = 2 };

typedef struct vd_group {
    int abi;          // VD_GROUP_ABI
    const char *name; // "MPI", "TCP"
    int rank, size;   // 0 <= rank < size
    int local;        // number of this process among those of its machine: the GPU it takes
    // Sums over all processes, in place: the same numbers in every process afterwards. Every
    // process must call it, in the same order. What went wrong, or NULL.
    const char *(*sum_floats)(float *x, size_t n);
    const char *(*sum_doubles)(double *x, size_t n);
    // When all is done, waiting for the others; not after a failure, which ends all processes.
    void (*leave)(void);
} vd_group;

// The plugin is looked for in directories, or with NULL where plugins are (plugin.h). *out NULL:
// this process is alone. VD_UNAVAILABLE: it was started as one of several, but the plugin is
// missing, MPI does not start, or the processes do not find each other within
// $VISDIAL_GROUP_SECONDS (120). VD_USAGE: a variable that is not a number, or a rank out of range.
vd_status vd_group_join(const char *const *directories, const vd_group **out, vd_error *err);

// All processes must have the same text (what they train on, with which settings): VD_MISMATCH in
// each of them says which one has another. `what` names it. NULL group: VD_OK.
vd_status vd_group_agree(const vd_group *group, const char *what, const char *text, vd_error *err);

// How many threads this process should use, so that those which may run on the same processors of
// one machine (mpirun may have bound each to its own) share them out; at least 1. NULL group: all
// that this process may run on. Every process must call it.
vd_status vd_group_threads(const vd_group *group, int *threads, vd_error *err);

// A number for a text, the same in every process.
double vd_group_hash(const char *text);

#endif
