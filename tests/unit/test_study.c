// visdial study over rankings of the tiny world's models.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"

static tiny_world tiny;
static char *base, *improved; // rankings

static char *rank(const char *model, const char *name)
{
    char *path = support_join(tiny.directory, name);
    support_program run;
    const char *const arguments[] = {
        "eval",        "--quiet", "--model", model,         "--data", tiny.val, "--features",
        tiny.features, "--ranks", path,      "--resamples", "0",      NULL};
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    base = rank(tiny.base, "base.json");
    improved = rank(tiny.improved, "improved.json");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(base);
    free(improved);
    tiny_world_remove(&tiny);
    return 0;
}

#define STUDY(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        "study", "--data", tiny.val, "--dense", tiny.dense, "--resamples", "500", __VA_ARGS__,     \
            NULL                                                                                   \
    }

static yajl_val study(const char *const *arguments)
{
    support_program run;
    char reason[200];
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    yajl_val tree = yajl_tree_parse(run.out, reason, sizeof reason);
    assert_non_null(tree);
    support_program_clear(&run);
    return tree;
}

static yajl_val field(yajl_val tree, const char *metric, const char *key)
{
    const char *path[] = {"metrics", metric, key, NULL};
    yajl_val found = yajl_tree_get(tree, path, yajl_t_any);
    assert_non_null(found);
    return found;
}

static double number(yajl_val value)
{
    assert_true(YAJL_IS_NUMBER(value));
    return YAJL_GET_DOUBLE(value);
}

static double at(yajl_val list, size_t i)
{
    assert_true(YAJL_IS_ARRAY(list) && i < YAJL_GET_ARRAY(list)->len);
    return number(YAJL_GET_ARRAY(list)->values[i]);
}

static void a_model_does_not_differ_from_itself(void **state)
{
    (void)state;
    yajl_val tree = study(STUDY("--json", base, "--against", base));
    static const char *const metrics[] = {"r@1", "mean", "mrr", "ndcg"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(number(field(tree, metrics[i], "difference")) == 0);
        assert_true(number(field(tree, metrics[i], "p")) == 1);
        assert_true(number(field(tree, metrics[i], "p_holm")) == 1);
        assert_true(YAJL_IS_NULL(YAJL_GET_ARRAY(field(tree, metrics[i], "deviation"))->values[0]));
        assert_true(YAJL_IS_NULL(field(tree, metrics[i], "p_runs"))); // of one run
    }
    yajl_tree_free(tree);
}

// As in `compare`: the other model - the first.
static void a_difference_is_the_other_minus_the_first(void **state)
{
    (void)state;
    yajl_val tree = study(STUDY("--json", base, "--against", improved));
    const char *sign[] = {"sign", NULL};
    yajl_val mean = field(tree, "mrr", "mean"), interval = field(tree, "mrr", "interval");
    double difference = number(field(tree, "mrr", "difference"));
    assert_true(difference != 0);
    assert_true(fabs(difference - (at(mean, 1) - at(mean, 0))) < 1e-9);
    assert_true(at(interval, 0) <= difference && difference <= at(interval, 1));
    assert_string_equal(YAJL_GET_STRING(yajl_tree_get(tree, sign, yajl_t_string)),
                        "against - first");
    yajl_tree_free(tree);
    char first[300], other[300];
    snprintf(first, sizeof first, "old=%s", base);
    snprintf(other, sizeof other, "new=%s", improved);
    support_program run;
    support_program_run(&run, STUDY(first, "--against", other), NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "  new - old  "));
    support_program_clear(&run);
}

static void several_runs_have_a_deviation_and_pairs(void **state)
{
    (void)state;
    yajl_val tree =
        study(STUDY("--json", base, improved, "--against", improved, "--against", base));
    // The same two runs on both sides: no difference of the means, each run the other's pair.
    assert_true(fabs(number(field(tree, "mrr", "difference"))) < 1e-9);
    assert_true(at(field(tree, "mrr", "deviation"), 0) >= 0);
    assert_true(at(field(tree, "mrr", "interval_runs"), 0) <=
                at(field(tree, "mrr", "interval"), 0));
    const char *path[] = {"mcnemar", NULL}, *first[] = {"only_first", NULL};
    const char *against[] = {"only_against", NULL}, *both[] = {"both", NULL};
    const char *neither[] = {"neither", NULL};
    yajl_val pairs = yajl_tree_get(tree, path, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(pairs)->len, 2);
    yajl_val a = YAJL_GET_ARRAY(pairs)->values[0], b = YAJL_GET_ARRAY(pairs)->values[1];
    assert_true(number(yajl_tree_get(a, first, yajl_t_number)) ==
                number(yajl_tree_get(b, against, yajl_t_number)));
    assert_true(number(yajl_tree_get(a, first, yajl_t_number)) +
                    number(yajl_tree_get(a, against, yajl_t_number)) +
                    number(yajl_tree_get(a, both, yajl_t_number)) +
                    number(yajl_tree_get(a, neither, yajl_t_number)) ==
                12);
    yajl_tree_free(tree);
}

