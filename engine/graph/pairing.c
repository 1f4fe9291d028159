#include "engine/graph/pairing.h"

#include <string.h>

static int keys_of(const vd_pair_group *g)
{
    return g->key[0].count + g->key[1].count;
}

static int stride_of(const vd_pair_group *g)
{
    return g->stride > keys_of(g) ? g->stride : keys_of(g);
}

// Places the groups' matrices one after the other; how many pairs there are, -1 for too many.
static int set_offsets(vd_pair_group *group, int count, bool *padded)
{
    int pairs = 0;
    for (int i = 0; i < count; i++) {
        int n;
        group[i].at = pairs;
        *padded |= stride_of(&group[i]) > keys_of(&group[i]);
        if (__builtin_mul_overflow(group[i].query.count, stride_of(&group[i]), &n) ||
            __builtin_add_overflow(pairs, n, &pairs))
            return -1;
    }
    return pairs;
}

// Whether b goes on below a: then they are one block. grows: b may have more keys. That is for the
// second range, behind which a row has room; behind the first is the second.
static bool goes_on(const vd_pair_block *a, const vd_pair_block *b, bool grows)
{
    return a->key.first == b->key.first &&
           (grows ? a->key.count <= b->key.count : a->key.count == b->key.count) &&
           a->stride == b->stride && a->query.first + a->query.count == b->query.first &&
           a->at + a->query.count * a->stride == b->at;
}

static int list_blocks(const vd_pairing *p, vd_pair_block *block)
{
    int count = 0, last[2] = {-1, -1};
    for (const vd_pair_group *g = p->group; g < p->group + p->count; g++)
        for (int r = 0, at = g->at; r < 2; at += g->key[r++].count) {
            const vd_pair_block b = {g->query, g->key[r], at, stride_of(g)};
            if (g->query.count <= 0 || g->key[r].count <= 0)
                continue;
            if (last[r] >= 0 && goes_on(&block[last[r]], &b, r == 1)) {
                vd_pair_block *whole = &block[last[r]];
                whole->query.count += b.query.count;
                whole->key.count = b.key.count;
            } else {
                last[r] = count;
                block[count++] = b;
            }
        }
    return count;
}

// A block's wave is the first in which none of its rows is taken.
static vd_status make_waves(vd_arena *arena, const vd_pair_block *block, int blocks, bool by_key,
                            int rows, vd_waves *waves)
{
    int *first = vd_arena_ints(arena, (size_t)rows), *wave = vd_arena_ints(arena, (size_t)blocks);
    waves->block = vd_arena_take_raw(arena, (size_t)blocks, sizeof *waves->block);
    if (arena->failed)
        return VD_NO_MEMORY;
    for (int i = 0; i < blocks; i++) {
        vd_range r = by_key ? block[i].key : block[i].query;
        for (int k = r.first; k < r.first + r.count; k++)
            wave[i] = first[k] > wave[i] ? first[k] : wave[i];
        for (int k = r.first; k < r.first + r.count; k++)
            first[k] = wave[i] + 1;
        waves->count = wave[i] + 1 > waves->count ? wave[i] + 1 : waves->count;
    }
    waves->start = vd_arena_ints(arena, (size_t)waves->count + 2);
    if (!waves->start)
        return VD_NO_MEMORY;
    int *end = waves->start + 1; // of a wave's next block, then where the wave after begins
    for (int i = 0; i < blocks; i++)
        end[wave[i] + 1]++;
    for (int w = 1; w <= waves->count; w++)
        end[w] += end[w - 1];
    for (int i = 0; i < blocks; i++)
        waves->block[end[wave[i]]++] = block[i];
    return VD_OK;
}

static void fill_lists(const vd_pairing *p, int *query, int *key, int *group_of)
{
    for (int i = 0; i < p->count; i++) {
        const vd_pair_group *g = &p->group[i];
        for (int q = 0; q < g->query.count; q++)
            for (int r = 0, pair = g->at + q * stride_of(g); r < 2; r++)
                for (int k = 0; k < g->key[r].count; k++, pair++) {
                    query[pair] = g->query.first + q;
                    key[pair] = g->key[r].first + k;
                    group_of[pair] = i;
                }
    }
}

// The rows of all groups' matrices.
static vd_segments list_segments(const vd_pairing *p, vd_arena *arena)
{
    vd_segments s = {0};
    for (int i = 0; i < p->count; i++)
        s.count += p->group[i].query.count;
    int *start = vd_arena_ints(arena, 2 * (size_t)s.count);
    if (!start)
        return s;
    int *length = start + s.count, n = 0;
    for (int i = 0; i < p->count; i++) {
        const vd_pair_group *g = &p->group[i];
        for (int j = 0; j < g->query.count; j++, n++) {
            start[n] = g->at + j * stride_of(g);
            length[n] = keys_of(g);
        }
        s.longest = keys_of(g) > s.longest ? keys_of(g) : s.longest;
    }
    s.start = vd_arena_upload(arena, start, 2 * (size_t)s.count, sizeof *start);
    s.length = s.start + s.count;
    return s;
}

const vd_pair_lists *vd_pairing_lists(const vd_pairing *p, vd_arena *arena)
{
    size_t pairs = (size_t)p->pairs;
    if (p->lists->query)
        return p->lists;
    int *query = vd_arena_take_raw(arena, 3 * pairs, sizeof *query);
    if (!query)
        return NULL;
    memset(query, -1, 3 * pairs * sizeof *query);
    fill_lists(p, query, query + pairs, query + 2 * pairs);
    const int *there = vd_arena_upload(arena, query, 3 * pairs, sizeof *query);
    if (arena->failed)
        return NULL;
    *p->lists = (vd_pair_lists){there, there + pairs, there + 2 * pairs};
    return p->lists;
}

static void find_blocks(vd_pairing *p, vd_arena *arena)
{
    vd_pair_block *block = vd_arena_take_raw(arena, 2 * (size_t)p->count, sizeof *block);
    if (arena->failed)
        return;
    p->queries = list_segments(p, arena);
    p->blocks = list_blocks(p, block);
    if (make_waves(arena, block, p->blocks, false, p->query_rows, &p->by_query) == VD_OK)
        make_waves(arena, block, p->blocks, true, p->key_rows, &p->by_key);
}

vd_pairing *vd_pairing_make(vd_arena *arena, vd_axis query_axis, int query_rows, vd_axis key_axis,
                            int key_rows, vd_pair_group *group, int count)
{
    vd_pairing *p = group ? vd_arena_take(arena, 1, sizeof *p) : NULL;
    vd_pair_lists *lists = vd_arena_take(arena, 1, sizeof *lists);
    bool padded = false;
    int pairs = group ? set_offsets(group, count, &padded) : 0;
    if (!p || !lists || pairs < 0)
        return NULL;
    *p = (vd_pairing){.query_axis = query_axis,
                      .key_axis = key_axis,
                      .query_rows = query_rows,
                      .key_rows = key_rows,
                      .count = count,
                      .pairs = pairs,
                      .padded = padded,
                      .group = group,
                      .lists = lists};
    find_blocks(p, arena);
    return arena->failed ? NULL : p;
}
