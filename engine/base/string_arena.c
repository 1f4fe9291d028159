#include "engine/base/string_arena.h"

#include <stdint.h>
#include <string.h>

#include "engine/base/alloc.h"

enum { FIRST_BLOCK = 1 << 12, LARGEST_BLOCK = 1 << 20, ALIGNMENT = 8 };

struct vd_string_block {
    vd_string_block *older;
    size_t used, size;
    _Alignas(ALIGNMENT) char bytes[];
};

static vd_string_block *new_block(vd_string_arena *arena, size_t size)
{
    vd_string_block *block =
        size <= SIZE_MAX - sizeof *block ? vd_alloc(1, sizeof *block + size) : NULL;
    if (!block)
        return NULL;
    block->size = size;
    block->older = arena->newest;
    arena->newest = block;
    return block;
}

static char *take(vd_string_arena *arena, size_t bytes, size_t alignment)
{
    vd_string_block *block = arena->newest;
    size_t from = block ? (block->used + alignment - 1) / alignment * alignment : 0;
    if (!block || from > block->size || block->size - from < bytes) {
        size_t size = block ? 2 * block->size : FIRST_BLOCK;
        size = size < LARGEST_BLOCK ? size : LARGEST_BLOCK;
        block = new_block(arena, bytes > size ? bytes : size);
        from = 0;
    }
    if (!block)
        return NULL;
    block->used = from + bytes;
    return block->bytes + from;
}

void *vd_string_arena_take(vd_string_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : take(arena, bytes, ALIGNMENT);
}

char *vd_string_arena_text(vd_string_arena *arena, const char *text, size_t length)
{
    char *copy = take(arena, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void vd_string_arena_clear(vd_string_arena *arena)
{
    while (arena->newest) {
        vd_string_block *block = arena->newest;
        arena->newest = block->older;
        vd_free(block);
    }
}
