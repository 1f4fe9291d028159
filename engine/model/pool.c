#include "engine/model/pool.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/threads.h"
#include "engine/model/model_private.h"

// So many answers, neighbours in sorted order, are encoded at once: enough for fast products and
// shared beginnings, little memory.
enum { POOL_CHUNK = 1024 };

typedef struct pool_work {
    vd_pool *pool;
    const int32_t *tokens;
    int32_t *lengths; // (count) of what is read
    int width;
    int *order; // (count) answers sorted by their words
    vd_arena arena[VD_THREADS];
    const vd_watch *watch;
} pool_work;

static vd_status encode_chunk(void *context, int worker, size_t index, vd_error *err)
{
    pool_work *w = context;
    vd_pool *pool = w->pool;
    int first = (int)index * POOL_CHUNK;
    int n = pool->count - first < POOL_CHUNK ? pool->count - first : POOL_CHUNK;
    vd_pass pass;
    vd_prefixes prefixes;
    vd_arena_reset(&w->arena[worker]);
    vd_model_pass(pool->model, &w->arena[worker], &pass);
    vd_status status =
        vd_prefixes_encode(&pass, &prefixes, w->tokens, w->lengths, w->width, w->order + first, n,
                           vd_matrix_reals(&pool->vectors), err);
    // The thread that asks for answers later is another.
    return status == VD_OK ? vd_backend_status(pass.be, err) : status;
}

static void report_answers(void *context, size_t chunks)
{
    const pool_work *w = context;
    size_t done = chunks * POOL_CHUNK, all = (size_t)w->pool->count;
    w->watch->report(w->watch->user, done < all ? done : all);
}

static vd_status take_vectors(vd_pool *pool, vd_error *err)
{
    const vd_model *model = pool->model;
    size_t numbers = (size_t)pool->count * (size_t)model->config.hidden;
    vd_real *vectors = vd_model_take(model, numbers, sizeof *vectors);
    if (!vectors)
        return vd_error_memory(err, "the answer pool's vectors");
    pool->vectors = vd_matrix_of(vectors, pool->count, model->config.hidden);
    model->be->memory->zero(vectors, numbers * sizeof *vectors);
    return vd_backend_status(model->be, err);
}

static vd_status encode_pool(vd_pool *pool, const int32_t *tokens, const int32_t *lengths,
                             int width, const vd_watch *watch, vd_error *err)
{
    pool_work work = {.pool = pool, .tokens = tokens, .width = width, .watch = watch}, *w = &work;
    int count = pool->count;
    // A device has its own ways of doing much at a time.
    int threads = pool->model->be->memory->host ? vd_parallel_threads() : 1;
    size_t chunks = ((size_t)count + POOL_CHUNK - 1) / POOL_CHUNK;
    w->order = vd_alloc((size_t)count, sizeof *w->order);
    w->lengths = vd_alloc((size_t)count, sizeof *w->lengths);
    vd_status status = w->order && w->lengths ? take_vectors(pool, err)
                                              : vd_error_memory(err, "the answer pool's order");
    for (int i = 0; i < count && status == VD_OK; i++)
        w->lengths[i] = vd_pool_read_length(lengths[i]);
    if (status == VD_OK)
        status = vd_packed_sort(w->tokens, w->lengths, w->width, count, w->order, err);
    if (status == VD_OK)
        status = chunks == 1 ? encode_chunk(w, 0, 0, err)
                             : vd_parallel(chunks, threads, encode_chunk, w,
                                           w->watch && w->watch->report ? report_answers : NULL, w,
                                           w->watch ? w->watch->stop : NULL, err);
    for (int i = 0; i < VD_THREADS; i++)
        vd_arena_free(&w->arena[i]);
    vd_free(w->lengths);
    vd_free(w->order);
    return status;
}

static bool answer_fits(const int32_t *ids, int length, int width, int vocab)
{
    if (length < 0 || length > width || length > VD_MAX_CANDIDATE)
        return false;
    for (int i = 0; i < length; i++)
        if (ids[i] < 0 || ids[i] >= vocab)
            return false;
    return true;
}

