// Numbers of pairs: scores, their softmax, what they mix.
#include "engine/graph/tape_private.h"

#include <string.h>

// ---- rows of pairs ------------------------------------------------------------------------------

vd_pairing *vd_tape_pairing(vd_tape *tape, vd_axis query_axis, int query_rows, vd_axis key_axis,
                            int key_rows, vd_pair_group *group, int count, const char *what)
{
    if (tape->status != VD_OK)
        return NULL;
    vd_pairing *p =
        vd_pairing_make(tape->arena, query_axis, query_rows, key_axis, key_rows, group, count);
    if (!p)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: %s", what);
    return p;
}

vd_pair_lists vd_tape_lists(vd_tape *tape, const vd_pairing *p)
{
    const vd_pair_lists none = {0};
    if (tape->status != VD_OK || !p)
        return none;
    const vd_pair_lists *lists = vd_pairing_lists(p, tape->arena);
    if (!lists)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: lists of pairs");
    return lists ? *lists : none;
}

// Whether values are the queries' rows, or the keys'.
static bool queries_fit(vd_tape *tape, const vd_pairing *p, const vd_value *q, const char *what)
{
    return vd_tape_fits(tape, p && q->rows == p->query_rows, what, q, NULL) && p;
}

static bool keys_fit(vd_tape *tape, const vd_pairing *p, const vd_value *k, const char *what)
{
    return vd_tape_fits(tape, p && k->rows == p->key_rows, what, k, NULL) && p;
}

// For operations that compute each pair's number by its rows.
static bool is_full(vd_tape *tape, const vd_pairing *p)
{
    if (p->padded)
        vd_tape_fail(tape, VD_USAGE, "a number for each pair of padded rows");
    return !p->padded;
}

vd_value *vd_tape_queries(vd_tape *tape, const vd_pairing *p, const vd_value *q)
{
    if (!queries_fit(tape, p, q, "the queries' rows"))
        return &tape->nothing;
    vd_value *y = vd_tape_rows(tape, q, vd_tape_lists(tape, p).query, p->pairs, VD_AXIS_PAIRS);
    y->pairing = p;
    return y;
}

vd_value *vd_tape_keys(vd_tape *tape, const vd_pairing *p, const vd_value *k)
{
    if (!keys_fit(tape, p, k, "the keys' rows"))
        return &tape->nothing;
    vd_value *y = vd_tape_rows(tape, k, vd_tape_lists(tape, p).key, p->pairs, VD_AXIS_PAIRS);
    y->pairing = p;
    return y;
}

vd_value *vd_tape_products(vd_tape *tape, const vd_pairing *p, const vd_value *q, const vd_value *k)
{
    bool pairs = p && k->pairing == p && k->rows == p->pairs;
    if (!queries_fit(tape, p, q, "products of pairs") || !is_full(tape, p) ||
        (!pairs && !keys_fit(tape, p, k, "products of pairs")) ||
        !vd_tape_fits(tape, q->columns == k->columns, "products of pairs", q, k))
        return &tape->nothing;
    const vd_pair_lists lists = vd_tape_lists(tape, p);
    vd_value *y =
        vd_tape_take(tape, VD_AXIS_PAIRS, p->pairs, q->columns, vd_wanted(q) || vd_wanted(k));
    y->pairing = p;
    return vd_tape_multiply_rows(tape, y, q, lists.query, k, pairs ? NULL : lists.key);
}

vd_value *vd_tape_weigh(vd_tape *tape, const vd_value *a, const vd_value *w)
{
    const vd_pairing *p = a->pairing;
    if (!vd_tape_fits(tape,
                      p && a->columns == 1 && a->rows == p->pairs && w->columns == 1 &&
                          w->rows == p->count,
                      "weighing groups", a, w) ||
        !p || !is_full(tape, p))
        return &tape->nothing;
    const int *group = vd_tape_lists(tape, p).group;
    vd_value *y = vd_tape_like(tape, a, 1, vd_wanted(a) || vd_wanted(w));
    return vd_tape_multiply_rows(tape, y, a, NULL, w, group);
}

