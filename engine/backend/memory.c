#include "engine/backend/memory.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/threads.h"

static void zero_range(void *memory, size_t from, size_t to)
{
    memset((unsigned char *)memory + from, 0, to - from);
}

static void host_zero(void *memory, size_t bytes)
{
    vd_threads_ranges(bytes, 0.05, zero_range, memory);
}

static void host_copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

const vd_memory vd_memory_host = {.host = true,
                                  .allocate = vd_alloc_raw,
                                  .release = vd_free,
                                  .zero = host_zero,
                                  .copy = host_copy,
                                  .upload = host_copy,
                                  .download = host_copy};
