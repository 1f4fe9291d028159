// How processes share a machine's processors: groups of which this process is one and the others
// are made up.
#include "engine/train/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/support.h"

enum { SIZE = 6 };

// How many of the others may run where this process does.
static int beside;

static const char *sum_of_others(double *x, size_t n)
{
    for (size_t r = 0; r < n; r++)
        if (r != 2)
            x[r] = x[2] + ((int)(r < 2 ? r : r - 1) < beside ? 0 : 1);
    return NULL;
}

static const char *no_sum(double *x, size_t n)
{
    (void)x;
    (void)n;
    return "one is gone";
}

static vd_status ask(void *context, vd_error *err)
{
    vd_group group = {.abi = VD_GROUP_ABI, .rank = 2, .size = SIZE, .sum_doubles = sum_of_others};
    return vd_group_threads(&group, context, err);
}

static void processes_of_the_same_processors_share_them(void **state)
{
    (void)state;
    int alone, threads;
    vd_error err;
    assert_int_equal(vd_group_threads(NULL, &alone, &err), VD_OK);
    assert_true(alone >= 1 && alone <= sysconf(_SC_NPROCESSORS_CONF));
    for (beside = 0; beside < SIZE; beside++) {
        assert_int_equal(ask(&threads, &err), VD_OK);
        int share = alone / (beside + 1);
        assert_int_equal(threads, share > 1 ? share : 1);
    }
}

static void what_goes_wrong_is_told(void **state)
{
    (void)state;
    int threads;
    vd_error err;
    vd_group group = {.abi = VD_GROUP_ABI, .rank = 2, .size = SIZE, .sum_doubles = no_sum};
    support_refused(vd_group_threads(&group, &threads, &err), VD_IO, &err, "one is gone", NULL);
    assert_int_equal(support_fail_each_allocation(ask, &threads), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_of_the_same_processors_share_them),
        cmocka_unit_test(what_goes_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
