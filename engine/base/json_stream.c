#include "engine/base/json_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"

enum {
    CHUNK = 1 << 16,
    MOST_DEPTH = 32,
    MOST_RULES = 32,
    LONGEST_TOKEN = 1 << 20, // a caption has some fifty bytes
    LONGEST_NUMBER = 40,
};

typedef struct frame {
    int container;
    bool object, skipped;
    uint32_t seen;            // rules met, by their number
    const vd_json_rule *rule; // of an array: its elements'; of an object: the last key's
} frame;

struct vd_json_reader {
    const char *path;
    const vd_json_form *form;
    void *context;
    yajl_handle handle;
    frame stack[MOST_DEPTH];
    int depth;
    size_t base, line; // bytes before this chunk, lines up to it
    size_t last_token; // where the last token ended
    vd_status refused;
    char words[512];
    vd_json_memory memory;
    size_t length; // of the chunk being read
    unsigned char chunk[CHUNK];
};

// ---- refusing ---------------------------------------------------------------

vd_status vd_json_refuse(vd_json_reader *reader, vd_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader->words, sizeof reader->words, format, args);
    va_end(args);
    reader->refused = status;
    return status;
}

vd_status vd_json_no_memory(vd_json_reader *reader)
{
    return vd_json_refuse(reader, VD_NO_MEMORY, "out of memory");
}

vd_status vd_json_whole(vd_json_reader *reader, const char *key, const vd_json_scalar *value,
                        int64_t most, int64_t *out)
{
    if (value->integer < 0 || value->integer > most)
        return vd_json_refuse(reader, VD_FORMAT, "\"%s\" is %" PRId64 "; expected 0 or more", key,
                              value->integer);
    *out = value->integer;
    return VD_OK;
}

size_t vd_json_byte(const vd_json_reader *reader)
{
    return reader->base + yajl_get_bytes_consumed(reader->handle);
}

static const char *const kind_names[] = {[VD_JSON_STRING] = "a string",
                                         [VD_JSON_INTEGER] = "a whole number",
                                         [VD_JSON_REAL] = "a number",
                                         [VD_JSON_OBJECT] = "an object {...}",
                                         [VD_JSON_ARRAY] = "a list [...]"};

// ---- tokens to values -------------------------------------------------------

static frame *top(vd_json_reader *reader)
{
    return &reader->stack[reader->depth - 1];
}

static int refuse_kind(vd_json_reader *reader, const vd_json_rule *rule, const char *found)
{
    if (rule->key)
        vd_json_refuse(reader, VD_FORMAT, "\"%s\" is %s; expected %s", rule->key, found,
                       kind_names[rule->kind]);
    else
        vd_json_refuse(reader, VD_FORMAT, "found %s; expected %s", found, kind_names[rule->kind]);
    return 0;
}

static int pass_on(vd_json_reader *reader, const vd_json_rule *rule, const vd_json_scalar *value)
{
    return reader->form->value(reader->context, reader, rule->id, value) == VD_OK;
}

static int on_other(vd_json_reader *reader, const char *found)
{
    const frame *f = top(reader);
    reader->last_token = vd_json_byte(reader);
    return f->skipped || !f->rule ? 1 : refuse_kind(reader, f->rule, found);
}

static int on_null(void *context)
{
    return on_other(context, "null");
}

static int on_boolean(void *context, int value)
{
    return on_other(context, value ? "true" : "false");
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    vd_json_reader *reader = context;
    const frame *f = top(reader);
    reader->last_token = vd_json_byte(reader);
    if (f->skipped || !f->rule)
        return 1;
    if (f->rule->kind != VD_JSON_STRING)
        return refuse_kind(reader, f->rule, "a string");
    if (memchr(text, 0, length)) {
        vd_json_refuse(reader, VD_FORMAT, "a string holds the character \\u0000");
        return 0;
    }
    if (vd_utf8_valid(text, length) < length) { // yajl accepts surrogates
        vd_json_refuse(reader, VD_FORMAT, "a string is not valid UTF8; save the file as UTF-8");
        return 0;
    }
    vd_json_scalar value = {.text = (const char *)text, .length = length};
    return pass_on(reader, f->rule, &value);
}

