#include "engine/base/safetensors_file.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"

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

vd_status vd_safetensors_read_header(vd_safetensors *file, const char *json, size_t length,
                                     vd_error *err)
{
    size_t room = strlen(file->path) + 16;
    char *where = vd_alloc(room, 1);
    if (!where)
        return vd_error_memory(err, "the header of a safetensors file");
    snprintf(where, room, "%s: header", file->path);
    vd_status status = vd_json_value_read(where, json, length, &file->header, err);
    vd_free(where);
    return status == VD_OK ? read_members(file, err) : status;
}