static vd_status keep_answers(vd_pool *pool, const int32_t *tokens, const int32_t *lengths,
                              int width, vd_error *err)
{
    size_t count = (size_t)pool->count, all = count * (size_t)width;
    int32_t *ids = vd_alloc(all, sizeof *ids), *length = vd_alloc(count, sizeof *length);
    if (!ids || !length) {
        vd_free(ids);
        vd_free(length);
        return vd_error_memory(err, "the answer pool");
    }
    memcpy(ids, tokens, all * sizeof *ids);
    memcpy(length, lengths, count * sizeof *length);
    vd_free(pool->tokens);
    vd_free(pool->lengths);
    pool->tokens = ids;
    pool->lengths = length;
    pool->width = width;
    return VD_OK;
}

vd_status vd_pool_score_by(vd_pool *pool, vd_decoders by, const int32_t *tokens,
                           const int32_t *lengths, int width, vd_error *err)
{
    vd_decoders has = pool->model->config.decoders;
    if (by != has && has != VD_BOTH)
        return vd_error_set(err, VD_MISMATCH, "%.300s has no such decoder, only a %s one",
                            vd_model_path(pool->model), vd_decoders_name(has));
    vd_status status =
        vd_has_generative(by) ? keep_answers(pool, tokens, lengths, width, err) : VD_OK;
    if (status == VD_OK)
        pool->by = by;
    return status;
}

vd_status vd_pool_new(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                      int count, int width, const vd_watch *watch, vd_pool **out, vd_error *err)
{
    *out = NULL;
    if (count < 1)
        return vd_error_set(err, VD_USAGE, "a pool needs at least one answer");
    for (int i = 0; i < count; i++)
        if (!answer_fits(tokens + (size_t)i * (size_t)width, lengths[i], width,
                         model->config.vocab))
            return vd_error_set(err, VD_USAGE,
                                "answer %d of the pool has a length or token out of range", i);
    vd_pool *pool = vd_alloc(1, sizeof *pool);
    if (!pool)
        return vd_error_memory(err, "the answer pool");
    pool->model = model;
    pool->count = count;
    pool->answers = vd_pool_hash_answers(tokens, lengths, count, width);
    vd_status status = vd_has_discriminative(model->config.decoders)
                           ? encode_pool(pool, tokens, lengths, width, watch, err)
                           : vd_pool_score_by(pool, VD_GENERATIVE, tokens, lengths, width, err);
    if (status == VD_OK)
        *out = pool;
    else
        vd_pool_free(pool);
    return status;
}

vd_decoders vd_pool_decoders(const vd_pool *pool)
{
    return pool->by;
}

static void give_vectors(vd_pool *pool)
{
    if (!pool->file)
        vd_model_give(pool->model, pool->vectors.data);
    vd_safetensors_close(pool->file);
    pool->file = NULL;
}

typedef struct half_job {
    const vd_real *from;
    uint16_t *to;
} half_job;

static void halve_numbers(void *data, size_t from, size_t to)
{
    const half_job *h = data;
    vd_halves_from_floats(h->from + from, to - from, h->to + from);
}

void vd_pool_halve(vd_pool *pool)
{
    vd_matrix *v = &pool->vectors;
    size_t numbers = (size_t)v->rows * (size_t)v->columns;
    if (v->type == VD_F16 || !v->data || !pool->model->be->memory->host)
        return;
    half_job h = {vd_matrix_reals(v), vd_model_take(pool->model, numbers, sizeof *h.to)};
    if (!h.to)
        return;
    vd_threads_ranges(numbers, 2, halve_numbers, &h);
    give_vectors(pool);
    v->data = h.to;
    v->type = VD_F16;
}

void vd_pool_free(vd_pool *pool)
{
    if (pool) {
        give_vectors(pool);
        vd_free(pool->tokens);
        vd_free(pool->lengths);
    }
    vd_free(pool);
}

vd_status vd_model_scores(const vd_model *model, vd_decoders by, vd_arena *arena,
                          const vd_pool *pool, const vd_batch *batch, float *scores, vd_error *err)
{
    vd_network net = {.kept = pool ? &pool->vectors : NULL};
    if (pool && (pool->model != model || pool->count != batch->distinct))
        return vd_error_set(
            err, VD_USAGE, "a pool of %d answers for a batch of %d candidates, or of another model",
            pool->count, batch->distinct);
    vd_arena_reset(arena);
    vd_model_pass(model, arena, &net.pass);
    return vd_network_scores(&net, batch, by, scores, err);
}
