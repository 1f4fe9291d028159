// A pool's vectors as a file: safetensors with "vectors" F32 or F16 (count, H) and, as metadata,
// hashes of what the vectors depend on.
#include <inttypes.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/model/model_private.h"
#include "engine/base/rng.h"

// Another way of computing vectors (another version of the encoder) needs another number.
#define POOL_FORMAT "visdial answer vectors 1"

// ---- what vectors depend on ---------------------------------------------------------------------

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return vd_rng_mix(hash ^ number) + 0x9e3779b97f4a7c15u;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *at = data;
    uint64_t word;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = hash_number(hash, word);
    }
    word = 0;
    memcpy(&word, at, size);
    return hash_number(hash_number(hash, word), size);
}

uint64_t vd_pool_hash_answers(const int32_t *tokens, const int32_t *lengths, int count, int width)
{
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++)
        hash = hash_bytes(hash, tokens + (size_t)i * (size_t)width,
                          (size_t)vd_pool_read_length(lengths[i]) * sizeof *tokens);
    return hash;
}

// The words' vectors, their positions and the decoder's LSTM, as the model's file has them.
static uint64_t hash_model(const vd_model *model)
{
    static const char *const parts[] = {"encoder.word_embed.", "encoder.position.", ".option_rnn."};
    uint64_t hash = (uint64_t)model->config.positions;
    for (size_t i = 0; i < vd_safetensors_count(model->file); i++) {
        const vd_tensor *tensor = vd_safetensors_at(model->file, i);
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            if (strstr(tensor->name, parts[p])) {
                hash = hash_bytes(hash, tensor->name, strlen(tensor->name));
                hash =
                    hash_bytes(hash, tensor->data, tensor->elements * vd_dtype_size(tensor->dtype));
            }
    }
    return hash;
}

// The metadata of a pool's file.
enum { KEYS = 3 };
static const char *const keys[KEYS] = {"format", "answers", "model"};

static void write_values(const vd_pool *pool, char value[KEYS][32])
{
    snprintf(value[0], sizeof value[0], "%s", POOL_FORMAT);
    snprintf(value[1], sizeof value[1], "%016" PRIx64, pool->answers);
    snprintf(value[2], sizeof value[2], "%016" PRIx64, hash_model(pool->model));
}

// ---- writing ------------------------------------------------------------------------------------

static void read_vectors(const vd_pool *pool, size_t first, size_t n, float *out)
{
    const vd_matrix *v = &pool->vectors;
    if (v->type == VD_F16)
        vd_floats_from_halves((const uint16_t *)v->data + first, n, out);
    else
        pool->model->be->read_floats(vd_matrix_reals(v) + first, out, n);
}

// Vectors leave the backend's memory in chunks.
static vd_status append_vectors(const vd_pool *pool, vd_safetensors_writer *writer, vd_error *err)
{
    enum { CHUNK = 4096 };
    size_t h = (size_t)pool->model->config.hidden, count = (size_t)pool->count;
    float *chunk = vd_alloc(CHUNK, h * sizeof *chunk);
    vd_status status = chunk ? VD_OK : vd_error_memory(err, "the answer pool's vectors");
    for (size_t first = 0; status == VD_OK && first < count; first += CHUNK) {
        size_t n = count - first < CHUNK ? count - first : CHUNK;
        read_vectors(pool, first * h, n * h, chunk);
        status = vd_safetensors_append_floats(writer, chunk, n * h, err);
    }
    vd_free(chunk);
    return status;
}

vd_status vd_pool_save(const vd_pool *pool, const char *path, vd_error *err)
{
    char value[KEYS][32];
    const size_t shape[2] = {(size_t)pool->count, (size_t)pool->model->config.hidden};
    vd_safetensors_writer *writer;
    if (!pool->vectors.data)
        return vd_error_set(err, VD_USAGE,
                            "a model with a generative decoder only has no answer vectors to save");
    write_values(pool, value);
    vd_status status = vd_safetensors_create(path, &writer, err);
    if (status != VD_OK)
        return status;
    for (int i = 0; i < KEYS; i++)
        vd_safetensors_put_metadata(writer, keys[i], value[i], err);
    vd_safetensors_declare(writer, "vectors", pool->vectors.type, 2, shape, err);
    status = append_vectors(pool, writer, err);
    if (status == VD_OK)
        return vd_safetensors_commit(writer, err);
    vd_safetensors_abort(writer);
    return status;
}

// ---- reading ------------------------------------------------------------------------------------

