// Keys and the mouse in the screen of the cases, and what is said of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/fake_cases.h"
#include "tui/screen/layout.h"
#include "tui/screen/theme.h"

static void keys_do_what_they_say(void **state)
{
    (void)state;
    cases = two;
    vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIALOG, &cases->at[4]);
    serve();
    draw(80, 24);
    assert_true(vd_places_has(&view.places, VD_PLACE_CASE));
    assert_ptr_equal(view.shown, &cases->at[4]);
    play("n n k");
    assert_ptr_equal(view.shown, &cases->at[5]);
    play("Home Up");
    assert_ptr_equal(view.shown, &cases->at[0]);
    play("End j");
    assert_ptr_equal(view.shown, &cases->at[11]);
    // What is looked at stays when the order or the filter changes and it is still there.
    play("o");
    assert_ptr_equal(view.at[view.cursor], &cases->at[11]);
    play("Esc Home 4");
    assert_int_equal(view.count, 9);
    play("1 2 3"); // never everything off
    assert_int_equal(view.count, 12);
    play("s z z z");
    assert_int_equal(view.count, 0);
    play("Enter Down Enter Tab");
    assert_int_equal(view.count, 0);
    draw(80, 24);
    play("Esc");
    assert_int_equal(view.count, 12);
    play("f f");
    assert_string_equal(view.filter.family, "exist");
    assert_int_equal(view.count, 4);
    play("f");
    assert_int_equal(view.count, 12);
    assert_false(left);
    play("s q"); // goes into the text
    assert_false(left);
    play("Esc q");
    assert_true(left);
    vd_cases_view_free(&view);
}

// Presses a mouse button (or turns the wheel) where the text is on the screen, `right` columns on.
static void click(const char *text, int right, uint32_t code)
{
    char *screen = vd_grid_to_text(&grid);
    const char *line = screen;
    for (int y = 0; line; y++) {
        const char *end = strchr(line, '\n'), *found = strstr(line, text);
        if (found && (!end || found < end)) {
            int x = vd_text_width(line, (size_t)(found - line)) + right;
            vd_free(screen);
            vd_cases_view_key(&view, (vd_key){.code = code, .x = x, .y = y});
            serve();
            return;
        }
        line = end ? end + 1 : NULL;
    }
    fail_msg("'%s' is not on the screen", text);
}

static void the_mouse_does_what_keys_do(void **state)
{
    (void)state;
    open_list(four);
    draw(140, 40);
    click("2.2", 3, VD_KEY_CLICK);
    assert_int_equal(vd_case_dialog(cases, view.at[view.cursor])->image_id, 2);
    assert_ptr_equal(view.shown, view.at[view.cursor]);
    assert_false(vd_places_has(&view.places, VD_PLACE_CASE));
    size_t was = view.cursor;
    draw(140, 40);
    click("2.2", 3, VD_KEY_WHEEL_DOWN);
    assert_int_equal(view.cursor, was + 1);
    click("2.2", 3, VD_KEY_WHEEL_UP);
    assert_int_equal(view.cursor, was);
    draw(140, 40);
    click("third", 30, VD_KEY_CLICK); // of the status row: names mean nothing
    assert_int_equal(view.side, 0);
    vd_cases_view_key(&view, (vd_key){.code = VD_KEY_CLICK,
                                      .x = view.columns.at.x + view.columns.at.width / 2 + 5,
                                      .y = view.columns.at.y + 2});
    assert_int_equal(view.side, view.columns.side[view.columns.count / 2]);
    assert_true(view.side > 0);
    draw(140, 40);
    click("2.2", 3, VD_KEY_CLICK); // once more where the cursor is: opens
    assert_true(vd_places_has(&view.places, VD_PLACE_CASE));
    draw(120, 40);
    size_t all = view.count;
    click(" 4\u2717", 1, VD_KEY_CLICK); // the group of the status row
    assert_int_equal(view.count, all - view.in_group[VD_CASE_NEITHER]);
    draw(120, 40);
    click(" 4\u2717", 1, VD_KEY_CLICK);
    assert_int_equal(view.count, all);
    // The wheel scrolls attentions, over the list it steps.
    play("a");
    draw(80, 12);
    assert_true(view.places.most > 0);
    was = view.cursor;
    click("picture", 1, VD_KEY_WHEEL_DOWN);
    assert_int_equal(view.places.top[VD_PLACE_CASE_MAPS], 1);
    assert_int_equal(view.cursor, was);
    play("PgDn PgDn PgDn PgDn PgDn");
    assert_int_equal(view.places.top[VD_PLACE_CASE_MAPS], view.places.most);
    play("n");
    assert_int_not_equal(view.cursor, was);
    vd_cases_view_key(&view, (vd_key){.code = VD_KEY_CLICK, .x = -3, .y = 4000});
    play("?");
    draw(80, 24);
    vd_cases_view_key(&view, (vd_key){.code = VD_KEY_CLICK, .x = 5, .y = 5});
    assert_true(view.places.now == VD_PLACE_HELP); // nothing is there
    click("Esc back", 0, VD_KEY_CLICK);
    assert_false(view.places.now == VD_PLACE_HELP);
    // What is named in the last row is clicked there.
    play("Esc Esc");
    draw(120, 40);
    click("a attention", 0, VD_KEY_CLICK);
    assert_true(view.places.now == VD_PLACE_CASE_MAPS);
    draw(120, 40);
    click("F1 help", 6, VD_KEY_CLICK);
    assert_true(view.places.now == VD_PLACE_HELP);
    draw(120, 40);
    play("Esc");
    play("s a b");
    draw(120, 40);
    vd_cases_view_key(&view, (vd_key){.code = VD_KEY_CLICK, .x = 2, .y = 39}); // it finds
    assert_false(view.places.now == VD_PLACE_HELP);
    vd_cases_view_free(&view);
}

