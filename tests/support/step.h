// A training step on given batches, by the calls that `visdial train` makes.
#ifndef TESTS_SUPPORT_STEP_H
#define TESTS_SUPPORT_STEP_H

#include "engine/networks/captions/captions.h"
#include "engine/train/trainer.h"

static inline vd_status step_next(void *context, const vd_batch **out, vd_error *err)
{
    const vd_batch **next = context;
    (void)err;
    *out = (*next)++;
    return VD_OK;
}

// The gradient of `count` micro-batches of a step of these totals.
static inline vd_status step_gradient(vd_trainer *trainer, const vd_batch *batches, size_t count,
                                      vd_totals of, double *loss, vd_error *err)
{
    const vd_batch *next = batches;
    const vd_micro_batches step = {
        .count = count, .of = of, .next = step_next, .context = (void *)&next};
    return vd_trainer_gradient(trainer, &step, loss, err);
}

// A step on one batch.
static inline vd_status step_take(vd_trainer *trainer, const vd_batch *batch, double multiplier,
                                  double *loss, double *gradient_norm, vd_error *err)
{
    vd_totals of = batch->captions ? vd_captions_totals(batch->captions) : vd_batch_totals(batch);
    vd_status status = step_gradient(trainer, batch, 1, of, loss, err);
    return status ? status : vd_trainer_update(trainer, multiplier, loss, gradient_norm, err);
}

#endif
