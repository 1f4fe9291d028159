#include "engine/networks/boundaries.h"

#include "engine/base/token.h"

vd_status vd_bare_texts(vd_arena *arena, const int32_t **ids, const int32_t **lengths,
                        const int *order, int count, int width, bool all, vd_error *err)
{
    int32_t *bare = vd_arena_take(arena, (size_t)count * (size_t)width, sizeof *bare);
    int32_t *length = vd_arena_take(arena, (size_t)count, sizeof *length);
    if (!bare || !length)
        return vd_error_memory(err, "texts without boundaries");
    for (int s = 0; s < count; s++) {
        int text = order ? order[s] : s;
        const int32_t *from = *ids + (size_t)text * (size_t)width;
        int32_t *to = bare + (size_t)s * (size_t)width;
        for (int i = 0, n = (*lengths)[text]; i < n; i++)
            if (from[i] != VD_START && (from[i] != VD_END || (!all && i == n - 1)))
                to[length[s]++] = from[i];
    }
    *ids = bare;
    *lengths = length;
    return VD_OK;
}
