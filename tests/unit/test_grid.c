#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/support.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"

static const vd_role plain = VD_ROLE_TEXT;

static void expect_grid(const vd_grid *grid, const char *expected)
{
    char *text = vd_grid_to_text(grid);
    assert_non_null(text);
    assert_string_equal(text, expected);
    vd_free(text);
}

static vd_grid new_grid(int width, int height)
{
    vd_grid grid = {.look = {.depth = VD_DEPTH_256}};
    vd_grid_resize(&grid, width, height);
    return grid;
}

static void text_is_clipped_with_an_ellipsis(void **state)
{
    (void)state;
    vd_grid grid = new_grid(10, 3);
    assert_int_equal(vd_grid_text(&grid, 0, 0, 6, "a red ball", plain), 6);
    assert_int_equal(vd_grid_text(&grid, 2, 1, 8, "cube", plain), 4);
    vd_grid_right(&grid, 0, 2, 10, "12 %", plain);
    expect_grid(&grid, "a red\xe2\x80\xa6\n  cube\n      12 %\n");
    vd_grid_free(&grid);
}

static void nothing_is_drawn_outside(void **state)
{
    (void)state;
    vd_grid grid = new_grid(4, 2);
    vd_grid_text(&grid, -2, 0, 10, "abcdefgh", plain);
    vd_grid_text(&grid, 0, 5, 10, "below", plain);
    vd_grid_text(&grid, 0, -1, 10, "above", plain);
    vd_grid_fill(&grid, (vd_rect){-5, -5, 3, 3}, plain);
    vd_grid_put(&grid, 4, 0, 'x', 'x', plain);
    vd_grid_bar(&grid, 2, 1, 9, 1, plain, plain);
    expect_grid(&grid, "cdef\n  \xe2\x96\x88\xe2\x96\x88\n");
    assert_null(vd_grid_at(&grid, 4, 0));
    vd_grid_free(&grid);
}

static void half_of_a_wide_character_is_never_left(void **state)
{
    (void)state;
    vd_grid grid = new_grid(5, 1);
    vd_grid_text(&grid, 0, 0, 5, "\xe7\x90\x83\xe7\x90\x83", plain);
    expect_grid(&grid, "\xe7\x90\x83\xe7\x90\x83\n");
    vd_grid_put(&grid, 1, 0, 'x', 'x', plain); // its right half
    expect_grid(&grid, " x\xe7\x90\x83\n");
    vd_grid_put(&grid, 2, 0, 'y', 'y', plain); // its left half
    expect_grid(&grid, " xy\n");
    vd_grid_text(&grid, 4, 0, 2, "\xe7\x90\x83", plain); // no room for the right half
    expect_grid(&grid, " xy\n");
    vd_grid_free(&grid);
}

static void bars_show_eighths(void **state)
{
    (void)state;
    vd_grid grid = new_grid(4, 1);
    vd_grid_bar(&grid, 0, 0, 4, 0.5, plain, plain);
    expect_grid(&grid, "\xe2\x96\x88\xe2\x96\x88\n");
    vd_grid_bar(&grid, 0, 0, 4, 0.28125, plain, plain); // 9 eighths
    expect_grid(&grid, "\xe2\x96\x88\xe2\x96\x8f\n");
    vd_grid_bar(&grid, 0, 0, 4, 0.0001, plain, plain); // something, not nothing
    expect_grid(&grid, "\xe2\x96\x8f\n");
    vd_grid_bar(&grid, 0, 0, 4, 0, plain, plain);
    expect_grid(&grid, "\n");
    vd_grid_bar(&grid, 0, 0, 4, NAN, plain, plain);
    expect_grid(&grid, "\n");
    vd_grid_bar(&grid, 0, 0, 4, 7, plain, plain);
    expect_grid(&grid, "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\n");
    vd_grid_free(&grid);
}

