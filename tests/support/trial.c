#include "tests/support/trial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"

trial trial_begin(const char *name, uint64_t seed)
{
    return (trial){.name = name, .tolerance = 2e-5, .rng = vd_rng_seed(seed, 17)};
}

int trial_array(trial *t, size_t bytes, bool floats)
{
    assert_true(t->count < TRIAL_ARRAYS);
    t->array[t->count] = (trial_part){vd_alloc(bytes, 1), bytes, floats};
    return t->count++;
}

int trial_reals(trial *t, size_t n)
{
    int i = trial_array(t, n * sizeof(float), true);
    float *x = t->array[i].host;
    for (size_t k = 0; k < n; k++)
        x[k] = (float)vd_rng_range(&t->rng, -1, 1);
    return i;
}

int trial_ints(trial *t, size_t n, int below)
{
    int i = trial_array(t, n * sizeof(int), false);
    int *x = t->array[i].host;
    for (size_t k = 0; k < n; k++)
        x[k] = vd_rng_below(&t->rng, below);
    return i;
}

static void compare_array(const trial *t, int i, const void *expected, const void *found)
{
    const trial_part *a = &t->array[i];
    if (!a->floats) {
        assert_memory_equal(expected, found, a->bytes);
        return;
    }
    const float *x = expected, *y = found;
    for (size_t k = 0; k < a->bytes / sizeof *x; k++)
        if (!(fabs((double)x[k] - (double)y[k]) <= t->tolerance * (1 + fabs((double)x[k]))))
            fail_msg("%s, array %d[%zu]: cpu %.9g, %s %.9g", t->name, i, k, (double)x[k],
                     support_backend()->name, (double)y[k]);
}

static void run_on(const trial *t, const vd_backend *be, trial_operation op, void *context,
                   void **out)
{
    void *at[TRIAL_ARRAYS];
    for (int i = 0; i < t->count; i++) {
        at[i] = be->memory->allocate(t->array[i].bytes);
        assert_non_null(at[i]);
        if (be->memory->guard) // so that a write beyond its end is seen
            be->memory->guard(at[i], t->array[i].bytes, t->array[i].bytes);
        be->memory->upload(at[i], t->array[i].host, t->array[i].bytes);
    }
    op(be, at, context);
    for (int i = 0; i < t->count; i++) {
        out[i] = vd_alloc(t->array[i].bytes, 1);
        be->memory->download(out[i], at[i], t->array[i].bytes);
        be->memory->release(at[i]);
    }
    const char *error = be->last_error();
    if (error)
        fail_msg("%s: %s", t->name, error);
}

void trial_finish(trial *t, trial_operation op, void *context)
{
    void *expected[TRIAL_ARRAYS], *found[TRIAL_ARRAYS];
    run_on(t, vd_backend_cpu(), op, context, expected);
    run_on(t, support_backend(), op, context, found);
    for (int i = 0; i < t->count; i++) {
        compare_array(t, i, expected[i], found[i]);
        vd_free(expected[i]);
        vd_free(found[i]);
        vd_free(t->array[i].host);
    }
}