// Where models have no room beside each other the first stays, and the one looked at is there.
static void every_model_can_be_seen(void **state)
{
    (void)state;
    open_list(four);
    play("Enter");
    for (int width = VD_LEAST_WIDTH; width <= 200; width += 8) {
        for (int side = 0; side < 4; side++) {
            draw(width, 24);
            bool first = false, looked_at = false;
            for (int i = 0; i < view.columns.count; i++) {
                first |= view.columns.side[i] == 0;
                looked_at |= view.columns.side[i] == view.side;
            }
            assert_int_equal(view.side, side);
            assert_true(first && looked_at);
            assert_true(view.columns.count >= 2 && view.columns.count <= 4);
            play("Tab");
        }
        assert_int_equal(view.side, 0);
    }
    play("Esc t");
    draw(80, 24);
    assert_int_equal(view.theme, VD_THEME_LIGHT);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "theme light; `theme = light` in the config file keeps it"));
    vd_free(text);
    play("t t t t");
    draw(80, 24);
    assert_int_equal(view.theme, VD_THEME_AUTO);
    vd_cases_view_free(&view);
}

// Of how many outlines the number is on the screen, in the look that only outlines have.
static int labels(void)
{
    int count = 0;
    vd_look look = grid.look;
    look.theme = view.theme;
    vd_style label = vd_theme(look, VD_ROLE_LABEL);
    for (int y = 0; y < grid.height; y++)
        for (int x = 0; x < grid.width; x++) {
            const vd_cell *cell = vd_grid_at(&grid, x, y);
            count += cell->style.fg == label.fg && cell->style.bg == label.bg &&
                     cell->code[0] >= '1' && cell->code[0] <= '9';
        }
    return count;
}

// What each model looked at is outlined on a picture of its own, and chosen there by the mouse.
static void every_model_has_its_picture(void **state)
{
    (void)state;
    static const int regions[] = {3, 2, 3, 3}; // until 90 % of the mass (make_reply)
    grid.look.depth = VD_DEPTH_256;
    open_list(four);
    play("Enter");
    draw(160, 48);
    assert_int_equal(view.pictures.count, 4);
    assert_int_equal(labels(), 3 + 2 + 3 + 3);
    const vd_rect at = view.pictures.at;
    for (int i = 3; i >= 0; i--) {
        draw(160, 48);
        vd_cases_view_key(
            &view, (vd_key){.code = VD_KEY_CLICK, .x = at.x + i * at.width / 4 + 3, .y = at.y + 3});
        assert_int_equal(view.side, i);
    }
    draw(80, 24); // one that Tab goes on from
    assert_int_equal(view.pictures.count, 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(labels(), regions[view.side]);
        play("Tab");
        draw(80, 24);
    }
    // The whole screen, and back to where it was.
    play("Tab z");
    draw(80, 24);
    assert_int_equal(labels(), regions[1]);
    assert_true(is_shown("improved") && is_shown("Regions 3 80 %") && !is_shown("History"));
    play("n Esc");
    draw(80, 24);
    assert_true(is_shown("History"));
    play("a");
    draw(80, 48); // below the attentions where there is room
    assert_int_equal(labels(), regions[1]);
    play("F2 F2");
    draw(80, 24);
    assert_true(is_shown("The question as the model saw it"));
    play("z a");
    draw(80, 24);
    assert_true(is_shown("The question as the model saw it"));
    play("z Enter");
    assert_int_equal(view.places.depth, 1);
    play("z");
    assert_true(view.places.now == VD_PLACE_CASE_PICTURE &&
                vd_places_has(&view.places, VD_PLACE_CASE));
    vd_cases_view_free(&view);
    grid.look = (vd_look){0};
}

