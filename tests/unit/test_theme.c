// Themes can be read: contrast against the background they are made for (WCAG 2.1, 1.4.3
// and 1.4.11), and what means opposite things is told apart by the colour-blind.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/options.h"
#include "tui/screen/theme.h"

typedef struct linear {
    double r, g, b;
} linear;

static double to_linear(uint32_t value)
{
    double s = value / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static linear linear_of(uint32_t rgb)
{
    return (linear){to_linear(rgb >> 16 & 255), to_linear(rgb >> 8 & 255), to_linear(rgb & 255)};
}

static double contrast(uint32_t a, uint32_t b)
{
    linear x = linear_of(a), y = linear_of(b);
    double light = 0.2126 * x.r + 0.7152 * x.g + 0.0722 * x.b + 0.05;
    double dark = 0.2126 * y.r + 0.7152 * y.g + 0.0722 * y.b + 0.05;
    return light > dark ? light / dark : dark / light;
}

static vd_look look_of(vd_theme_name theme)
{
    return (vd_look){.depth = VD_DEPTH_256, .theme = theme};
}

static void expect_readable(vd_theme_name theme, uint32_t front, uint32_t behind)
{
    for (int role = 0; role < VD_ROLES; role++) {
        vd_style style = vd_theme(look_of(theme), (vd_role)role);
        uint32_t fg = vd_color_to_rgb(style.fg, front), bg = vd_color_to_rgb(style.bg, behind);
        bool bar = role == VD_ROLE_BAR || role == VD_ROLE_BAR_FIRST || role == VD_ROLE_BAR_REGION ||
                   role == VD_ROLE_BAR_ROUND || role == VD_ROLE_BAR_WORD;
        if (role == VD_ROLE_RULE || role == VD_ROLE_OUTLINE) // decoration; drawn over the picture
            continue;
        double least = bar ? 2.5 : 4.5;
        if (contrast(fg, bg) < least)
            fail_msg("%s: role %d has a contrast of %.2f, wanted %.1f", vd_theme_title(theme), role,
                     contrast(fg, bg), least);
    }
}

static void every_theme_can_be_read_on_its_background(void **state)
{
    (void)state;
    expect_readable(VD_THEME_DARK, 0xd0d0d0, 0x1c1c1c);
    expect_readable(VD_THEME_SAFE, 0xd0d0d0, 0x1c1c1c);
    expect_readable(VD_THEME_LIGHT, 0x202020, 0xffffff);
}

// In bold most terminals show the first eight colours as the bright ones.
static void bold_does_not_make_few_colours_pale(void **state)
{
    (void)state;
    for (int depth = VD_DEPTH_8; depth <= VD_DEPTH_16; depth++)
        for (int theme = VD_THEME_AUTO; theme < VD_THEMES; theme++)
            for (int role = 0; role < VD_ROLES; role++) {
                vd_look look = {.depth = (vd_depth)depth, .theme = (vd_theme_name)theme};
                vd_style style = vd_theme(look, (vd_role)role);
                bool bold = style.attributes & VD_BOLD && style.fg;
                assert_false(bold && style.fg == vd_color_index(0));
                if (theme == VD_THEME_LIGHT && role != VD_ROLE_OUTLINE) // over the picture
                    assert_false(bold);
            }
}

// What a colour looks like without the green or the red receptors: Vienot, Brettel, Mollon,
// "Digital video colourmaps for checking the legibility of displays by dichromats" (1999).
static linear without_green(linear c)
{
    double both = 0.29275 * c.r + 0.70725 * c.g;
    return (linear){both, both, -0.02234 * c.r + 0.02234 * c.g + c.b};
}

static linear without_red(linear c)
{
    double both = 0.11238 * c.r + 0.88762 * c.g;
    return (linear){both, both, 0.00401 * c.r - 0.00401 * c.g + c.b};
}

static double apart(linear a, linear b)
{
    return fabs(cbrt(a.r) - cbrt(b.r)) + fabs(cbrt(a.g) - cbrt(b.g)) + fabs(cbrt(a.b) - cbrt(b.b));
}

static void the_safe_theme_keeps_opposites_apart(void **state)
{
    (void)state;
    static const vd_role pairs[][2] = {{VD_ROLE_UP, VD_ROLE_DOWN},
                                       {VD_ROLE_ANSWER, VD_ROLE_WRONG},
                                       {VD_ROLE_ANSWER, VD_ROLE_NOTE},
                                       {VD_ROLE_BAR_FIRST, VD_ROLE_BAR_REGION}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        linear a = linear_of(vd_color_to_rgb(vd_theme(look_of(VD_THEME_SAFE), pairs[i][0]).fg, 0));
        linear b = linear_of(vd_color_to_rgb(vd_theme(look_of(VD_THEME_SAFE), pairs[i][1]).fg, 0));
        assert_true(apart(without_green(a), without_green(b)) > 0.4);
        assert_true(apart(without_red(a), without_red(b)) > 0.4);
    }
}

static void mono_has_no_colours_at_any_depth(void **state)
{
    (void)state;
    for (int depth = VD_DEPTH_MONO; depth <= VD_DEPTH_DIRECT; depth++)
        for (int role = 0; role < VD_ROLES; role++) {
            vd_style style = vd_theme((vd_look){.depth = (vd_depth)depth, .theme = VD_THEME_MONO},
                                      (vd_role)role);
            assert_int_equal(style.fg, VD_COLOR_DEFAULT);
            assert_int_equal(style.bg, VD_COLOR_DEFAULT);
        }
}

static void a_selected_row_is_seen_in_every_theme(void **state)
{
    (void)state;
    for (int theme = 0; theme < VD_THEMES; theme++) {
        vd_style plain = vd_theme(look_of((vd_theme_name)theme), VD_ROLE_TEXT),
                 selected = vd_theme(look_of((vd_theme_name)theme), VD_ROLE_SELECTED);
        assert_false(plain.attributes & VD_REVERSE);
        assert_true(selected.attributes & VD_REVERSE);
    }
}

static void auto_takes_what_fits_the_background(void **state)
{
    (void)state;
    vd_look able = look_of(VD_THEME_LIGHT);
    assert_int_equal(vd_theme_look(able, VD_THEME_AUTO).theme, VD_THEME_LIGHT);
    assert_int_equal(vd_theme_look(able, VD_THEME_DARK).theme, VD_THEME_DARK);
    able.theme = VD_THEME_DARK;
    assert_int_equal(vd_theme_look(able, VD_THEME_AUTO).theme, VD_THEME_DARK);
    assert_int_equal(vd_theme_look(able, VD_THEME_LIGHT).theme, VD_THEME_LIGHT);
}

static void names_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < VD_THEMES; i++)
        assert_int_equal(vd_choice_find(VD_THEME_NAMES, vd_theme_title((vd_theme_name)i)), i);
    assert_true(vd_choice_find(VD_THEME_NAMES, "pink") < 0);
    assert_true(vd_choice_find(VD_THEME_NAMES, "") < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_theme_can_be_read_on_its_background),
        cmocka_unit_test(bold_does_not_make_few_colours_pale),
        cmocka_unit_test(the_safe_theme_keeps_opposites_apart),
        cmocka_unit_test(mono_has_no_colours_at_any_depth),
        cmocka_unit_test(a_selected_row_is_seen_in_every_theme),
        cmocka_unit_test(auto_takes_what_fits_the_background),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
