#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/support.h"
#include "tui/screen/picture.h"

static const vd_look looks[] = {
    {.depth = VD_DEPTH_MONO, .ascii = false},   {.depth = VD_DEPTH_8, .ascii = false},
    {.depth = VD_DEPTH_16, .ascii = false},     {.depth = VD_DEPTH_256, .ascii = false},
    {.depth = VD_DEPTH_DIRECT, .ascii = false}, {.depth = VD_DEPTH_MONO, .ascii = true},
    {.depth = VD_DEPTH_256, .ascii = true}};
enum { LOOKS = sizeof looks / sizeof *looks };

// Left half red, right half white.
static void two_halves(vd_picture *picture)
{
    vd_image image = {.width = 64, .height = 48, .rgb = vd_alloc(64 * 48, 3)};
    assert_non_null(image.rgb);
    for (int i = 0; i < 64 * 48; i++) {
        bool left = i % 64 < 32;
        image.rgb[3 * i] = left ? 200 : 255;
        image.rgb[3 * i + 1] = image.rgb[3 * i + 2] = left ? 0 : 255;
    }
    vd_picture_set(picture, &image);
    assert_null(image.rgb);
}

static vd_grid new_grid(int width, int height, vd_look look)
{
    vd_grid grid = {.look = look};
    vd_grid_resize(&grid, width, height);
    return grid;
}

// The colour most of a cell has.
static uint32_t seen(const vd_grid *grid, int x, int y)
{
    const vd_cell *cell = vd_grid_at(grid, x, y);
    bool full = cell->code[0] == 0x2588;
    return vd_color_to_rgb(full ? cell->style.fg : cell->style.bg, 0x123456);
}

static void a_picture_shows_its_colours(void **state)
{
    (void)state;
    for (int i = 0; i < LOOKS; i++) {
        vd_picture picture = {0};
        two_halves(&picture);
        vd_grid grid = new_grid(20, 10, looks[i]);
        assert_int_equal(vd_picture_draw(&picture, &grid, (vd_rect){2, 1, 16, 8}, NULL, 0, NULL),
                         VD_OK);
        assert_int_equal(vd_grid_at(&grid, 0, 0)->code[0], ' '); // nothing outside its place
        assert_int_equal(vd_grid_at(&grid, 19, 9)->code[0], ' ');
        for (int y = 0; y < 10; y++)
            for (int x = 0; x < 20; x++) {
                const vd_cell *cell = vd_grid_at(&grid, x, y);
                assert_int_equal(cell->width, 1);
                if (looks[i].ascii)
                    assert_in_range(cell->code[0], ' ', '~');
                if (looks[i].depth == VD_DEPTH_MONO)
                    assert_int_equal(cell->style.fg | cell->style.bg, VD_COLOR_DEFAULT);
                if (looks[i].depth == VD_DEPTH_DIRECT)
                    assert_false((cell->style.fg | cell->style.bg) & VD_COLOR_INDEX);
            }
        if (!looks[i].ascii && looks[i].depth >= VD_DEPTH_256) {
            uint32_t left = seen(&grid, 4, 4), right = seen(&grid, 15, 4);
            assert_true((left >> 16) > 150 && (left >> 8 & 255) < 60 && (left & 255) < 60);
            assert_true((right & 255) > 230);
        }
        vd_grid_free(&grid);
        vd_picture_clear(&picture);
    }
}

static void drawing_again_makes_the_same_cells(void **state)
{
    (void)state;
    vd_picture picture = {0};
    two_halves(&picture);
    vd_grid a = new_grid(20, 10, looks[3]), b = new_grid(20, 10, looks[3]);
    vd_rect place = {0, 0, 20, 10};
    assert_int_equal(vd_picture_draw(&picture, &a, place, NULL, 0, NULL), VD_OK);
    const vd_cell *kept = picture.cell;
    assert_int_equal(vd_picture_draw(&picture, &b, place, NULL, 0, NULL), VD_OK);
    assert_ptr_equal(kept, picture.cell); // not converted twice
    assert_memory_equal(a.cell, b.cell, 200 * sizeof *a.cell);
    b.look = looks[0]; // another look is
    assert_int_equal(vd_picture_draw(&picture, &b, place, NULL, 0, NULL), VD_OK);
    assert_int_equal(vd_grid_at(&b, 0, 0)->style.bg, VD_COLOR_DEFAULT);
    vd_grid_free(&a);
    vd_grid_free(&b);
    vd_picture_clear(&picture);
}

static void no_picture_is_an_error(void **state)
{
    (void)state;
    vd_picture picture = {0};
    vd_grid grid = new_grid(4, 4, looks[3]);
    assert_int_equal(vd_picture_draw(&picture, &grid, (vd_rect){0, 0, 4, 4}, NULL, 0, NULL),
                     VD_NOT_FOUND);
    vd_grid_free(&grid);
}

static void expect_outlines(const vd_outline *outlines, int count, vd_look look, int width,
                            int height, const char *expected)
{
    vd_grid grid = new_grid(width, height, look);
    vd_picture_outline(&grid, (vd_rect){0, 0, width, height}, outlines, count);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(text);
    assert_string_equal(text, expected);
    vd_free(text);
    vd_grid_free(&grid);
}

