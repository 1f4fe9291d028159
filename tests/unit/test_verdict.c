// Whether captions are true, in words: the objects that decide, with the numbers of their regions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/must.h"
#include "tests/support/support.h"
#include "tui/measure/verdict.h"

// From left to right: a large red metal ball, a small orange rubber cube a little behind, a small
// red rubber cube far behind.
static const blocks_scene scene = {.count = 3,
                                   .object = {{.color = BLOCKS_RED,
                                               .shape = BLOCKS_BALL,
                                               .material = BLOCKS_METAL,
                                               .size = BLOCKS_LARGE,
                                               .x = -2,
                                               .y = 0,
                                               .radius = 0.7,
                                               .box = {10, 100, 90, 180}},
                                              {.color = BLOCKS_ORANGE,
                                               .shape = BLOCKS_CUBE,
                                               .x = 0,
                                               .y = 0.1,
                                               .radius = 0.35,
                                               .box = {150, 100, 190, 140}},
                                              {.color = BLOCKS_RED,
                                               .shape = BLOCKS_CUBE,
                                               .x = 2,
                                               .y = 2,
                                               .radius = 0.35,
                                               .box = {230, 60, 270, 100}}}};

// The third object's region comes first, the first one's second; the third region is elsewhere.
static float boxes[] = {230.0f / 320,
                        60.0f / 240,
                        270.0f / 320,
                        100.0f / 240,
                        12.0f / 320,
                        100.0f / 240,
                        92.0f / 320,
                        182.0f / 240,
                        0,
                        0,
                        0.1f,
                        0.1f};
static const vd_picture_regions regions = {.count = 3, .boxes = boxes};

static void judged(const char *caption, vd_caption_judged is, const char *why)
{
    vd_caption_verdict found;
    vd_verdict_make(caption, &scene, &regions, &found);
    assert_string_equal(found.why, why);
    assert_int_equal(found.is, is);
}

static void the_objects_that_decide_are_named(void **state)
{
    (void)state;
    judged("there is just 1 ball", VD_JUDGED_FAITHFUL,
           "1 of 3 objects is a ball: the large red metal ball (region 2); it says exactly 1");
    judged("there is just 1 cube", VD_JUDGED_FALSE,
           "2 of 3 objects are a cube: the small orange rubber cube, the small red rubber cube "
           "(region 1); it says exactly 1");
    judged("a picture of 3 solids", VD_JUDGED_FAITHFUL, "3 objects; it says exactly 3");
    judged("a blue cone among some other things", VD_JUDGED_FALSE,
           "0 of 3 objects are a blue cone; it says at least 1");
    judged("a cube is on the far left", VD_JUDGED_FALSE,
           "farthest to the left is the large red metal ball (region 2); it says a cube");
    judged("a red cube is on the far right", VD_JUDGED_FAITHFUL,
           "farthest to the right is the small red rubber cube (region 1); it says a red cube");
    judged("a red cube is behind an orange cube", VD_JUDGED_FAITHFUL,
           "the small red rubber cube (region 1) is behind the small orange rubber cube");
    judged("an orange cube is behind a ball", VD_JUDGED_DOUBTFUL,
           "the small orange rubber cube is behind the large red metal ball (region 2); by little");
    judged("a red cube is in front of a ball", VD_JUDGED_FALSE,
           "the small red rubber cube (region 1) is not in front of the large red metal ball "
           "(region 2)");
    judged("a green cube is behind a ball", VD_JUDGED_FALSE, "no object is a green cube");
    judged("a cube is behind a cone", VD_JUDGED_FALSE, "no object is a cone");
    judged("a ball is behind a ball", VD_JUDGED_FALSE, "no other object is a ball");
    judged("the weather is fine", VD_JUDGED_NOT_READ,
           "only captions worded as in Blocks can be checked");
}

// Without boxes there are no numbers; many objects are cut, not more than there is room for.
static void what_is_not_known_is_left_out(void **state)
{
    const vd_picture_regions none = {.count = 3};
    vd_caption_verdict found;
    blocks_scene many = {.count = BLOCKS_MAX};
    (void)state;
    vd_verdict_make("there is just 1 ball", &scene, &none, &found);
    assert_string_equal(found.why,
                        "1 of 3 objects is a ball: the large red metal ball; it says exactly 1");
    vd_verdict_make("a picture of 10 solids", &many, &none, &found);
    assert_int_equal(found.is, VD_JUDGED_FAITHFUL);
    assert_true(strlen(found.why) < sizeof found.why);
}

static void scenes_lie_beside_their_dialogs(void **state)
{
    static const char *const pairs[][2] = {{"a.b/train.json", "a.b/train_scenes.json"},
                                           {"train", "train_scenes.json"},
                                           {"b/val_captions.json", "b/val_scenes.json"},
                                           {"b/_captions.json", "b/_captions_scenes.json"},
                                           {"assets/dialogs.json", "assets/scenes.json"},
                                           {"dialogs.json", "scenes.json"}};
    char found[100];
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        vd_scenes_beside(pairs[i][0], found, sizeof found);
        assert_string_equal(found, pairs[i][1]);
    }
}

static void a_picture_has_its_scene(void **state)
{
    vd_world *world;
    vd_error err;
    size_t made;
    blocks_scene found;
    bool known;
    (void)state;
    must(vd_world_open_files(&(vd_world_files){.directory = "assets"}, &world, &err), &err);
    must(vd_verdict_scene(world, 2, NULL, &found, &known, &err), &err);
    assert_true(known && found.image_id == vd_world_image_id(world, 2));
    must(vd_world_named(world, "blocks:7", &made, &err), &err);
    must(vd_verdict_scene(world, made, NULL, &found, &known, &err), &err);
    assert_true(known && found.count >= BLOCKS_MIN);
    must(vd_world_named(world, "assets/screenshot.png", &made, &err), &err);
    must(vd_verdict_scene(world, made, NULL, &found, &known, &err), &err);
    assert_false(known);
    support_refused(vd_verdict_scene(world, made, "assets/scenes.json", &found, &known, &err),
                    VD_MISMATCH, &err, "assets/scenes.json: no scene of image", NULL);
    vd_world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_objects_that_decide_are_named),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(scenes_lie_beside_their_dialogs),
        cmocka_unit_test(a_picture_has_its_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
