// `visdial blocks`: what it makes is whole and the same every time, wrong use is explained.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "assets/blocks/dialog.h"
#include "features/pictures/image.h"
#include "features/dialogs/visdial.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static char *directory;

static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    return 0;
}

#define BLOCKS(...)                                                                                \
    (const char *const[])                                                                          \
    {                                                                                              \
        "blocks", __VA_ARGS__, NULL                                                                \
    }

static void show_prints_the_dialog_and_writes_the_picture(void **state)
{
    (void)state;
    char *png = support_join(directory, "p.png");
    support_program p;
    support_program_run(&p, BLOCKS("show", "--seed", "4", "--index", "2", "--png", png), NULL);
    support_program_expect(&p, 0, NULL);
    blocks_scene scene;
    blocks_dialog dialog;
    blocks_scene_make(4, BLOCKS_VAL, 2, &scene);
    blocks_dialog_make(&scene, &dialog);
    const char *at = strstr(p.out, dialog.caption);
    assert_non_null(at);
    for (int r = 0; r < BLOCKS_ROUNDS; r++) {
        at = strstr(at, dialog.round[r].question);
        assert_non_null(at);
        at = strstr(at, blocks_answer_text(dialog.round[r].answer));
        assert_non_null(at);
    }
    vd_image image;
    assert_int_equal(vd_image_read(png, &image, NULL), VD_OK);
    assert_int_equal(image.width, BLOCKS_WIDTH);
    vd_image_clear(&image);
    support_program_clear(&p);
    free(png);
}

static void another_dialog_seed_gives_other_dialogs_about_the_same_picture(void **state)
{
    (void)state;
    char *one = support_join(directory, "one.png"), *two = support_join(directory, "two.png");
    support_program p, other;
    support_program_run(&p, BLOCKS("show", "--seed", "4", "--png", one), NULL);
    support_program_run(&other, BLOCKS("show", "--seed", "4", "--dialog-seed", "5", "--png", two),
                        NULL);
    support_program_expect(&other, 0, NULL);
    assert_string_not_equal(p.out, other.out);
    size_t size, again;
    char *picture = support_read_file(one, &size), *same = support_read_file(two, &again);
    assert_int_equal(size, again);
    assert_memory_equal(picture, same, size);
    free(picture);
    free(same);
    support_program_clear(&other);
    support_program_run(&other, BLOCKS("show", "--seed", "4", "--dialog-seed", "4"), NULL);
    assert_string_equal(p.out, other.out);
    support_program_clear(&p);
    support_program_clear(&other);
    free(one);
    free(two);
}

static void make_makes_every_split_and_says_nothing_when_quiet(void **state)
{
    (void)state;
    static const char *const files[] = {"train.json",        "train_dense.json",
                                        "train_scenes.json", "val.json",
                                        "val_dense.json",    "pool.txt",
                                        "val_scenes.json",   "pictures/1.png",
                                        "pictures/2.png",    "pictures/1000001.png"};
    support_program p;
    support_program_run(&p,
                        BLOCKS("make", "--out", directory, "--train", "3", "--val", "2", "--test",
                               "0", "--pictures", "2", "--no-features", "--quiet"),
                        NULL);
    support_program_expect(&p, 0, NULL);
    assert_string_equal(p.out, "");
    assert_string_equal(p.err, "");
    support_program_clear(&p);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = support_join(directory, files[i]);
        if (!support_exists(path))
            fail_msg("%s is missing", files[i]);
        free(path);
    }
    assert_int_equal(support_count_entries(directory), 8); // nothing of the test split
    char *path = support_join(directory, "train.json");
    vd_visdial *data;
    assert_int_equal(vd_visdial_read(path, &data, NULL), VD_OK);
    assert_int_equal(data->dialog_count, 3);
    vd_visdial_free(data);
    free(path);
}

static void captions_are_files_beside_the_others(void **state)
{
    (void)state;
    static const char *const files[] = {"val.json", "val_dense.json", "val_scenes.json"};
    char *other = support_temp_dir();
    support_program p;
    for (int with = 0; with < 2; with++) {
        support_program_run(&p,
                            BLOCKS("make", "--out", with ? other : directory, "--train", "0",
                                   "--val", "3", "--test", "0", "--no-pictures", "--no-features",
                                   "--quiet", with ? "--captions=2" : "--quiet"),
                            NULL);
        support_program_expect(&p, 0, NULL);
        support_program_clear(&p);
    }
    assert_int_equal(support_count_entries(directory), 3);
    assert_int_equal(support_count_entries(other), 4);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *one = support_join(directory, files[i]), *two = support_join(other, files[i]);
        char *before = support_read_file(one, NULL), *after = support_read_file(two, NULL);
        assert_string_equal(before, after);
        free(after);
        free(before);
        free(two);
        free(one);
    }
    support_program_run(
        &p, BLOCKS("make", "--out", other, "--val", "3", "--no-features", "--captions", "2"),
        NULL); // what is there stays
    support_program_expect(&p, 2, "val", "--force", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("make", "--out", other, "--captions", "0"), NULL);
    support_program_expect(&p, 2, "--captions", "'0'", NULL);
    support_program_clear(&p);
    support_remove_tree(other);
    free(other);
}

