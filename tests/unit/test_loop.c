// When the main loop wakes by itself. The clock is an argument: nothing sleeps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tui/session/loop.h"

static void without_a_pause_it_sleeps_until_something_comes(void **state)
{
    (void)state;
    double due = 0;
    assert_int_equal(vd_loop_left(&due, -1, 100), -1);
    assert_true(due == 0);
}

// Keys come during the pause, each asks again what is left of it.
static void a_pause_is_not_put_off(void **state)
{
    (void)state;
    double due = 0;
    assert_int_equal(vd_loop_left(&due, 800, 100), 800);
    assert_int_equal(vd_loop_left(&due, 800, 100.5), 300);
    assert_int_equal(vd_loop_left(&due, 800, 100.7999), 1); // never a moment too early
    assert_int_equal(vd_loop_left(&due, 800, 100.8), 0);
    assert_int_equal(vd_loop_left(&due, 800, 107), 0);
}

static void a_pause_that_is_no_longer_wanted_is_forgotten(void **state)
{
    (void)state;
    double due = 0;
    vd_loop_left(&due, 800, 100);
    assert_int_equal(vd_loop_left(&due, -1, 100.2), -1);
    assert_int_equal(vd_loop_left(&due, 800, 105), 800); // another one, from its start
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_pause_it_sleeps_until_something_comes),
        cmocka_unit_test(a_pause_is_not_put_off),
        cmocka_unit_test(a_pause_that_is_no_longer_wanted_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
