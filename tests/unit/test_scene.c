// Scenes are what scene.h promises: the same for the same seed, every object well seen, every
// relation clear, and varied enough to ask about.
#include "assets/blocks/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "assets/blocks/render.h"

enum { SCENES = 400 };

static blocks_scene scenes[SCENES];

static int left_of(const blocks_object *a, const blocks_object *b)
{
    return blocks_left_by(a, b) > BLOCKS_RELATION;
}

static int in_front_of(const blocks_object *a, const blocks_object *b)
{
    return blocks_in_front_by(a, b) > BLOCKS_RELATION;
}

static int make_scenes(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        blocks_scene_make(7, BLOCKS_VAL, i, &scenes[i]);
    }
    return 0;
}

static void a_scene_is_the_same_whatever_was_made_before_it(void **state)
{
    (void)state;
    for (int i = 20; i >= 0; i--) {
        blocks_scene again;
        memset(&again, 0xa5, sizeof again);
        blocks_scene_make(7, BLOCKS_VAL, i, &again);
        assert_memory_equal(&again, &scenes[i], sizeof again);
    }
}

static void seed_split_and_index_each_make_another_scene(void **state)
{
    (void)state;
    blocks_scene other[3];
    blocks_scene_make(8, BLOCKS_VAL, 0, &other[0]);
    blocks_scene_make(7, BLOCKS_TEST, 0, &other[1]);
    blocks_scene_make(7, BLOCKS_VAL, 1, &other[2]);
    for (int i = 0; i < 3; i++) {
        assert_memory_not_equal(other[i].object, scenes[0].object, sizeof other[i].object);
    }
    assert_int_equal(other[0].seed, 8);
    assert_int_equal(other[0].image_id, 1000001);
    assert_int_equal(other[1].image_id, 2000001);
    assert_int_equal(other[2].image_id, 1000002);
}

static void every_object_is_well_seen_and_inside_the_frame(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        assert_in_range(scenes[i].count, BLOCKS_MIN, BLOCKS_MAX);
        for (int j = 0; j < scenes[i].count; j++) {
            const blocks_object *o = &scenes[i].object[j];
            assert_true(o->visible >= 60);
            assert_true(3 * o->visible >= o->total);
            assert_true(o->total >= o->visible);
            assert_true(o->box[0] >= 3 && o->box[1] >= 3);
            assert_true(o->box[2] <= BLOCKS_WIDTH - 3 && o->box[3] <= BLOCKS_HEIGHT - 3);
        }
    }
}

static void boxes_and_counts_agree_with_the_id_map(void **state)
{
    (void)state;
    static int8_t id[BLOCKS_HEIGHT][BLOCKS_WIDTH];
    for (int i = 0; i < SCENES; i++) {
        int box[BLOCKS_MAX][4], visible[BLOCKS_MAX] = {0};
        blocks_render_measure(&scenes[i], &id[0][0]);
        for (int y = 0; y < BLOCKS_HEIGHT; y++) {
            for (int x = 0; x < BLOCKS_WIDTH; x++) {
                assert_true(id[y][x] >= -1 && id[y][x] < scenes[i].count);
                if (id[y][x] < 0) {
                    continue;
                }
                uint8_t seen = (uint8_t)id[y][x];
                int *b = box[seen];
                if (!visible[seen]++) {
                    b[0] = x, b[1] = y, b[2] = x + 1, b[3] = y + 1;
                }
                b[0] = x < b[0] ? x : b[0];
                b[2] = x + 1 > b[2] ? x + 1 : b[2];
                b[3] = y + 1;
            }
        }
        for (int j = 0; j < scenes[i].count; j++) {
            const blocks_object *o = &scenes[i].object[j];
            assert_int_equal(o->visible, visible[j]);
            for (int k = 0; k < 4; k++) {
                assert_true(o->box[k] == box[j][k]);
            }
        }
    }
}

static void total_is_what_an_object_has_when_it_stands_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < scenes[i].count; j++) {
            blocks_scene alone = scenes[i];
            alone.count = 1;
            alone.object[0] = scenes[i].object[j];
            blocks_render_measure(&alone, NULL);
            assert_int_equal(alone.object[0].visible, alone.object[0].total);
            assert_int_equal(alone.object[0].total, scenes[i].object[j].total);
        }
    }
}