// ---- products of blocks -------------------------------------------------------------------------

// S = Q K^T, Q += S K, K += S^T Q.
typedef enum block_result { RESULT_PAIRS, RESULT_QUERIES, RESULT_KEYS } block_result;

// Where one block's three matrices begin; one of them is what is computed.
typedef struct block_operands {
    const vd_real *pairs, *query, *key;
    int size, stride; // of a row of queries or keys
} block_operands;

// Numbers of pairs, rows of queries and of keys.
typedef struct block_rows {
    const vd_real *pairs, *query, *key;
    int columns, heads;
} block_rows;

static vd_product block_product(const vd_pair_block *b, block_result result, block_operands at)
{
    vd_real *s = (vd_real *)(uintptr_t)at.pairs, *q = (vd_real *)(uintptr_t)at.query,
            *k = (vd_real *)(uintptr_t)at.key;
    int queries = b->query.count, keys = b->key.count;
    if (result == RESULT_PAIRS)
        return (vd_product){queries, keys, at.size, q, k, s, at.stride, at.stride, b->stride};
    if (result == RESULT_QUERIES)
        return (vd_product){queries, at.size, keys, s, k, q, b->stride, at.stride, at.stride};
    return (vd_product){keys, at.size, queries, s, q, k, b->stride, at.stride, at.stride};
}

static vd_product row_product(const vd_pairing *p, const vd_pair_block *b, const block_rows *r,
                              int head, block_result result)
{
    size_t size = (size_t)(r->columns / r->heads), columns = (size_t)r->columns;
    size_t first = (size_t)head * size;
    return block_product(
        b, result,
        (block_operands){r->pairs + (size_t)head * (size_t)p->pairs + (size_t)b->at,
                         r->query + (size_t)b->query.first * columns + first,
                         r->key + (size_t)b->key.first * columns + first, (int)size, r->columns});
}

// Adds to what is computed, wave by wave where results may not overlap; the pairs of different
// blocks never meet.
static void multiply_blocks(vd_tape *tape, const vd_pairing *p, const block_rows *r,
                            block_result result, vd_real beta)
{
    const vd_waves *waves = result == RESULT_KEYS ? &p->by_key : &p->by_query;
    size_t most = (size_t)p->blocks * (size_t)r->heads;
    bool at_once = result == RESULT_PAIRS || tape->be->adds_overlapping;
    vd_product *list = vd_tape_kept(tape, most, sizeof *list);
    for (int w = 0, next; w < waves->count && list; w = next) {
        int count = 0;
        next = at_once ? waves->count : w + 1;
        for (int i = waves->start[w]; i < waves->start[next]; i++)
            for (int head = 0; head < r->heads; head++)
                list[count++] = row_product(p, &waves->block[i], r, head, result);
        tape->be->products(result == RESULT_KEYS, result == RESULT_PAIRS, beta, list, count);
    }
}

// ---- scores -------------------------------------------------------------------------------------

static void dot_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *q = node->x[0], *k = node->x[1];
    block_rows r = {node->y->dx, q->dx, k->x, q->columns, node->count};
    if (vd_wanted(q))
        multiply_blocks(tape, node->y->pairing, &r, RESULT_QUERIES, 1);
    r.query = q->x;
    r.key = k->dx;
    if (vd_wanted(k))
        multiply_blocks(tape, node->y->pairing, &r, RESULT_KEYS, 1);
}

// Numbers of pairs, `heads` a pair.
static vd_value *take_pairs(vd_tape *tape, const vd_pairing *p, int heads, bool wanted)
{
    vd_value *y = vd_tape_take(tape, VD_AXIS_PAIRS, heads * p->pairs, 1, wanted);
    y->pairing = p;
    return y;
}

