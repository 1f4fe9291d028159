#include "engine/base/safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/file.h"
#include "engine/base/json_tree.h"
#include "engine/base/threads.h"

// The public readers' own limit on the header.
enum { VD_SAFETENSORS_LENGTH = 8, VD_SAFETENSORS_MAX_HEADER = 100 * 1000 * 1000 };

typedef struct safetensors_entry {
    vd_tensor tensor;
    size_t from, to; // data_offsets
} safetensors_entry;

typedef struct safetensors_pair {
    const char *key, *value;
} safetensors_pair;

struct vd_safetensors {
    char *path;
    void *map;
    size_t size;
    safetensors_entry *entries; // in the order of their data
    size_t count;
    const safetensors_entry **by_name;
    safetensors_pair *metadata; // by key
    size_t pairs;
    vd_json_value *header; // to which names, keys and values belong
};

// ---- the header ---------------------------------------------------------------------------------

typedef struct header_reader {
    vd_safetensors *file;
    const char *tensor; // that is being read, NULL outside
    vd_error *err;
} header_reader;

__attribute__((format(printf, 2, 3))) static vd_status refuse(const header_reader *r,
                                                              const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return vd_error_set(r->err, VD_FORMAT, "%s: header: %s%.120s%s%s", r->file->path,
                        r->tensor ? "tensor \"" : "", r->tensor ? r->tensor : "",
                        r->tensor ? "\": " : "", what);
}

static vd_status refuse_value(const header_reader *r, const vd_json_value *found,
                              const char *expected)
{
    return refuse(r, "found %.40s where %s is expected",
                  found->type == VD_JSON_NUMBER ? found->text : vd_json_type_name(found), expected);
}

static bool parse_size(const char *text, size_t *value)
{
    for (*value = 0; *text; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (size_t)(*text - '0'), value))
            return false;
    return true;
}

// An array of at most `room` whole numbers.
static vd_status read_sizes(const header_reader *r, const vd_json_value *list, size_t room,
                            const char *too_many, size_t *out)
{
    if (list->type != VD_JSON_LIST)
        return refuse_value(r, list, "an array of sizes");
    if (list->count > room)
        return refuse(r, "%s", too_many);
    for (const vd_json_value *v = list->first; v; v = v->next)
        if (v->type != VD_JSON_NUMBER || !parse_size(v->text, out++))
            return refuse_value(r, v, "a whole number");
    return VD_OK;
}

static vd_status read_dtype(const header_reader *r, const vd_json_value *value, vd_dtype *out)
{
    if (value->type != VD_JSON_TEXT)
        return refuse_value(r, value, "a string as dtype");
    for (*out = VD_F32; *out <= VD_U8; ++*out)
        if (strcmp(vd_dtype_name(*out), value->text) == 0)
            return VD_OK;
    return refuse(r, "dtype \"%.40s\" is not one of F32 F16 BF16 F64 I32 I64 U8", value->text);
}

static vd_status read_shape(const header_reader *r, const vd_json_value *value, vd_tensor *tensor)
{
    char too_many[40];
    snprintf(too_many, sizeof too_many, "has more than %d dimensions", VD_MAX_DIMS);
    vd_status status = read_sizes(r, value, VD_MAX_DIMS, too_many, tensor->shape);
    if (status)
        return status;
    tensor->dims = (int)value->count;
    tensor->elements = 1;
    for (int i = 0; i < tensor->dims; i++)
        if (__builtin_mul_overflow(tensor->elements, tensor->shape[i], &tensor->elements))
            return refuse(r, "its shape has too many elements");
    return VD_OK;
}

static vd_status read_tensor(const header_reader *r, const vd_json_value *value,
                             safetensors_entry *entry)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    const vd_json_value *part[3] = {NULL};
    size_t offsets[2];
    if (value->type != VD_JSON_MAP)
        return refuse_value(r, value, "an object with dtype, shape and data_offsets");
    for (const vd_json_value *v = value->first; v; v = v->next) {
        int k = 0;
        while (k < 3 && strcmp(keys[k], v->key) != 0)
            k++;
        if (k == 3)
            return refuse(r, "unexpected key \"%.40s\"; dtype, shape and data_offsets are expected",
                          v->key);
        if (part[k])
            return refuse(r, "%s is given twice", keys[k]);
        part[k] = v;
    }
    for (int k = 0; k < 3; k++)
        if (!part[k])
            return refuse(r, "%s is missing", keys[k]);
    vd_status status = read_dtype(r, part[0], &entry->tensor.dtype);
    if (status == VD_OK)
        status = read_shape(r, part[1], &entry->tensor);
    if (status == VD_OK)
        status = read_sizes(r, part[2], 2, "data_offsets has more than two numbers", offsets);
    if (status == VD_OK && part[2]->count != 2)
        status = refuse(r, "data_offsets does not have two numbers");
    if (status == VD_OK) {
        entry->from = offsets[0];
        entry->to = offsets[1];
    }
    return status;
}

static vd_status read_metadata(const header_reader *r, const vd_json_value *value)
{
    vd_safetensors *file = r->file;
    if (value->type != VD_JSON_MAP)
        return refuse_value(r, value, "an object of strings in __metadata__");
    if (file->metadata)
        return refuse(r, "__metadata__ is given twice");
    file->metadata = vd_alloc(value->count, sizeof *file->metadata);
    if (!file->metadata)
        return vd_error_memory(r->err, "the header of a safetensors file");
    for (const vd_json_value *v = value->first; v; v = v->next) {
        if (v->type != VD_JSON_TEXT)
            return refuse_value(r, v, "a string in __metadata__");
        file->metadata[file->pairs++] = (safetensors_pair){v->key, v->text};
    }
    return VD_OK;
}

