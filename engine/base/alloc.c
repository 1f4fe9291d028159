#include "engine/base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// From LARGE bytes on, memory is requested in huge pages: many small ones cost address translation.
enum { ALIGNMENT = 64, HUGE_PAGE = 1 << 21, LARGE = 4 * HUGE_PAGE };

static atomic_size_t made;
static atomic_size_t fail_at;

size_t vd_alloc_fail_at(size_t n)
{
    atomic_store(&fail_at, n);
    return atomic_exchange(&made, 0);
}

static int refuse(void)
{
    size_t number = atomic_fetch_add(&made, 1) + 1;
    return number == atomic_load(&fail_at);
}

void *vd_alloc_raw(size_t bytes)
{
    if (bytes > SIZE_MAX - HUGE_PAGE || refuse())
        return NULL;
    size_t alignment = bytes < LARGE ? ALIGNMENT : HUGE_PAGE;
    if (bytes == 0)
        bytes = ALIGNMENT;
    void *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory && alignment == HUGE_PAGE)
        madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); // a hint only
    return memory;
}

void *vd_alloc(size_t count, size_t size)
{
    size_t bytes;
    void *memory = __builtin_mul_overflow(count, size, &bytes) ? NULL : vd_alloc_raw(bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *vd_grow(void *memory, size_t old_count, size_t new_count, size_t size)
{
    void *grown = vd_alloc(new_count, size);
    if (!grown)
        return NULL;
    if (memory)
        memcpy(grown, memory, (old_count < new_count ? old_count : new_count) * size);
    vd_free(memory);
    return grown;
}

bool vd_make_room(void *array, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return true;
    size_t larger = *room < 32 ? 64 : 2 * *room;
    larger = larger > count ? larger : count;
    void *memory;
    memcpy(&memory, array, sizeof memory);
    if (!(memory = vd_grow(memory, *room, larger, size)))
        return false;
    memcpy(array, &memory, sizeof memory);
    *room = larger;
    return true;
}

char *vd_strndup(const char *text, size_t length)
{
    char *copy = vd_alloc(length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *vd_strdup(const char *text)
{
    return vd_strndup(text, strlen(text));
}

char *vd_format(const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, values);
    char *text = length < 0 ? NULL : vd_alloc_raw((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(values);
    return text;
}

void vd_free(void *memory)
{
    free(memory);
}
