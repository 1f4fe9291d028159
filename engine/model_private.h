// What the engine's own files see of a model.
#ifndef VD_MODEL_PRIVATE_H
#define VD_MODEL_PRIVATE_H

#include "engine/model.h"
#include "engine/pass.h"
#include "engine/safetensors.h"
#include "engine/weights.h"

struct vd_model {
    vd_safetensors *file; // open for its metadata
    vd_config config;
    vd_vocab *vocab;
    vd_layout layout;
    vd_real *block;
    vd_weights weights;
    vd_real *sinusoid; // (VD_MAX_HISTORY, E)
    char *name;
};

// A pass that answers with this model: no gradient, no dropout.
void vd_model_pass(const vd_model *model, vd_arena *arena, vd_pass *pass);

#endif