static vd_status read_members(vd_safetensors *file, vd_error *err)
{
    header_reader r = {.file = file, .err = err};
    if (file->header->type != VD_JSON_MAP)
        return refuse_value(&r, file->header, "a JSON object");
    file->entries = vd_alloc(file->header->count, sizeof *file->entries);
    if (!file->entries)
        return vd_error_memory(err, "the header of a safetensors file");
    vd_status status = VD_OK;
    for (const vd_json_value *v = file->header->first; v && status == VD_OK; v = v->next) {
        bool metadata = strcmp(v->key, "__metadata__") == 0;
        r.tensor = metadata ? NULL : v->key;
        if (metadata) {
            status = read_metadata(&r, v);
        } else {
            safetensors_entry *entry = &file->entries[file->count++];
            entry->tensor.name = v->key;
            status = read_tensor(&r, v, entry);
        }
    }
    return status;
}

// Fills header, entries and metadata from the header's JSON.
static vd_status read_header(vd_safetensors *file, const char *json, size_t length, vd_error *err)
{
    char *where = vd_format("%s: header", file->path);
    if (!where)
        return vd_error_memory(err, "the header of a safetensors file");
    vd_status status = vd_json_value_read(where, json, length, &file->header, err);
    vd_free(where);
    return status == VD_OK ? read_members(file, err) : status;
}

// ---- do the tensors fit the data? ---------------------------------------------------------------

static int by_offset(const void *a, const void *b)
{
    const safetensors_entry *one = a, *other = b;
    if (one->from != other->from)
        return one->from < other->from ? -1 : 1;
    if (one->to != other->to)
        return one->to < other->to ? -1 : 1;
    return strcmp(one->tensor.name, other->tensor.name);
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

static vd_status set_data(vd_safetensors *file, const unsigned char *data, size_t data_size,
                          vd_error *err)
{
    if (file->count)
        qsort(file->entries, file->count, sizeof *file->entries, by_offset);
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
    for (size_t i = 1; i < file->count; i++)
        if (by_name(&file->by_name[i - 1], &file->by_name[i]) == 0)
            return vd_error_set(err, VD_FORMAT, "%s: two tensors are named \"%.120s\"", file->path,
                                file->by_name[i]->tensor.name);
    if (file->pairs)
        qsort(file->metadata, file->pairs, sizeof *file->metadata, by_key);
    for (size_t i = 1; i < file->pairs; i++)
        if (by_key(&file->metadata[i - 1], &file->metadata[i]) == 0)
            return vd_error_set(err, VD_FORMAT, "%s: __metadata__ has \"%.120s\" twice", file->path,
                                file->metadata[i].key);
    return VD_OK;
}

// ---- opening ------------------------------------------------------------------------------------

// Other files that people often give, recognised by their first bytes.
static const char *advice(const unsigned char *start)
{
    if (memcmp(start, "PK\3\4", 4) == 0)
        return "; it looks like a zip: engine/model/checkpoint.py converts a PyTorch checkpoint, "
               "`visdial features import` npz";
    if (start[0] == 0x80 && start[1] >= 2 && start[1] <= 5)
        return "; it looks like a pickle: engine/model/checkpoint.py converts a PyTorch "
               "checkpoint; of region features give the .hdf5 file";
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
    if (length == 0)
        return vd_error_set(err, VD_FORMAT,
                            "%s: byte 0: a header of 0 bytes; expected JSON, {} at least",
                            file->path);
    if (length > VD_SAFETENSORS_MAX_HEADER)
        return vd_error_set(err, VD_FORMAT,
                            "%s: byte 0: a header of %" PRIu64 " bytes; at most %d are allowed%s",
                            file->path, length, VD_SAFETENSORS_MAX_HEADER, advice(bytes));
    if (length > rest)
        return vd_error_set(err, VD_FORMAT,
                            "%s: byte 0: a header of %" PRIu64 " bytes in a file of %zu%s",
                            file->path, length, file->size, advice(bytes));
    const unsigned char *json = bytes + VD_SAFETENSORS_LENGTH;
    vd_status status = read_header(file, (const char *)json, (size_t)length, err);
    if (!status)
        status = set_data(file, json + length, rest - (size_t)length, err);
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
    snprintf(text, room, "[");
    for (int i = 0; i < dims; i++) {
        const char *comma = i ? ", " : "";
        if (expected && shape[i] == 0)
            vd_append(text, room, "%s?", comma);
        else
            vd_append(text, room, "%s%zu", comma, shape[i]);
    }
    vd_append(text, room, "]");
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

// ---- finite numbers -----------------------------------------------------------------------------

typedef struct search {
    const vd_tensor *tensor;
    atomic_bool found;
} search;

// A number is not finite when all bits of its exponent are set. Without a branch for each number,
// so that the compiler makes vectors of these.
static bool is_finite(const vd_tensor *tensor, size_t from, size_t count)
{
    enum { CHUNK = 1024 };
    float chunk[CHUNK];
    uint32_t bad = 0, bits;
    for (size_t to = from + count, n; from < to && !bad; from += n) {
        n = to - from < CHUNK ? to - from : CHUNK;
        vd_tensor_floats(tensor, from, n, chunk, NULL);
        for (size_t i = 0; i < n; i++) {
            memcpy(&bits, &chunk[i], sizeof bits);
            bad |= (bits & 0x7f800000) == 0x7f800000;
        }
    }
    return !bad;
}

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
                                "is damaged, or its training diverged",
                                file->path, s.tensor->name, element);
    }
    return VD_OK;
}
