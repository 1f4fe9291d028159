// The inside of a model, for the engine's own files.
#ifndef VD_MODEL_PRIVATE_H
#define VD_MODEL_PRIVATE_H

#include "engine/model/model.h"
#include "engine/networks/mvan/pass.h"
#include "engine/base/safetensors.h"
#include "engine/networks/mvan/weights.h"

struct vd_model {
    const vd_backend *be;
    vd_safetensors *file; // open for its metadata
    vd_config config;
    vd_vocab *vocab;
    vd_layout layout;
    vd_weights weights;
    // What they are bound to, in the backend's memory: the model's own block (NULL = they are read
    // where the file is mapped), and the vectors of weights that the file has in 16 bits (NULL =
    // they lie in the block).
    vd_real *block, *vectors;
    vd_real *sinusoid; // (VD_MAX_HISTORY, E), there too, whether it is used or not
    char *name;
};

// A pass that answers with this model: no gradient, no dropout. The arena becomes one of the
// model's backend.
void vd_model_pass(const vd_model *model, vd_arena *arena, vd_pass *pass);

// Numbers in the memory of a model's backend.
static inline void *vd_model_take(const vd_model *model, size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : model->be->memory->allocate(bytes);
}

static inline void vd_model_give(const vd_model *model, void *numbers)
{
    model->be->memory->release(numbers);
}

#endif
