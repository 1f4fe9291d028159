#include "engine/backend/cpu/fp16_weights.h"

#include <stdint.h>
#include <sys/mman.h>

#include "engine/base/alloc.h"
#include "engine/backend/cpu/places.h"

// A block, at addresses that would hold it as floats, and its numbers.
typedef struct half_block {
    const unsigned char *data;
    vd_dtype type;
    float *block;
    size_t bytes; // of those addresses
} half_block;

static vd_places known = VD_NO_PLACES;

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
    half_block *half = vd_alloc(1, sizeof *half);
    float *block = half ? reserve(elements) : NULL;
    if (block) {
        *half = (half_block){data, type, block, elements * sizeof *block};
        if (vd_places_add(&known, block, block + elements, half))
            return block;
        munmap(block, half->bytes);
    }
    vd_free(half);
    return NULL;
}

bool vd_cpu_halves_free(float *block)
{
    half_block *half = vd_places_remove(&known, block);
    if (half)
        munmap(block, half->bytes);
    vd_free(half);
    return half;
}

const void *vd_cpu_halves_find(const float *w, vd_dtype *type)
{
    const half_block *half = vd_places_find(&known, w);
    *type = half ? half->type : VD_F32;
    return half ? half->data + (size_t)(w - half->block) * sizeof(uint16_t) : (const void *)w;
}
