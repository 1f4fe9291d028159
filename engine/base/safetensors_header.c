#include "engine/base/safetensors_file.h"

#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/json.h"

typedef enum level { OUTSIDE, TOP, METADATA, TENSOR, SHAPE, OFFSETS, AFTER } level;
enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };

typedef struct header_reader {
    vd_status status; // what a callback refused with
    vd_error *err;
    vd_safetensors *file;
    size_t entry_room, pair_room, text_used;
    level level;
    bool has_metadata;
    // The tensor being read: which of its three keys came, and which one comes now.
    int seen, key;
    int numbers; // of data_offsets
} header_reader;

__attribute__((format(printf, 2, 3))) static int refuse(header_reader *reader, const char *format,
                                                        ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    bool inside = reader->level >= TENSOR && reader->level <= OFFSETS;
    const char *name = inside ? reader->file->entries[reader->file->count - 1].tensor.name : "";
    reader->status =
        vd_error_set(reader->err, VD_FORMAT, "%s: header: %s%.120s%s%s", reader->file->path,
                     inside ? "tensor \"" : "", name, inside ? "\": " : "", what);
    return 0;
}

static const char *what_is_expected(const header_reader *reader)
{
    switch (reader->level) {
    case OUTSIDE:
        return "a JSON object";
    case TOP:
        return "an object with dtype, shape and data_offsets";
    case METADATA:
        return "a string in __metadata__";
    case TENSOR:
        return reader->key == HAS_DTYPE ? "a string as dtype" : "an array of sizes";
    case SHAPE:
    case OFFSETS:
        return "a whole number";
    case AFTER:
        break;
    }
    return "the end of the header";
}

static int refuse_value(header_reader *reader, const char *found)
{
    return refuse(reader, "found %s where %s is expected", found, what_is_expected(reader));
}

// The array with room for one more element, moved if need be; NULL when memory is out.
static void *make_room(void *array, size_t used, size_t *room, size_t size)
{
    if (used < *room)
        return array;
    size_t wanted = *room ? *room * 2 : 16;
    void *grown = vd_grow(array, used, wanted, size);
    if (grown)
        *room = wanted;
    return grown;
}

static int no_memory(header_reader *reader)
{
    reader->status = vd_error_memory(reader->err, "the header of a safetensors file");
    return 0;
}

// A decoded string with its NUL is never longer than its JSON text with its quotes, so the room
// for all of them, the header's length, is enough.
static const char *keep(header_reader *reader, const unsigned char *text, size_t length)
{
    if (memchr(text, '\0', length)) {
        refuse(reader, "a string holds a NUL character");
        return NULL;
    }
    char *kept = reader->file->text + reader->text_used;
    memcpy(kept, text, length);
    reader->text_used += length + 1;
    return kept;
}

static int on_null(void *context)
{
    return refuse_value(context, "null");
}

static int on_boolean(void *context, int value)
{
    return refuse_value(context, value ? "true" : "false");
}

static bool parse_size(const char *text, size_t length, size_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (size_t)(text[i] - '0'), value))
            return false;
    }
    return true;
}

static int on_number(void *context, const char *text, size_t length)
{
    header_reader *reader = context;
    char found[48];
    snprintf(found, sizeof found, "%.*s", (int)(length < 40 ? length : 40), text);
    size_t value;
    if ((reader->level != SHAPE && reader->level != OFFSETS) || !parse_size(text, length, &value))
        return refuse_value(reader, found);
    safetensors_entry *entry = &reader->file->entries[reader->file->count - 1];
    if (reader->level == SHAPE) {
        vd_tensor *tensor = &entry->tensor;
        if (tensor->dims == VD_MAX_DIMS)
            return refuse(reader, "has more than %d dimensions", VD_MAX_DIMS);
        tensor->shape[tensor->dims++] = value;
        if (__builtin_mul_overflow(tensor->elements, value, &tensor->elements))
            return refuse(reader, "its shape has too many elements");
        return 1;
    }
    if (reader->numbers == 2)
        return refuse(reader, "data_offsets has more than two numbers");
    *(reader->numbers++ ? &entry->to : &entry->from) = value;
    return 1;
}