static void weight_shows_in_the_line_not_only_in_colour(void **state)
{
    (void)state;
    const vd_outline outlines[] = {{{0.0f, 0.0f, 0.25f, 1.0f}, 0.6, 1},
                                   {{0.38f, 0.0f, 0.6f, 1.0f}, 0.2, 2},
                                   {{0.7f, 0.0f, 1.0f, 1.0f}, 0.05, 3}};
    expect_outlines(outlines, 3, looks[0], 18, 4,
                    "1\xe2\x94\x81\xe2\x94\x81\xe2\x94\x81\xe2\x94\x93"
                    " 2\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x90"
                    "3\xe2\x94\x84\xe2\x94\x84\xe2\x94\x84\xe2\x94\x84\xe2\x95\xae\n"
                    "\xe2\x94\x83   \xe2\x94\x83 \xe2\x94\x82    \xe2\x94\x82\xe2\x94\x86    "
                    "\xe2\x94\x86\n"
                    "\xe2\x94\x83   \xe2\x94\x83 \xe2\x94\x82    \xe2\x94\x82\xe2\x94\x86    "
                    "\xe2\x94\x86\n"
                    "\xe2\x94\x97\xe2\x94\x81\xe2\x94\x81\xe2\x94\x81\xe2\x94\x9b"
                    " \xe2\x94\x94\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x98"
                    "\xe2\x95\xb0\xe2\x94\x84\xe2\x94\x84\xe2\x94\x84\xe2\x94\x84\xe2\x95\xaf\n");
    expect_outlines(outlines, 3, looks[5], 18, 4,
                    "1===# 2----+3.....\n"
                    "#   # |    |:    :\n"
                    "#   # |    |:    :\n"
                    "#===# +----+......\n");
}

static void labels_do_not_cover_each_other(void **state)
{
    (void)state;
    vd_outline same[5]; // one on the other
    for (int i = 0; i < 5; i++)
        same[i] = (vd_outline){{0.2f, 0.2f, 0.8f, 0.8f}, 0.3, i + 8};
    vd_grid grid = new_grid(40, 20, looks[3]);
    vd_picture_outline(&grid, (vd_rect){0, 0, 40, 20}, same, 5);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(text);
    for (int i = 8; i < 13; i++) {
        char label[4];
        snprintf(label, sizeof label, "%d", i);
        assert_non_null(strstr(text, label));
    }
    vd_free(text);
    vd_grid_free(&grid);
}

static void labels_side_by_side_are_two_numbers(void **state)
{
    (void)state;
    const vd_outline outlines[] = {{{0.1f, 0.2f, 0.9f, 0.8f}, 0.3, 2},
                                   {{0.2f, 0.2f, 0.9f, 0.8f}, 0.3, 11},
                                   {{0.1f, 0.2f, 0.1f, 0.2f}, 0.3, 4}}; // without room
    vd_rect place = {0, 0, 10, 5}, labels[3];
    vd_outline_labels(place, outlines, 3, labels);
    assert_true(labels[0].width == 1 && labels[1].width == 2);
    assert_true(labels[1].y != labels[0].y || labels[1].x > labels[0].x + 1);
    for (int i = 0; i < 2; i++)
        assert_true(labels[2].width == 0 || labels[2].y != labels[i].y ||
                    labels[2].x > labels[i].x + labels[i].width ||
                    labels[i].x > labels[2].x + labels[2].width);
}

static void odd_boxes_stay_inside_the_picture(void **state)
{
    (void)state;
    const vd_outline odd[] = {{{-5, -5, 9, 9}, 0.5, 1},
                              {{0.9f, 0.9f, 0.1f, 0.1f}, 0.5, 2},
                              {{NAN, NAN, NAN, NAN}, 0.5, 3},
                              {{1, 1, 1, 1}, 0.5, 4},
                              {{-INFINITY, 0, INFINITY, 1}, 0.5, 99}};
    for (int width = 1; width < 12; width++)
        for (int height = 1; height < 6; height++) {
            vd_grid grid = new_grid(14, 8, looks[3]);
            vd_picture_outline(&grid, (vd_rect){1, 1, width, height}, odd, 5);
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 14; x++)
                    if (x < 1 || y < 1 || x > width + 1 || y > height)
                        assert_int_equal(vd_grid_at(&grid, x, y)->code[0], ' ');
            vd_grid_free(&grid);
        }
}

static vd_status draw(void *context, vd_error *err)
{
    vd_grid *grid = context;
    vd_picture picture = {0};
    vd_image image = {.width = 2, .height = 2, .rgb = vd_alloc(4, 3)};
    if (!image.rgb)
        return vd_error_memory(err, "a picture");
    vd_picture_set(&picture, &image);
    vd_status status = vd_picture_draw(&picture, grid, (vd_rect){0, 0, 4, 2}, NULL, 0, err);
    vd_picture_clear(&picture);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    vd_grid grid = new_grid(4, 2, looks[1]); // of few colours: the picture is made anew
    assert_int_equal(support_fail_each_allocation(draw, &grid), 2);
    vd_grid_free(&grid);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_shows_its_colours),
        cmocka_unit_test(drawing_again_makes_the_same_cells),
        cmocka_unit_test(no_picture_is_an_error),
        cmocka_unit_test(weight_shows_in_the_line_not_only_in_colour),
        cmocka_unit_test(labels_do_not_cover_each_other),
        cmocka_unit_test(labels_side_by_side_are_two_numbers),
        cmocka_unit_test(odd_boxes_stay_inside_the_picture),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
