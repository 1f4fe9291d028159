// Which dialogs a training run learns from, step by step: a shuffle per epoch, divided into
// steps, a step into the parts of the processes that train together, and these into micro-batches.
// It depends only on the numbers below, so a resumed run gives the same result.
#ifndef VD_TRAIN_SAMPLER_H
#define VD_TRAIN_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

// Steps of an epoch of `dialogs` dialogs.
int64_t vd_training_epoch_steps(size_t dialogs, int64_t batch);
// The order of the dialogs in an epoch (0, 1, ...): a shuffle drawn from (seed, epoch).
void vd_training_order(uint64_t seed, int64_t epoch, size_t *order, size_t dialogs);

typedef struct vd_sampler {
    // Filled by the caller.
    uint64_t seed;
    size_t dialogs;
    int64_t batch;      // dialogs of a step
    size_t micro_batch; // dialogs at a time; 0 = all of a process' part at once
    size_t rank, size;
    int64_t step; // micro-batch 0 is this step's first
    int64_t end;  // no micro-batch is of this step or a later one
    // Set by the sampler.
    size_t *order; // (dialogs) of epoch `ordered`
    int64_t ordered;
    size_t passed; // micro-batches of the steps before `step`
} vd_sampler;

// Makes room for the order; freed by vd_sampler_clear.
void vd_sampler_start(vd_sampler *sampler);
void vd_sampler_clear(vd_sampler *sampler);

// All dialogs of a step, valid until the next call.
const size_t *vd_sampler_step(vd_sampler *sampler, int64_t step, size_t *count);
// The number of micro-batches of this process' part of a step of `count` dialogs.
size_t vd_sampler_micro_batches(const vd_sampler *sampler, size_t count);
// The dialogs of this process' n-th micro-batch from `step` on; n rises from call to call. The type
// is that of the callback of vd_data_loader_new, with the sampler as its context.
size_t vd_sampler_micro_batch(void *sampler, size_t n, const size_t **dialogs);

#endif
