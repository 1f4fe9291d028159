// Trainers of a small network on the batch of small_batch.h. What fails ends the test.
#ifndef TESTS_SUPPORT_SMALL_TRAINER_H
#define TESTS_SUPPORT_SMALL_TRAINER_H

#include "engine/train/trainer.h"
#include "tests/support/small_batch.h"

// LeakyReLU gates, sinusoidal positions, one discriminative decoder.
vd_config small_config(void);
// A large rate and a margin that bites within a few steps.
vd_train_options small_options(uint64_t seed);
// vd_trainer_free.
vd_trainer *small_trainer(const vd_train_options *options);
vd_trainer *small_trainer_of(vd_decoders decoders, const vd_train_options *options);
// `count` steps on small_batch(); the loss of the last.
double small_steps(vd_trainer *trainer, int count);

#endif
