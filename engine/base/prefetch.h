// Things made ahead by a thread: while one is used, those after it are made.
#ifndef VD_BASE_PREFETCH_H
#define VD_BASE_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/error.h"

typedef struct vd_prefetch vd_prefetch;

// Makes thing n (0, 1, ...) in its place; false when there is none after it. On one thread.
typedef bool (*vd_prefetch_make)(void *context, size_t n, size_t place);

// Thing n goes to place n % places; 2 or more. The context is make's until ahead is freed. Without
// a thread things are made when they are asked for.
vd_status vd_prefetch_new(size_t places, vd_prefetch_make make, void *context, vd_prefetch **out,
                          vd_error *err);
// Waits for the next thing and gives its place, which is the caller's until the next call; behind
// the last comes the last again.
size_t vd_prefetch_next(vd_prefetch *ahead);
void vd_prefetch_free(vd_prefetch *ahead); // when what is being made is done; NULL is fine

#endif
