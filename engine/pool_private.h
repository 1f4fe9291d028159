// What the engine's own files see of a pool.
#ifndef VD_POOL_PRIVATE_H
#define VD_POOL_PRIVATE_H

#include "engine/model_private.h"
#include "engine/pool.h"

struct vd_pool {
    const vd_model *model;
    int count;
    vd_real *vector; // (count, H), in the memory of the model's backend
};

#endif
