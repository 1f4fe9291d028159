// Pictures are the same every time and on every thread, neither burnt out nor dark, and show what
// the scene says: colours that can be told apart, metal that shines, shadows, smooth edges.
#include "assets/blocks/render.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { W = BLOCKS_WIDTH, H = BLOCKS_HEIGHT, BYTES = W * H * 3, SCENES = 160 };

typedef struct shot {
    blocks_scene scene;
    uint8_t rgb[BYTES];
    int8_t id[H * W];
} shot;

static shot shots[SCENES];

static int take_shots(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        blocks_scene_make(3, BLOCKS_TRAIN, i, &shots[i].scene);
        blocks_render(&shots[i].scene, shots[i].rgb);
        blocks_render_measure(&shots[i].scene, shots[i].id);
    }
    return 0;
}

static void a_scene_gives_the_same_bytes_every_time(void **state)
{
    (void)state;
    static uint8_t again[BYTES];
    for (int i = 9; i >= 0; i--) {
        memset(again, 0x5a, sizeof again);
        blocks_render(&shots[i].scene, again);
        assert_memory_equal(again, shots[i].rgb, BYTES);
    }
}

static void *render_shots(void *agreed)
{
    static _Thread_local uint8_t again[BYTES];
    *(int *)agreed = 1;
    for (int i = 0; i < 20; i++) {
        blocks_scene scene;
        blocks_scene_make(3, BLOCKS_TRAIN, i, &scene);
        blocks_render(&scene, again);
        *(int *)agreed &= !memcmp(again, shots[i].rgb, BYTES);
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    pthread_t thread[4];
    int agreed[4] = {0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, render_shots, &agreed[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_true(agreed[i]);
    }
}

static void rendering_leaves_the_scene_and_the_bytes_around_it_alone(void **state)
{
    (void)state;
    static uint8_t room[BYTES + 2];
    room[0] = room[BYTES + 1] = 77;
    blocks_scene before = shots[0].scene;
    blocks_render(&shots[0].scene, room + 1);
    assert_memory_equal(&before, &shots[0].scene, sizeof before);
    assert_int_equal(room[0], 77);
    assert_int_equal(room[BYTES + 1], 77);
}

static void pictures_are_neither_burnt_out_nor_dark(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        int burnt = 0, dark = 0;
        double sum = 0;
        for (int j = 0; j < BYTES; j++) {
            burnt += shots[i].rgb[j] >= 253;
            sum += shots[i].rgb[j];
            dark += shots[i].id[j / 3] < 0 && shots[i].rgb[j] < 20;
        }
        assert_true(burnt < BYTES / 50);
        assert_true(dark < BYTES / 200);
        assert_true(sum / BYTES > 90 && sum / BYTES < 215);
    }
}

static double brightness(const uint8_t *rgb)
{
    return (rgb[0] + rgb[1] + rgb[2]) / 3.0;
}

// Mean colour of what is seen of an object.
static void mean_color(const shot *s, int object, double mean[3])
{
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i < H * W; i++) {
        for (int c = 0; c < 3 && s->id[i] == object; c++) {
            mean[c] += (double)s->rgb[i * 3 + c] / s->scene.object[object].visible;
        }
    }
}

static double square_distance(const double *a, const double *b)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    }
    return sum;
}

