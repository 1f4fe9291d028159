#include "engine/backend/packed.h"

#include <limits.h>
#include <stdlib.h>

#include "engine/base/alloc.h"

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

// A row is known to be inner when the first that goes on from it is met; those lie together.
static vd_status find_inner(vd_packed *p, vd_arena *arena, vd_error *err)
{
    vd_packed_inner *inner = &p->inner;
    size_t tokens = (size_t)p->tokens;
    inner->start = vd_arena_ints(arena, (size_t)p->longest + 1);
    inner->row = vd_arena_take_raw(arena, tokens, sizeof *inner->row);
    inner->child = vd_arena_take_raw(arena, tokens + 1, sizeof *inner->child);
    inner->at = vd_arena_take_raw(arena, tokens, sizeof *inner->at);
    if (arena->failed)
        return vd_error_memory(err, "packed sequences");
    for (int row = 0; row < p->tokens; row++)
        inner->at[row] = -1;
    for (int step = 0; step < p->longest; step++) {
        p->widest = p->active[step] > p->widest ? p->active[step] : p->widest;
        if (step > 0)
            inner->start[step - 1] = inner->count;
        for (int k = 0; step > 0 && k < p->active[step]; k++) {
            int row = p->offset[step] + k;
            int from = p->parent ? p->parent[row] : p->offset[step - 1] + k;
            if (inner->at[from] >= 0)
                continue;
            inner->at[from] = inner->count;
            inner->child[inner->count] = row;
            inner->row[inner->count++] = from;
        }
    }
    if (p->longest > 0)
        inner->start[p->longest - 1] = inner->count;
    inner->start[p->longest] = inner->count;
    inner->child[inner->count] = p->tokens;
    return VD_OK;
}

// A piece of one block of ints.
static int *slice(int **block, int count)
{
    int *piece = *block;
    *block += count;
    return piece;
}

// The arrays, of a tree or of sequences one by one, in a block of so many ints.
static void point_in(vd_packed *p, bool tree, int *block)
{
    p->active = slice(&block, p->longest + 1);
    p->offset = slice(&block, p->longest + 1);
    p->id = slice(&block, p->tokens);
    p->position = slice(&block, p->tokens);
    p->forward = slice(&block, p->tokens);
    if (tree) {
        p->parent = slice(&block, p->tokens);
        p->child = slice(&block, p->tokens + 1);
        return;
    }
    p->owner = slice(&block, p->tokens);
    p->backward = slice(&block, p->tokens);
    p->start = slice(&block, p->sequences + 1);
    p->length = slice(&block, p->sequences);
    p->first = slice(&block, p->sequences);
    p->last = slice(&block, p->sequences);
    p->order = slice(&block, p->sequences);
}

static size_t block_size(const vd_packed *p)
{
    return 5 * ((size_t)p->tokens + (size_t)p->sequences) + 2 * (size_t)p->longest + 3;
}

// What is the same for both kinds: inner rows, and the copy of the block of arrays where operations
// read them.
static vd_status finish(vd_packed *p, int *block, vd_arena *arena, vd_error *err)
{
    vd_status status = find_inner(p, arena, err);
    if (status != VD_OK)
        return status;
    int *copy = (int *)vd_arena_upload(arena, block, block_size(p), sizeof *block);
    if (!copy)
        return vd_error_memory(err, "packed sequences");
    vd_packed at = {.sequences = p->sequences, .tokens = p->tokens, .longest = p->longest};
    point_in(&at, p->parent, copy);
    p->rows = (vd_packed_rows){at.start,    at.length,   at.first,  at.last,   at.id,
                               at.position, at.owner,    at.order,  at.active, at.offset,
                               at.forward,  at.backward, at.parent, at.child};
    return VD_OK;
}

static void fill_rows_of(vd_packed *p, const int32_t *ids, const int32_t *lengths, int width)
{
    int row = 0;
    for (int s = 0; s < p->sequences; s++) {
        p->start[s] = row;
        p->length[s] = lengths[s];
        p->first[s] = lengths[s] ? row : -1;
        p->last[s] = lengths[s] ? row + lengths[s] - 1 : -1;
        for (int i = 0; i < lengths[s]; i++, row++) {
            p->id[row] = ids[(size_t)s * (size_t)width + (size_t)i];
            p->position[row] = i;
            p->owner[row] = s;
        }
    }
    p->start[p->sequences] = row;
}