static void a_table_says_the_same(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, STUDY(base, improved, "--against", base), NULL);
    support_program_expect(&run, 0, NULL);
    static const char *const wanted[] = {
        "4 dialogs", "first    2 runs", "against  1 run\n", "r@1",
        "ndcg",      "Holm p",          "McNemar",          "runs too"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_non_null(strstr(run.out, wanted[i]));
    support_program_clear(&run);
}

// Several models at once: each as if it were alone, but for the correction, which knows of all.
static void more_than_one_model_is_held_against_the_first(void **state)
{
    (void)state;
    char same[300], other[300], again[300];
    snprintf(same, sizeof same, "same=%s", base);
    snprintf(other, sizeof other, "other=%s", improved);
    snprintf(again, sizeof again, "base=%s", base);
    yajl_val alone = study(STUDY("--json", base, "--against", improved, "--against", improved));
    yajl_val tree =
        study(STUDY("--json", again, "--against", same, "--against", other, "--against", other));
    const char *path[] = {"others", NULL}, *name[] = {"against", NULL}, *first[] = {"first", NULL};
    yajl_val others = yajl_tree_get(tree, path, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(others)->len, 1);
    yajl_val second = YAJL_GET_ARRAY(others)->values[0];
    assert_string_equal(YAJL_GET_STRING(yajl_tree_get(tree, first, yajl_t_string)), "base");
    assert_string_equal(YAJL_GET_STRING(yajl_tree_get(tree, name, yajl_t_string)), "same");
    assert_string_equal(YAJL_GET_STRING(yajl_tree_get(second, name, yajl_t_string)), "other");
    static const char *const metrics[] = {"r@1", "mean", "mrr", "ndcg"};
    static const char *const exact[] = {"difference", "p", "p_runs"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(number(field(tree, metrics[i], "difference")) == 0);
        for (size_t k = 0; k < 3; k++)
            assert_true(number(field(second, metrics[i], exact[k])) ==
                        number(field(alone, metrics[i], exact[k])));
        assert_true(number(field(second, metrics[i], "p_holm")) >=
                    number(field(alone, metrics[i], "p_holm")));
    }
    yajl_tree_free(tree);
    yajl_tree_free(alone);

    support_program run;
    support_program_run(
        &run, STUDY(base, base, "--against", same, "--against", other, "--against", same), NULL);
    support_program_expect(&run, 0, NULL);
    static const char *const wanted[] = {
        "first    2 runs\n", "same     2 runs\n", "other    1 run\n",         "only first",
        "only same",         "only other",        "all metrics of all models"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_non_null(strstr(run.out, wanted[i]));
    support_program_clear(&run);
}

static void refuse(const char *const *arguments, int code, const char *words)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, "visdial study: ", words, NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
}

// Two models whose long names begin alike would be one.
static void a_name_too_long_is_refused(void **state)
{
    (void)state;
    char longest[400], longer[400];
    snprintf(longest, sizeof longest, "%047d=%s", 1, improved);
    snprintf(longer, sizeof longer, "%048d=%s", 1, improved);
    yajl_tree_free(study(STUDY("--json", base, "--against", longest)));
    refuse(STUDY(base, "--against", longer), 2, "expected a name of at most 47 bytes");
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    refuse(STUDY(base), 2, "with --against, of another");
    refuse(STUDY("--against", base), 2, "expected rankings of one model");
    refuse((const char *const[]){"study", base, "--against", base, NULL}, 2,
           "which dialogs were ranked?");
    refuse(STUDY(base, "--against", "/nonexistent.json"), 3, "/nonexistent.json");
    refuse(STUDY(base, "--against", tiny.dense), 4, "\"ranks\"");
    refuse(STUDY(base, "--against", base, "--seed", "x"), 2, "--seed");
    refuse(STUDY("a=x.json", "b=y.json", "--against", base), 2, "the first model is 'a'");
    refuse(STUDY("a=x.json", "--against", "a=y.json"), 2, "the first model is called 'a', too");
    refuse(STUDY("a=x.json", "--against", base), 3, "x.json");
    refuse(STUDY("./a=x.json", "--against", base), 3, "./a=x.json"); // a file, by its path
    const char *many[2 * 17 + 5] = {"study", "--data", tiny.val, base};
    char name[17][8];
    for (int i = 0; i < 17; i++) {
        snprintf(name[i], sizeof name[i], "%d=a", i);
        many[4 + 2 * i] = "--against";
        many[5 + 2 * i] = name[i];
    }
    refuse(many, 2, "more than 16 other models");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_does_not_differ_from_itself),
        cmocka_unit_test(a_difference_is_the_other_minus_the_first),
        cmocka_unit_test(several_runs_have_a_deviation_and_pairs),
        cmocka_unit_test(a_table_says_the_same),
        cmocka_unit_test(more_than_one_model_is_held_against_the_first),
        cmocka_unit_test(a_name_too_long_is_refused),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
