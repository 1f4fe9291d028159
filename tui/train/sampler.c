#include "tui/train/sampler.h"

#include <glib.h>

#include "engine/base/rng.h"

int64_t vd_training_epoch_steps(size_t dialogs, int64_t batch)
{
    return ((int64_t)dialogs + batch - 1) / batch;
}

void vd_training_order(uint64_t seed, int64_t epoch, size_t *order, size_t dialogs)
{
    // A stream of random numbers of its own, not one that the trainer uses for its steps.
    vd_rng rng = vd_rng_seed(seed, UINT64_C(0x6f72646572) << 20 ^ (uint64_t)epoch);
    for (size_t i = 0; i < dialogs; i++)
        order[i] = i;
    vd_rng_shuffle(&rng, order, dialogs);
}

void vd_sampler_start(vd_sampler *sampler)
{
    sampler->order = g_new0(size_t, sampler->dialogs);
    sampler->ordered = -1;
    sampler->passed = 0;
}

void vd_sampler_clear(vd_sampler *sampler)
{
    g_free(sampler->order);
    sampler->order = NULL;
}

const size_t *vd_sampler_step(vd_sampler *l, int64_t step, size_t *count)
{
    int64_t steps = vd_training_epoch_steps(l->dialogs, l->batch), epoch = step / steps;
    size_t first = (size_t)(step % steps * l->batch), rest = l->dialogs - first;
    if (l->ordered != epoch) {
        vd_training_order(l->seed, epoch, l->order, l->dialogs);
        l->ordered = epoch;
    }
    *count = rest < (size_t)l->batch ? rest : (size_t)l->batch;
    return l->order + first;
}

// This process' dialogs of a step of `count`: [*from, from + returned).
static size_t own_part(const vd_sampler *l, size_t count, size_t *from)
{
    *from = count * l->rank / l->size;
    return count * (l->rank + 1) / l->size - *from;
}

size_t vd_sampler_micro_batches(const vd_sampler *l, size_t count)
{
    size_t from, part = own_part(l, count, &from);
    return l->micro_batch == 0 ? part > 0 : (part + l->micro_batch - 1) / l->micro_batch;
}

size_t vd_sampler_micro_batch(void *sampler, size_t n, const size_t **dialogs)
{
    vd_sampler *l = sampler;
    for (; l->step < l->end; l->step++) {
        size_t count, from;
        const size_t *all = vd_sampler_step(l, l->step, &count);
        size_t batches = vd_sampler_micro_batches(l, count), part = own_part(l, count, &from);
        if (n - l->passed < batches) {
            size_t first = (n - l->passed) * l->micro_batch, rest = part - first;
            *dialogs = all + from + first;
            return l->micro_batch == 0 || l->micro_batch > rest ? rest : l->micro_batch;
        }
        l->passed += batches;
    }
    return 0;
}
