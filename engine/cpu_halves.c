#include "engine/cpu_halves.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

enum { MOST_BLOCKS = 64 };

// A block is looked up from any thread, but only while the model it belongs to is there, so its
// entry does not change meanwhile; others come and go beside it.
static struct {
    _Atomic uintptr_t from; // 0: free
    _Atomic uintptr_t to;
    const unsigned char *data;
    vd_dtype type;
} blocks[MOST_BLOCKS];
static atomic_int used; // entries that were ever used
static pthread_mutex_t change = PTHREAD_MUTEX_INITIALIZER;

static float *reserve(size_t elements)
{
    size_t bytes;
    if (__builtin_mul_overflow(elements, sizeof(float), &bytes) || bytes == 0)
        return NULL;
    void *there = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return there == MAP_FAILED ? NULL : there;
}

float *vd_cpu_halves_new(const void *data, vd_dtype type, size_t elements)
{
    float *block = reserve(elements);
    if (!block)
        return NULL;
    pthread_mutex_lock(&change);
    int at = 0;
    while (at < MOST_BLOCKS && blocks[at].from != 0)
        at++;
    if (at < MOST_BLOCKS) {
        blocks[at].data = data;
        blocks[at].type = type;
        blocks[at].to = (uintptr_t)(block + elements);
        blocks[at].from = (uintptr_t)block;
        if (at >= used)
            used = at + 1;
    }
    pthread_mutex_unlock(&change);
    if (at < MOST_BLOCKS)
        return block;
    munmap(block, elements * sizeof *block);
    return NULL;
}

bool vd_cpu_halves_free(float *block)
{
    bool found = false;
    pthread_mutex_lock(&change);
    for (int i = 0; block && i < used; i++)
        if (blocks[i].from == (uintptr_t)block) {
            size_t bytes = blocks[i].to - blocks[i].from;
            blocks[i].from = 0;
            munmap(block, bytes);
            found = true;
        }
    pthread_mutex_unlock(&change);
    return found;
}

const void *vd_cpu_halves_find(const float *w, vd_dtype *type)
{
    uintptr_t at = (uintptr_t)w;
    int count = atomic_load_explicit(&used, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        uintptr_t from = atomic_load_explicit(&blocks[i].from, memory_order_acquire);
        if (from != 0 && at >= from && at < blocks[i].to) {
            *type = blocks[i].type;
            return blocks[i].data + (at - from) / 2;
        }
    }
    *type = VD_F32;
    return w;
}
