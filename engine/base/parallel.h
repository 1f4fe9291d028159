// One function applied to many items by a few threads: pictures to make, answers to encode, dialogs
// to score.
#ifndef VD_PARALLEL_H
#define VD_PARALLEL_H

#include <stdatomic.h>
#include <stddef.h>

#include "engine/base/error.h"

// Processes one item; `worker` (0..threads - 1) says which per-thread resources it may use.
typedef vd_status (*vd_parallel_work)(void *context, int worker, size_t index, vd_error *err);
// Called on the calling thread now and then.
typedef void (*vd_parallel_report)(void *user, size_t done);

// Processes items 0..count-1, each once. The first failure ends the work and is returned, with its
// text in err; a non-zero *stop (may be NULL) ends it with VD_INTERRUPTED. report may be NULL.
vd_status vd_parallel(size_t count, int threads, vd_parallel_work work, void *context,
                      vd_parallel_report report, void *user, const atomic_int *stop, vd_error *err);

// How the caller watches and stops a long call.
typedef struct vd_watch {
    vd_parallel_report report; // may be NULL
    void *user;
    const atomic_int *stop; // may be NULL
} vd_watch;

enum { VD_THREADS = 16 }; // at most

// The processors of this machine, 1..VD_THREADS.
int vd_parallel_threads(void);

#endif
