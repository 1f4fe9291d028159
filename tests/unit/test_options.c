#include "tui/base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/backend/open.h"
#include "tests/support/support.h"
#include "tui/base/nearest.h"

typedef struct values {
    int64_t epochs;
    int embed;
    size_t limit;
    double rate;
    const char *out;
    bool quiet;
    vd_backend_choice backend;
    char said[40];
} values;

static vd_status say(void *said, const char *name, const char *text, vd_error *err)
{
    if (strcmp(text, "no") == 0)
        return vd_error_set(err, VD_USAGE, "--%s: not '%s'", name, text);
    size_t used = strlen(said);
    snprintf((char *)said + used, sizeof((values *)NULL)->said - used, "%s;", text);
    return VD_OK;
}

static const vd_option table[] = {
    {"epochs", "N", "how many", VD_INTO(values, epochs), 1, 1000},
    {"quiet", NULL, "no progress", VD_INTO(values, quiet)},
    {"embed", "N", "size", VD_INTO(values, embed), -8, 8},
    {"limit", "N", "so many", VD_INTO(values, limit), 0, INT64_MAX},
    {"rate", "X", "how fast", VD_INTO(values, rate), .least = 0, .most = 1},
    {"out", "FILE", "where to", VD_INTO(values, out)},
    {"say", "TEXT", "as often as wanted", VD_INTO(values, said), .read = say},
    VD_BACKEND_OPTION(values, backend),
    {0},
};

enum { MOST_WORDS = 12 };

// Reads a command line of words with spaces between them, which stay in `room`; operands do not.
static vd_status read_line(const char *line, char room[200], values *to, vd_arguments *out,
                           vd_error *err)
{
    char *argv[MOST_WORDS + 1] = {0};
    int argc = 0;
    snprintf(room, 200, "%s", line);
    for (char *at = room; at && argc < MOST_WORDS; argv[argc++] = strsep(&at, " "))
        ;
    return vd_arguments_read(table, argc, argv, to, out, err);
}

static void values_go_where_the_table_says_and_operands_come_last(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) { // a second line starts afresh
        char words[8][12] = {"train",   "--epochs", "3",  "left",
                             "--quiet", "--emb=-7", "--", "--out"};
        char *argv[9] = {0};
        for (int i = 0; i < 8; i++)
            argv[i] = words[i];
        values v = {.limit = 77, .rate = 0.5};
        vd_arguments given;
        vd_error err;
        assert_int_equal(vd_arguments_read(table, 8, argv, &v, &given, &err), VD_OK);
        assert_int_equal(v.epochs, 3);
        assert_true(v.quiet);
        assert_int_equal(v.embed, -7);
        assert_int_equal(v.limit, 77); // not given
        assert_true(v.rate == 0.5);
        assert_null(v.out);
        assert_int_equal(given.count, 2);
        assert_string_equal(given.operand[0], "left");
        assert_string_equal(given.operand[1], "--out");
        assert_null(given.operand[2]);
        assert_int_equal(vd_arguments_most(&given, 2, &err), VD_OK);
        support_refused(vd_arguments_most(&given, 1, &err), VD_USAGE, &err,
                        "unexpected '--out'; see --help", NULL);
        assert_true(vd_arguments_have(&given, "epochs"));
        assert_false(vd_arguments_have(&given, "out"));
    }
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    char room[200];
    values v = {0};
    vd_arguments given;
    assert_int_equal(read_line("x --limit 9223372036854775807 --rate 1e-3 --out= --say a --say b",
                               room, &v, &given, NULL),
                     VD_OK);
    assert_true(v.limit == INT64_MAX);
    assert_true(v.rate > 0.00099 && v.rate < 0.00101);
    assert_string_equal(v.out, "");
    assert_string_equal(v.said, "a;b;");
    static const char *const names[] = {"auto", "cpu", "cuda"};
    for (int i = VD_BACKEND_AUTO; i <= VD_BACKEND_CUDA; i++) {
        char line[40];
        snprintf(line, sizeof line, "x --backend %s", names[i]);
        assert_int_equal(read_line(line, room, &v, &given, NULL), VD_OK);
        assert_int_equal(v.backend, i);
    }
}

