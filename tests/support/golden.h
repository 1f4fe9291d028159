// Loading a golden model with its inputs and expected numbers. A mismatch fails the calling test.
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "engine/networks/network.h"
#include "engine/base/safetensors.h"

typedef struct golden {
    const char *path;
    vd_safetensors *file;
    vd_config config;
    vd_layout layout;
    vd_real *block;                       // host memory
    vd_real *there, *gradient, *sinusoid; // the backend's: the same weights, gradients, positions
    vd_weights weights, dweights;
    vd_arena arena;
    vd_batch batch;
    int compared; // gradient tensors compared so far
} golden;

// Opens tests/golden/data/NAME or, where the project does not have it, ../shared/golden/NAME; the
// calling test is skipped where there is no ../shared.
void golden_open(golden *g, const char *name, vd_decoders decoders);
void golden_close(golden *g);
// Sets up a network over the golden batch without dropout, with gradients when asked for.
void golden_network(golden *g, vd_network *net, bool with_gradient);
// A tensor of exactly `count` numbers; vd_free.
float *golden_floats(golden *g, const char *name, size_t count);
int32_t *golden_ints(golden *g, const char *name, size_t *count);

#endif
