// The screen of the cases: keys are played to it, the screens are compared with
// tests/screen/expected/cases.txt. Groups, ranks and answers
// are made up, so that they are the same on every machine.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/fake_cases.h"
#include "tests/support/screens.h"
#include "tui/compare/cases_view.h"

static void add(FILE *out, const char *title, int width, int height)
{
    draw(width, height);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(text);
    fprintf(out, "==== %s (%dx%d)\n%s", title, width, height, text);
    vd_free(text);
}

// A screen at every size that is promised.
static void add_sizes(FILE *out, const char *title)
{
    add(out, title, 80, 24);
    add(out, title, 120, 40);
    add(out, title, 40, 12);
}

// Every state at every size; with two models and with four.
static void every_state_is_as_expected(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *title;
    } states[] = {
        {"Home", "the list"},
        {"Down Down Enter", "a case"},
        {"Tab", "the next model"},
        {"a", "its attentions word by word"},
        {"Right PgDn", "another word, scrolled"},
        {"n", "the next case's"},
        {"z", "its picture"},
        {"?", "help of the picture"},
        {"Esc Esc ?", "help of the attentions"},
        {"Esc Esc ?", "help of a case"},
        {"Esc Esc s b a l l", "typing a filter"},
        {"Enter o f", "one family, by picture"},
        {"Esc s z z z Enter", "nothing matches"},
        {"Esc 2 3 r", "without two groups, by relevance"},
        {"?", "help of the list"},
    };
    static const char *const names[] = {"cases_of_two", "cases_of_four"};
    for (int i = 0; i < 2; i++) {
        char *played = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&played, &size);
        assert_non_null(out);
        open_list(i ? four : two);
        for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
            draw(80, 24); // so that keys that need what was drawn find it
            play(states[s].keys);
            add_sizes(out, states[s].title);
        }
        play("Esc Esc End Enter a");
        draw(40, 12);
        play("PgDn Right");
        add(out, "its attentions scrolled", 40, 12);
        play("Esc Esc");
        grid.look.ascii = true;
        play("Enter Home");
        add(out, "a case in ASCII", 80, 24);
        play("a");
        add(out, "attentions in ASCII", 80, 24);
        grid.look.ascii = false;
        vd_cases_view_free(&view);
        fclose(out);
        screens_expect(names[i], played);
    }
}

static void the_screens_are_as_expected(void **state)
{
    (void)state;
    char *played = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&played, &size);
    assert_non_null(out);
    open_list(two);
    add(out, "the list, largest difference first", 80, 24);
    play("Down Down");
    add(out, "list and case", 140, 40);
    play("Enter");
    add(out, "the case", 80, 24);
    play("Tab");
    add(out, "what the other model looked at", 120, 40);
    add(out, "the case where there is little room", 40, 12);
    play("Esc 1 4");
    add(out, "without two groups", 80, 24);
    play("Esc s b a l l");
    add(out, "found", 80, 24);
    play("Enter o");
    add(out, "by picture and round", 40, 12);
    play("?");
    add(out, "help", 80, 24);
    play("Esc Esc f r");
    add(out, "a family, by relevance", 80, 24);
    add(out, "too small", 30, 10);
    vd_cases_view_free(&view);
    fclose(out);
    screens_expect("cases", played);
}

// "/" is a line for commands, as in the chat: completed, run in full or short, refused with the
// nearest one; it closes again without one.
static void commands_are_typed(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *title;
    } states[] = {
        {"'/'", "a line for a command"},
        {"Tab", "all of them"},
        {"'th' Tab Tab", "what one takes"},
        {"Esc '/thme'", "misspelt"},
        {"Enter", "refused with the nearest"},
        {"'/walk' Enter", "one of the chat"},
        {"'/left' Enter", "one that does nothing here"},
        {"'/group 9' Enter", "a group that is none"},
        {"'/quit now' Enter", "an argument too many"},
        {"'/group 2' Enter '/find ball' Enter", "a group less, and a text"},
        {"Esc '/pick' Enter '/at' Enter '/right' Enter", "its attentions, another word"},
        {"'/back' Enter '/theme dark' Enter", "the case, with another theme"},
        {"'/help' Enter", "help"},
        {"Esc '/' Up Up", "the command before"},
        {"F1", "help, opened from a line"},
    };
    char *played = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&played, &size);
    assert_non_null(out);
    open_list(two);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        draw(80, 24);
        play(states[i].keys);
        add(out, states[i].title, 80, 24);
        add(out, states[i].title, 40, 12);
    }
    fclose(out);
    screens_expect("cases_commands", played);
    play("Esc / Backspace");
    assert_false(view.entry.open);
    play("/ C-c");
    assert_false(view.entry.open || left);
    play("'/quit' Enter");
    assert_true(left);
    vd_cases_view_free(&view);
}

