// Prefetch: a thread makes the next items while the current one is used.
#ifndef VD_BASE_PREFETCH_H
#define VD_BASE_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/error.h"

typedef struct vd_prefetch vd_prefetch;

// Makes item n (0, 1, ...) in its slot; false when there is no item n. Called on one thread.
typedef bool (*vd_prefetch_make)(void *context, size_t n, size_t slot);

// Item n goes to slot n % slots; slots >= 2. Only make may use the context until
// vd_prefetch_free. Where no thread can be started, items are made when they are asked for.
vd_status vd_prefetch_new(size_t slots, vd_prefetch_make make, void *context, vd_prefetch **out,
                          vd_error *err);
// Waits for the next item and returns its slot, which the caller may use until the next call. After
// the last item the last one is returned again.
size_t vd_prefetch_next(vd_prefetch *prefetch);
void vd_prefetch_free(vd_prefetch *prefetch); // waits for the item being made; NULL is fine

#endif
