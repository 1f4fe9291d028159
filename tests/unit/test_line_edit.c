#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/support.h"
#include "tui/screen/line_edit.h"
#include "tui/screen/wrap.h"

static vd_line line;

static void type(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        vd_cluster cluster;
        vd_cluster_next(text + at, length - at, &cluster);
        for (int i = 0; i < cluster.count; i++)
            vd_line_insert(&line, cluster.code[i]);
        at += cluster.bytes;
    }
}

// Keys as in the chat's question line; text in quotes is typed.
static void press(const char *keys)
{
    while (*keys) {
        char name[24];
        size_t length = strcspn(keys, " ");
        if (*keys == '\'') {
            const char *end = strchr(keys + 1, '\'');
            type(keys + 1, (size_t)(end - keys - 1));
            length = (size_t)(end - keys) + 1;
        } else if (length) {
            vd_key key;
            snprintf(name, sizeof name, "%.*s", (int)length, keys);
            assert_true(vd_key_parse(name, &key));
            vd_action action = vd_keymap_action(VD_PLACE_CHAT, key, false);
            assert_true(vd_line_action(&line, action));
        }
        keys += length;
        keys += *keys == ' ';
    }
}

// The line with '|' where the cursor stands.
static void expect(const char *expected)
{
    char shown[VD_LINE_MAX + 2];
    snprintf(shown, sizeof shown, "%.*s|%s", (int)line.cursor, line.text, line.text + line.cursor);
    assert_string_equal(shown, expected);
    assert_int_equal(line.length, strlen(line.text));
}

static int fresh(void **state)
{
    (void)state;
    vd_line_free(&line);
    return 0;
}

static void the_cursor_moves_by_characters_words_and_lines(void **state)
{
    (void)state;
    press("'is it red?' C-a");
    expect("|is it red?");
    press("C-f Right");
    expect("is| it red?");
    press("M-f");
    expect("is it| red?");
    press("C-e M-b");
    expect("is it |red?");
    press("C-b Left C-Left");
    expect("is |it red?");
    press("End C-f");
    expect("is it red?|");
    press("Home C-b");
    expect("|is it red?");
}

static void text_is_deleted_both_ways(void **state)
{
    (void)state;
    press("'abcd' Left Backspace");
    expect("ab|d");
    press("Del Del C-d");
    expect("ab|");
    press("C-h C-h C-h");
    expect("|");
}

static void what_was_cut_comes_back(void **state)
{
    (void)state;
    press("'one two three' M-b C-k");
    expect("one two |");
    press("C-a C-y");
    expect("three|one two ");
    press("C-e C-u C-y C-y");
    expect("threeone two threeone two |");
}

static void cuts_in_a_row_add_up(void **state)
{
    (void)state;
    press("'one two three' C-w C-w");
    expect("one |");
    press("C-a C-y");
    expect("two three|one ");
    vd_line_clear(&line);
    press("'one two three' C-a M-d M-d C-e C-y");
    expect(" threeone two|");
    vd_line_clear(&line);
    press("'one two' C-w Left C-w C-e C-y"); // a move in between starts afresh
    expect(" one|");
}

static void two_characters_swap(void **state)
{
    (void)state;
    press("'teh' C-t");
    expect("the|");
    press("C-a C-t");
    expect("|the");
    press("Right C-t");
    expect("ht|e");
    vd_line_clear(&line);
    press("'\xc3\xa9\xe7\x90\x83' C-t");
    expect("\xe7\x90\x83\xc3\xa9|");
}

static void clusters_are_never_split(void **state)
{
    (void)state;
    press("'ae\xcc\x81\xe7\x90\x83' Left");
    expect("ae\xcc\x81|\xe7\x90\x83");
    press("Left");
    expect("a|e\xcc\x81\xe7\x90\x83");
    press("Del");
    expect("a|\xe7\x90\x83");
    press("C-e Backspace");
    expect("a|");
    vd_line_insert(&line, 0x301); // a mark joins the character before it
    expect("a\xcc\x81|");
    press("Backspace");
    expect("|");
}