static vd_status expect(const vd_safetensors *file, const char *key, const char *expected,
                        vd_error *err)
{
    const char *found = vd_safetensors_metadata(file, key);
    if (found && strcmp(found, expected) == 0)
        return VD_OK;
    return vd_error_set(err, VD_MISMATCH,
                        "%.300s: \"%s\" is %.40s, expected %s; these are vectors of other answers, "
                        "or of another model",
                        vd_safetensors_path(file), key, found ? found : "missing", expected);
}

// In the mapping where operations can read it there, else as a copy.
static vd_status take_vectors(vd_pool *pool, const vd_tensor *tensor, vd_error *err)
{
    const vd_backend *be = pool->model->be;
    pool->vectors = vd_matrix_of(NULL, pool->count, pool->model->config.hidden);
    if (be->memory->host && (uintptr_t)tensor->data % vd_dtype_size(tensor->dtype) == 0) {
        pool->vectors.data = (void *)(uintptr_t)tensor->data; // they are only read
        pool->vectors.type = tensor->dtype;
        return VD_OK;
    }
    vd_real *vectors = vd_model_take(pool->model, tensor->elements, sizeof *vectors);
    float *copy = vd_alloc(tensor->elements, sizeof *copy);
    vd_status status = vectors && copy ? vd_tensor_floats(tensor, 0, tensor->elements, copy, err)
                                       : vd_error_memory(err, "the answer pool's vectors");
    if (status == VD_OK)
        be->load_floats(copy, vectors, tensor->elements);
    vd_free(copy);
    vd_safetensors_close(pool->file);
    pool->file = NULL;
    pool->vectors.data = vectors;
    return status;
}

vd_status vd_pool_load(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                       int count, int width, const char *path, vd_pool **out, vd_error *err)
{
    char value[KEYS][32];
    const size_t shape[2] = {(size_t)count, (size_t)model->config.hidden};
    const vd_tensor *tensor;
    *out = NULL;
    vd_pool *pool = vd_alloc(1, sizeof *pool);
    if (!pool)
        return vd_error_memory(err, "the answer pool");
    *pool = (vd_pool){.model = model, .count = count};
    pool->answers = vd_pool_hash_answers(tokens, lengths, count, width);
    vd_status status = vd_safetensors_open(path, &pool->file, err);
    if (status == VD_OK)
        write_values(pool, value);
    for (int i = 0; status == VD_OK && i < KEYS; i++)
        status = expect(pool->file, keys[i], value[i], err);
    if (status == VD_OK)
        status = vd_safetensors_require(pool->file, "vectors", 2, shape, &tensor, err);
    if (status == VD_OK && tensor->dtype != VD_F32 && tensor->dtype != VD_F16)
        status = vd_error_set(err, VD_FORMAT, "%.300s: vectors are %s, expected F32 or F16", path,
                              vd_dtype_name(tensor->dtype));
    if (status == VD_OK)
        status = take_vectors(pool, tensor, err);
    if (status) {
        vd_pool_free(pool);
        return status;
    }
    if (count >= VD_LARGE_POOL)
        vd_pool_halve(pool);
    *out = pool;
    return VD_OK;
}

// ---- read or encoded ----------------------------------------------------------------------------

// Vectors of more multiplications are worth a file: a processor's seconds.
#define MANY_PRODUCTS 2e10

static double products_of(const vd_config *config, const int32_t *lengths, int count)
{
    double words = 0, h = config->hidden;
    for (int i = 0; i < count; i++)
        words += lengths[i];
    return words * 4 * h * (config->embed + 3 * h);
}

vd_status vd_pool_open(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                       int count, int width, const char *path, const vd_watch *watch, vd_pool **out,
                       vd_error *err)
{
    vd_error why = {0};
    if (!vd_has_discriminative(model->config.decoders))
        return vd_pool_new(model, tokens, lengths, count, width, watch, out, err);
    vd_status status = vd_pool_load(model, tokens, lengths, count, width, path, out, &why);
    if (status == VD_OK)
        return VD_OK;
    if (status == VD_NO_MEMORY)
        return vd_error_set(err, status, "%s", why.text);
    status = vd_pool_new(model, tokens, lengths, count, width, watch, out, err);
    if (status == VD_OK && count >= VD_LARGE_POOL)
        vd_pool_halve(*out);
    if (status == VD_OK && products_of(&model->config, lengths, count) > MANY_PRODUCTS)
        (void)vd_pool_save(*out, path, NULL);
    return status;
}
