#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tui/screen/wrap.h"

// The lines of a text, joined with '|'.
static void expect_lines(const char *text, int width, const char *expected)
{
    char joined[512] = "";
    size_t offset = 0, length = strlen(text);
    vd_text_line line;
    while (vd_wrap_next(text, length, width, &offset, &line)) {
        size_t used = strlen(joined);
        snprintf(joined + used, sizeof joined - used, "%s%.*s", used ? "|" : "", (int)line.length,
                 text + line.start);
        assert_int_equal(line.width, vd_text_width(text + line.start, line.length));
    }
    assert_string_equal(joined, expected);
}

static void lines_break_at_spaces(void **state)
{
    (void)state;
    expect_lines("there are two red balls", 10, "there are|two red|balls");
    expect_lines("there are two red balls", 9, "there are|two red|balls");
    expect_lines("there are two red balls", 80, "there are two red balls");
    expect_lines("one   two", 4, "one|two");
    expect_lines("", 10, "");
    expect_lines("   ", 10, "");
}

static void a_word_wider_than_the_line_is_cut(void **state)
{
    (void)state;
    expect_lines("abcdefgh ij", 3, "abc|def|gh|ij");
    expect_lines("a bcdefgh", 4, "a|bcde|fgh");
}

static void line_feeds_break_always(void **state)
{
    (void)state;
    expect_lines("one\ntwo three\n\nfour", 20, "one|two three||four");
}

static void wide_characters_take_two_columns(void **state)
{
    (void)state;
    assert_int_equal(vd_text_width("\xe7\x90\x83", 3), 2);
    expect_lines("\xe7\x90\x83\xe7\x90\x83\xe7\x90\x83", 4,
                 "\xe7\x90\x83\xe7\x90\x83|\xe7\x90\x83");
    // Narrower than one of them: each line still moves on.
    expect_lines("\xe7\x90\x83\xe7\x90\x83", 1, "\xe7\x90\x83|\xe7\x90\x83");
}

static void marks_stay_on_their_character(void **state)
{
    (void)state;
    vd_cluster cluster;
    const char *text = "e\xcc\x81x"; // e + combining acute
    vd_cluster_next(text, strlen(text), &cluster);
    assert_int_equal(cluster.bytes, 3);
    assert_int_equal(cluster.width, 1);
    assert_int_equal(cluster.count, 2);
    assert_int_equal(cluster.code[1], 0x301);
    assert_int_equal(vd_text_width(text, strlen(text)), 2);
    // More marks than a cell holds are still one cluster.
    const char *tower = "a\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86\xcc\x87z";
    vd_cluster_next(tower, strlen(tower), &cluster);
    assert_int_equal(cluster.bytes, strlen(tower) - 1);
    assert_int_equal(cluster.count, VD_CLUSTER_CODES);
}

static void expect_replaced(const char *text, size_t bytes)
{
    vd_cluster cluster;
    vd_cluster_next(text, strlen(text), &cluster);
    assert_int_equal(cluster.code[0], VD_REPLACEMENT);
    assert_int_equal(cluster.width, 1);
    assert_int_equal(cluster.bytes, bytes);
}

static void what_no_terminal_can_be_trusted_with_is_replaced(void **state)
{
    (void)state;
    expect_replaced("\xff", 1);             // no UTF-8
    expect_replaced("\xc3", 1);             // cut off
    expect_replaced("\033[2J", 1);          // an escape must never reach the terminal
    expect_replaced("\xc2\x9b", 2);         // C1 CSI
    expect_replaced("\xe2\x80\xae", 3);     // right-to-left override
    expect_replaced("\xcc\x81", 2);         // a mark on nothing
    expect_replaced("\xf0\x9f\xab\xa9", 4); // U+1FAE9, newer than the tables
    expect_replaced("\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa", 8); // a flag of two letters
    // A family joined by U+200D: terminals differ in how wide it is.
    expect_replaced("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9", 11);
}

static void text_fits_up_to_a_width(void **state)
{
    (void)state;
    assert_int_equal(vd_text_fit("abcdef", 6, 3), 3);
    assert_int_equal(vd_text_fit("\xe7\x90\x83\xe7\x90\x83", 6, 3), 3); // half a character is none
    assert_int_equal(vd_text_fit("ab", 2, 0), 0);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_break_at_spaces),
        cmocka_unit_test(a_word_wider_than_the_line_is_cut),
        cmocka_unit_test(line_feeds_break_always),
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(marks_stay_on_their_character),
        cmocka_unit_test(what_no_terminal_can_be_trusted_with_is_replaced),
        cmocka_unit_test(text_fits_up_to_a_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
