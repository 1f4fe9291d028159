#include "tests/support/small_trainer.h"
#include "tests/support/step.h"
#include "tests/support/must.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

vd_config small_config(void)
{
    return (vd_config){.vocab = SMALL_VOCAB,
                       .embed = 6,
                       .hidden = 8,
                       .region = SMALL_REGION,
                       .gate = VD_GATE_LEAKY_RELU,
                       .positions = VD_POSITIONS_SINUSOIDAL};
}

vd_train_options small_options(uint64_t seed)
{
    vd_train_options o = vd_train_defaults();
    o.seed = seed;
    o.rate = 1e-2;
    o.margin = 4;
    o.lambda_start = 20;
    o.lambda_decay = 0.9;
    return o;
}

vd_trainer *small_trainer(const vd_train_options *options)
{
    vd_config config = small_config();
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    must(vd_trainer_new(&config, vocab, options, &trainer, &err), &err);
    vd_vocab_free(vocab);
    return trainer;
}

vd_trainer *small_trainer_of(vd_decoders decoders, const vd_train_options *options)
{
    vd_config config = small_config();
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    config.decoders = decoders;
    must(vd_trainer_new(&config, vocab, options, &trainer, &err), &err);
    vd_vocab_free(vocab);
    return trainer;
}

double small_steps(vd_trainer *trainer, int count)
{
    double loss = 0, norm;
    vd_error err;
    for (int i = 0; i < count; i++)
        must(step_take(trainer, small_batch(), 1, &loss, &norm, &err), &err);
    return loss;
}
