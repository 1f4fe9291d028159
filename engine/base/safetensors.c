#include "engine/base/safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/safetensors_file.h"
#include "engine/base/threads.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are used as the file has them");

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [VD_F32] = {"F32", 4}, [VD_F16] = {"F16", 2}, [VD_BF16] = {"BF16", 2}, [VD_F64] = {"F64", 8},
    [VD_I32] = {"I32", 4}, [VD_I64] = {"I64", 8}, [VD_U8] = {"U8", 1},
};

enum { DTYPES = sizeof dtypes / sizeof *dtypes };

size_t vd_dtype_size(vd_dtype dtype)
{
    return (unsigned)dtype < DTYPES ? dtypes[dtype].size : 0;
}

const char *vd_dtype_name(vd_dtype dtype)
{
    return (unsigned)dtype < DTYPES ? dtypes[dtype].name : "unknown";
}

// ---- do the tensors fit the data? ---------------------------------------------------------------

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
    const safetensors_entry *one = a, *other = b;
    int order = compare_sizes(one->from, other->from);
    order = order ? order : compare_sizes(one->to, other->to);
    return order ? order : strcmp(one->tensor.name, other->tensor.name);
}

static int by_name(const void *a, const void *b)
{
    const safetensors_entry *const *one = a, *const *other = b;
    return strcmp((*one)->tensor.name, (*other)->tensor.name);
}

static int by_key(const void *a, const void *b)
{
    const safetensors_pair *one = a, *other = b;
    return strcmp(one->key, other->key);
}

static vd_status check_tensor(const vd_safetensors *file, const safetensors_entry *entry,
                              size_t expected, size_t data_size, vd_error *err)
{
    const vd_tensor *tensor = &entry->tensor;
    size_t bytes;
    if (__builtin_mul_overflow(tensor->elements, vd_dtype_size(tensor->dtype), &bytes))
        return vd_error_set(err, VD_FORMAT, "%s: tensor \"%.120s\": its shape is too large",
                            file->path, tensor->name);
    if (entry->to < entry->from || entry->to - entry->from != bytes)
        return vd_error_set(err, VD_FORMAT,
                            "%s: tensor \"%.120s\": data_offsets [%zu, %zu] do not span the %zu "
                            "bytes of %zu elements of %s",
                            file->path, tensor->name, entry->from, entry->to, bytes,
                            tensor->elements, vd_dtype_name(tensor->dtype));
    if (entry->to > data_size)
        return vd_error_set(err, VD_FORMAT,
                            "%s: tensor \"%.120s\" ends at byte %zu of the data, which has %zu; "
                            "the file is cut off or damaged",
                            file->path, tensor->name, entry->to, data_size);
    if (entry->from != expected)
        return vd_error_set(err, VD_FORMAT,
                            "%s: tensor \"%.120s\" starts at byte %zu of the data, %s the one "
                            "before it, which ends at %zu",
                            file->path, tensor->name, entry->from,
                            entry->from < expected ? "inside" : "leaving a gap after", expected);
    return VD_OK;
}

static vd_status place_tensors(vd_safetensors *file, const unsigned char *data, size_t data_size,
                               vd_error *err)
{
    if (file->count)
        qsort(file->entries, file->count, sizeof *file->entries, by_place);
    size_t end = 0;
    for (size_t i = 0; i < file->count; i++) {
        safetensors_entry *entry = &file->entries[i];
        vd_status status = check_tensor(file, entry, end, data_size, err);
        if (status)
            return status;
        entry->tensor.data = data + entry->from;
        end = entry->to;
    }
    if (end != data_size)
        return vd_error_set(err, VD_FORMAT,
                            "%s: %zu bytes of data after the last tensor's end at %zu", file->path,
                            data_size - end, end);
    return VD_OK;
}

