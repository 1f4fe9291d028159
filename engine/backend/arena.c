#include "engine/backend/arena.h"

#include <stdint.h>
#include <string.h>

#include "engine/base/alloc.h"

enum { ALIGNMENT = 64, SMALLEST = 1 << 16, CLEARED = 4 << 20 };

struct vd_arena_block {
    vd_arena_block *next;
    size_t size;
    unsigned char *memory; // of the chain's kind
};

// Another block, the last one.
static int grow(vd_arena_chain *chain, const vd_memory *memory, size_t bytes)
{
    size_t size = chain->total > SMALLEST ? chain->total : SMALLEST;
    if (size < bytes)
        size = bytes;
    vd_arena_block *block = vd_alloc(1, sizeof *block);
    unsigned char *taken = memory->allocate(size);
    if (!block || !taken) {
        vd_free(block);
        memory->release(taken);
        return -1;
    }
    *block = (vd_arena_block){NULL, size, taken};
    if (chain->now)
        chain->now->next = block;
    else
        chain->first = block;
    chain->now = block;
    chain->used = 0;
    chain->total += size;
    return 0;
}

// Makes the first block with room for it, of those not used up, the one to take from.
static int make_room(vd_arena_chain *chain, const vd_memory *memory, size_t bytes)
{
    while (chain->now && chain->now->size - chain->used < bytes && chain->now->next) {
        chain->now = chain->now->next;
        chain->used = 0;
    }
    return chain->now && chain->now->size - chain->used >= bytes ? 0 : grow(chain, memory, bytes);
}

static void *take(vd_arena *arena, vd_arena_chain *chain, const vd_memory *memory, size_t count,
                  size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        arena->failed = 1;
        return NULL;
    }
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    if (make_room(chain, memory, bytes) != 0) {
        arena->failed = 1;
        return NULL;
    }
    void *taken = chain->now->memory + chain->used;
    chain->used += bytes;
    if (memory->guard)
        memory->guard(taken, count * size, bytes);
    return taken;
}

static int on_host(const vd_arena *arena)
{
    return !arena->memory || arena->memory->host;
}

void *vd_arena_take_raw(vd_arena *arena, size_t count, size_t size)
{
    return take(arena, &arena->host, &vd_memory_host, count, size);
}

void *vd_arena_take(vd_arena *arena, size_t count, size_t size)
{
    void *taken = vd_arena_take_raw(arena, count, size);
    if (taken)
        memset(taken, 0, count * size);
    return taken;
}

int *vd_arena_ints(vd_arena *arena, size_t count)
{
    return vd_arena_take(arena, count, sizeof(int));
}

void *vd_arena_numbers(vd_arena *arena, size_t count, size_t size)
{
    if (on_host(arena))
        return vd_arena_take_raw(arena, count, size);
    return take(arena, &arena->device, arena->memory, count, size);
}

vd_real *vd_arena_reals(vd_arena *arena, size_t count)
{
    return vd_arena_numbers(arena, count, sizeof(vd_real));
}

// Clears what was taken of the current block, and some more.
static void clear(vd_arena *arena)
{
    const vd_arena_chain *chain = &arena->zeroed;
    size_t bytes = chain->now->size - arena->cleared;
    if (chain->used <= arena->cleared)
        return;
    if (chain->used - arena->cleared > CLEARED)
        bytes = chain->used - arena->cleared;
    else if (bytes > CLEARED)
        bytes = CLEARED;
    arena->memory->zero(chain->now->memory + arena->cleared, bytes);
    arena->cleared += bytes;
}

static vd_real *zeros_of_device(vd_arena *arena, size_t count)
{
    const vd_arena_block *before = arena->zeroed.now;
    vd_real *taken = take(arena, &arena->zeroed, arena->memory, count, sizeof *taken);
    if (!taken)
        return NULL;
    if (arena->zeroed.now != before)
        arena->cleared = 0;
    if (arena->memory->guard) // has just written to it
        arena->memory->zero(taken, count * sizeof *taken);
    else
        clear(arena);
    return taken;
}

vd_real *vd_arena_zeros(vd_arena *arena, size_t count)
{
    if (!on_host(arena))
        return zeros_of_device(arena, count);
    vd_real *taken = vd_arena_reals(arena, count);
    if (taken)
        vd_memory_host.zero(taken, count * sizeof *taken);
    return taken;
}

const void *vd_arena_upload(vd_arena *arena, const void *host, size_t count, size_t size)
{
    if (on_host(arena) || !host)
        return host;
    void *taken = vd_arena_numbers(arena, count, size);
    if (taken)
        arena->memory->upload(taken, host, count * size);
    return taken;
}

static void release(vd_arena_chain *chain, const vd_memory *memory)
{
    while (chain->first) {
        vd_arena_block *next = chain->first->next;
        memory->release(chain->first->memory);
        vd_free(chain->first);
        chain->first = next;
    }
    *chain = (vd_arena_chain){0};
}

static void reset(vd_arena_chain *chain)
{
    chain->now = chain->first;
    chain->used = 0;
}

void vd_arena_reset(vd_arena *arena)
{
    reset(&arena->host);
    reset(&arena->device);
    reset(&arena->zeroed);
    arena->cleared = 0;
    arena->failed = 0;
}

void vd_arena_free(vd_arena *arena)
{
    release(&arena->host, &vd_memory_host);
    if (!on_host(arena)) {
        release(&arena->device, arena->memory);
        release(&arena->zeroed, arena->memory);
    }
    arena->cleared = 0;
    arena->failed = 0;
}