static bool to_integer(const char *text, size_t length, int64_t *out)
{
    bool negative = length > 0 && text[0] == '-';
    int64_t value = 0;
    if (length - negative > 18)
        return false;
    for (size_t i = negative; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = 10 * value + (text[i] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

static int on_number(void *context, const char *text, size_t length)
{
    vd_json_reader *reader = context;
    const frame *f = top(reader);
    reader->last_token = vd_json_byte(reader);
    if (f->skipped || !f->rule)
        return 1;
    const vd_json_kind kind = f->rule->kind;
    vd_json_scalar value = {0};
    char copy[LONGEST_NUMBER + 1];
    if (to_integer(text, length, &value.integer) &&
        (kind == VD_JSON_INTEGER || kind == VD_JSON_REAL)) {
        value.real = (double)value.integer; // most numbers are whole, and strtod is slow
        return pass_on(reader, f->rule, &value);
    }
    snprintf(copy, sizeof copy, "%.*s", (int)length, text);
    if (kind != VD_JSON_REAL)
        return refuse_kind(reader, f->rule, copy);
    if (length > LONGEST_NUMBER)
        return refuse_kind(reader, f->rule, "a number of too many digits");
    value.real = strtod(copy, NULL);
    return pass_on(reader, f->rule, &value);
}

// ---- objects and arrays -----------------------------------------------------

static const vd_json_rule *find_rule(const vd_json_form *form, int container, const char *key,
                                     size_t length)
{
    for (int i = 0; i < form->rule_count; i++) {
        const vd_json_rule *rule = &form->rules[i];
        if (rule->container != container || !rule->key != !key)
            continue;
        if (!key || (strlen(rule->key) == length && memcmp(rule->key, key, length) == 0))
            return rule;
    }
    return NULL;
}

static int on_open(vd_json_reader *reader, vd_json_kind kind)
{
    const frame *f = top(reader);
    bool skipped = f->skipped || !f->rule;
    reader->last_token = vd_json_byte(reader);
    if (!skipped && f->rule->kind != kind)
        return refuse_kind(reader, f->rule, kind_names[kind]);
    if (reader->depth == MOST_DEPTH) {
        vd_json_refuse(reader, VD_FORMAT, "more than %d levels of nesting", MOST_DEPTH - 1);
        return 0;
    }
    frame inside = {.object = kind == VD_JSON_OBJECT, .skipped = skipped};
    if (!skipped) {
        inside.container = f->rule->id;
        if (!inside.object)
            inside.rule = find_rule(reader->form, inside.container, NULL, 0);
    }
    reader->stack[reader->depth++] = inside;
    return skipped || reader->form->open(reader->context, reader, inside.container) == VD_OK;
}

static int on_end(void *context)
{
    vd_json_reader *reader = context;
    const frame *f = top(reader);
    reader->last_token = vd_json_byte(reader);
    for (int i = 0; i < reader->form->rule_count && f->object && !f->skipped; i++) {
        const vd_json_rule *rule = &reader->form->rules[i];
        if (rule->container == f->container && rule->required && !(f->seen & (UINT32_C(1) << i))) {
            vd_json_refuse(reader, VD_FORMAT,
                           "the object that ends here has no \"%s\", which is required", rule->key);
            return 0;
        }
    }
    int going = f->skipped || reader->form->close(reader->context, reader, f->container) == VD_OK;
    reader->depth--;
    return going;
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
    vd_json_reader *reader = context;
    frame *f = top(reader);
    reader->last_token = vd_json_byte(reader);
    if (f->skipped)
        return 1;
    f->rule = find_rule(reader->form, f->container, (const char *)key, length);
    if (!f->rule)
        return 1;
    uint32_t bit = UINT32_C(1) << (f->rule - reader->form->rules);
    if (f->seen & bit) {
        vd_json_refuse(reader, VD_FORMAT, "\"%s\" is given twice in the same object", f->rule->key);
        return 0;
    }
    f->seen |= bit;
    return 1;
}

static int on_start_map(void *context)
{
    return on_open(context, VD_JSON_OBJECT);
}

static int on_start_array(void *context)
{
    return on_open(context, VD_JSON_ARRAY);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

// ---- the file ---------------------------------------------------------------

static size_t lines_of(const unsigned char *chunk, size_t length)
{
    size_t lines = 0;
    const unsigned char *end = chunk + length;
    while (chunk < end && (chunk = memchr(chunk, '\n', (size_t)(end - chunk)))) {
        lines++;
        chunk++;
    }
    return lines;
}

static vd_status report(vd_json_reader *reader, const char *words, vd_status status, vd_error *err)
{
    char where[128] = "";
    size_t used = yajl_get_bytes_consumed(reader->handle);
    used = used < reader->length ? used : reader->length;
    reader->form->where(reader->context, where, sizeof where);
    return vd_error_set(err, status, "%s: line %zu, byte %zu%s%s: %s", reader->path,
                        reader->line + lines_of(reader->chunk, used), reader->base + used,
                        where[0] ? ", " : "", where, words);
}

static vd_status report_status(vd_json_reader *reader, yajl_status parsed, vd_error *err)
{
    if (parsed == yajl_status_client_canceled)
        return reader->refused == VD_NO_MEMORY
                   ? vd_error_memory(err, "what a JSON file holds")
                   : report(reader, reader->words, reader->refused, err);
    const char *why = (const char *)yajl_get_error(reader->handle, 0, NULL, 0);
    if (reader->length == 0)
        vd_json_refuse(reader, VD_FORMAT, "the file ends in the middle; is it cut short?");
    else
        vd_json_refuse(reader, VD_FORMAT, "not valid JSON: %.*s", (int)strcspn(why, "\n"), why);
    return report(reader, reader->words, VD_FORMAT, err);
}

static vd_status feed(vd_json_reader *reader, int descriptor, vd_error *err)
{
    for (;;) {
        ssize_t got = read(descriptor, reader->chunk, CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vd_error_set(err, VD_IO, "%s: byte %zu: %s", reader->path, reader->base,
                                strerror(errno));
        reader->length = (size_t)got;
        yajl_status parsed = got > 0 ? yajl_parse(reader->handle, reader->chunk, reader->length)
                                     : yajl_complete_parse(reader->handle);
        if (parsed != yajl_status_ok)
            return report_status(reader, parsed, err);
        if (got == 0)
            return VD_OK;
        reader->base += reader->length;
        reader->line += lines_of(reader->chunk, reader->length);
        if (reader->base - reader->last_token > LONGEST_TOKEN) {
            reader->base -= reader->length;
            reader->length = 0;
            return report(reader, "more than 1 MiB without a value", VD_FORMAT, err);
        }
    }
}

vd_status vd_json_stream(const char *path, const vd_json_form *form, void *context, vd_error *err)
{
    int descriptor = -1;
    size_t size;
    vd_status status = vd_file_open(path, &descriptor, &size, err);
    if (status != VD_OK)
        return status;
    vd_json_reader *reader = vd_alloc(1, sizeof *reader);
    // strtod would follow the locale: 0,5 for 0.5.
    locale_t numbers = reader ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0;
    if (!numbers) {
        vd_free(reader);
        close(descriptor);
        return vd_error_memory(err, "a JSON reader");
    }
    reader->path = path;
    reader->form = form;
    reader->context = context;
    reader->line = 1;
    reader->stack[0].rule = find_rule(form, 0, NULL, 0);
    reader->depth = 1;
    locale_t before = uselocale(numbers);
    yajl_alloc_funcs memory = vd_json_memory_begin(&reader->memory);
    if (setjmp(reader->memory.out_of_memory)) {
        status = vd_error_memory(err, "a JSON reader");
    } else {
        reader->handle = yajl_alloc(&callbacks, &memory, reader);
        status = feed(reader, descriptor, err);
    }
    vd_json_memory_end(&reader->memory);
    uselocale(before);
    freelocale(numbers);
    vd_free(reader);
    close(descriptor);
    return status;
}
