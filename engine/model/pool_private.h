// The inside of a pool, for the engine's own files.
#ifndef VD_POOL_PRIVATE_H
#define VD_POOL_PRIVATE_H

#include <stdbool.h>

#include "engine/networks/batch.h"
#include "engine/model/model_private.h"
#include "engine/model/pool.h"

struct vd_pool {
    const vd_model *model;
    int count;
    vd_matrix vectors;    // (count, H), in the memory of the model's backend, or in file's mapping
    vd_safetensors *file; // NULL when they are the pool's own
    vd_decoders by;       // that score
    // For a generative decoder: the answers themselves, else NULL.
    int32_t *tokens, *lengths; // (count, width), (count)
    int width;
    uint64_t answers; // hash of what was encoded
};

// How much of an answer its vector is made of.
static inline int vd_pool_read_length(int length)
{
    return length < VD_CUT_CANDIDATE ? length : VD_CUT_CANDIDATE;
}

// Of what is read of them.
uint64_t vd_pool_hash_answers(const int32_t *tokens, const int32_t *lengths, int count, int width);

#endif
