// Pictures as pixels: terminals' side of each protocol rebuilds what was drawn.
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/color.h"
#include "tests/support/decoders.h"
#include "tests/support/support.h"
#include "tui/screen/pixels.h"

static const vd_outline outlines[] = {{{0.25f, 0.25f, 0.5f, 0.75f}, 0.6, 1},
                                      {{0.6f, 0.5f, 0.9f, 0.9f}, 0.05, 23}};
enum { OUTLINES = sizeof outlines / sizeof *outlines };

static vd_look look_of(vd_picture_mode mode, int cell_width, int cell_height)
{
    return (vd_look){.depth = VD_DEPTH_256,
                     .pictures = mode,
                     .cell_width = cell_width,
                     .cell_height = cell_height};
}

static void load(vd_picture *picture)
{
    vd_image image;
    assert_int_equal(vd_image_read("assets/pictures/1000002.png", &image, NULL), VD_OK);
    vd_picture_set(picture, &image);
}

// Draws in `place` of a grid of 60x30 and gives what would be sent.
static vd_grid drawn(vd_picture *picture, vd_look look, vd_rect place, int count)
{
    vd_grid grid = {.look = look};
    vd_grid_resize(&grid, 60, 30);
    assert_int_equal(vd_picture_draw(picture, &grid, place, outlines, count, NULL), VD_OK);
    assert_int_equal(grid.images, 1);
    assert_memory_equal(&grid.image[0].place, &place, sizeof place);
    return grid;
}

static void decode(const vd_grid *grid, shown_images *out)
{
    const vd_grid_image *image = &grid->image[0];
    switch ((int)image->look.pictures) {
    case VD_PICTURE_KITTY:
        decode_kitty(image->bytes, image->length, out);
        break;
    case VD_PICTURE_ITERM:
        decode_iterm(image->bytes, image->length, out);
        break;
    default:
        decode_sixel(image->bytes, image->length, out);
    }
    assert_int_equal(out->count, 1);
}

static double mean_distance(const vd_image *a, const vd_image *b)
{
    enum { STEP = 5 };
    double sum = 0;
    size_t points = (size_t)a->width * (size_t)a->height, count = 0;
    assert_int_equal(a->width, b->width);
    assert_true(a->height <= b->height);
    for (size_t i = 0; i < points; i += STEP, count++) {
        double x[3], y[3];
        for (size_t c = 0; c < 3; c++) {
            x[c] = a->rgb[3 * i + c];
            y[c] = b->rgb[3 * i + c];
        }
        sum += color_distance(x, y);
    }
    return sum / (double)count;
}

static void every_protocol_shows_the_pixels_that_were_drawn(void **state)
{
    (void)state;
    static const vd_picture_mode modes[] = {VD_PICTURE_KITTY, VD_PICTURE_ITERM, VD_PICTURE_SIXEL};
    static const int cells[][2] = {{10, 20}, {9, 18}, {6, 13}, {17, 35}};
    for (int m = 0; m < 3; m++)
        for (int c = 0; c < 4; c++) {
            vd_picture picture = {0};
            vd_image composed;
            shown_images shown = {0};
            load(&picture);
            vd_look look = look_of(modes[m], cells[c][0], cells[c][1]);
            vd_grid grid = drawn(&picture, look, (vd_rect){3, 2, 33, 12}, OUTLINES);
            decode(&grid, &shown);
            assert_int_equal(vd_pixels_compose(&picture.image, 33, 12, look, outlines, OUTLINES,
                                               &composed, NULL),
                             VD_OK);
            const shown_image *image = &shown.at[0];
            assert_int_equal(composed.width, 33 * cells[c][0]); // the terminal's pixels
            assert_int_equal(composed.height, 12 * cells[c][1]);
            if (modes[m] == VD_PICTURE_SIXEL) {
                assert_in_range(image->image.height, composed.height - 5, composed.height);
                assert_true(mean_distance(&image->image, &composed) < 2);
            } else {
                assert_int_equal(image->columns, 33);
                assert_int_equal(image->rows, 12);
                assert_int_equal(image->image.height, composed.height);
                assert_memory_equal(image->image.rgb, composed.rgb,
                                    (size_t)composed.width * (size_t)composed.height * 3);
            }
            shown_images_clear(&shown);
            vd_image_clear(&composed);
            vd_grid_free(&grid);
            vd_picture_clear(&picture);
        }
}