static vd_status index_names(vd_safetensors *file, vd_error *err)
{
    file->by_name = vd_alloc(file->count, sizeof *file->by_name);
    if (!file->by_name)
        return vd_error_memory(err, "the tensors of a safetensors file");
    for (size_t i = 0; i < file->count; i++)
        file->by_name[i] = &file->entries[i];
    if (file->count)
        qsort(file->by_name, file->count, sizeof *file->by_name, by_name);
    for (size_t i = 1; i < file->count; i++) {
        if (by_name(&file->by_name[i - 1], &file->by_name[i]) == 0)
            return vd_error_set(err, VD_FORMAT, "%s: two tensors are named \"%.120s\"", file->path,
                                file->by_name[i]->tensor.name);
    }
    if (file->pairs)
        qsort(file->metadata, file->pairs, sizeof *file->metadata, by_key);
    for (size_t i = 1; i < file->pairs; i++) {
        if (by_key(&file->metadata[i - 1], &file->metadata[i]) == 0)
            return vd_error_set(err, VD_FORMAT, "%s: __metadata__ has \"%.120s\" twice", file->path,
                                file->metadata[i].key);
    }
    return VD_OK;
}

// ---- opening ------------------------------------------------------------------------------------

// Other files that people often give, recognised by their first bytes.
static const char *advice(const unsigned char *start)
{
    if (memcmp(start, "PK\3\4", 4) == 0)
        return "; it looks like a zip: engine/model/checkpoint.py converts a PyTorch checkpoint, "
               "`visdial features import` npz";
    if (memcmp(start, "\x80\x02", 2) == 0)
        return "; it looks like a pickle: engine/model/checkpoint.py converts a PyTorch checkpoint";
    if (memcmp(start, "\x89HDF", 4) == 0)
        return "; it looks like HDF5: `visdial features import` converts it";
    if (memcmp(start, "version ", 8) == 0)
        return "; it looks like a Git LFS pointer: fetch the real file with `git lfs pull`";
    return "; is it a safetensors file?";
}

static vd_status read_map(vd_safetensors *file, vd_error *err)
{
    const unsigned char *bytes = file->map;
    uint64_t length;
    memcpy(&length, bytes, sizeof length);
    size_t rest = file->size - VD_SAFETENSORS_LENGTH;
    if (length > VD_SAFETENSORS_MAX_HEADER)
        return vd_error_set(err, VD_FORMAT,
                            "%s: byte 0: a header of %" PRIu64 " bytes; at most %d are allowed%s",
                            file->path, length, VD_SAFETENSORS_MAX_HEADER, advice(bytes));
    if (length > rest)
        return vd_error_set(err, VD_FORMAT,
                            "%s: byte 0: a header of %" PRIu64 " bytes in a file of %zu%s",
                            file->path, length, file->size, advice(bytes));
    const unsigned char *json = bytes + VD_SAFETENSORS_LENGTH;
    vd_status status = vd_safetensors_read_header(file, (const char *)json, (size_t)length, err);
    if (!status)
        status = place_tensors(file, json + length, rest - (size_t)length, err);
    return status ? status : index_names(file, err);
}

vd_status vd_safetensors_open(const char *path, vd_safetensors **out, vd_error *err)
{
    *out = NULL;
    vd_safetensors *file = vd_alloc(1, sizeof *file);
    int descriptor = -1;
    vd_status status = VD_OK;
    if (!file || !(file->path = vd_strdup(path))) {
        status = vd_error_memory(err, path);
        goto fail;
    }
    status = vd_file_open(path, &descriptor, &file->size, err);
    if (status)
        goto fail;
    if (file->size < VD_SAFETENSORS_LENGTH) {
        status = vd_error_set(err, VD_FORMAT,
                              "%s: has %zu bytes; a safetensors file starts with %d bytes that "
                              "give the length of its header",
                              path, file->size, VD_SAFETENSORS_LENGTH);
        goto fail;
    }
    file->map = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (file->map == MAP_FAILED) {
        file->map = NULL;
        status = vd_error_set(err, VD_IO, "%s: cannot be mapped: %s", path, strerror(errno));
        goto fail;
    }
    status = read_map(file, err);
    if (status)
        goto fail;
    close(descriptor);
    *out = file;
    return VD_OK;
fail:
    if (descriptor >= 0)
        close(descriptor);
    vd_safetensors_close(file);
    return status;
}

void vd_safetensors_close(vd_safetensors *file)
{
    if (!file)
        return;
    if (file->map)
        munmap(file->map, file->size);
    vd_json_value_free(file->header);
    vd_free(file->metadata);
    vd_free(file->by_name);
    vd_free(file->entries);
    vd_free(file->path);
    vd_free(file);
}

// ---- looking things up --------------------------------------------------------------------------

