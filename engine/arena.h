// Memory for one pass through the network: taken piece by piece, given back all at once. After the
// first pass over a batch of a size nothing is allocated any more.
#ifndef VD_ARENA_H
#define VD_ARENA_H

#include <stddef.h>

#include "engine/real.h"

typedef struct vd_arena_block vd_arena_block;

typedef struct vd_arena {
    vd_arena_block *block; // newest first
    size_t used, total;    // bytes in the newest block, in all blocks
    int failed;            // an allocation failed since the last reset
} vd_arena;

// count zeroed elements, aligned to 64. On failure a NULL is returned and arena->failed set, so a
// stage may take several pieces and check once.
void *vd_arena_take(vd_arena *arena, size_t count, size_t size);
// The same without zeroing, for what is overwritten anyway.
void *vd_arena_take_raw(vd_arena *arena, size_t count, size_t size);
vd_real *vd_arena_reals(vd_arena *arena, size_t count); // not zeroed
vd_real *vd_arena_zeros(vd_arena *arena, size_t count); // zeroed
int *vd_arena_ints(vd_arena *arena, size_t count);      // zeroed

// Everything taken is given back; the memory is kept, as one block.
void vd_arena_reset(vd_arena *arena);
void vd_arena_free(vd_arena *arena);

#endif