vd_value *vd_tape_dot(vd_tape *tape, const vd_pairing *p, const vd_value *q, const vd_value *k,
                      int heads)
{
    if (!queries_fit(tape, p, q, "scores") || !keys_fit(tape, p, k, "scores") ||
        !vd_tape_fits(tape, q->columns == k->columns && heads > 0 && q->columns % heads == 0,
                      "scores", q, k))
        return &tape->nothing;
    vd_value *y = take_pairs(tape, p, heads, vd_wanted(q) || vd_wanted(k));
    block_rows r = {y->x, q->x, k->x, q->columns, heads};
    if (tape->status != VD_OK)
        return y;
    multiply_blocks(tape, p, &r, RESULT_PAIRS, 0);
    return vd_tape_record(tape, y, (vd_node){dot_backward, .x = {q, k}, .count = heads});
}

static void additive_backward(vd_tape *tape, const vd_node *node)
{
    const vd_pairing *p = node->y->pairing;
    const vd_value *q = node->x[0], *k = node->x[1], *v = node->x[2];
    tape->be->additive_scores_backward(node->list[0], node->list[1], p->pairs, q->columns, q->x,
                                       k->x, v->x, node->y->dx, q->dx, k->dx, v->dx);
}

vd_value *vd_tape_additive(vd_tape *tape, const vd_pairing *p, const vd_value *q, const vd_value *k,
                           const vd_value *v)
{
    if (!queries_fit(tape, p, q, "additive scores") || !keys_fit(tape, p, k, "additive scores") ||
        !is_full(tape, p) ||
        !vd_tape_fits(tape, q->columns == k->columns, "additive scores", q, k) ||
        !vd_tape_fits(tape, v->rows == 1 && q->columns == v->columns, "additive scores", q, v))
        return &tape->nothing;
    const vd_pair_lists lists = vd_tape_lists(tape, p);
    vd_value *y = take_pairs(tape, p, 1, vd_wanted(q) || vd_wanted(k) || vd_wanted(v));
    if (tape->status != VD_OK)
        return y;
    tape->be->additive_scores(lists.query, lists.key, p->pairs, q->columns, q->x, k->x, v->x, y->x);
    return vd_tape_record(
        tape, y, (vd_node){additive_backward, .x = {q, k, v}, .list = {lists.query, lists.key}});
}

// ---- softmax, maximum ---------------------------------------------------------------------------

static int heads_of(const vd_value *s)
{
    return s->pairing->pairs > 0 ? s->rows / s->pairing->pairs : 0;
}

static bool are_scores(vd_tape *tape, const vd_value *s, const char *what)
{
    return vd_tape_fits(tape, s->pairing && s->columns == 1, what, s, NULL) && s->pairing;
}

static void softmax_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *y = node->y, *x = node->x[0];
    const vd_pairing *p = y->pairing;
    for (int h = 0; h < heads_of(y); h++) {
        size_t at = (size_t)h * (size_t)p->pairs;
        tape->be->softmax_segments_backward(&p->queries, y->x + at, y->dx + at, x->dx + at);
    }
}

vd_value *vd_tape_softmax(vd_tape *tape, const vd_value *scores)
{
    if (!are_scores(tape, scores, "a softmax"))
        return &tape->nothing;
    const vd_pairing *p = scores->pairing;
    vd_value *y = vd_tape_like(tape, scores, 1, vd_wanted(scores));
    if (tape->status != VD_OK)
        return y;
    if (p->padded)
        tape->be->memory->zero(y->x, vd_value_size(y) * sizeof *y->x);
    for (int h = 0; h < heads_of(y); h++) {
        size_t at = (size_t)h * (size_t)p->pairs;
        tape->be->softmax_segments(&p->queries, scores->x + at, y->x + at);
    }
    return vd_tape_record(tape, y, (vd_node){softmax_backward, .x = {scores}});
}

static void max_backward(vd_tape *tape, const vd_node *node)
{
    tape->be->max_segments_backward(node->y->rows, node->list[0], node->y->dx, node->x[0]->dx);
}