vd_status vd_packed_make(const int32_t *ids, const int32_t *lengths, int sequences, int width,
                         vd_arena *arena, vd_packed *out, vd_error *err)
{
    vd_packed p = {.sequences = sequences};
    for (int s = 0; s < sequences; s++) {
        p.tokens += lengths[s];
        if (lengths[s] > p.longest)
            p.longest = lengths[s];
    }
    int *block = vd_arena_ints(arena, block_size(&p));
    int *count = vd_arena_ints(arena, (size_t)p.longest + 1);
    if (arena->failed)
        return vd_error_memory(err, "packed sequences");
    point_in(&p, false, block);
    fill_rows_of(&p, ids, lengths, width);
    sort_by_length(&p, count);
    fill_steps(&p);
    *out = p;
    return finish(out, block, arena, err);
}

vd_status vd_packed_distinct(const vd_packed *packed, int vocab, bool apart, vd_arena *arena,
                             vd_distinct_words *out, vd_error *err)
{
    size_t tokens = (size_t)packed->tokens;
    vd_distinct_words d = {.word = vd_arena_take_raw(arena, tokens, sizeof *d.word),
                           .id = vd_arena_take_raw(arena, tokens, sizeof *d.id),
                           .position = vd_arena_take_raw(arena, tokens, sizeof *d.position)};
    int *known = vd_arena_ints(arena, (size_t)vocab); // 1 + which of them an id was last
    if (arena->failed)
        return vd_error_memory(err, "distinct words");
    for (int step = 0; step < packed->longest; step++) {
        int first = apart ? d.count : 0; // those before are at other positions
        for (int k = packed->offset[step]; k < packed->offset[step + 1]; k++) {
            int row = packed->forward[k], *at = &known[packed->id[row]];
            if (*at <= first) {
                d.id[d.count] = packed->id[row];
                d.position[d.count] = packed->position[row];
                *at = ++d.count;
            }
            d.word[row] = *at - 1;
        }
    }
    *out = d;
    return VD_OK;
}

// ---- prefixes -----------------------------------------------------------------------------------

typedef struct sequence_table {
    const int32_t *ids, *lengths;
    size_t width;
} sequence_table;

typedef struct sequence_key {
    const int32_t *ids;
    int length, index;
} sequence_key;

static sequence_key key_of(const sequence_table *t, int index)
{
    return (sequence_key){t->ids + (size_t)index * t->width, t->lengths[index], index};
}

// How many words two sequences begin with alike.
static int shared_words(const sequence_key *a, const sequence_key *b)
{
    int least = a->length < b->length ? a->length : b->length, n = 0;
    while (n < least && a->ids[n] == b->ids[n])
        n++;
    return n;
}

