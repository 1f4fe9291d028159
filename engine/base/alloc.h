// Memory with checked sizes, so that tests can make the n-th allocation fail: all of the engine,
// and what is large in the other folders. The small memory of tui/ is GLib's, which ends the
// program where there is none (tui/main.c).
#ifndef VD_ALLOC_H
#define VD_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

// count * size bytes, zeroed, aligned to 64. NULL when out of memory or when the product overflows.
// count or size 0 gives a valid pointer to nothing. Freed with vd_free.
void *vd_alloc(size_t count, size_t size);
// The same with undefined contents, for what is written before it is read.
void *vd_alloc_raw(size_t bytes);

// Grows memory from vd_alloc to new_count elements, keeping the first old_count; new ones are zero.
// On failure it returns NULL and the old memory stays valid.
void *vd_grow(void *memory, size_t old_count, size_t new_count, size_t size);

// For an array that grows: room for `count` elements in an array with room for *room of them, which
// is at least doubled. array: the address of its pointer. False when memory is out: nothing
// changes.
bool vd_make_room(void *array, size_t *room, size_t count, size_t size);

// Copies (vd_free); NULL when out of memory.
char *vd_strdup(const char *text);
char *vd_strndup(const char *text, size_t length);
// printf into new memory of its size; NULL when out of memory.
char *vd_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void vd_free(void *memory);

// Tests only: the n-th allocation from now (1 = the next) fails, once; 0 switches it off. Returns
// how many allocations were made since the last call.
size_t vd_alloc_fail_at(size_t n);

#endif
