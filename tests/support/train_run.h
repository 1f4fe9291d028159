// Runs of `visdial train` on a tiny world.
#ifndef VD_TEST_TRAIN_RUN_H
#define VD_TEST_TRAIN_RUN_H

#include "tests/support/program.h"
#include "tests/support/tiny_world.h"

extern tiny_world tiny;
int train_run_world(void **state); // set-up and tear-down of a group
int train_run_end(void **state);

#define MORE(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__ __VA_OPT__(, ) NULL                                                            \
    }

// `visdial train` into tiny.directory/out, with more arguments (MORE).
void train_run_start(support_program *run, const char *out, size_t most_bytes,
                     const char *const *more);
// The same to its end, with this exit code and words on standard error.
void train_run_expect(const char *out, int code, const char *words, const char *const *more);

void train_run_remove(const char *out);
char *train_run_file(const char *out, const char *name); // its path, free()
char *train_run_scalars(const char *out);                // of its event file, as text, free()
void train_run_same_file(const char *a, const char *b, const char *name);
// Model, checkpoint, best model (where there is one), log and scalars of two runs, bit for bit.
void train_run_same(const char *a, const char *b);

#endif