static int compare_words(const void *a, const void *b)
{
    const sequence_key *x = a, *y = b;
    int n = shared_words(x, y);
    if (n < x->length && n < y->length)
        return x->ids[n] < y->ids[n] ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

vd_status vd_packed_sort(const int32_t *ids, const int32_t *lengths, int width, int count,
                         int *order, vd_error *err)
{
    sequence_table table = {ids, lengths, (size_t)width};
    sequence_key *keys = vd_alloc((size_t)count, sizeof *keys);
    if (!keys)
        return vd_error_memory(err, "sorted sequences");
    for (int i = 0; i < count; i++)
        keys[i] = key_of(&table, i);
    qsort(keys, (size_t)count, sizeof *keys, compare_words);
    for (int i = 0; i < count; i++)
        order[i] = keys[i].index;
    vd_free(keys);
    return VD_OK;
}

// The first word of sequence order[i] that order[i - 1] does not begin with alike.
static int first_own_word(const sequence_table *t, const int *order, int i)
{
    if (i == 0)
        return 0;
    sequence_key a = key_of(t, order[i - 1]), b = key_of(t, order[i]);
    return shared_words(&a, &b);
}

// How many prefixes of each length there are, and in p how many in all and the longest.
static void count_prefixes(const sequence_table *t, const int *order, int count, vd_packed *p)
{
    for (int i = 0; i < count; i++) {
        int length = t->lengths[order[i]];
        for (int n = first_own_word(t, order, i); n < length; n++)
            p->active[n]++;
        if (length > p->longest)
            p->longest = length;
    }
    for (int step = 0; step < p->longest; step++) {
        p->offset[step] = p->tokens;
        p->tokens += p->active[step];
    }
    p->offset[p->longest] = p->tokens;
}

// path: (longest) rows of the prefixes of the sequence before; next: (longest) the first free row
// of each step.
static void add_prefixes(const sequence_table *t, const int *order, int count, vd_packed *p,
                         int *path, int *next, int *last)
{
    for (int i = 0; i < count; i++) {
        int length = t->lengths[order[i]];
        for (int n = first_own_word(t, order, i); n < length; n++) {
            int row = path[n] = next[n]++;
            p->id[row] = t->ids[(size_t)order[i] * t->width + (size_t)n];
            p->position[row] = n;
            p->forward[row] = row;
            p->parent[row] = n ? path[n - 1] : -1;
        }
        last[i] = length ? path[length - 1] : -1;
    }
}

static void fill_children(vd_packed *p)
{
    int row = 0;
    for (int next = 0; next < p->tokens; next++)
        while (row <= p->parent[next])
            p->child[row++] = next;
    while (row <= p->tokens)
        p->child[row++] = p->tokens;
}

vd_status vd_packed_prefixes(const int32_t *ids, const int32_t *lengths, int width,
                             const int *order, int count, vd_arena *arena, vd_packed *out,
                             int *last, vd_error *err)
{
    sequence_table table = {ids, lengths, (size_t)width};
    size_t steps = (size_t)width + 1;
    vd_packed p = {0}, at;
    int *path = vd_arena_ints(arena, steps), *next = vd_arena_ints(arena, steps);
    p.active = vd_arena_ints(arena, steps);
    p.offset = vd_arena_ints(arena, steps);
    if (arena->failed)
        return vd_error_memory(err, "packed prefixes");
    count_prefixes(&table, order, count, &p);
    int *block = vd_arena_ints(arena, block_size(&p));
    if (!block)
        return vd_error_memory(err, "packed prefixes");
    at = p;
    point_in(&at, true, block);
    for (int step = 0; step <= p.longest; step++) {
        at.active[step] = p.active[step];
        at.offset[step] = next[step] = p.offset[step];
    }
    p = at;
    add_prefixes(&table, order, count, &p, path, next, last);
    fill_children(&p);
    *out = p;
    return finish(out, block, arena, err);
}

// The words of the sequence that ends at a row of the tree, and its rows. Returns how many.
static int read_back(const vd_packed *tree, int last, int32_t *ids, int *row)
{
    int length = last < 0 ? 0 : tree->position[last] + 1;
    for (int n = length, at = last; n-- > 0; at = tree->parent[at]) {
        ids[n] = tree->id[at];
        row[n] = at;
    }
    return length;
}

vd_status vd_packed_apart(const vd_packed *tree, int *last, int sequences, vd_arena *arena,
                          vd_packed *out, int **row, vd_error *err)
{
    size_t n = (size_t)sequences, width = (size_t)tree->longest;
    if (width && n > (size_t)INT_MAX / width)
        return vd_error_set(err, VD_USAGE,
                            "%d sequences of up to %d words: more than can be counted", sequences,
                            tree->longest);
    int32_t *ids = vd_arena_take_raw(arena, n * width, sizeof *ids);
    int32_t *lengths = vd_arena_take_raw(arena, n, sizeof *lengths);
    int *next = *row = vd_arena_take_raw(arena, n * width, sizeof **row);
    if (arena->failed)
        return vd_error_memory(err, "packed sequences");
    for (size_t s = 0; s < n; s++) {
        next += lengths[s] = read_back(tree, last[s], ids + s * width, next);
        last[s] = lengths[s] ? (int)(next - *row) - 1 : -1;
    }
    return vd_packed_make(ids, lengths, sequences, tree->longest, arena, out, err);
}