// The help names the keys of where the person is, and what the mouse does has a key there.
static void help_is_about_where_the_person_is(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        const char *has[6], *lacks[4];
    } places[] = {
        {"Esc",
         {"Keys in the list", "Enter, click", "1..4, click", "the next case", "all cases"},
         {"Tab, click", "Left ", "\n Down"}},
        {"Enter",
         {"Keys in the case", "Tab, click", "Enter ", "back to where you were", "the next case"},
         {"Left ", "Enter, click", "all cases", "\n Down"}},
        {"a",
         {"Keys in the attentions", "the previous word", "Tab, click", "scroll down",
          "n, j                   the next case", "back to where"},
         {"Enter, click", "all cases", "n, j, Down"}},
        {"z",
         {"Keys in the picture", "Tab, click", "z, F2", "back to where", "the next case"},
         {"Left ", "Enter, click", "\n Down"}},
    };
    open_list(four);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        play(places[i].keys);
        draw(80, 40);
        play("?");
        draw(80, 40);
        for (int k = 0; k < 6 && places[i].has[k]; k++)
            if (!is_shown(places[i].has[k]))
                fail_msg("%s: no \"%s\"", places[i].has[0], places[i].has[k]);
        for (int k = 0; k < 4 && places[i].lacks[k]; k++)
            if (is_shown(places[i].lacks[k]))
                fail_msg("%s: \"%s\"", places[i].has[0], places[i].lacks[k]);
        play("Esc");
    }
    play("Esc Esc Esc");
    draw(140, 40);
    play("?");
    draw(140, 40);
    assert_true(is_shown("Keys in the list and the case"));
    assert_true(is_shown("Enter, click") && is_shown("Tab, click") && is_shown("show all cases"));
    assert_false(is_shown("Esc                    back") || is_shown("Left "));
    vd_cases_view_free(&view);
}

static void help_is_scrolled_where_it_is_long(void **state)
{
    (void)state;
    open_list(two);
    play("?");
    draw(40, 12);
    play("End");
    draw(40, 12);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "/zoom")); // the last one
    vd_free(text);
    assert_true(view.places.now == VD_PLACE_HELP);
    play("Home Up");
    assert_true(view.places.now == VD_PLACE_HELP);
    assert_int_equal(view.places.top[VD_PLACE_HELP], 0);
    play("x"); // as in the chat's help: nothing
    assert_true(view.places.now == VD_PLACE_HELP);
    play("q");
    assert_false(view.places.now == VD_PLACE_HELP || left);
    play("? F1");
    assert_false(view.places.now == VD_PLACE_HELP);
    play("? C-c");
    assert_true(left);
    // A page is where it was, also for keys that come before it is drawn again.
    play("Esc Enter a");
    draw(80, 12);
    play("PgDn");
    int top = view.places.top[VD_PLACE_CASE_MAPS];
    assert_true(top > 0);
    play("? Esc x");
    assert_int_equal(view.places.top[VD_PLACE_CASE_MAPS], top);
    vd_cases_view_free(&view);
}

// Typing a text is a place with its own keys, opened from any other one and left to it.
static void a_text_is_typed_in_a_place_of_its_own(void **state)
{
    (void)state;
    open_list(two);
    draw(80, 24);
    play("Enter a s ?");
    assert_int_equal(view.places.now, VD_PLACE_CASES_FIND);
    assert_string_equal(view.find.text, "?");
    play("C-h F1");
    draw(80, 40);
    assert_true(is_shown("Keys while cases are searched") && is_shown("only these cases"));
    play("Esc b a l l");
    assert_string_equal(view.find.text, "ball");
    play("Enter");
    assert_int_equal(view.places.now, VD_PLACE_CASE_MAPS);
    assert_true(view.count > 0 && view.count < 12);
    play("s z z");
    draw(80, 24);
    assert_true(is_shown("no case matches"));
    play("Esc");
    assert_int_equal(view.count, 12);
    assert_int_equal(view.places.now, VD_PLACE_CASE_MAPS);
    play("s z z Enter"); // no case is left that could be shown there
    assert_int_equal(view.places.depth, 1);
    play("Esc");
    play("s C-c");
    assert_true(left);
    vd_cases_view_free(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_typed_in_a_place_of_its_own),
        cmocka_unit_test(keys_do_what_they_say),
        cmocka_unit_test(the_mouse_does_what_keys_do),
        cmocka_unit_test(every_model_can_be_seen),
        cmocka_unit_test(every_model_has_its_picture),
        cmocka_unit_test(help_is_about_where_the_person_is),
        cmocka_unit_test(help_is_scrolled_where_it_is_long),
    };
    return cmocka_run_group_tests(tests, open_view, close_view);
}