// Where a point is seen: pixels from the left and from the top.
static void project(const blocks_scene *scene, const blocks_object *o, double z, double *px,
                    double *py)
{
    const double *eye = scene->camera, *at = scene->look_at;
    // The camera looks along y and down; x is to its right.
    assert_true(eye[0] == at[0]);
    double back = at[1] - eye[1], down = eye[2] - at[2], length = hypot(back, down);
    double dx = o->x - eye[0], dy = o->y - eye[1], dz = z - eye[2];
    double depth = (dy * back - dz * down) / length, rise = (dy * down + dz * back) / length;
    double pixel = 2 * tan(scene->field_of_view / 2) / BLOCKS_HEIGHT;
    *px = BLOCKS_WIDTH / 2.0 + dx / depth / pixel;
    *py = BLOCKS_HEIGHT / 2.0 - rise / depth / pixel;
}

static void left_of_is_what_the_picture_shows_and_never_a_matter_of_opinion(void **state)
{
    (void)state;
    int apart = 0, beside = 0;
    for (int i = 0; i < SCENES; i++) {
        for (int j = 0; j < scenes[i].count * scenes[i].count; j++) {
            const blocks_object *a = &scenes[i].object[j / scenes[i].count];
            const blocks_object *b = &scenes[i].object[j % scenes[i].count];
            double ax, bx, y;
            project(&scenes[i], a, a->radius, &ax, &y);
            project(&scenes[i], b, b->radius, &bx, &y);
            assert_false(left_of(a, b) && left_of(b, a));
            // Between 9 and 11 pixels no two objects are.
            assert_int_equal(left_of(a, b), bx - ax > 11);
            assert_true(left_of(a, b) || left_of(b, a) || fabs(ax - bx) < 9);
            apart += left_of(a, b);
            beside += a < b && fabs(ax - bx) < 9;
        }
    }
    assert_true(apart > SCENES);
    assert_true(beside > SCENES / 10);
}

static void in_front_of_is_lower_in_the_picture_and_never_a_matter_of_opinion(void **state)
{
    (void)state;
    int apart = 0, beside = 0;
    for (int i = 0; i < SCENES; i++) {
        for (int j = 0; j < scenes[i].count * scenes[i].count; j++) {
            const blocks_object *a = &scenes[i].object[j / scenes[i].count];
            const blocks_object *b = &scenes[i].object[j % scenes[i].count];
            double x, ay, by;
            project(&scenes[i], a, 0, &x, &ay);
            project(&scenes[i], b, 0, &x, &by);
            assert_false(in_front_of(a, b) && in_front_of(b, a));
            assert_true(!in_front_of(a, b) || (ay - by > 4 && b->y - a->y > 0.44));
            assert_true(in_front_of(a, b) || in_front_of(b, a) || fabs(a->y - b->y) < 0.21);
            apart += in_front_of(a, b);
            beside += a < b && fabs(a->y - b->y) < 0.21;
        }
    }
    assert_true(apart > SCENES);
    assert_true(beside > SCENES / 10);
}

static void relations_are_transitive(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        int n = scenes[i].count;
        for (int j = 0; j < n * n * n; j++) {
            const blocks_object *o = scenes[i].object;
            const blocks_object *a = &o[j / (n * n)], *b = &o[j / n % n], *c = &o[j % n];
            if (left_of(a, b) && left_of(b, c)) {
                assert_true(left_of(a, c));
            }
            if (in_front_of(a, b) && in_front_of(b, c)) {
                assert_true(in_front_of(a, c));
            }
        }
    }
}

static void objects_keep_clear_of_each_other(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        for (int j = 0; j < scenes[i].count; j++) {
            for (int k = 0; k < j; k++) {
                const blocks_object *a = &scenes[i].object[j], *b = &scenes[i].object[k];
                double reach_a = a->radius * (a->shape == BLOCKS_CUBE ? sqrt(2) : 1);
                double reach_b = b->radius * (b->shape == BLOCKS_CUBE ? sqrt(2) : 1);
                assert_true(hypot(a->x - b->x, a->y - b->y) > reach_a + reach_b);
            }
        }
    }
}

