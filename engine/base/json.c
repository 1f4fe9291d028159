#include "engine/base/json.h"

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/alloc.h"

// What yajl holds during one call: a list of blocks, so that all can be freed when one more cannot
// be had. Each block is preceded by its link.
typedef struct block {
    struct block *next, *previous;
    size_t size;
    size_t pad; // keeps what follows aligned to 16
} block;

typedef struct held_blocks {
    block blocks; // head of the list
    jmp_buf out_of_memory;
} held_blocks;

static void *pool_malloc(void *context, size_t size)
{
    held_blocks *held = context;
    block *made = size <= SIZE_MAX - sizeof *made ? vd_alloc(1, sizeof *made + size) : NULL;
    if (!made)
        longjmp(held->out_of_memory, 1);
    made->size = size;
    made->next = &held->blocks;
    made->previous = held->blocks.previous;
    made->previous->next = made;
    held->blocks.previous = made;
    return made + 1;
}

static void pool_free(void *context, void *memory)
{
    (void)context;
    if (!memory)
        return;
    block *gone = (block *)memory - 1;
    gone->previous->next = gone->next;
    gone->next->previous = gone->previous;
    vd_free(gone);
}

static void *pool_realloc(void *context, void *memory, size_t size)
{
    void *grown = pool_malloc(context, size);
    if (memory) {
        size_t old = ((block *)memory - 1)->size;
        memcpy(grown, memory, old < size ? old : size);
        pool_free(context, memory);
    }
    return grown;
}

static yajl_alloc_funcs pool_begin(held_blocks *held)
{
    held->blocks.next = held->blocks.previous = &held->blocks;
    return (yajl_alloc_funcs){
        .malloc = pool_malloc, .realloc = pool_realloc, .free = pool_free, .ctx = held};
}

static void pool_end(held_blocks *held)
{
    while (held->blocks.next != &held->blocks)
        pool_free(held, held->blocks.next + 1);
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
    held_blocks held;
    yajl_alloc_funcs memory = pool_begin(&held);
    if (setjmp(held.out_of_memory)) {
        pool_end(&held);
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
    pool_end(&held);
    return status;
}

vd_status vd_json_write(const char *where, vd_json_emit emit, void *context, char **text,
                        size_t *length, vd_error *err)
{
    *text = NULL;
    held_blocks held;
    yajl_alloc_funcs memory = pool_begin(&held);
    if (setjmp(held.out_of_memory)) {
        pool_end(&held);
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
    pool_end(&held);
    return status;
}