static uint32_t pixel(const vd_image *image, int x, int y)
{
    const uint8_t *at = image->rgb + 3 * (y * image->width + x);
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

// At a size where a line is several pixels wide, each of them has its whole colour.
static void outlines_are_sharp_and_numbered(void **state)
{
    (void)state;
    vd_picture picture = {0};
    vd_image plain, composed;
    load(&picture);
    vd_look look = look_of(VD_PICTURE_KITTY, 10, 20);
    assert_int_equal(vd_pixels_compose(&picture.image, 40, 15, look, outlines, 1, &composed, NULL),
                     VD_OK);
    assert_int_equal(vd_pixels_compose(&picture.image, 40, 15, look, NULL, 0, &plain, NULL), VD_OK);
    // The box is 100,75 to 200,225, its line three pixels wide and dark on both sides.
    for (int y = 100; y < 200; y++) {
        for (int x = 100; x < 103; x++)
            assert_int_equal(pixel(&composed, x, y), 0xffff5f);
        assert_int_not_equal(pixel(&composed, 99, y), pixel(&plain, 99, y));
        assert_int_not_equal(pixel(&composed, 103, y), pixel(&plain, 103, y));
        assert_int_equal(pixel(&composed, 98, y), pixel(&plain, 98, y));
        assert_int_equal(pixel(&composed, 104, y), pixel(&plain, 104, y));
    }
    int ink = 0, paper = 0;
    for (int y = 0; y < 20; y++) // the number stands on the corner of its box
        for (int x = 0; x < 10; x++) {
            uint32_t color = pixel(&composed, 100 + x, 60 + y);
            ink += color == 0x000000;
            paper += color == 0xffff5f;
        }
    assert_in_range(ink, 15, 60); // a 1
    assert_true(paper > 100);
    vd_image_clear(&plain);
    vd_image_clear(&composed);
    vd_picture_clear(&picture);
}

// What stands under a picture is no space, so that no end of a row is erased with the picture.
static void cells_below_hold_their_place(void **state)
{
    (void)state;
    vd_picture picture = {0};
    load(&picture);
    vd_look look = look_of(VD_PICTURE_SIXEL, 10, 20);
    vd_grid grid = drawn(&picture, look, (vd_rect){3, 2, 8, 3}, 0);
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 60; x++) {
            bool inside = x >= 3 && x < 11 && y >= 2 && y < 5;
            assert_int_equal(vd_grid_at(&grid, x, y)->code[0], inside ? 0xA0 : ' ');
        }
    vd_grid_clear(&grid);
    assert_int_equal(grid.images, 0);
    vd_grid_free(&grid);
    vd_picture_clear(&picture);
}

static void through_tmux_a_picture_stands_on_placeholders(void **state)
{
    (void)state;
    vd_picture picture = {0};
    shown_images shown = {0};
    load(&picture);
    vd_look look = look_of(VD_PICTURE_KITTY, 10, 20);
    look.tmux = true;
    vd_grid grid = drawn(&picture, look, (vd_rect){3, 2, 8, 3}, 0);
    decode(&grid, &shown);
    assert_true(shown.at[0].virtual && shown.at[0].tmux);
    static const uint32_t marks[] = {0x305, 0x30d, 0x30e};
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 8; x++) {
            const vd_cell *cell = vd_grid_at(&grid, 3 + x, 2 + y);
            assert_int_equal(cell->code[0], 0x10EEEE);
            assert_int_equal(cell->code[1], marks[y]);
            assert_int_equal(cell->count, x == 0 ? 3 : 2);
            assert_int_equal(cell->style.fg, vd_color_index((int)shown.at[0].id));
        }
    // The same number by a colour of 24 bits.
    shown_images_clear(&shown);
    grid.look.depth = VD_DEPTH_DIRECT;
    grid.images = 0;
    assert_int_equal(vd_picture_draw(&picture, &grid, (vd_rect){3, 2, 8, 3}, NULL, 0, NULL), VD_OK);
    decode(&grid, &shown);
    assert_int_equal(vd_grid_at(&grid, 3, 2)->style.fg, vd_color_rgb(shown.at[0].id));
    shown_images_clear(&shown);
    vd_grid_free(&grid);
    vd_picture_clear(&picture);
}