static void an_ascii_terminal_gets_ascii_only(void **state)
{
    (void)state;
    vd_grid grid = new_grid(24, 1);
    grid.look.ascii = true;
    vd_grid_text(&grid, 0, 0, 8, "caf\xc3\xa9 \xe7\x90\x83 balls", plain);
    vd_grid_bar(&grid, 9, 0, 4, 0.5, plain, plain);
    vd_grid_level(&grid, 14, 0, 0.5, plain);
    expect_grid(&grid, "caf? ??~ ##.. +\n");
    vd_grid_free(&grid);
}

static void colours_find_their_nearest(void **state)
{
    (void)state;
    assert_int_equal(vd_color_nearest(0xff0000, VD_DEPTH_256), vd_color_index(196));
    assert_int_equal(vd_color_nearest(0xff0000, VD_DEPTH_16), vd_color_index(9));
    assert_int_equal(vd_color_nearest(0x010203, VD_DEPTH_DIRECT), vd_color_rgb(0x010203));
    assert_int_equal(vd_color_nearest(0xff0000, VD_DEPTH_MONO), VD_COLOR_DEFAULT);
    for (int index = 16; index < 256; index++)
        assert_int_equal(
            vd_color_to_rgb(
                vd_color_nearest(vd_color_to_rgb(vd_color_index(index), 0), VD_DEPTH_256), 0),
            vd_color_to_rgb(vd_color_index(index), 0));
}

static void mono_styles_have_no_colour(void **state)
{
    (void)state;
    for (int role = 0; role < VD_ROLES; role++) {
        vd_style style = vd_theme((vd_look){.depth = VD_DEPTH_MONO}, (vd_role)role);
        assert_int_equal(style.fg, VD_COLOR_DEFAULT);
        assert_int_equal(style.bg, VD_COLOR_DEFAULT);
        style = vd_theme((vd_look){.depth = VD_DEPTH_DIRECT}, (vd_role)role);
        assert_false(style.fg & VD_COLOR_INDEX); // indices mean other things there
    }
}

// Losses to the left of zero, gains to the right, in styles of their own.
static void a_signed_bar_has_zero_in_its_middle(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *utf8, *ascii;
    } bars[] = {{1, "  \u2502\u2588\u2588", "  |++"},
                {-1, "\u2588\u2588\u2502", "--|"},
                {-0.75, "\u2590\u2588\u2502", "--|"},
                {0.25, "  \u2502\u258C", "  |+"},
                {0, "  \u2502", "  |"},
                {NAN, "  \u2502", "  |"}};
    vd_grid grid = {.look.depth = VD_DEPTH_256};
    vd_color gain = vd_theme(grid.look, VD_ROLE_UP).fg, loss = vd_theme(grid.look, VD_ROLE_DOWN).fg;
    for (size_t i = 0; i < 2 * sizeof bars / sizeof *bars; i++) {
        bool ascii = i % 2;
        vd_grid_resize(&grid, 6, 1);
        grid.look.ascii = ascii;
        vd_grid_signed_bar(&grid, 0, 0, 5, bars[i / 2].value, VD_ROLE_UP, VD_ROLE_DOWN,
                           VD_ROLE_TEXT);
        char *text = vd_grid_to_text(&grid);
        text[strcspn(text, "\n")] = '\0';
        assert_string_equal(text, ascii ? bars[i / 2].ascii : bars[i / 2].utf8);
        assert_int_equal(vd_grid_at(&grid, 1, 0)->style.fg, loss);
        assert_int_equal(vd_grid_at(&grid, 3, 0)->style.fg, gain);
        vd_free(text);
    }
    assert_int_not_equal(gain, loss);
    vd_grid_free(&grid);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signed_bar_has_zero_in_its_middle),
        cmocka_unit_test(text_is_clipped_with_an_ellipsis),
        cmocka_unit_test(nothing_is_drawn_outside),
        cmocka_unit_test(half_of_a_wide_character_is_never_left),
        cmocka_unit_test(bars_show_eighths),
        cmocka_unit_test(an_ascii_terminal_gets_ascii_only),
        cmocka_unit_test(colours_find_their_nearest),
        cmocka_unit_test(mono_styles_have_no_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