static void refuse(const char *line, const char *reason)
{
    char room[200];
    values v = {0};
    vd_arguments given;
    vd_error err = {0};
    support_refused(read_line(line, room, &v, &given, &err), VD_USAGE, &err, reason, NULL);
    assert_int_equal(v.epochs, 0);
}

static void a_wrong_option_is_refused_with_the_right_one(void **state)
{
    (void)state;
    refuse("train --epoks", "did you mean --epochs?");
    refuse("train --nothing-like-it", "there is no option --nothing-like-it; see --help");
    refuse("train --epochs", "--epochs needs a value");
    refuse("train --quiet=yes", "--quiet takes no value");
    refuse("train -x", "there is no option -x");
    refuse("train --quiet -12", "there is no option -1");
}

static void values_say_what_was_expected_and_found(void **state)
{
    (void)state;
    static const char *const wrong[] = {"x", "", "0", "1001", "3x", "1e3", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[64], expected[120];
        snprintf(line, sizeof line, "train --epochs=%s", wrong[i]);
        snprintf(expected, sizeof expected,
                 "--epochs: expected a whole number from 1 to 1000, found '%s'", wrong[i]);
        refuse(line, expected);
    }
    static const char *const odd[] = {"nan", "inf", "-1", "2", "0.5x", ""};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char line[64];
        snprintf(line, sizeof line, "train --rate=%s", odd[i]);
        refuse(line, "--rate: expected a number from 0 to 1");
    }
    static const char *const strange[] = {"gpu", "", "cp", "cpuu", "auto,", "or"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        char line[64], expected[120];
        snprintf(line, sizeof line, "train --backend=%s", strange[i]);
        snprintf(expected, sizeof expected, "--backend: expected auto, cpu or cuda, found '%s'",
                 strange[i]);
        refuse(line, expected);
    }
    refuse("train --say no", "--say: not 'no'");
}

static void what_is_missing_or_too_much_is_named(void **state)
{
    (void)state;
    char room[200];
    values v = {0};
    vd_arguments given;
    vd_error err;
    assert_int_equal(read_line("x --out o --quiet a b", room, &v, &given, &err), VD_OK);
    assert_int_equal(vd_arguments_need(&given, "out quiet", &err), VD_OK);
    support_refused(vd_arguments_need(&given, "out rate epochs", &err), VD_USAGE, &err,
                    "--rate is missing; see --help", NULL);
    assert_int_equal(vd_arguments_refuse(&given, "rate epochs", "is wrong", &err), VD_OK);
    support_refused(vd_arguments_refuse(&given, "rate quiet out", "is wrong", &err), VD_USAGE, &err,
                    "--quiet is wrong", NULL);
}

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(vd_edits("train", "train"), 0);
    assert_int_equal(vd_edits("trian", "train"), 1); // neighbours swapped
    assert_int_equal(vd_edits("teh", "the"), 1);
    assert_int_equal(vd_edits("ca", "abc"), 3); // and nothing between them then
    assert_int_equal(vd_edits("", "ask"), 3);
    assert_int_equal(vd_edits("ask", ""), 3);
    assert_int_equal(vd_edits("kitten", "sitting"), 3);
}

static const char *nearest_of(const char *typed, int most, const char *first, const char *second)
{
    vd_nearest nearest = {.typed = typed, .most = most};
    vd_nearest_try(&nearest, first);
    vd_nearest_try(&nearest, second);
    return nearest.name;
}

static void the_nearest_name_is_found(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("ligt", 3, "dark", "light"), "light");
    assert_string_equal(nearest_of("bask", 3, "ask", "task"), "ask"); // the first of two as near
    assert_string_equal(nearest_of("same", 3, "sane", "same"), "same");
    assert_null(nearest_of("xyz", 3, "ask", "on"));  // shares nothing with either
    assert_null(nearest_of("foo", 3, "pool", "on")); // half of its letters are others
    assert_string_equal(nearest_of("evla", 3, "eval", "on"), "eval");
    assert_null(nearest_of("modle", 0, "model", "mode"));
    assert_null(nearest_of("something else", 3, "model", "mode"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_where_the_table_says_and_operands_come_last),
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(a_wrong_option_is_refused_with_the_right_one),
        cmocka_unit_test(values_say_what_was_expected_and_found),
        cmocka_unit_test(what_is_missing_or_too_much_is_named),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(the_nearest_name_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
