#include "engine/base/json.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/utf8.h"

static void *take_block(void *context, size_t size)
{
    vd_json_memory *memory = context;
    vd_json_block *made = size <= SIZE_MAX - sizeof *made ? vd_alloc(1, sizeof *made + size) : NULL;
    if (!made)
        longjmp(memory->out_of_memory, 1);
    made->size = size;
    made->next = &memory->blocks;
    made->previous = memory->blocks.previous;
    made->previous->next = made;
    memory->blocks.previous = made;
    return made + 1;
}

static void free_block(void *context, void *block)
{
    (void)context;
    if (!block)
        return;
    vd_json_block *gone = (vd_json_block *)block - 1;
    gone->previous->next = gone->next;
    gone->next->previous = gone->previous;
    vd_free(gone);
}

static void *resize_block(void *context, void *block, size_t size)
{
    void *grown = take_block(context, size);
    if (block) {
        size_t old = ((vd_json_block *)block - 1)->size;
        memcpy(grown, block, old < size ? old : size);
        free_block(context, block);
    }
    return grown;
}

yajl_alloc_funcs vd_json_memory_begin(vd_json_memory *memory)
{
    memory->blocks.next = memory->blocks.previous = &memory->blocks;
    return (yajl_alloc_funcs){
        .malloc = take_block, .realloc = resize_block, .free = free_block, .ctx = memory};
}

void vd_json_memory_end(vd_json_memory *memory)
{
    while (memory->blocks.next != &memory->blocks)
        free_block(memory, memory->blocks.next + 1);
}

static vd_status refuse_text(yajl_handle handle, const char *where, const char *text, size_t at,
                             vd_error *err)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    const char *why = (const char *)yajl_get_error(handle, 0, NULL, 0);
    int shown = (int)strcspn(why, "\n");
    return vd_error_set(err, VD_FORMAT, "%s: not valid JSON at line %zu, column %zu: %.*s", where,
                        line, column, shown, why);
}

vd_status vd_json_read(const char *where, const char *text, size_t length,
                       const yajl_callbacks *callbacks, void *context, const vd_status *refused,
                       vd_error *err)
{
    vd_json_memory held;
    yajl_alloc_funcs memory = vd_json_memory_begin(&held);
    if (setjmp(held.out_of_memory)) {
        vd_json_memory_end(&held);
        return vd_error_memory(err, "a JSON parser");
    }
    yajl_handle handle = yajl_alloc(callbacks, &memory, context);
    yajl_status read = yajl_parse(handle, (const unsigned char *)text, length);
    size_t at = read == yajl_status_ok ? length : yajl_get_bytes_consumed(handle);
    if (read == yajl_status_ok)
        read = yajl_complete_parse(handle);
    vd_status status = VD_OK;
    if (read == yajl_status_client_canceled)
        status = *refused;
    else if (read != yajl_status_ok)
        status = refuse_text(handle, where, text, at < length ? at : length, err);
    vd_json_memory_end(&held);
    return status;
}

static yajl_gen_status put_text(yajl_gen json, const char *text, size_t length)
{
    return yajl_gen_string(json, (const unsigned char *)text, length);
}

static yajl_gen_status put_number(yajl_gen json, const char *directive, double value)
{
    char text[64];
    if (!isfinite(value))
        return yajl_gen_null(json);
    int length = snprintf(text, sizeof text, directive, value);
    return yajl_gen_number(json, text, (size_t)length);
}

// The value of a directive, which ends with its letter.
static yajl_gen_status put_value(yajl_gen json, const char *directive, va_list *values)
{
    const char kind = directive[strlen(directive) - 1];
    if (kind == 's') {
        const char *text = va_arg(*values, const char *);
        return text ? put_text(json, text, strlen(text)) : put_text(json, "", 0);
    }
    if (kind == 'g')
        return put_number(json, directive, va_arg(*values, double));
    if (strcmp(directive, "%hhd") == 0)
        return yajl_gen_bool(json, va_arg(*values, int));
    if (kind == 'u')
        return yajl_gen_integer(json, (long long)va_arg(*values, size_t));
    return yajl_gen_integer(json, strcmp(directive, "%lld") == 0  ? va_arg(*values, long long)
                                  : strcmp(directive, "%ld") == 0 ? va_arg(*values, long)
                                                                  : va_arg(*values, int));
}

