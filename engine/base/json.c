#include "engine/base/json.h"

#include <stdint.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"

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

yajl_gen_status vd_json_emit_text(yajl_gen gen, const char *text)
{
    return yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
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
    yajl_gen_config(gen, yajl_gen_validate_utf8, 1);
    yajl_gen_status written = emit(gen, context);
    vd_status status = VD_OK;
    if (written == yajl_gen_invalid_string) {
        status = vd_error_set(err, VD_FORMAT, "%s: a string is not valid UTF-8", where);
    } else if (written != yajl_gen_status_ok) {
        status = vd_error_set(err, VD_FORMAT, "%s: cannot be written as JSON (yajl status %d)",
                              where, (int)written);
    } else {
        const unsigned char *bytes;
        size_t count;
        yajl_gen_get_buf(gen, &bytes, &count);
        *text = vd_strndup((const char *)bytes, count);
        *length = count;
        if (!*text)
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
