// Many small things kept together and freed all at once. Internal to features/.
#ifndef VD_BASE_STRING_ARENA_H
#define VD_BASE_STRING_ARENA_H

#include <stddef.h>

typedef struct vd_pieces_block vd_pieces_block;

// Zero-initialise.
typedef struct vd_pieces {
    vd_pieces_block *newest;
} vd_pieces;

// count * size zeroed bytes, aligned to 8. NULL when memory is out.
void *vd_pieces_take(vd_pieces *pieces, size_t count, size_t size);
// A copy with a NUL behind it.
char *vd_pieces_text(vd_pieces *pieces, const char *text, size_t length);
void vd_pieces_clear(vd_pieces *pieces);

#endif
