#include "engine/base/safetensors.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/string_arena.h"

typedef struct declared {
    const char *name;
    vd_dtype dtype;
    int dims;
    size_t shape[VD_MAX_DIMS];
    size_t elements, from, to;
} declared;

typedef struct pair {
    const char *key, *value;
} pair;

struct vd_safetensors_writer {
    char *path;
    vd_output *output;
    vd_string_arena strings; // names, keys, values
    declared *tensors;
    size_t count, room;
    pair *metadata;
    size_t pairs, pair_room;
    size_t current, done; // the tensor being filled and how many of its elements are there
    bool started;         // the header is written
    vd_error why;         // the first failure
};

vd_status vd_safetensors_plan(const char *path, vd_safetensors_writer **out, vd_error *err)
{
    *out = vd_alloc(1, sizeof **out);
    if (*out && ((*out)->path = vd_strdup(path)))
        return VD_OK;
    vd_safetensors_abort(*out);
    *out = NULL;
    return vd_error_memory(err, path);
}

vd_status vd_safetensors_create(const char *path, vd_safetensors_writer **out, vd_error *err)
{
    vd_status status = vd_safetensors_plan(path, out, err);
    if (!status && (status = vd_output_create(path, &(*out)->output, err))) {
        vd_safetensors_abort(*out);
        *out = NULL;
    }
    return status;
}

void vd_safetensors_abort(vd_safetensors_writer *writer)
{
    if (!writer)
        return;
    vd_output_abort(writer->output);
    vd_string_arena_clear(&writer->strings);
    vd_free(writer->tensors);
    vd_free(writer->metadata);
    vd_free(writer->path);
    vd_free(writer);
}

// A copy that the writer owns; NULL when memory is out.
static const char *keep(vd_safetensors_writer *writer, const char *text)
{
    return vd_string_arena_text(&writer->strings, text, strlen(text));
}

// Whether everything succeeded so far; else what failed first.
static vd_status state_of(const vd_safetensors_writer *writer, vd_error *err)
{
    return writer->why.status ? vd_error_set(err, writer->why.status, "%s", writer->why.text)
                              : VD_OK;
}

static vd_status check_open(vd_safetensors_writer *writer)
{
    if (!writer->why.status && writer->started)
        vd_error_set(&writer->why, VD_USAGE,
                     "%s: tensors and metadata must be declared before data", writer->path);
    return writer->why.status;
}

vd_status vd_safetensors_put_metadata(vd_safetensors_writer *writer, const char *key,
                                      const char *value, vd_error *err)
{
    vd_status status = check_open(writer);
    for (size_t i = 0; i < writer->pairs && !status; i++)
        if (strcmp(writer->metadata[i].key, key) == 0)
            status = vd_error_set(&writer->why, VD_USAGE, "%s: metadata \"%.120s\" given twice",
                                  writer->path, key);
    if (status)
        return state_of(writer, err);
    const pair new = {keep(writer, key), keep(writer, value)};
    if (new.key &&new.value &&
        vd_make_room(&writer->metadata, &writer->pair_room, writer->pairs + 1, sizeof new))
        writer->metadata[writer->pairs++] = new;
    else
        vd_error_memory(&writer->why, "metadata");
    return state_of(writer, err);
}