static int on_dtype(header_reader *reader, const unsigned char *text, size_t length)
{
    for (vd_dtype i = VD_F32; i <= VD_U8; i++) {
        const char *name = vd_dtype_name(i);
        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            reader->file->entries[reader->file->count - 1].tensor.dtype = i;
            return 1;
        }
    }
    return refuse(reader, "dtype \"%.*s\" is not one of F32 F16 BF16 F64 I32 I64 U8",
                  (int)(length < 40 ? length : 40), (const char *)text);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    header_reader *reader = context;
    if (reader->level == TENSOR && reader->key == HAS_DTYPE)
        return on_dtype(reader, text, length);
    if (reader->level != METADATA)
        return refuse_value(reader, "a string");
    safetensors_pair *pair = &reader->file->metadata[reader->file->pairs - 1];
    pair->value = keep(reader, text, length);
    return pair->value != NULL;
}

static int on_start_map(void *context)
{
    header_reader *reader = context;
    if (reader->level == OUTSIDE)
        reader->level = TOP;
    else if (reader->level != TOP)
        return refuse_value(reader, "an object");
    else
        reader->level = reader->key ? METADATA : TENSOR;
    return 1;
}

static int on_tensor_key(header_reader *reader, const unsigned char *text, size_t length)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    for (int i = 0; i < 3; i++) {
        if (strlen(keys[i]) != length || memcmp(keys[i], text, length) != 0)
            continue;
        reader->key = 1 << i;
        if (reader->seen & reader->key)
            return refuse(reader, "%s is given twice", keys[i]);
        reader->seen |= reader->key;
        return 1;
    }
    return refuse(reader, "unexpected key \"%.*s\"; dtype, shape and data_offsets are expected",
                  (int)(length < 40 ? length : 40), (const char *)text);
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
    static const char metadata[] = "__metadata__";
    header_reader *reader = context;
    vd_safetensors *file = reader->file;
    if (reader->level == TENSOR)
        return on_tensor_key(reader, text, length);
    if (reader->level == METADATA) {
        void *grown =
            make_room(file->metadata, file->pairs, &reader->pair_room, sizeof *file->metadata);
        if (!grown)
            return no_memory(reader);
        file->metadata = grown;
        const char *key = keep(reader, text, length);
        if (key)
            file->metadata[file->pairs++] = (safetensors_pair){.key = key};
        return key != NULL;
    }
    reader->key = length == sizeof metadata - 1 && memcmp(text, metadata, length) == 0;
    if (reader->key && reader->has_metadata)
        return refuse(reader, "__metadata__ is given twice");
    reader->has_metadata |= reader->key;
    if (reader->key)
        return 1;
    void *grown = make_room(file->entries, file->count, &reader->entry_room, sizeof *file->entries);
    if (!grown)
        return no_memory(reader);
    file->entries = grown;
    const char *name = keep(reader, text, length);
    if (name)
        file->entries[file->count++].tensor = (vd_tensor){.name = name, .elements = 1};
    reader->seen = 0;
    return name != NULL;
}

static int on_end_map(void *context)
{
    header_reader *reader = context;
    if (reader->level == TENSOR && reader->seen != HAS_ALL)
        return refuse(reader, "%s is missing",
                      !(reader->seen & HAS_DTYPE)   ? "dtype"
                      : !(reader->seen & HAS_SHAPE) ? "shape"
                                                    : "data_offsets");
    reader->level = reader->level == TOP ? AFTER : TOP;
    return 1;
}

static int on_start_array(void *context)
{
    header_reader *reader = context;
    if (reader->level != TENSOR || reader->key == HAS_DTYPE)
        return refuse_value(reader, "an array");
    reader->level = reader->key == HAS_SHAPE ? SHAPE : OFFSETS;
    reader->numbers = 0;
    return 1;
}

static int on_end_array(void *context)
{
    header_reader *reader = context;
    if (reader->level == OFFSETS && reader->numbers != 2)
        return refuse(reader, "data_offsets does not have two numbers");
    reader->level = TENSOR;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

vd_status vd_safetensors_read_header(vd_safetensors *file, const char *json, size_t length,
                                     vd_error *err)
{
    header_reader reader = {.err = err, .file = file};
    file->text = vd_alloc(length + 1, 1);
    if (!file->text)
        return vd_error_memory(err, "the header of a safetensors file");
    size_t room = strlen(file->path) + 16;
    char *where = vd_alloc(room, 1);
    if (!where)
        return vd_error_memory(err, "the header of a safetensors file");
    snprintf(where, room, "%s: header", file->path);
    vd_status status = vd_json_read(where, json, length, &callbacks, &reader, &reader.status, err);
    vd_free(where);
    return status;
}
