// What the engine's own files see of a model.
#ifndef VD_MODEL_PRIVATE_H
#define VD_MODEL_PRIVATE_H

#include "engine/backend/cpu/packed_weights.h"
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
    // In the backend's memory; on the CPU the file's own numbers where it has them in order:
    // float32 ones as they are (in_file), 16-bit ones by addresses that stand for them
    // (fp16_weights.h). Only operations may read it.
    vd_real *block;
    bool in_file;
    vd_weights weights;
    vd_cpu_panels *panels; // see vd_model_pack; NULL = none
    vd_pack packed;        // what they are of
    vd_real *sinusoid;     // (VD_MAX_HISTORY, E), there too, whether it is used or not
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
