// Appending to a buffer of fixed size: what fits, what is cut, and that nothing is written behind
// it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/append.h"

static void texts_follow_each_other(void **state)
{
    char out[16] = "a";
    (void)state;
    assert_true(vd_append(out, sizeof out, " %d", 12));
    assert_true(vd_append(out, sizeof out, "%s", ""));
    assert_true(vd_append(out, sizeof out, "%s", ", and"));
    assert_string_equal(out, "a 12, and");
}

static void what_does_not_fit_is_cut(void **state)
{
    char out[8];
    (void)state;
    memset(out, 'x', sizeof out);
    out[0] = '\0';
    assert_true(vd_append(out, 6, "%s", "12345"));
    assert_false(vd_append(out, 6, "%s", "6"));
    assert_string_equal(out, "12345");
    out[3] = '\0';
    assert_false(vd_append(out, 6, "%s", "abc"));
    assert_string_equal(out, "123ab");
    assert_memory_equal(out + 6, "xx", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_follow_each_other),
        cmocka_unit_test(what_does_not_fit_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
