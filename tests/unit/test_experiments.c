// assets/blocks/experiments.py trains and evaluates what is not done yet, and prints a table;
// assets/blocks/join.py makes one set of several.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

static void run(const char *directory, const char *out)
{
    char command[1024];
    snprintf(command, sizeof command,
             "python3 assets/blocks/experiments.py networks --data %s/data --out %s/runs --visdial "
             "\"$VISDIAL_BIN\" --only lf --only mn-att --seeds 2 >%s/%s 2>%s/errors",
             directory, directory, directory, out, directory);
    assert_int_equal(system(command), 0);
}

static void runs_are_done_once_and_make_a_table(void **state)
{
    (void)state;
    if (system("python3 --version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char *directory = support_temp_dir(), *data = support_join(directory, "data"),
         *model = support_join(directory, "runs/networks/lf-2/model.safetensors"),
         *first = support_join(directory, "first"), *again = support_join(directory, "again");
    const char *const make[] = {"blocks", "make", "--out",  data, "--train", "6",
                                "--val",  "3",    "--test", "1",  "--quiet", NULL};
    support_program p;
    support_program_run(&p, make, NULL);
    support_program_expect(&p, 0, NULL);
    support_program_clear(&p);
    run(directory, "first");
    assert_true(support_exists(model));
    char *table = support_read_file(first, NULL);
    assert_non_null(strstr(table, "\n| lf | 2 | 0."));
    assert_non_null(strstr(table, "\n| mn-att | 2 | 0."));
    assert_null(strstr(table, "mvan"));
    // What is done is read, not done again.
    assert_int_equal(remove(model), 0);
    run(directory, "again");
    assert_false(support_exists(model));
    char *same = support_read_file(again, NULL);
    assert_string_equal(table, same);
    free(table);
    free(same);
    support_remove_tree(directory);
    free(first);
    free(again);
    free(model);
    free(data);
    free(directory);
}

static void make_set(const char *out, const char *seed, const char *dialog_seed)
{
    const char *const make[] = {"blocks",
                                "make",
                                "--out",
                                out,
                                "--seed",
                                seed,
                                "--train",
                                "4",
                                "--val",
                                "1",
                                "--test",
                                "1",
                                "--quiet",
                                "--no-pictures",
                                "--dialog-seed",
                                dialog_seed,
                                NULL};
    support_program p;
    support_program_run(&p, make, NULL);
    support_program_expect(&p, 0, NULL);
    support_program_clear(&p);
}

// Other dialogs about the second set's pictures are the third.
static void sets_are_joined(void **state)
{
    (void)state;
    if (system("python3 --version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char *directory = support_temp_dir(), *one = support_join(directory, "one"),
         *two = support_join(directory, "two"), *three = support_join(directory, "three"),
         *dialogs = support_join(directory, "all/train.json"),
         *features = support_join(directory, "all/train_features.safetensors"), command[1024];
    make_set(one, "1", "1");
    make_set(two, "2", "2");
    make_set(three, "2", "7");
    snprintf(command, sizeof command,
             "cd %s && rm three/train_features.safetensors && "
             "python3 \"$OLDPWD/assets/blocks/join.py\" --out all one two three=two",
             directory);
    assert_int_equal(system(command), 0);
    support_program p;
    support_program_run(
        &p, ((const char *[]){"features", "info", features, "--data", dialogs, NULL}), NULL);
    support_program_expect(&p, 0, NULL);
    assert_non_null(strstr(p.out, "pictures    12, ids 1 to 4000004"));
    assert_non_null(strstr(p.out, "dialogs     12 of 12 have features"));
    support_program_clear(&p);
    char *path = support_join(directory, "all/train_scenes.json"),
         *scenes = support_read_file(path, NULL);
    static const char *const ids[] = {"\"image_id\": 1,", "\"image_id\": 4,",
                                      "\"image_id\": 2000001,", "\"image_id\": 4000004,"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_non_null(strstr(scenes, ids[i]));
    free(scenes);
    free(path);
    support_remove_tree(directory);
    free(features);
    free(dialogs);
    free(three);
    free(two);
    free(one);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_joined),
        cmocka_unit_test(runs_are_done_once_and_make_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