const char *vd_safetensors_path(const vd_safetensors *file)
{
    return file->path;
}

size_t vd_safetensors_count(const vd_safetensors *file)
{
    return file->count;
}

const vd_tensor *vd_safetensors_at(const vd_safetensors *file, size_t index)
{
    return index < file->count ? &file->entries[index].tensor : NULL;
}

const vd_tensor *vd_safetensors_find(const vd_safetensors *file, const char *name)
{
    const safetensors_entry key = {.tensor.name = name}, *wanted = &key;
    const safetensors_entry *const *found =
        file->count ? bsearch(&wanted, file->by_name, file->count, sizeof wanted, by_name) : NULL;
    return found ? &(*found)->tensor : NULL;
}

const char *vd_safetensors_metadata(const vd_safetensors *file, const char *key)
{
    const safetensors_pair wanted = {.key = key};
    const safetensors_pair *found =
        file->pairs ? bsearch(&wanted, file->metadata, file->pairs, sizeof wanted, by_key) : NULL;
    return found ? found->value : NULL;
}

size_t vd_safetensors_metadata_count(const vd_safetensors *file)
{
    return file->pairs;
}

const char *vd_safetensors_metadata_key(const vd_safetensors *file, size_t index)
{
    return file->metadata[index].key;
}

bool vd_safetensors_metadata_at(const vd_safetensors *file, size_t index, const char **key,
                                const char **value)
{
    if (index >= file->pairs)
        return false;
    *key = file->metadata[index].key;
    *value = file->metadata[index].value;
    return true;
}

// "[2, ?, 3]"; a size of 0 in what is expected matches any.
static const char *shape_text(int dims, const size_t *shape, bool expected, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "[");
    for (int i = 0; i < dims && used < room; i++) {
        const char *comma = i ? ", " : "";
        int more = expected && shape[i] == 0
                       ? snprintf(text + used, room - used, "%s?", comma)
                       : snprintf(text + used, room - used, "%s%zu", comma, shape[i]);
        used += (size_t)more;
    }
    if (used < room)
        snprintf(text + used, room - used, "]");
    return text;
}

vd_status vd_safetensors_require(const vd_safetensors *file, const char *name, int dims,
                                 const size_t *expected, const vd_tensor **out, vd_error *err)
{
    *out = NULL;
    char want[200], have[200];
    const vd_tensor *tensor = vd_safetensors_find(file, name);
    if (!tensor)
        return vd_error_set(err, VD_MISMATCH, "%s: has no tensor \"%s\" (expected with shape %s)",
                            file->path, name, shape_text(dims, expected, true, want, sizeof want));
    bool fits = tensor->dims == dims;
    for (int i = 0; fits && i < dims; i++)
        fits = expected[i] == 0 || expected[i] == tensor->shape[i];
    if (!fits)
        return vd_error_set(err, VD_MISMATCH, "%s: tensor \"%s\" has shape %s; %s is expected",
                            file->path, name,
                            shape_text(tensor->dims, tensor->shape, false, have, sizeof have),
                            shape_text(dims, expected, true, want, sizeof want));
    *out = tensor;
    return VD_OK;
}

// ---- numbers ------------------------------------------------------------------------------------

static vd_status check_range(const vd_tensor *tensor, size_t first, size_t count, vd_error *err)
{
    if (first <= tensor->elements && count <= tensor->elements - first)
        return VD_OK;
    return vd_error_set(err, VD_MISMATCH,
                        "tensor \"%s\": elements %zu to %zu asked for; it has %zu", tensor->name,
                        first, first + count, tensor->elements);
}

