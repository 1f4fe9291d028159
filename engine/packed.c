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

// Pieces of one block of ints, in the order of the header.
static int *slice(int **block, int count)
{
    int *piece = *block;
    *block += count;
    return piece;
}

static void point_in(vd_packed *p, int *block)
{
    p->start = slice(&block, p->sequences + 1);
    p->length = slice(&block, p->sequences);
    p->id = slice(&block, p->tokens);
    p->place = slice(&block, p->tokens);
    p->owner = slice(&block, p->tokens);
    p->order = slice(&block, p->sequences);
    p->active = slice(&block, p->longest + 1);
    p->offset = slice(&block, p->longest + 1);
    p->forward = slice(&block, p->tokens);
    p->backward = slice(&block, p->tokens);
}

static void fill_rows_of(vd_packed *p, const int32_t *ids, const int32_t *lengths, int width)
{
    int row = 0;
    for (int s = 0; s < p->sequences; s++) {
        p->start[s] = row;
        p->length[s] = lengths[s];
        for (int i = 0; i < lengths[s]; i++, row++) {
            p->id[row] = ids[(size_t)s * (size_t)width + (size_t)i];
            p->place[row] = i;
            p->owner[row] = s;
        }
    }
    p->start[p->sequences] = row;
}

vd_status vd_packed_make(const int32_t *ids, const int32_t *lengths, int sequences, int width,
                         vd_arena *arena, vd_packed *out, vd_error *err)
{
    vd_packed p = {.sequences = sequences}, at = {0};
    for (int s = 0; s < sequences; s++) {
        p.tokens += lengths[s];
        if (lengths[s] > p.longest)
            p.longest = lengths[s];
    }
    size_t size = 3 * (size_t)sequences + 5 * (size_t)p.tokens + 2 * (size_t)p.longest + 3;
    int *block = vd_arena_ints(arena, size);
    int *count = vd_arena_ints(arena, (size_t)p.longest + 1);
    if (arena->failed)
        return vd_error_memory(err, "packed sequences");
    point_in(&p, block);
    fill_rows_of(&p, ids, lengths, width);
    sort_by_length(&p, count);
    fill_steps(&p);
    int *copy = (int *)vd_arena_upload(arena, block, size, sizeof *block);
    if (!copy)
        return vd_error_memory(err, "packed sequences");
    at.sequences = p.sequences;
    at.tokens = p.tokens;
    at.longest = p.longest;
    point_in(&at, copy);
    p.rows = (vd_packed_rows){at.start, at.length, at.id,     at.place,   at.owner,
                              at.order, at.active, at.offset, at.forward, at.backward};
    *out = p;
    return VD_OK;
}