// The mean colours of half the pictures, one for each colour in each material, name the objects of
// the other half.
static void colors_can_be_told_apart_in_both_materials(void **state)
{
    (void)state;
    double centre[BLOCKS_COLORS * BLOCKS_MATERIALS][3] = {{0}}, mean[3];
    int count[BLOCKS_COLORS * BLOCKS_MATERIALS] = {0}, right = 0, all = 0;
    for (int i = 0; i < SCENES; i += 2) {
        for (int j = 0; j < shots[i].scene.count; j++) {
            const blocks_object *o = &shots[i].scene.object[j];
            int kind = (int)o->color * BLOCKS_MATERIALS + (int)o->material;
            mean_color(&shots[i], j, mean);
            count[kind]++;
            for (int c = 0; c < 3; c++) {
                centre[kind][c] += (mean[c] - centre[kind][c]) / count[kind];
            }
        }
    }
    for (int i = 1; i < SCENES; i += 2) {
        for (int j = 0; j < shots[i].scene.count; j++) {
            int best = 0;
            mean_color(&shots[i], j, mean);
            for (int k = 0; k < BLOCKS_COLORS * BLOCKS_MATERIALS; k++) {
                assert_true(count[k] > 0);
                best = square_distance(mean, centre[k]) < square_distance(mean, centre[best])
                           ? k
                           : best;
            }
            right += best / BLOCKS_MATERIALS == (int)shots[i].scene.object[j].color;
            all++;
        }
    }
    print_message("colours told apart: %d of %d\n", right, all);
    assert_true(100 * right >= 98 * all);
}

// One large white cube in the middle, the light on the left or on the right.
static blocks_scene one_cube(double light_x)
{
    blocks_scene scene = shots[0].scene;
    scene.count = 1;
    scene.object[0] = (blocks_object){.shape = BLOCKS_CUBE,
                                      .color = BLOCKS_WHITE,
                                      .material = BLOCKS_RUBBER,
                                      .size = BLOCKS_LARGE,
                                      .radius = 0.64};
    scene.light[0] = light_x;
    scene.light[1] = -1;
    scene.light[2] = 6;
    blocks_render_measure(&scene, NULL);
    return scene;
}

static void metal_mirrors_its_neighbours_and_rubber_does_not(void **state)
{
    (void)state;
    static uint8_t red[BYTES], blue[BYTES];
    static int8_t id[H * W];
    for (int i = 0; i < BLOCKS_SHAPES * BLOCKS_MATERIALS; i++) {
        blocks_scene scene = one_cube(4.5);
        scene.count = 2;
        scene.object[0].shape = (blocks_shape)(i % BLOCKS_SHAPES);
        scene.object[0].material = (blocks_material)(i / BLOCKS_SHAPES);
        scene.object[1] = scene.object[0];
        scene.object[1].material = BLOCKS_RUBBER;
        scene.object[1].x = 1.6;
        scene.object[1].y = -0.8;
        scene.object[1].color = BLOCKS_RED;
        blocks_render(&scene, red);
        scene.object[1].color = BLOCKS_BLUE;
        blocks_render(&scene, blue);
        blocks_render_measure(&scene, id);
        int changed = 0;
        for (int j = W; j < H * W - W; j++) {
            // Pixels on the edge hold a part of what lies behind them.
            int inside =
                id[j] == 0 && id[j - 1] == 0 && id[j + 1] == 0 && id[j - W] == 0 && id[j + W] == 0;
            changed += inside && memcmp(red + j * 3, blue + j * 3, 3) != 0;
        }
        if (scene.object[0].material == BLOCKS_METAL) {
            assert_true(changed > 10);
        } else {
            assert_int_equal(changed, 0);
        }
    }
}

static void shadows_fall_away_from_the_light(void **state)
{
    (void)state;
    static uint8_t with[BYTES], without[BYTES];
    for (int side = -1; side <= 1; side += 2) {
        blocks_scene scene = one_cube(4.5 * side);
        const double *box = scene.object[0].box;
        blocks_render(&scene, with);
        scene.count = 0;
        blocks_render(&scene, without);
        // What the cube takes from the table at its left and at its right.
        double lost[2] = {0};
        int row = (int)(0.3 * box[1] + 0.7 * box[3]);
        for (int x = 0; x < 16; x++) {
            int left = row * W + (int)box[0] - 3 - x, right = row * W + (int)box[2] + 3 + x;
            lost[0] += brightness(without + left * 3) - brightness(with + left * 3);
            lost[1] += brightness(without + right * 3) - brightness(with + right * 3);
        }
        double lit = side < 0 ? lost[0] : lost[1], dark = side < 0 ? lost[1] : lost[0];
        assert_true(dark / 16 > 25);
        assert_true(dark > 3 * lit);
    }
}

