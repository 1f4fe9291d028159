#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tui/screen/layout.h"

static bool shown(vd_rect r)
{
    return r.width > 0 && r.height > 0;
}

static void expect_inside(vd_rect r, int width, int height)
{
    assert_true(r.width >= 0 && r.height >= 0);
    if (!shown(r))
        return;
    assert_true(r.x >= 0 && r.y >= 0 && r.x + r.width <= width && r.y + r.height <= height);
}

static void expect_apart(vd_rect a, vd_rect b)
{
    if (shown(a) && shown(b))
        assert_true(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y ||
                    b.y + b.height <= a.y);
}

static void expect_sound(const vd_panels *panels, int width, int height)
{
    const vd_rect all[] = {panels->status,    panels->picture, panels->caption, panels->answers,
                           panels->attention, panels->dialog,  panels->line,    panels->hints};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        expect_inside(all[i], width, height);
        for (size_t j = 0; j < i; j++)
            expect_apart(all[i], all[j]);
    }
}

static void panels_never_overlap_at_any_size(void **state)
{
    (void)state;
    static const int pictures[][2] = {{320, 240}, {240, 320}, {1000, 10}, {10, 1000}, {0, 0}};
    for (int width = 0; width <= 210; width++)
        for (int height = 0; height <= 70; height++)
            for (size_t p = 0; p < 5; p++)
                for (int caption = 0; caption <= 400; caption += 57) {
                    vd_panels panels =
                        vd_panels_chat(width, height, pictures[p][0], pictures[p][1], caption);
                    bool big = width >= VD_LEAST_WIDTH && height >= VD_LEAST_HEIGHT;
                    assert_int_equal(panels.shape != VD_SHAPE_NONE, big);
                    if (!big)
                        continue;
                    expect_sound(&panels, width, height);
                    // What a chat cannot do without.
                    assert_int_equal(panels.status.height, 1);
                    assert_int_equal(panels.line.height, 1);
                    assert_true(panels.line.width == width);
                    assert_true(panels.dialog.height >= 4 && panels.dialog.width >= 30);
                    assert_true(panels.answers.height >= 3 && panels.answers.width >= 26);
                    assert_true(shown(panels.picture)); // always some picture
                    panels = vd_panels_full(width, height, 26);
                    expect_sound(&panels, width, height);
                    assert_true(panels.picture.height >= VD_LEAST_HEIGHT - 3);
                }
}

static void eighty_by_twenty_four_has_every_panel(void **state)
{
    (void)state;
    vd_panels panels = vd_panels_chat(80, 24, 320, 240, 60);
    assert_int_equal(panels.shape, VD_SHAPE_BAND);
    assert_true(panels.picture.width >= 32 && panels.picture.height >= 12);
    assert_true(panels.answers.width >= 40 && panels.attention.height >= 5);
    assert_true(panels.dialog.height >= 6);
    assert_int_equal(panels.caption.height, 1);
    assert_int_equal(vd_panels_chat(80, 24, 320, 240, 100).caption.height, 2);
}

static void larger_terminals_get_columns_and_smaller_ones_a_small_picture(void **state)
{
    (void)state;
    vd_panels panels = vd_panels_chat(120, 40, 320, 240, 60);
    assert_int_equal(panels.shape, VD_SHAPE_COLUMNS);
    assert_true(panels.picture.width >= 60);
    assert_true(panels.dialog.height >= 20);
    panels = vd_panels_chat(40, 12, 320, 240, 60);
    assert_int_equal(panels.shape, VD_SHAPE_COMPACT);
    assert_true(panels.picture.width >= 13 && panels.picture.height >= 5);
    assert_int_equal(vd_panels_chat(39, 12, 320, 240, 60).shape, VD_SHAPE_NONE);
    assert_int_equal(vd_panels_chat(40, 11, 320, 240, 60).shape, VD_SHAPE_NONE);
}

static void a_picture_keeps_its_proportions(void **state)
{
    (void)state;
    // A cell is twice as high as wide: 4:3 is 8 columns on 3 rows.
    vd_rect fit = vd_panels_fit((vd_rect){10, 5, 80, 12}, 320, 240);
    assert_int_equal(fit.height, 12);
    assert_int_equal(fit.width, 32);
    assert_int_equal(fit.x, 10 + 24);
    fit = vd_panels_fit((vd_rect){0, 0, 32, 100}, 320, 240);
    assert_int_equal(fit.width, 32);
    assert_int_equal(fit.height, 12);
    fit = vd_panels_fit((vd_rect){0, 0, 20, 10}, 100000, 1);
    assert_int_equal(fit.height, 1);
    assert_int_equal(fit.width, 20);
    fit = vd_panels_fit((vd_rect){3, 4, 0, 10}, 320, 240);
    assert_int_equal(fit.width, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_never_overlap_at_any_size),
        cmocka_unit_test(eighty_by_twenty_four_has_every_panel),
        cmocka_unit_test(larger_terminals_get_columns_and_smaller_ones_a_small_picture),
        cmocka_unit_test(a_picture_keeps_its_proportions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