static void a_picture_is_made_once(void **state)
{
    (void)state;
    vd_picture picture = {0};
    load(&picture);
    vd_look look = look_of(VD_PICTURE_KITTY, 10, 20);
    vd_grid a = drawn(&picture, look, (vd_rect){0, 0, 20, 8}, 1);
    vd_grid b = drawn(&picture, look, (vd_rect){20, 0, 20, 8}, 2); // two at once, other outlines
    vd_grid c = drawn(&picture, look, (vd_rect){5, 9, 20, 8}, 1);
    assert_ptr_equal(a.image[0].bytes, c.image[0].bytes);
    assert_int_equal(a.image[0].id, c.image[0].id);
    assert_int_not_equal(a.image[0].id, b.image[0].id);
    char removal[64];
    vd_pixels_removal(&a.image[0], removal, sizeof removal);
    assert_non_null(strstr(removal, "a=d,d=I,i="));
    a.image[0].look.pictures = VD_PICTURE_SIXEL;
    vd_pixels_removal(&a.image[0], removal, sizeof removal);
    assert_string_equal(removal, "");
    vd_grid_free(&a);
    vd_grid_free(&b);
    vd_grid_free(&c);
    vd_picture_clear(&picture);
}

static void without_pictures_there_is_none(void **state)
{
    (void)state;
    vd_picture picture = {0};
    load(&picture);
    vd_grid grid = {.look = {.depth = VD_DEPTH_256, .pictures = VD_PICTURE_NONE}};
    vd_grid_resize(&grid, 20, 10);
    assert_int_equal(
        vd_picture_draw(&picture, &grid, (vd_rect){0, 0, 20, 10}, outlines, OUTLINES, NULL), VD_OK);
    for (int i = 0; i < 200; i++)
        assert_int_equal(grid.cell[i].code[0], ' ');
    vd_grid_free(&grid);
    vd_picture_clear(&picture);
}

static vd_status draw_once(void *context, vd_error *err)
{
    vd_picture picture = {0};
    vd_image image = {.width = 2, .height = 2, .rgb = vd_alloc(4, 3)};
    if (!image.rgb)
        return vd_error_memory(err, "a picture");
    vd_grid *grid = context;
    grid->images = 0;
    vd_picture_set(&picture, &image);
    vd_status status = vd_picture_draw(&picture, grid, (vd_rect){0, 0, 2, 1}, outlines, 1, err);
    vd_picture_clear(&picture);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    for (int mode = VD_PICTURE_KITTY; mode <= VD_PICTURE_ITERM; mode++) {
        vd_grid grid = {.look = look_of((vd_picture_mode)mode, 4, 8)};
        vd_grid_resize(&grid, 4, 2);
        assert_true(support_fail_each_allocation(draw_once, &grid) > 4);
        vd_grid_free(&grid);
    }
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_protocol_shows_the_pixels_that_were_drawn),
        cmocka_unit_test(outlines_are_sharp_and_numbered),
        cmocka_unit_test(cells_below_hold_their_place),
        cmocka_unit_test(through_tmux_a_picture_stands_on_placeholders),
        cmocka_unit_test(a_picture_is_made_once),
        cmocka_unit_test(without_pictures_there_is_none),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
