// Memory for one pass through the network: allocated step by step, freed all at once. After the
// first pass over a batch of a size nothing is allocated any more.
//
// Two kinds of memory: the host's (take, ints), and the numbers that a backend's operations read
// and write (reals, zeros, numbers, upload), which lie in the backend's memory. On the CPU, where
// `memory` is NULL or the host's, both come from the same blocks.
#ifndef VD_ARENA_H
#define VD_ARENA_H

#include <stddef.h>

#include "engine/backend/memory.h"
#include "engine/base/real.h"

typedef struct vd_arena_block vd_arena_block;

typedef struct vd_arena_chain {
    vd_arena_block *first, *now; // oldest first; the one that is allocated from
    size_t used, total;          // bytes in that one, in all blocks
} vd_arena_chain;

typedef struct vd_arena {
    vd_arena_chain host, device;
    // A device's zeroed numbers, cleared many at a time: a training step has thousands of small
    // ones. cleared: how many bytes of the block zeroed.now have been zeroed, those in use among
    // them.
    vd_arena_chain zeroed;
    size_t cleared;
    const vd_memory *memory; // of the backend; set before the first allocation
    int failed;              // an allocation failed since the last reset
} vd_arena;

// count zeroed elements, aligned to 64. On failure a NULL is returned and arena->failed set, so a
// stage may allocate several times and check once.
void *vd_arena_take(vd_arena *arena, size_t count, size_t size);
// The same without zeroing, for what is overwritten anyway.
void *vd_arena_take_raw(vd_arena *arena, size_t count, size_t size);
int *vd_arena_ints(vd_arena *arena, size_t count); // zeroed

// In the backend's memory.
void *vd_arena_numbers(vd_arena *arena, size_t count, size_t size); // not zeroed
vd_real *vd_arena_reals(vd_arena *arena, size_t count);             // not zeroed
vd_real *vd_arena_zeros(vd_arena *arena, size_t count);             // zeroed
// What host memory holds, where operations can read it: itself on the CPU, else a copy. NULL host
// stays NULL.
const void *vd_arena_upload(vd_arena *arena, const void *host, size_t count, size_t size);

// Frees everything. The memory is kept: the same allocations in the same order get the same
// addresses again.
void vd_arena_reset(vd_arena *arena);
void vd_arena_free(vd_arena *arena);

#endif
