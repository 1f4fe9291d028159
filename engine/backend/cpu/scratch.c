#include "engine/backend/cpu/scratch.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { BYTES = VD_SCRATCH_FLOATS * sizeof(float) };

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

void *vd_cpu_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

void vd_cpu_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

static void release(void *memory)
{
    vd_cpu_unmap(memory, BYTES);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, release) == 0;
}

// Mapped as a whole, so that only what is used takes memory.
float *vd_cpu_scratch(size_t floats)
{
    pthread_once(&key_once, make_key);
    if (!has_key || floats > VD_SCRATCH_FLOATS)
        return NULL;
    void *memory = pthread_getspecific(key);
    if (memory || !(memory = vd_cpu_map(BYTES)))
        return memory;
    if (pthread_setspecific(key, memory) == 0)
        return memory;
    release(memory);
    return NULL;
}
