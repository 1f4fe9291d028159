#include "engine/arena.h"

#include <stdint.h>
#include <string.h>

#include "engine/alloc.h"

enum { ALIGNMENT = 64, SMALLEST = 1 << 16 };

struct vd_arena_block {
    vd_arena_block *next;
    size_t size;
    unsigned char *memory;
};

static int grow(vd_arena *arena, size_t bytes)
{
    size_t size = arena->total > SMALLEST ? arena->total : SMALLEST;
    if (size < bytes)
        size = bytes;
    vd_arena_block *block = vd_alloc(1, sizeof *block);
    unsigned char *memory = vd_alloc(size, 1);
    if (!block || !memory) {
        vd_free(block);
        vd_free(memory);
        return -1;
    }
    *block = (vd_arena_block){arena->block, size, memory};
    arena->block = block;
    arena->used = 0;
    arena->total += size;
    return 0;
}

void *vd_arena_take_raw(vd_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        arena->failed = 1;
        return NULL;
    }
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    if ((!arena->block || arena->block->size - arena->used < bytes) && grow(arena, bytes) != 0) {
        arena->failed = 1;
        return NULL;
    }
    void *memory = arena->block->memory + arena->used;
    arena->used += bytes;
    return memory;
}

void *vd_arena_take(vd_arena *arena, size_t count, size_t size)
{
    void *memory = vd_arena_take_raw(arena, count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

vd_real *vd_arena_reals(vd_arena *arena, size_t count)
{
    return vd_arena_take_raw(arena, count, sizeof(vd_real));
}

vd_real *vd_arena_zeros(vd_arena *arena, size_t count)
{
    return vd_arena_take(arena, count, sizeof(vd_real));
}

int *vd_arena_ints(vd_arena *arena, size_t count)
{
    return vd_arena_take(arena, count, sizeof(int));
}

static void release(vd_arena *arena)
{
    while (arena->block) {
        vd_arena_block *next = arena->block->next;
        vd_free(arena->block->memory);
        vd_free(arena->block);
        arena->block = next;
    }
    arena->used = arena->total = 0;
}

void vd_arena_reset(vd_arena *arena)
{
    if (arena->block && arena->block->next) {
        size_t total = arena->total;
        release(arena);
        // When this fails the next take tries again, piece by piece.
        (void)grow(arena, total);
    }
    arena->used = 0;
    arena->failed = 0;
}

void vd_arena_free(vd_arena *arena)
{
    release(arena);
    arena->failed = 0;
}