static void every_value_of_every_attribute_occurs_about_equally_often(void **state)
{
    (void)state;
    int shapes[BLOCKS_SHAPES] = {0}, colors[BLOCKS_COLORS] = {0}, sizes[BLOCKS_SIZES] = {0};
    int materials[BLOCKS_MATERIALS] = {0}, counts[BLOCKS_MAX + 1] = {0}, all = 0;
    for (int i = 0; i < SCENES; i++) {
        counts[scenes[i].count]++;
        for (int j = 0; j < scenes[i].count; j++) {
            const blocks_object *o = &scenes[i].object[j];
            shapes[o->shape]++;
            colors[o->color]++;
            sizes[o->size]++;
            materials[o->material]++;
            all++;
        }
    }
    for (int i = BLOCKS_MIN; i <= BLOCKS_MAX; i++) {
        assert_in_range(counts[i], SCENES / 16, SCENES / 4);
    }
    for (int i = 0; i < BLOCKS_SHAPES; i++) {
        assert_in_range(shapes[i], all / 6, all / 3);
    }
    for (int i = 0; i < BLOCKS_COLORS; i++) {
        assert_in_range(colors[i], all / 14, all / 5);
    }
    for (int i = 0; i < 2; i++) {
        assert_in_range(sizes[i], all / 3, 2 * all / 3);
        assert_in_range(materials[i], all / 3, 2 * all / 3);
    }
}

static void how_many_has_many_answers(void **state)
{
    (void)state;
    int shapes[BLOCKS_MAX + 1] = {0}, colors[BLOCKS_MAX + 1] = {0};
    for (int i = 0; i < SCENES; i++) {
        for (int kind = 0; kind < BLOCKS_COLORS; kind++) {
            int of_shape = 0, of_color = 0;
            for (int j = 0; j < scenes[i].count; j++) {
                of_shape += (int)scenes[i].object[j].shape == kind;
                of_color += (int)scenes[i].object[j].color == kind;
            }
            shapes[of_shape] += kind < BLOCKS_SHAPES;
            colors[of_color]++;
        }
    }
    for (int n = 0; n <= 5; n++) {
        assert_true(shapes[n] >= SCENES / 20);
    }
    for (int n = 0; n <= 4; n++) {
        assert_true(colors[n] >= SCENES / 20);
    }
}

static void large_is_clearly_larger_than_small(void **state)
{
    (void)state;
    double largest_small = 0, smallest_large = 9;
    for (int i = 0; i < SCENES; i++) {
        for (int j = 0; j < scenes[i].count; j++) {
            const blocks_object *o = &scenes[i].object[j];
            if (o->size == BLOCKS_SMALL) {
                largest_small = fmax(largest_small, o->radius);
            } else {
                smallest_large = fmin(smallest_large, o->radius);
            }
        }
    }
    assert_true(largest_small > 0.2 && smallest_large < 1);
    assert_true(smallest_large > 1.4 * largest_small);
}

static void every_value_has_a_name_of_its_own(void **state)
{
    (void)state;
    const char *names[BLOCKS_SHAPES + BLOCKS_COLORS + BLOCKS_MATERIALS + BLOCKS_SIZES];
    size_t count = 0;
    for (int i = 0; i < BLOCKS_COLORS; i++) {
        names[count++] = blocks_color_names[i];
        if (i < BLOCKS_SHAPES) {
            names[count++] = blocks_shape_names[i];
        }
        if (i < 2) {
            names[count++] = blocks_material_names[i];
            names[count++] = blocks_size_names[i];
        }
    }
    assert_int_equal(count, sizeof names / sizeof *names);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(names[i]);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(names[i], names[j]);
        }
    }
    assert_string_equal(blocks_color_names[BLOCKS_PURPLE], "purple");
    assert_string_equal(blocks_shape_names[BLOCKS_CONE], "cone");
    assert_string_equal(blocks_material_names[BLOCKS_METAL], "metal");
    assert_string_equal(blocks_size_names[BLOCKS_LARGE], "large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_is_the_same_whatever_was_made_before_it),
        cmocka_unit_test(seed_split_and_index_each_make_another_scene),
        cmocka_unit_test(every_object_is_well_seen_and_inside_the_frame),
        cmocka_unit_test(boxes_and_counts_agree_with_the_id_map),
        cmocka_unit_test(total_is_what_an_object_has_when_it_stands_alone),
        cmocka_unit_test(left_of_is_what_the_picture_shows_and_never_a_matter_of_opinion),
        cmocka_unit_test(in_front_of_is_lower_in_the_picture_and_never_a_matter_of_opinion),
        cmocka_unit_test(relations_are_transitive),
        cmocka_unit_test(objects_keep_clear_of_each_other),
        cmocka_unit_test(every_value_of_every_attribute_occurs_about_equally_often),
        cmocka_unit_test(how_many_has_many_answers),
        cmocka_unit_test(large_is_clearly_larger_than_small),
        cmocka_unit_test(every_value_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, make_scenes, NULL);
}