static void an_error_is_shown_in_place_of_the_case(void **state)
{
    (void)state;
    cases = two;
    vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIALOG, &cases->at[0]);
    vd_request request;
    assert_true(vd_cases_view_take_request(&view, &request));
    assert_false(vd_cases_view_take_request(&view, &request));
    vd_event event = {.kind = VD_REQUEST_CASE, .status = VD_FORMAT};
    vd_error_set(&event.error, VD_FORMAT, "the features are damaged");
    vd_cases_view_event(&view, &event);
    draw(80, 24);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "the features are damaged"));
    vd_free(text);
    vd_cases_view_free(&view);
}

static uint32_t seed;

static uint32_t drawn(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u; // Knuth's "quick and dirty" constants
    return (seed >> 8) % below;
}

// Ten thousand keys, clicks and resizes, the same ones every time, with answers that come at once,
// late, or not.
static void random_keys_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t codes[] = {VD_KEY_UP,
                                     VD_KEY_DOWN,
                                     VD_KEY_LEFT,
                                     VD_KEY_RIGHT,
                                     VD_KEY_PAGE_DOWN,
                                     VD_KEY_PAGE_UP,
                                     VD_KEY_HOME,
                                     VD_KEY_END,
                                     VD_KEY_ENTER,
                                     VD_KEY_TAB,
                                     VD_KEY_ESCAPE,
                                     VD_KEY_ESCAPE,
                                     VD_KEY_BACKSPACE,
                                     VD_KEY_CLICK,
                                     VD_KEY_CLICK,
                                     VD_KEY_WHEEL_DOWN,
                                     VD_KEY_WHEEL_UP,
                                     'a',
                                     'a',
                                     'z',
                                     '1',
                                     '2',
                                     '3',
                                     '4',
                                     '/',
                                     'f',
                                     'o',
                                     'r',
                                     't',
                                     '?',
                                     'b',
                                     'q',
                                     0x4E2D,
                                     0x301,
                                     VD_KEY_PASTE_BEGIN,
                                     VD_KEY_F0 + 1,
                                     VD_KEY_F0 + 2};
    vd_cases *const of[] = {two, four};
    for (int i = 0; i < 2; i++) {
        int mapped = 0, shown = 0, zoomed = 0;
        seed = 20240607 + (uint32_t)i;
        open_list(of[i]);
        draw(80, 24);
        for (int k = 0; k < 10000; k++) {
            vd_key key = {.code = drawn(4) ? codes[drawn(sizeof codes / sizeof *codes)]
                                           : ' ' + drawn(95),
                          .modifiers = (uint8_t)(drawn(8) ? 0 : drawn(8)),
                          .x = (int)drawn(150) - 5,
                          .y = (int)drawn(50) - 5};
            vd_cases_view_key(&view, key);
            if (drawn(4))
                serve();
            int width = (int)drawn(160), height = (int)drawn(60);
            if (drawn(7) == 0)
                draw(width, height);
            assert_true(view.count == 0 || view.cursor < view.count);
            assert_true(view.side >= 0 && view.side < cases->models);
            mapped += view.places.now == VD_PLACE_CASE_MAPS && view.shown;
            zoomed += view.places.now == VD_PLACE_CASE_PICTURE && view.shown;
            shown += view.shown != NULL;
        }
        assert_true(mapped > 100 && zoomed > 100 && shown > 1000);
        play("x Esc Esc Esc Esc C-c"); // clean end
        assert_true(left);
        vd_cases_view_free(&view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screens_are_as_expected),
        cmocka_unit_test(every_state_is_as_expected),
        cmocka_unit_test(commands_are_typed),
        cmocka_unit_test(an_error_is_shown_in_place_of_the_case),
        cmocka_unit_test(random_keys_do_no_harm),
    };
    return cmocka_run_group_tests(tests, open_view, close_view);
}