static vd_status check_declaration(const vd_safetensors_writer *writer, const char *name,
                                   vd_dtype dtype, int dims, const size_t *shape, declared *tensor,
                                   vd_error *err)
{
    size_t size = vd_dtype_size(dtype), bytes;
    if (size == 0 || dims < 0 || dims > VD_MAX_DIMS || strcmp(name, "__metadata__") == 0)
        return vd_error_set(err, VD_USAGE,
                            "%s: tensor \"%.120s\": dtype %d with %d dimensions cannot be written",
                            writer->path, name, (int)dtype, dims);
    for (size_t i = 0; i < writer->count; i++) {
        if (strcmp(writer->tensors[i].name, name) == 0)
            return vd_error_set(err, VD_USAGE, "%s: tensor \"%.120s\" is declared twice",
                                writer->path, name);
    }
    *tensor = (declared){.dtype = dtype, .dims = dims, .elements = 1};
    tensor->from = writer->count ? writer->tensors[writer->count - 1].to : 0;
    bool fits = true;
    for (int i = 0; i < dims; i++) {
        tensor->shape[i] = shape[i];
        fits = fits && shape[i] <= INT64_MAX &&
               !__builtin_mul_overflow(tensor->elements, shape[i], &tensor->elements);
    }
    fits = fits && !__builtin_mul_overflow(tensor->elements, size, &bytes) &&
           !__builtin_add_overflow(tensor->from, bytes, &tensor->to);
    if (!fits)
        return vd_error_set(err, VD_USAGE, "%s: tensor \"%.120s\" is too large", writer->path,
                            name);
    return VD_OK;
}

vd_status vd_safetensors_declare(vd_safetensors_writer *writer, const char *name, vd_dtype dtype,
                                 int dims, const size_t *shape, vd_error *err)
{
    declared tensor;
    if (check_open(writer) ||
        check_declaration(writer, name, dtype, dims, shape, &tensor, &writer->why))
        return state_of(writer, err);
    tensor.name = keep(writer, name);
    if (tensor.name &&
        vd_make_room(&writer->tensors, &writer->room, writer->count + 1, sizeof tensor))
        writer->tensors[writer->count++] = tensor;
    else
        vd_error_memory(&writer->why, "a tensor's declaration");
    return state_of(writer, err);
}

// ---- the header ---------------------------------------------------------------------------------

// The statuses are checked where text of the caller is written; the rest cannot fail.
static yajl_gen_status emit_tensor(yajl_gen gen, const declared *tensor)
{
    yajl_gen_status status = vd_json_put(gen, "%s:", tensor->name);
    if (status)
        return status;
    vd_json_put(gen, "{dtype: %s, shape: [", vd_dtype_name(tensor->dtype));
    for (int i = 0; i < tensor->dims; i++)
        vd_json_put(gen, "%zu", tensor->shape[i]);
    return vd_json_put(gen, "], data_offsets: [%zu, %zu]}", tensor->from, tensor->to);
}

static yajl_gen_status emit_header(yajl_gen gen, void *context)
{
    const vd_safetensors_writer *writer = context;
    yajl_gen_status status = vd_json_put(gen, writer->pairs ? "{__metadata__: {" : "{");
    for (size_t i = 0; !status && i < writer->pairs; i++)
        status = vd_json_put(gen, "%s: %s", writer->metadata[i].key, writer->metadata[i].value);
    if (!status && writer->pairs)
        status = vd_json_put(gen, "}");
    for (size_t i = 0; !status && i < writer->count; i++)
        status = emit_tensor(gen, &writer->tensors[i]);
    return status ? status : vd_json_put(gen, "}");
}

// The length, the JSON and spaces up to a multiple of `alignment` bytes.
static vd_status make_header(vd_safetensors_writer *writer, size_t alignment, char **out,
                             size_t *size, vd_error *err)
{
    char *json;
    size_t length = 0;
    vd_status status = vd_json_write(writer->path, emit_header, writer, &json, &length, err);
    if (status)
        return status;
    size_t before = sizeof(uint64_t) + length;
    *size = (before + alignment - 1) / alignment * alignment;
    uint64_t total = *size - sizeof total;
    *out = NULL;
    if (total > 100 * 1000 * 1000)
        status = vd_error_set(err, VD_USAGE,
                              "%s: its header would have %zu bytes; readers allow 100000000",
                              writer->path, (size_t)total);
    else if (!(*out = vd_alloc(*size, 1)))
        status = vd_error_memory(err, "a header");
    if (!status) {
        memcpy(*out, &total, sizeof total);
        memcpy(*out + sizeof total, json, length);
        memset(*out + before, ' ', *size - before);
    }
    vd_free(json);
    return status;
}