// Nothing that looks complete is left, and nothing that the next attempt would stop at.
static void what_is_interrupted_can_be_made_again(void **state)
{
    (void)state;
    for (int world = 0; world < 2; world++) {
        char *out = support_join(directory, world ? "world" : "made"),
             *pictures = support_join(out, "pictures"),
             *first = support_join(pictures, "1000001.png");
        const char *const make[] = {"blocks",  "make",       "--out", out,      "--train",
                                    "0",       "--val",      "300",   "--test", "0",
                                    "--quiet", "--pictures", "300",   NULL},
                          *const show[] = {"blocks",  "world", "--out",   out,
                                           "--count", "300",   "--quiet", NULL};
        support_program p;
        support_program_start(&p, world ? show : make, NULL, 0);
        for (int i = 0; i < 6000 && !support_exists(first); i++)
            usleep(10000);
        assert_int_equal(kill(p.pid, SIGINT), 0);
        support_program_wait(&p);
        support_program_expect(&p, 130, NULL);
        support_program_clear(&p);
        assert_int_equal(support_count_entries(out), 1);
        assert_int_equal(support_count_entries(pictures), 0);
        support_program_run(&p,
                            world ? BLOCKS("world", "--out", out, "--count", "1", "--quiet")
                                  : BLOCKS("make", "--out", out, "--train", "0", "--val", "1",
                                           "--test", "0", "--quiet"),
                            NULL);
        support_program_expect(&p, 0, NULL);
        support_program_clear(&p);
        free(first);
        free(pictures);
        free(out);
    }
}

static void wrong_use_is_explained(void **state)
{
    (void)state;
    support_program p;
    support_program_run(&p, (const char *const[]){"blocks", NULL}, NULL);
    support_program_expect(&p, 2, "expected make, world or show", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("paint"), NULL);
    support_program_expect(&p, 2, "make, world or show", "'paint'", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("make"), NULL);
    support_program_expect(&p, 2, "--out is missing", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("show", "--count", "3"), NULL);
    support_program_expect(&p, 2, "--count does not belong to blocks show", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("make", "--out", directory, "--png", "a.png"), NULL);
    support_program_expect(&p, 2, "--png does not belong to blocks make", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("make", "--out", directory, "--pictures", "3", "--no-pictures"),
                        NULL);
    support_program_expect(&p, 2, "--pictures contradicts --no-pictures", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("show", "--split", "dev"), NULL);
    support_program_expect(&p, 2, "train, val or test", "'dev'", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("make", "--out", directory, "--train", "-1"), NULL);
    support_program_expect(&p, 2, "--train", "'-1'", NULL);
    support_program_clear(&p);
    support_program_run(
        &p, BLOCKS("make", "--out", directory, "--train", "0", "--val", "0", "--test", "0"), NULL);
    support_program_expect(&p, 2, "--train, --val and --test are 0", NULL);
    support_program_clear(&p);
    support_program_run(&p, BLOCKS("make", "--out", "README.md", "--no-features"), NULL);
    support_program_expect(&p, 6, "README.md: exists and is not a directory", NULL);
    support_program_clear(&p);
    char *none = support_join(directory, "none.safetensors");
    support_program_run(&p, BLOCKS("make", "--out", directory, "--extractor", none), NULL);
    support_program_expect(&p, 3, none, "--no-features", NULL);
    support_program_clear(&p);
    char *inside = support_join(directory, "missing/out");
    support_program_run(&p, BLOCKS("make", "--out", inside, "--no-features"), NULL);
    support_program_expect(&p, 3, inside, NULL);
    support_program_clear(&p);
    free(inside);
    free(none);
    assert_int_equal(support_count_entries(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(show_prints_the_dialog_and_writes_the_picture, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            another_dialog_seed_gives_other_dialogs_about_the_same_picture, set_up, tear_down),
        cmocka_unit_test_setup_teardown(make_makes_every_split_and_says_nothing_when_quiet, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(captions_are_files_beside_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_interrupted_can_be_made_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_use_is_explained, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