static void shadows_have_no_grain(void **state)
{
    (void)state;
    // On the table, second differences along a row stay small: a sampling pattern would show.
    for (int i = 0; i < SCENES; i++) {
        double sum = 0;
        int count = 0;
        for (int y = 0; y < H; y++) {
            for (int x = 2; x < W - 2; x++) {
                const int8_t *id = shots[i].id + y * W + x;
                if (id[-2] < 0 && id[-1] < 0 && id[0] < 0 && id[1] < 0 && id[2] < 0) {
                    const uint8_t *rgb = shots[i].rgb + (y * W + x) * 3;
                    sum += fabs(brightness(rgb - 3) + brightness(rgb + 3) - 2 * brightness(rgb));
                    count++;
                }
            }
        }
        assert_true(sum / count < 1);
    }
}

static void edges_are_smooth(void **state)
{
    (void)state;
    blocks_scene scene = one_cube(4.5);
    static uint8_t rgb[BYTES];
    static int8_t id[H * W];
    scene.object[0].shape = BLOCKS_BALL;
    scene.object[0].color = BLOCKS_BLACK;
    blocks_render(&scene, rgb);
    blocks_render_measure(&scene, id);
    // Across the left half of the ball's upper edge: dark inside, light outside, most of the pixels
    // between them in between.
    int edges = 0, between = 0;
    for (int x = 1; x < W - 1; x++) {
        for (int y = 2; y < H / 2; y++) {
            int here = y * W + x;
            if (id[here] == 0 && id[here - W] < 0 && id[here + W] == 0) {
                double out = brightness(rgb + (here - 2 * W) * 3);
                double in = brightness(rgb + (here + 2 * W) * 3);
                double at = brightness(rgb + here * 3), above = brightness(rgb + (here - W) * 3);
                edges++;
                between += (at > in + 8 && at < out - 8) || (above > in + 8 && above < out - 8);
            }
        }
    }
    assert_true(edges > 10);
    assert_true(4 * between >= 3 * edges);
}

static void an_empty_table_and_a_full_one_can_be_rendered(void **state)
{
    (void)state;
    static uint8_t rgb[BYTES];
    static int8_t id[H * W];
    blocks_scene scene = shots[0].scene;
    scene.count = 0;
    blocks_render(&scene, rgb);
    blocks_render_measure(&scene, id);
    for (int i = 0; i < H * W; i++) {
        assert_int_equal(id[i], -1);
        assert_true(brightness(rgb + i * 3) > 30);
    }
    for (int i = 0; i < SCENES; i++) {
        if (shots[i].scene.count == BLOCKS_MAX) {
            return;
        }
    }
    fail_msg("no scene with %d objects among the %d rendered", BLOCKS_MAX, SCENES);
}

static void an_object_that_is_not_seen_gets_an_empty_box(void **state)
{
    (void)state;
    blocks_scene scene = one_cube(4);
    scene.count = 2;
    scene.object[1] = scene.object[0];
    scene.object[1].radius = 0.1;
    scene.object[1].y = 1.2;
    blocks_render_measure(&scene, NULL);
    assert_int_equal(scene.object[1].visible, 0);
    assert_true(scene.object[1].total > 0);
    for (int k = 0; k < 4; k++) {
        assert_true(scene.object[1].box[k] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_gives_the_same_bytes_every_time),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(rendering_leaves_the_scene_and_the_bytes_around_it_alone),
        cmocka_unit_test(pictures_are_neither_burnt_out_nor_dark),
        cmocka_unit_test(colors_can_be_told_apart_in_both_materials),
        cmocka_unit_test(metal_mirrors_its_neighbours_and_rubber_does_not),
        cmocka_unit_test(shadows_fall_away_from_the_light),
        cmocka_unit_test(shadows_have_no_grain),
        cmocka_unit_test(edges_are_smooth),
        cmocka_unit_test(an_empty_table_and_a_full_one_can_be_rendered),
        cmocka_unit_test(an_object_that_is_not_seen_gets_an_empty_box),
    };
    return cmocka_run_group_tests(tests, take_shots, NULL);
}
