// A batch of random dialogs for a small network, the same every time.
#ifndef TESTS_SUPPORT_SMALL_BATCH_H
#define TESTS_SUPPORT_SMALL_BATCH_H

#include "engine/networks/batch.h"
#include "engine/model/vocab.h"

enum { SMALL_VOCAB = 30, SMALL_REGION = 10, SMALL_DIALOGS = 3, SMALL_ROUNDS = 4 };

// Static memory; every call gives the same batch.
const vd_batch *small_batch(void);
// SMALL_VOCAB words, the four special ones included; vd_vocab_free.
vd_vocab *small_vocab(void);

#endif
