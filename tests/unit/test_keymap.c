#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tui/screen/keymap.h"

static vd_action action_of(vd_place place, const char *name, bool line_empty)
{
    vd_key key;
    assert_true(vd_key_parse(name, &key));
    return vd_keymap_action(place, key, line_empty);
}

static void names_and_keys_go_both_ways(void **state)
{
    (void)state;
    static const char *const names[] = {"Ctrl-A",   "Alt-b",     "F1",    "F12",          "PgUp",
                                        "Alt-Left", "Ctrl-Home", "?",     "\xe7\x90\x83", "Enter",
                                        "Esc",      "Space",     "Alt-9", "Shift-F3",     "-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vd_key key;
        char name[24];
        assert_true(vd_key_parse(names[i], &key));
        vd_key_name(key, name, sizeof name);
        assert_string_equal(name, names[i]);
    }
    vd_key key;
    assert_true(vd_key_parse("C-a", &key));
    assert_int_equal(key.code, 'a');
    assert_int_equal(key.modifiers, VD_CTRL);
    static const char *const wrong[] = {"", "F99", "Foo", "C-", "ab", "X-a"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (vd_key_parse(wrong[i], &key))
            // "C-" alone is no key; it must not be taken for Ctrl with nothing.
            fail_msg("'%s' was taken for a key", wrong[i]);
}

static void question_mark_and_end_of_input_depend_on_the_line(void **state)
{
    (void)state;
    assert_int_equal(action_of(VD_PLACE_CHAT, "?", true), VD_ACTION_HELP);
    assert_int_equal(action_of(VD_PLACE_CHAT, "?", false), VD_ACTION_NONE);
    assert_int_equal(action_of(VD_PLACE_CHAT, "C-d", true), VD_ACTION_LEAVE);
    assert_int_equal(action_of(VD_PLACE_CHAT, "C-d", false), VD_ACTION_EDIT_DELETE);
    assert_int_equal(action_of(VD_PLACE_DETAIL, "Left", true), VD_ACTION_LEFT);
    assert_int_equal(action_of(VD_PLACE_DETAIL, "Left", false), VD_ACTION_EDIT_LEFT);
}

static void the_usual_editing_keys_work_wherever_there_is_a_line(void **state)
{
    (void)state;
    static const char *const keys[] = {"C-a",  "C-e", "C-b", "C-f",      "C-k", "C-u",
                                       "C-w",  "C-y", "C-t", "M-b",      "M-f", "M-d",
                                       "Home", "End", "Del", "Backspace"};
    for (int place = 0; place < VD_PLACE_HELP; place++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            assert_true(action_of((vd_place)place, keys[i], false) >= VD_ACTION_EDIT_START);
}

static void every_answer_key_chooses(void **state)
{
    (void)state;
    char name[8];
    for (int i = 1; i <= 9; i++) {
        snprintf(name, sizeof name, "M-%d", i);
        assert_int_equal(action_of(VD_PLACE_CHAT, name, true), VD_ACTION_CHOOSE_ANSWER);
    }
    assert_int_equal(action_of(VD_PLACE_CHAT, "M-0", true), VD_ACTION_NONE);
}

// The help is made from the table; each line must name a key that does something there.
static void every_line_of_the_help_names_keys_that_work(void **state)
{
    (void)state;
    for (int place = 0; place < VD_PLACES; place++) {
        char keys[96];
        const char *meaning;
        size_t lines = 0;
        bool help = false, leaves = false;
        for (; vd_keymap_help((vd_place)place, lines, keys, sizeof keys, &meaning); lines++) {
            assert_true(keys[0] && meaning[0]);
            char first[32];
            snprintf(first, sizeof first, "%.*s", (int)strcspn(keys, ", "), keys);
            vd_key key;
            assert_true(vd_key_parse(first, &key));
            assert_int_not_equal(vd_keymap_action((vd_place)place, key, true), VD_ACTION_NONE);
            help |= strstr(keys, "F1") != NULL;
            leaves |= strstr(keys, "Ctrl-D") != NULL;
        }
        assert_true(help && leaves && lines > 5);
    }
}

static void hints_fit_the_width(void **state)
{
    (void)state;
    for (int place = 0; place < VD_PLACES; place++)
        for (int width = 0; width < 130; width++) {
            char hints[256];
            vd_keymap_hints((vd_place)place, width, hints, sizeof hints);
            assert_true((int)strlen(hints) <= width);
            if (width >= 40)
                assert_non_null(strstr(hints, "F1 help"));
        }
    char small[8]; // the buffer counts, too
    vd_keymap_hints(VD_PLACE_CHAT, 100, small, sizeof small);
    assert_true(strlen(small) < sizeof small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_keys_go_both_ways),
        cmocka_unit_test(question_mark_and_end_of_input_depend_on_the_line),
        cmocka_unit_test(the_usual_editing_keys_work_wherever_there_is_a_line),
        cmocka_unit_test(every_answer_key_chooses),
        cmocka_unit_test(every_line_of_the_help_names_keys_that_work),
        cmocka_unit_test(hints_fit_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