vd_status vd_tensor_floats(const vd_tensor *tensor, size_t first, size_t count, float *out,
                           vd_error *err)
{
    vd_status status = check_range(tensor, first, count, err);
    if (status || count == 0)
        return status;
    const unsigned char *data =
        (const unsigned char *)tensor->data + first * vd_dtype_size(tensor->dtype);
    switch (tensor->dtype) {
    case VD_F32:
        memcpy(out, data, count * sizeof *out);
        return VD_OK;
    case VD_F16:
        if ((uintptr_t)data % sizeof(uint16_t) == 0) {
            vd_floats_from_halves((const uint16_t *)(const void *)data, count, out);
            return VD_OK;
        }
        for (size_t i = 0; i < count; i++) {
            uint16_t half;
            memcpy(&half, data + i * sizeof half, sizeof half);
            out[i] = vd_half_to_float(half);
        }
        return VD_OK;
    case VD_BF16:
        for (size_t i = 0; i < count; i++) {
            memset(&out[i], 0, 2);
            memcpy((unsigned char *)&out[i] + 2, data + i * 2, 2);
        }
        return VD_OK;
    case VD_F64:
        for (size_t i = 0; i < count; i++) {
            double value;
            memcpy(&value, data + i * sizeof value, sizeof value);
            out[i] = (float)value;
        }
        return VD_OK;
    default:
        return vd_error_set(err, VD_MISMATCH,
                            "tensor \"%s\" has dtype %s; F32, F16, BF16 or F64 is expected",
                            tensor->name, vd_dtype_name(tensor->dtype));
    }
}

// ---- finite numbers -----------------------------------------------------------------------------

// A number is not finite when all bits of its exponent are set. Without a branch a number, so that
// the compiler makes vectors of these.
static bool is_finite_2(const unsigned char *at, size_t count, uint16_t exponent)
{
    uint16_t bad = 0, bits;
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, at + i * sizeof bits, sizeof bits);
        bad |= (bits & exponent) == exponent;
    }
    return !bad;
}

static bool is_finite_4(const unsigned char *at, size_t count)
{
    static const uint32_t exponent = 0x7f800000;
    uint32_t bad = 0, bits;
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, at + i * sizeof bits, sizeof bits);
        bad |= (bits & exponent) == exponent;
    }
    return !bad;
}

static bool is_finite_8(const unsigned char *at, size_t count)
{
    double number;
    for (size_t i = 0; i < count; i++) {
        memcpy(&number, at + i * sizeof number, sizeof number);
        if (!isfinite(number))
            return false;
    }
    return true;
}

static bool is_finite(const vd_tensor *tensor, size_t from, size_t count)
{
    const unsigned char *at =
        (const unsigned char *)tensor->data + from * vd_dtype_size(tensor->dtype);
    return tensor->dtype == VD_F16    ? is_finite_2(at, count, 0x7c00)
           : tensor->dtype == VD_BF16 ? is_finite_2(at, count, 0x7f80)
           : tensor->dtype == VD_F32  ? is_finite_4(at, count)
                                      : is_finite_8(at, count);
}

typedef struct search {
    const vd_tensor *tensor;
    atomic_bool found;
} search;

static void search_range(void *job, size_t from, size_t to)
{
    search *s = job;
    if (!is_finite(s->tensor, from, to - from))
        atomic_store(&s->found, true);
}

vd_status vd_safetensors_finite(const vd_safetensors *file, vd_error *err)
{
    for (size_t i = 0; i < vd_safetensors_count(file); i++) {
        search s = {.tensor = vd_safetensors_at(file, i)};
        if (s.tensor->dtype > VD_F64)
            continue;
        vd_threads_ranges(s.tensor->elements, 0.25, search_range, &s);
        size_t element = 0;
        while (atomic_load(&s.found) && is_finite(s.tensor, element, 1))
            element++;
        if (atomic_load(&s.found))
            return vd_error_set(err, VD_FORMAT,
                                "%.300s: tensor %.100s, element %zu: not a finite number; the file "
                                "is damaged, or its training went wrong",
                                file->path, s.tensor->name, element);
    }
    return VD_OK;
}

vd_status vd_tensor_ints(const vd_tensor *tensor, size_t first, size_t count, int64_t *out,
                         vd_error *err)
{
    vd_status status = check_range(tensor, first, count, err);
    if (status || count == 0)
        return status;
    const unsigned char *data =
        (const unsigned char *)tensor->data + first * vd_dtype_size(tensor->dtype);
    switch (tensor->dtype) {
    case VD_I64:
        memcpy(out, data, count * sizeof *out);
        return VD_OK;
    case VD_I32:
        for (size_t i = 0; i < count; i++) {
            int32_t value;
            memcpy(&value, data + i * sizeof value, sizeof value);
            out[i] = value;
        }
        return VD_OK;
    default:
        return vd_error_set(err, VD_MISMATCH, "tensor \"%s\" has dtype %s; I32 or I64 is expected",
                            tensor->name, vd_dtype_name(tensor->dtype));
    }
}