vd_value *vd_tape_max(vd_tape *tape, const vd_value *scores)
{
    if (!are_scores(tape, scores, "a maximum") ||
        !vd_tape_fits(tape, scores->rows == scores->pairing->pairs, "a maximum", scores, NULL))
        return &tape->nothing;
    const vd_segments *s = &scores->pairing->queries;
    vd_value *y = vd_tape_take(tape, VD_AXIS_NONE, s->count, 1, vd_wanted(scores));
    int *at = vd_arena_numbers(tape->arena, (size_t)s->count, sizeof *at);
    if (!at)
        vd_tape_fail(tape, VD_NO_MEMORY, "out of memory: the largest scores");
    if (tape->status != VD_OK)
        return &tape->nothing;
    tape->be->max_segments(s, scores->x, y->x, at);
    return vd_tape_record(tape, y, (vd_node){max_backward, .x = {scores}, .list = {at}});
}

bool vd_is_uniform(const char *const *uniform, const char *name)
{
    for (; uniform && *uniform; uniform++)
        if (strcmp(*uniform, name) == 0)
            return true;
    return false;
}

static void show_heads(vd_tape *tape, const vd_value *a, const char *name, int index)
{
    const vd_pairing *p = a->pairing;
    int heads = heads_of(a);
    vd_value *sum = NULL;
    for (int h = 0; h < heads && tape->status == VD_OK; h++) {
        const vd_real *x = a->x + (size_t)h * (size_t)p->pairs;
        vd_value *head = vd_tape_constant(tape, VD_AXIS_PAIRS, x, p->pairs, 1);
        head->pairing = p;
        vd_tape_show_head(tape, head, name, h, heads);
        sum = sum ? vd_tape_add(tape, sum, head) : head;
    }
    if (sum)
        vd_tape_show(tape, vd_tape_scale(tape, sum, 1 / (vd_real)heads), name, index);
}

vd_value *vd_tape_attend(vd_tape *tape, const vd_value *scores, const char *name, int index)
{
    // All scores are alike.
    if (vd_is_uniform(tape->uniform, name))
        scores = vd_tape_scale(tape, scores, 0);
    vd_value *a = vd_tape_softmax(tape, scores);
    if (tape->status != VD_OK || heads_of(a) <= 1)
        vd_tape_show(tape, a, name, index);
    else if (!tape->dw) // in training nobody looks
        show_heads(tape, a, name, index);
    return a;
}

// ---- mixes --------------------------------------------------------------------------------------

// dS = dY V^T, dV += S^T dY.
static void mix_backward(vd_tape *tape, const vd_node *node)
{
    const vd_value *a = node->x[0], *v = node->x[1], *y = node->y;
    block_rows r = {a->dx, y->dx, v->x, v->columns, heads_of(a)};
    if (vd_wanted(a))
        multiply_blocks(tape, a->pairing, &r, RESULT_PAIRS, 1);
    r.pairs = a->x;
    r.key = v->dx;
    if (vd_wanted(v))
        multiply_blocks(tape, a->pairing, &r, RESULT_KEYS, 1);
}

vd_value *vd_tape_mix(vd_tape *tape, const vd_value *a, const vd_value *v)
{
    if (!are_scores(tape, a, "a mix"))
        return &tape->nothing;
    const vd_pairing *p = a->pairing;
    int heads = heads_of(a);
    bool fits = v->rows == p->key_rows && (!heads || v->columns % heads == 0);
    if (!vd_tape_fits(tape, fits, "a mix", a, v))
        return &tape->nothing;
    vd_value *y =
        vd_tape_take(tape, p->query_axis, p->query_rows, v->columns, vd_wanted(a) || vd_wanted(v));
    if (tape->status != VD_OK)
        return y;
    block_rows r = {a->x, y->x, v->x, v->columns, heads};
    tape->be->memory->zero(y->x, vd_value_size(y) * sizeof *y->x);
    multiply_blocks(tape, p, &r, RESULT_QUERIES, 1);
    return vd_tape_record(tape, y, (vd_node){mix_backward, .x = {a, v}});
}
