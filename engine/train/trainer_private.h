// The inside of a trainer.
#ifndef VD_TRAINER_PRIVATE_H
#define VD_TRAINER_PRIVATE_H

#include "engine/model/file.h"
#include "engine/model/model_private.h"
#include "engine/train/trainer.h"

// What the optimiser keeps: first and second moments.
enum { STATES = 2 };

struct vd_trainer {
    const vd_backend *be;
    const vd_group *group;     // NULL = alone
    const vd_devices *devices; // that sum gradients; NULL = the group does, in host memory
    char sums[200];            // for messages: how gradients are summed
    vd_config config;
    vd_vocab *vocab;
    vd_train_options options;
    vd_layout layout;
    // In the backend's memory: weights, gradients, what the optimiser keeps, positions.
    vd_real *block, *gradient, *state[STATES], *sinusoid;
    vd_weights weights, gradients;
    vd_arena arena;
    int64_t steps;
    int micro_batches; // added to the step that has begun, over all processes
    // Hard attention: what choices brought in this step, and on average before it (counted: there
    // was a step). SCST: what the step's captions were worth.
    const vd_rewards *reward_source;
    vd_caption_rewards rewards;
    double baseline;
    bool counted;
    vd_metadata metadata;
};

// sigmoid(x) as 1/2 + x/4, for a gate that passes what is positive: the weights of a parameter.
void vd_trainer_open_gate(const vd_parameter *p, vd_real *w);

#endif
