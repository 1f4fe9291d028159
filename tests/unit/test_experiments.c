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

static void make_data(const char *directory)
{
    char *data = support_join(directory, "data");
    const char *const make[] = {"blocks", "make",          "--out", data,      "--train",
                                "24",     "--no-pictures", "--val", "3",       "--test",
                                "1",      "--captions",    "2",     "--quiet", NULL};
    support_program p;
    support_program_run(&p, make, NULL);
    support_program_expect(&p, 0, NULL);
    support_program_clear(&p);
    free(data);
}

// What the script prints of two rows of a plan, two seeds each.
static char *run(const char *directory, const char *plan, const char *one, const char *two)
{
    char command[1024], *out = support_join(directory, "out");
    snprintf(command, sizeof command,
             "python3 assets/blocks/experiments.py %s --data %s/data --out %s/runs --visdial "
             "\"$VISDIAL_BIN\" --only '%s' --only '%s' --seeds 2 >%s 2>%s/errors",
             plan, directory, directory, one, two, out, directory);
    assert_int_equal(system(command), 0);
    char *text = support_read_file(out, NULL);
    free(out);
    return text;
}

static void runs_are_done_once_and_make_a_table(void **state)
{
    (void)state;
    if (system("python3 --version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char *directory = support_temp_dir(), *runs = support_join(directory, "runs/networks"),
         *model = support_join(directory, "runs/networks/lf-2/model.safetensors");
    make_data(directory);
    char *table = run(directory, "networks", "lf", "mn-att");
    assert_true(support_exists(model));
    assert_non_null(strstr(table, "\n| lf | 2 | 0."));
    assert_non_null(strstr(table, "\n| mn-att | 2 | 0."));
    assert_null(strstr(table, "mvan"));
    assert_non_null(strstr(table, " | no history | another picture | "));
    char *path = support_join(directory, "runs/networks.json"),
         *results = support_read_file(path, NULL);
    assert_non_null(strstr(results, "\"no history\": 0."));
    assert_non_null(strstr(results, "\"another picture\": 0."));
    free(results);
    free(path);
    // The results are kept beside the runs, and what has one is not done again.
    support_remove_tree(runs);
    char *same = run(directory, "networks", "lf", "mn-att");
    assert_false(support_exists(runs));
    assert_string_equal(table, same);
    free(table);
    free(same);
    support_remove_tree(directory);
    free(model);
    free(runs);
    free(directory);
}

static int count_files(const char *directory, const char *pattern)
{
    char command[1024];
    snprintf(command, sizeof command, "ls -d %s/%s | wc -l", directory, pattern);
    FILE *in = popen(command, "r");
    int count = -1;
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%d", &count), 1);
    pclose(in);
    return count;
}

static void rows_that_begin_alike_share_the_first_stage(void **state)
{
    (void)state;
    if (system("python3 --version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char *directory = support_temp_dir(), *runs = support_join(directory, "runs/improved");
    make_data(directory);
    char *table = run(directory, "improved", "base", "large margin");
    assert_non_null(strstr(table, "\n| base | 2 | 0."));
    assert_non_null(strstr(table, "\n| large margin | 2 | 0."));
    assert_int_equal(count_files(runs, "stage-*"), 2); // one a seed
    assert_int_equal(count_files(runs, "*-[12]/done"), 6);
    free(table);
    support_remove_tree(directory);
    free(runs);
    free(directory);
}

static void captioners_are_compared(void **state)
{
    (void)state;
    if (system("python3 --version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char *directory = support_temp_dir();
    make_data(directory);
    char *table = run(directory, "captions", "Transformer", "CAT, past");
    assert_non_null(strstr(table, "\n| Transformer | 2 | "));
    const char *cat = strstr(table, "\n| CAT, past | 2 | ");
    assert_non_null(cat);
    // Its last columns: history, equal scores, parameters, minutes.
    double history = 0, chance = 0;
    for (int column = 0; column < 10; column++)
        assert_non_null(cat = strchr(cat + 1, '|'));
    assert_int_equal(sscanf(cat, "| %lf | %lf |", &history, &chance), 2);
    assert_in_range((int)(history * 1000), 1, 999);
    assert_in_range((int)(chance * 1000), 1, 999);
    const char *minus = strstr(table, "\n| minus Transformer | cross entropy | CIDEr-D | ");
    assert_non_null(minus);
    assert_non_null(minus = strstr(minus, "\n| CAT, past | "));
    assert_non_null(strstr(minus, " (p "));
    free(table);
    support_remove_tree(directory);
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
        cmocka_unit_test(rows_that_begin_alike_share_the_first_stage),
        cmocka_unit_test(captioners_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