static vd_status write_header(vd_safetensors_writer *writer, vd_error *err)
{
    char *header;
    size_t size;
    // Data on a multiple of 8 bytes can be used where it lies.
    vd_status status = make_header(writer, 8, &header, &size, err);
    if (status)
        return status;
    status = vd_output_write(writer->output, header, size, err);
    vd_free(header);
    writer->started = true;
    return status;
}

vd_status vd_safetensors_header(vd_safetensors_writer *writer, size_t alignment, char **header,
                                size_t *size, vd_error *err)
{
    return check_open(writer) ? state_of(writer, err)
                              : make_header(writer, alignment, header, size, err);
}

// ---- the data -----------------------------------------------------------------------------------

static void skip_full(vd_safetensors_writer *writer)
{
    while (writer->current < writer->count &&
           writer->done == writer->tensors[writer->current].elements) {
        writer->current++;
        writer->done = 0;
    }
}

// Finds the tensor that `elements` more belong to.
static vd_status begin_append(vd_safetensors_writer *writer, size_t elements)
{
    vd_error *why = &writer->why;
    if (why->status || (!writer->started && write_header(writer, why)) || elements == 0)
        return why->status;
    skip_full(writer);
    if (writer->current == writer->count)
        return vd_error_set(why, VD_USAGE, "%s: data after the last declared tensor", writer->path);
    const declared *tensor = &writer->tensors[writer->current];
    if (elements > tensor->elements - writer->done)
        vd_error_set(why, VD_USAGE, "%s: tensor \"%.120s\" has %zu elements; %zu were given",
                     writer->path, tensor->name, tensor->elements, writer->done + elements);
    return why->status;
}

vd_status vd_safetensors_append(vd_safetensors_writer *writer, const void *data, size_t elements,
                                vd_error *err)
{
    if (begin_append(writer, elements) || elements == 0)
        return state_of(writer, err);
    size_t size = vd_dtype_size(writer->tensors[writer->current].dtype);
    writer->done += elements;
    vd_output_write(writer->output, data, elements * size, &writer->why);
    return state_of(writer, err);
}

vd_status vd_safetensors_append_floats(vd_safetensors_writer *writer, const float *data,
                                       size_t elements, vd_error *err)
{
    if (begin_append(writer, elements) || elements == 0)
        return state_of(writer, err);
    const declared *tensor = &writer->tensors[writer->current];
    if (tensor->dtype == VD_F32)
        return vd_safetensors_append(writer, data, elements, err);
    if (tensor->dtype != VD_F16)
        vd_error_set(&writer->why, VD_USAGE,
                     "%s: tensor \"%.120s\" is %s; floats go into F32 or F16", writer->path,
                     tensor->name, vd_dtype_name(tensor->dtype));
    uint16_t halves[1024];
    for (size_t first = 0; first < elements && !writer->why.status;) {
        size_t chunk = elements - first < 1024 ? elements - first : 1024;
        vd_halves_from_floats(data + first, chunk, halves);
        vd_safetensors_append(writer, halves, chunk, NULL);
        first += chunk;
    }
    return state_of(writer, err);
}

vd_status vd_safetensors_commit(vd_safetensors_writer *writer, vd_error *err)
{
    vd_error *why = &writer->why;
    begin_append(writer, 0); // a file without data has a header, too
    skip_full(writer);
    if (!why->status && writer->current < writer->count) {
        const declared *tensor = &writer->tensors[writer->current];
        vd_error_set(why, VD_USAGE, "%s: tensor \"%.120s\" got %zu of its %zu elements",
                     writer->path, tensor->name, writer->done, tensor->elements);
    }
    if (!why->status) {
        vd_output_commit(writer->output, why);
        writer->output = NULL;
    }
    vd_status status = state_of(writer, err);
    vd_safetensors_abort(writer);
    return status;
}
