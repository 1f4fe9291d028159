// A backend's table that counts: what its matrix products come to, and, when asked, how long each
// family of operations takes.
#ifndef TESTS_BENCH_COUNT_OPERATIONS_H
#define TESTS_BENCH_COUNT_OPERATIONS_H

#include <stdbool.h>

#include "engine/backend/backend.h"

// The table, which calls be's; there is one.
const vd_backend *count_on(const vd_backend *be);
// From now on; timed: waiting after each operation, so that each is charged what it took.
void count_begin(bool timed);
// Multiplications and additions of matrix products since then.
double count_operations(void);
// Prints the milliseconds of every family since then, and what is left of `whole`.
void count_print(double whole);

#endif
