// How near a picture in cells comes to the picture: both at eight by eight points a cell, compared
// by CIEDE2000 (Sharma, Wu, Dalal: "The CIEDE2000 color-difference formula", 2005).
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/color.h"
#include "tests/support/support.h"
#include "tui/screen/picture.h"

enum { WIDTH = 100, HEIGHT = 40, POINTS = 8 };

// Whether a block element (U+2580 to U+259F, or a space) is in front at a point of its cell.
static bool in_front(uint32_t code, int x, int y)
{
    static const unsigned char quadrants[] = {4, 8, 1, 13, 9, 7, 11, 2, 6, 14}; // from U+2596
    if (code == ' ')
        return false;
    if (code == 0x2580 || code == 0x2594)
        return y < (code == 0x2580 ? 4 : 1);
    if (code >= 0x2581 && code <= 0x2588)
        return y >= POINTS - (int)(code - 0x2580);
    if (code >= 0x2589 && code <= 0x258F)
        return x < 8 - (int)(code - 0x2588);
    if (code == 0x2590 || code == 0x2595)
        return x >= (code == 0x2590 ? 4 : 7);
    assert_in_range(code, 0x2596, 0x259F);
    return quadrants[code - 0x2596] >> (x / 4 + 2 * (y / 4)) & 1;
}

// The picture's colour below a point of the cells.
static void point_of(const vd_image *image, int x, int y, double rgb[3])
{
    int x0 = x * image->width / (WIDTH * POINTS), y0 = y * image->height / (HEIGHT * POINTS);
    for (int c = 0; c < 3; c++)
        rgb[c] = image->rgb[3 * (y0 * image->width + x0) + c];
}

static double distance_of(const vd_grid *grid, const vd_image *image)
{
    enum { STEP = 3 }; // no point of a cell is left out, as 8 and 3 have no common factor
    double sum = 0;
    int count = 0;
    for (int y = 0; y < HEIGHT * POINTS; y += STEP)
        for (int x = 0; x < WIDTH * POINTS; x += STEP, count++) {
            const vd_cell *cell = vd_grid_at(grid, x / POINTS, y / POINTS);
            bool front = in_front(cell->code[0], x % POINTS, y % POINTS);
            uint32_t color = vd_color_to_rgb(front ? cell->style.fg : cell->style.bg, 0);
            double seen[3] = {color >> 16 & 255, color >> 8 & 255, color & 255}, there[3];
            point_of(image, x, y, there);
            sum += color_distance(seen, there);
        }
    return sum / count;
}

static double distance_at(const char *path, vd_depth depth)
{
    vd_picture picture = {0};
    vd_image image = {0}, copy = {0};
    vd_grid grid = {.look = {.depth = depth}};
    assert_int_equal(vd_image_read(path, &image, NULL), VD_OK);
    assert_int_equal(vd_image_read(path, &copy, NULL), VD_OK);
    vd_grid_resize(&grid, WIDTH, HEIGHT);
    vd_picture_set(&picture, &image);
    assert_int_equal(
        vd_picture_draw(&picture, &grid, (vd_rect){0, 0, WIDTH, HEIGHT}, NULL, 0, NULL), VD_OK);
    double distance = distance_of(&grid, &copy);
    vd_image_clear(&copy);
    vd_picture_clear(&picture);
    vd_grid_free(&grid);
    return distance;
}

static void direct_colour_halves_the_distance(void **state)
{
    (void)state;
    double mean[VD_DEPTH_DIRECT + 1] = {0};
    int count = 0;
    for (int id = 1000001; id <= 1000048; id += 8, count++)
        for (int depth = VD_DEPTH_8; depth <= VD_DEPTH_DIRECT; depth++) {
            char path[64];
            snprintf(path, sizeof path, "assets/pictures/%d.png", id);
            mean[depth] += distance_at(path, (vd_depth)depth);
        }
    printf("mean CIEDE2000 of %d pictures: 8 colours %.2f, 16 %.2f, 256 %.2f, 24 bits %.2f\n",
           count, mean[VD_DEPTH_8] / count, mean[VD_DEPTH_16] / count, mean[VD_DEPTH_256] / count,
           mean[VD_DEPTH_DIRECT] / count);
    assert_true(mean[VD_DEPTH_DIRECT] <= mean[VD_DEPTH_256] / 2);
}

// Shades of blue, as light falls on a ball of rubber, on the grey of a table.
static void blue_ball(vd_image *image)
{
    assert_int_equal(vd_image_new(64, 64, image, NULL), VD_OK);
    for (int i = 0; i < 64 * 64; i++) {
        int x = i % 64 - 32, y = i / 64 - 32, light = 60 - (x + y);
        bool ball = x * x + y * y < 24 * 24;
        const int rgb[3] = {ball ? 38 * light / 60 : 112, ball ? 84 * light / 60 : 118,
                            ball ? 200 * light / 60 : 118};
        for (int c = 0; c < 3; c++)
            image->rgb[3 * i + c] = (uint8_t)(rgb[c] > 255 ? 255 : rgb[c]);
    }
}

static void blue_stays_blue_and_grey_grey(void **state)
{
    (void)state;
    for (int depth = VD_DEPTH_8; depth <= VD_DEPTH_16; depth++) {
        vd_picture picture = {0};
        vd_image image;
        vd_grid grid = {.look = {.depth = (vd_depth)depth}};
        blue_ball(&image);
        vd_picture_set(&picture, &image);
        vd_grid_resize(&grid, 32, 16);
        assert_int_equal(vd_picture_draw(&picture, &grid, (vd_rect){0, 0, 32, 16}, NULL, 0, NULL),
                         VD_OK);
        for (int i = 0; i < 32 * 16; i++) {
            const vd_style *style = &grid.cell[i].style;
            bool front = in_front(grid.cell[i].code[0], 4, 4);
            assert_int_not_equal((style->fg & 255) % 8, 6); // teal
            assert_int_not_equal((style->bg & 255) % 8, 6);
            if (i == 8 * 32 + 16)
                assert_int_equal(((front ? style->fg : style->bg) & 255) % 8, 4);
            if (i == 0)
                assert_true(((front ? style->fg : style->bg) & 255) % 8 != 4);
        }
        vd_grid_free(&grid);
        vd_picture_clear(&picture);
    }
}

// Pairs of the article's table 1.
static void the_distance_is_that_of_the_article(void **state)
{
    (void)state;
    static const struct {
        double a[3], b[3], distance;
    } pairs[] = {{{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
                 {{50, -1.3802, -84.2814}, {50, 0, -82.7485}, 1.0000},
                 {{50, 0, 0}, {50, -1, 2}, 2.3669},
                 {{50, 2.49, -0.001}, {50, -2.49, 0.0009}, 7.1792},
                 {{50, 2.5, 0}, {73, 25, -18}, 27.1492},
                 {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
                 {{2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}, 0.9082}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_float_equal(color_distance_lab(pairs[i].a, pairs[i].b), pairs[i].distance, 1e-4);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_is_that_of_the_article),
        cmocka_unit_test(blue_stays_blue_and_grey_grey),
        cmocka_unit_test(direct_colour_halves_the_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