static void control_characters_and_surrogates_stay_out(void **state)
{
    (void)state;
    vd_line_insert(&line, 0x1B);
    vd_line_insert(&line, 0x9B);
    vd_line_insert(&line, 0xD800);
    vd_line_insert(&line, 0x110000);
    vd_line_insert(&line, VD_KEY_F0 + 1);
    expect("  |");
}

static void history_keeps_the_draft(void **state)
{
    (void)state;
    vd_line_remember(&line, "first");
    vd_line_remember(&line, "second");
    vd_line_remember(&line, "second"); // not twice
    vd_line_remember(&line, "");
    press("'dra' Up");
    expect("second|");
    press("Up Up Up");
    expect("first|");
    press("'!' Down Down Down");
    expect("dra|");
    press("Up Up");
    expect("first|"); // the change to an old line was not kept
}

static void history_has_an_end(void **state)
{
    (void)state;
    char text[16];
    for (int i = 0; i < VD_LINE_HISTORY + 10; i++) {
        snprintf(text, sizeof text, "%d", i);
        vd_line_remember(&line, text);
    }
    assert_int_equal(line.count, VD_LINE_HISTORY);
    assert_string_equal(line.history[0], "10");
}

static void a_full_line_takes_no_more(void **state)
{
    (void)state;
    for (int i = 0; i < VD_LINE_MAX; i++)
        vd_line_insert(&line, 'x');
    vd_line_insert(&line, 'y');
    assert_int_equal(line.length, VD_LINE_MAX);
    press("Backspace");
    vd_line_insert(&line, 0xE9); // two bytes do not fit into one
    assert_int_equal(line.length, VD_LINE_MAX - 1);
    snprintf(line.cut, sizeof line.cut, "\xc3\xa9");
    press("C-y");
    assert_int_equal(line.length, VD_LINE_MAX - 1);
    press("C-u C-y C-y"); // twice as much as fits
    assert_true(line.length <= VD_LINE_MAX);
}

static void the_cursor_is_always_in_sight(void **state)
{
    (void)state;
    press("'a line that is much longer than the window \xe7\x90\x83\xe7\x90\x83 and ends here'");
    for (int width = 1; width < 40; width++) {
        line.cursor = line.length;
        for (;;) {
            vd_line_view view = vd_line_visible(&line, width);
            assert_in_range(view.column, 0, width - 1);
            assert_true(view.first <= line.cursor);
            assert_true(line.cursor <= view.first + view.length);
            assert_int_equal(view.more_left, view.first > 0);
            if (line.cursor == 0)
                break;
            press("Left");
        }
    }
    assert_int_equal(vd_line_visible(&line, 0).length, 0);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_cursor_moves_by_characters_words_and_lines, fresh,
                                        fresh),
        cmocka_unit_test_setup_teardown(text_is_deleted_both_ways, fresh, fresh),
        cmocka_unit_test_setup_teardown(what_was_cut_comes_back, fresh, fresh),
        cmocka_unit_test_setup_teardown(cuts_in_a_row_add_up, fresh, fresh),
        cmocka_unit_test_setup_teardown(two_characters_swap, fresh, fresh),
        cmocka_unit_test_setup_teardown(clusters_are_never_split, fresh, fresh),
        cmocka_unit_test_setup_teardown(control_characters_and_surrogates_stay_out, fresh, fresh),
        cmocka_unit_test_setup_teardown(history_keeps_the_draft, fresh, fresh),
        cmocka_unit_test_setup_teardown(history_has_an_end, fresh, fresh),
        cmocka_unit_test_setup_teardown(a_full_line_takes_no_more, fresh, fresh),
        cmocka_unit_test_setup_teardown(the_cursor_is_always_in_sight, fresh, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
