// One operation on the CPU and on the backend under test: the same inputs go through both tables,
// and every array is compared afterwards.
#ifndef TESTS_SUPPORT_TRIAL_H
#define TESTS_SUPPORT_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/rng.h"
#include "tests/support/backend.h"

enum { TRIAL_ARRAYS = 16 };

typedef struct trial_part {
    void *host; // what both start from
    size_t bytes;
    bool floats;
} trial_part;

typedef struct trial {
    const char *name;
    int count;
    trial_part array[TRIAL_ARRAYS];
    double tolerance;
    vd_rng rng;
} trial;

typedef void (*trial_operation)(const vd_backend *be, void **at, void *context);

trial trial_begin(const char *name, uint64_t seed);
// A further array; each returns its index: of zero bytes, of random numbers in [-1, 1), of random
// numbers below `below`.
int trial_array(trial *trial, size_t bytes, bool floats);
int trial_reals(trial *trial, size_t n);
int trial_ints(trial *trial, size_t n, int below);
// Runs the operation on both; fails where the arrays differ by more than the tolerance, and ints at
// all. at: the arrays in the backend's memory. Frees the arrays.
void trial_finish(trial *trial, trial_operation operation, void *context);

#endif
