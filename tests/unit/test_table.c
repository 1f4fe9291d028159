// Tables of texts, printed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/table.h"

static void prints(const vd_table *table, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    vd_table_print(table, 1, out);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    (void)state;
    vd_table table = {0};
    prints(&table, "");
    vd_table_add(&table, "metric\t%s\t%s", "base", "p");
    vd_table_add(&table, "R@1\t%.4f\t%.3f", 0.6, 1.0);
    vd_table_add(&table, "mean rank of caf\xC3\xA9\t\t0.01");
    prints(&table, " metric               base      p\n"
                   " R@1                0.6000  1.000\n"
                   " mean rank of caf\xC3\xA9           0.01\n");
    assert_int_equal(table.columns, 3);
    assert_string_equal(vd_table_cell(&table, 2, 1), "");
    assert_string_equal(vd_table_cell(&table, 2, 2), "0.01");
    assert_string_equal(vd_table_cell(&table, 2, 3), "");
    vd_table_clear(&table);
}

static void rows_need_not_fill_the_columns(void **state)
{
    (void)state;
    vd_table table = {0};
    vd_table_add(&table, "a\tb\tc");
    vd_table_add(&table, "1\t\t");
    vd_table_add(&table, "2");
    vd_table_add(&table, "\t\t3\t4"); // one too many
    prints(&table, " a  b  c\n 1\n 2\n       3\n");
    vd_table_clear(&table);
}

static void words_start_at_the_left_and_numbers_end_at_the_right(void **state)
{
    (void)state;
    vd_table table = {0};
    vd_table_add(&table, "place\tanswer\tshare");
    vd_table_add(&table, "1\tyes\t62 %%");
    vd_table_add(&table, "10\t42 of them\t<.1 %%");
    prints(&table, " place  answer      share\n"
                   " 1      yes          62 %\n"
                   " 10     42 of them  <.1 %\n");
    vd_table_clear(&table);
    vd_table_add(&table, "word\tlooks at\t95 %% interval"); // words behind a number are words, too
    vd_table_add(&table, "red\t3 red ball\t+0.1 to +0.2");
    vd_table_add(&table, "\t10 cone\t-");
    prints(&table, " word  looks at    95 % interval\n"
                   " red   3 red ball   +0.1 to +0.2\n"
                   "       10 cone                 -\n");
    vd_table_clear(&table);
}

// Tabs of the format end cells; those of a text, and its ends of lines, are spaces.
static void no_text_breaks_a_row(void **state)
{
    (void)state;
    vd_table table = {0};
    vd_table_add(&table, "%s\t%s", "na\tme", "a\nb\r\nc");
    vd_table_more(&table, "%s\t%d", "more\there", 7);
    vd_table_more(&table, "%s\t8", "control\x1f\x01");
    assert_int_equal(table.columns, 6);
    assert_string_equal(vd_table_cell(&table, 0, 4), "control\x1f\x01");
    assert_string_equal(vd_table_cell(&table, 0, 5), "8");
    assert_string_equal(vd_table_cell(&table, 0, 0), "na me");
    assert_string_equal(vd_table_cell(&table, 0, 1), "a b  c");
    assert_string_equal(vd_table_cell(&table, 0, 2), "more here");
    assert_string_equal(vd_table_cell(&table, 0, 3), "7");
    vd_table_add(&table, "1\t2");
    vd_table_more(&table, "3\t4");
    assert_null(table.row[1].cell[4]);
    assert_string_equal(vd_table_cell(&table, 1, 3), "4");
    vd_table_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(rows_need_not_fill_the_columns),
        cmocka_unit_test(words_start_at_the_left_and_numbers_end_at_the_right),
        cmocka_unit_test(no_text_breaks_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