// The bytes of a directive, of a word or of another character at the start of a format.
static size_t part_length(const char *format)
{
    size_t length = 0;
    if (*format == '%')
        return strcspn(format, "sdug") + 1;
    while (isalnum((unsigned char)format[length]) || format[length] == '_' || format[length] == '-')
        length++;
    return length ? length : 1;
}

yajl_gen_status vd_json_put(yajl_gen json, const char *format, ...)
{
    enum { MOST = 15 };
    static yajl_gen_status (*const brackets[0x80])(yajl_gen) = {['{'] = yajl_gen_map_open,
                                                                ['}'] = yajl_gen_map_close,
                                                                ['['] = yajl_gen_array_open,
                                                                [']'] = yajl_gen_array_close};
    yajl_gen_status status = yajl_gen_status_ok;
    va_list values;
    va_start(values, format);
    for (size_t length; *format && status == yajl_gen_status_ok; format += length) {
        char part[MOST + 1] = "";
        length = part_length(format);
        memcpy(part, format, length < MOST ? length : MOST);
        if (*part == '%')
            status = put_value(json, part, &values);
        else if (brackets[*part & 0x7f])
            status = brackets[*part & 0x7f](json);
        else if (strcmp(part, "null") == 0)
            status = yajl_gen_null(json);
        else if (!strchr(" ,:\n", *part))
            status = put_text(json, format, length);
    }
    va_end(values);
    return status;
}

yajl_gen_status vd_json_put_texts(yajl_gen json, const char *const *texts, size_t count)
{
    yajl_gen_status status = yajl_gen_array_open(json);
    for (size_t i = 0; i < count && status == yajl_gen_status_ok; i++)
        status = vd_json_put(json, "%s", texts[i]);
    return status ? status : yajl_gen_array_close(json);
}

void vd_json_put_numbers(yajl_gen json, const float *values, size_t count)
{
    yajl_gen_array_open(json);
    for (size_t i = 0; i < count; i++)
        put_number(json, "%.9g", (double)values[i]);
    yajl_gen_array_close(json);
}

vd_status vd_json_write(const char *where, vd_json_emit emit, void *context, char **text,
                        size_t *length, vd_error *err)
{
    *text = NULL;
    vd_json_memory held;
    yajl_alloc_funcs memory = vd_json_memory_begin(&held);
    if (setjmp(held.out_of_memory)) {
        vd_json_memory_end(&held);
        return vd_error_memory(err, "JSON text");
    }
    yajl_gen gen = yajl_gen_alloc(&memory);
    yajl_gen_status written = emit(gen, context);
    vd_status status = VD_OK;
    if (written != yajl_gen_status_ok) {
        status = vd_error_set(err, VD_FORMAT, "%s: cannot be written as JSON (yajl status %d)",
                              where, (int)written);
    } else {
        const unsigned char *bytes;
        size_t count;
        yajl_gen_get_buf(gen, &bytes, &count);
        *length = count;
        if (vd_utf8_valid(bytes, count) < count)
            status = vd_error_set(err, VD_FORMAT, "%s: a string is not valid UTF-8", where);
        else if (!(*text = vd_strndup((const char *)bytes, count)))
            status = vd_error_memory(err, "JSON text");
    }
    vd_json_memory_end(&held);
    return status;
}

vd_status vd_json_write_file(const char *path, vd_json_emit emit, void *context, vd_error *err)
{
    char *text = NULL;
    size_t length = 0;
    vd_status status = vd_json_write(path, emit, context, &text, &length, err);
    if (status == VD_OK) {
        text[length] = '\n'; // for the NUL
        status = vd_output_file(path, text, length + 1, err);
    }
    vd_free(text);
    return status;
}
