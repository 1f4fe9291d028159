#include "engine/packed.h"

// Counting sort by falling length keeps equal lengths in index order.
static void sort_by_length(vd_packed *p, int *count)
{
    for (int s = 0; s < p->sequences; s++)
        count[p->length[s]]++;
    int from = 0;
    for (int length = p->longest; length >= 0; length--) {
        int n = count[length];
        count[length] = from;
        from += n;
    }
    for (int s = 0; s < p->sequences; s++)
        p->order[count[p->length[s]]++] = s;
}

static void fill_steps(vd_packed *p)
{
    int row = 0;
    for (int step = 0; step < p->longest; step++) {
        p->offset[step] = row;
        int k = 0;
        for (; k < p->sequences && p->length[p->order[k]] > step; k++, row++) {
            int s = p->order[k];
            p->forward[row] = p->start[s] + step;
            p->backward[row] = p->start[s] + p->length[s] - 1 - step;
        }
        p->active[step] = k;
    }
    p->offset[p->longest] = row;
}

vd_status vd_packed_make(const int32_t *ids, const int32_t *lengths, int sequences, int width,
                         vd_arena *arena, vd_packed *out, vd_error *err)
{
    vd_packed p = {.sequences = sequences};
    p.start = vd_arena_ints(arena, (size_t)sequences + 1);
    p.length = vd_arena_ints(arena, (size_t)sequences);
    p.order = vd_arena_ints(arena, (size_t)sequences);
    if (arena->failed)
        return vd_error_memory(err, "packed sequences");
    for (int s = 0; s < sequences; s++) {
        p.start[s] = p.tokens;
        p.length[s] = lengths[s];
        p.tokens += lengths[s];
        if (lengths[s] > p.longest)
            p.longest = lengths[s];
    }
    p.start[sequences] = p.tokens;
    p.id = vd_arena_take(arena, (size_t)p.tokens, sizeof *p.id);
    p.place = vd_arena_ints(arena, (size_t)p.tokens);
    p.owner = vd_arena_ints(arena, (size_t)p.tokens);
    p.forward = vd_arena_ints(arena, (size_t)p.tokens);
    p.backward = vd_arena_ints(arena, (size_t)p.tokens);
    p.active = vd_arena_ints(arena, (size_t)p.longest + 1);
    p.offset = vd_arena_ints(arena, (size_t)p.longest + 1);
    int *count = vd_arena_ints(arena, (size_t)p.longest + 1);
    if (arena->failed)
        return vd_error_memory(err, "packed sequences");
    for (int s = 0; s < sequences; s++)
        for (int i = 0; i < p.length[s]; i++) {
            int row = p.start[s] + i;
            p.id[row] = ids[(size_t)s * (size_t)width + (size_t)i];
            p.place[row] = i;
            p.owner[row] = s;
        }
    sort_by_length(&p, count);
    fill_steps(&p);
    *out = p;
    return VD_OK;
}
