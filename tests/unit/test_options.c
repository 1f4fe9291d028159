#include "tui/base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/support.h"

static const vd_option table[] = {
    {"epochs", "N", "how many"},
    {"quiet", NULL, "no progress"},
    {"embed", "N", "size"},
    {0},
};

static void options_are_found_anywhere_and_operands_come_last(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) { // a second walk starts afresh
        char words[7][12] = {"train", "--epochs", "3", "left", "--quiet", "--embed=7", "over"};
        char *argv[8] = {0};
        for (int i = 0; i < 7; i++)
            argv[i] = words[i];
        vd_option_walk walk = {.options = table, .argc = 7, .argv = argv};
        const char *value;
        vd_error err;
        assert_int_equal(vd_option_next(&walk, &value, &err), 0);
        assert_string_equal(value, "3");
        assert_int_equal(vd_option_next(&walk, &value, &err), 1);
        assert_null(value);
        assert_int_equal(vd_option_next(&walk, &value, &err), 2);
        assert_string_equal(value, "7");
        assert_int_equal(vd_option_next(&walk, &value, &err), VD_OPTION_END);
        assert_int_equal(walk.operands, 5);
        assert_string_equal(argv[5], "left");
        assert_string_equal(argv[6], "over");
    }
}

static void refuse(const char *option, const char *reason)
{
    char name[] = "train", text[64];
    strncpy(text, option, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    char *argv[] = {name, text, NULL};
    vd_option_walk walk = {.options = table, .argc = 2, .argv = argv};
    const char *value;
    vd_error err = {0};
    assert_int_equal(vd_option_next(&walk, &value, &err), VD_OPTION_ERROR);
    support_refused(err.status, VD_USAGE, &err, reason, NULL);
}

static void a_wrong_option_is_refused_with_the_right_one(void **state)
{
    (void)state;
    refuse("--epoks", "did you mean --epochs?");
    refuse("--nothing-like-it", "there is no option --nothing-like-it; see --help");
    refuse("--epochs", "--epochs needs a value");
    refuse("--quiet=yes", "--quiet takes no value");
    refuse("-x", "there is no option -x");
}

static void numbers_say_what_was_expected_and_found(void **state)
{
    (void)state;
    vd_error err;
    int64_t whole = 77;
    double number = 77;
    assert_int_equal(vd_option_int("epochs", "1000", 1, 1000, &whole, &err), VD_OK);
    assert_int_equal(whole, 1000);
    static const char *const wrong[] = {"x", "", "0", "1001", "3x", "1e3", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char found[64];
        snprintf(found, sizeof found, "found '%s'", wrong[i]);
        support_refused(vd_option_int("epochs", wrong[i], 1, 1000, &whole, &err), VD_USAGE, &err,
                        "--epochs: expected a whole number from 1 to 1000", found, NULL);
        assert_int_equal(whole, 1000);
    }
    assert_int_equal(vd_option_number("rate", "1e-3", 0, 1, &number, &err), VD_OK);
    assert_true(number > 0.00099 && number < 0.00101);
    static const char *const odd[] = {"nan", "inf", "-1", "2", "0.5 ", ""};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        support_refused(vd_option_number("rate", odd[i], 0, 1, &number, &err), VD_USAGE, &err,
                        "--rate: expected a number from 0 to 1", NULL);
}

static void what_was_given_is_read_at_once(void **state)
{
    (void)state;
    char words[4][12] = {"train", "left", "--quiet", "--embed=7"};
    char *argv[5] = {words[0], words[1], words[2], words[3], NULL};
    const char *given[3] = {0};
    int operands = 0;
    int64_t epochs = 77, embed = 77;
    const vd_option_range range[] = {{0, 1, 1000, &epochs}, {2, 1, 8, &embed}};
    vd_error err = {0};
    assert_int_equal(vd_options_given(table, 4, argv, given, &operands, &err), VD_OK);
    assert_null(given[0]);
    assert_string_equal(given[1], "");
    assert_string_equal(given[2], "7");
    assert_int_equal(operands, 3);
    assert_int_equal(vd_options_int(table, given, range, 2, &err), VD_OK);
    assert_int_equal(epochs, 77); // not given
    assert_int_equal(embed, 7);
    given[2] = "9";
    support_refused(vd_options_int(table, given, range, 2, &err), VD_USAGE, &err,
                    "--embed: expected a whole number from 1 to 8, found '9'", NULL);
    char wrong[] = "--nothing";
    argv[1] = wrong;
    assert_int_equal(vd_options_given(table, 2, argv, given, &operands, &err), VD_USAGE);
}

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(vd_option_distance("train", "train"), 0);
    assert_int_equal(vd_option_distance("trian", "train"), 2);
    assert_int_equal(vd_option_distance("", "ask"), 3);
    assert_int_equal(vd_option_distance("kitten", "sitting"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_found_anywhere_and_operands_come_last),
        cmocka_unit_test(a_wrong_option_is_refused_with_the_right_one),
        cmocka_unit_test(numbers_say_what_was_expected_and_found),
        cmocka_unit_test(what_was_given_is_read_at_once),
        cmocka_unit_test(distance_counts_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
