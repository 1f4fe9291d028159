// Many small strings and structs, allocated together and freed all at once.
#ifndef VD_BASE_STRING_ARENA_H
#define VD_BASE_STRING_ARENA_H

#include <stddef.h>

typedef struct vd_string_block vd_string_block;

// Zero-initialise.
typedef struct vd_string_arena {
    vd_string_block *newest;
} vd_string_arena;

// count * size zeroed bytes, aligned to 8. NULL when memory is out.
void *vd_string_arena_take(vd_string_arena *arena, size_t count, size_t size);
// A copy that ends with a NUL.
char *vd_string_arena_text(vd_string_arena *arena, const char *text, size_t length);
void vd_string_arena_clear(vd_string_arena *arena);

#endif
