// A backend's table that counts the operations of its matrix products and, when asked, the time of
// each family of operations.
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
