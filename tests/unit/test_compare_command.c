// The command `visdial compare`: tables, JSON, Markdown, pages, and what it refuses.
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/compare/cases.h"

static tiny_world tiny;
static char *third; // a model

static int make_tiny(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    third = support_join(tiny.directory, "third.safetensors");
    tiny_world_model(&tiny, third, TINY_REGION_SIZE, NULL);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    free(third);
    tiny_world_remove(&tiny);
    return 0;
}

#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        "compare", "--quiet", "--data", tiny.val, "--features", tiny.features, __VA_ARGS__, NULL   \
    }

static void tables_name_groups_metrics_families_and_rounds(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ARGUMENTS("--dense", tiny.dense), NULL);
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.err, "");
    static const char *const wanted[] = {
        "models   base (",
        "improved (",
        "4 dialogs, 12 questions",
        "\nboth right",
        "\nonly base right",
        "\nonly improved right",
        "\nboth wrong",
        "\nMcNemar's test",
        "\nMRR",
        "\nNDCG",
        "\ncorrect@1",
        "correct@1 by family",
        "\ncolor",
        "\nexist",
        "correct@1 by round",
        "95 % interval",
        "where they differ",
        "  (relevance ", // of the first answer, which stands before it
        ", human answer: place",
        "improved - base",
        "only base / improved right",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!strstr(run.out, wanted[i]))
            print_error("missing: %s\n", wanted[i]);
        assert_non_null(strstr(run.out, wanted[i]));
    }
    support_program_clear(&run);
    support_program_run(&run, ARGUMENTS("--round", "99"), NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "where they differ most: no question fits"));
    support_program_clear(&run);
    // Without relevance the human answer decides.
    support_program_run(&run, ARGUMENTS("--model", tiny.base, "--model", "improved"), NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "R@1 by family"));
    assert_null(strstr(run.out, "correct@1"));
    support_program_clear(&run);
}

static yajl_val compare_json(const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    char reason[200];
    yajl_val tree = yajl_tree_parse(run.out, reason, sizeof reason);
    assert_non_null(tree);
    support_program_clear(&run);
    return tree;
}

static double number(yajl_val tree, const char *a, const char *b, const char *c, const char *d)
{
    const char *path[] = {a, b, c, d, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_number);
    assert_non_null(value);
    return YAJL_GET_DOUBLE(value);
}

static void json_says_what_the_tables_say(void **state)
{
    (void)state;
    yajl_val tree = compare_json(
        ARGUMENTS("--dense", tiny.dense, "--json", "--cases", "0", "--resamples", "200"));
    const vd_corpus_paths paths = {
        .data = tiny.val, .features = tiny.features, .dense = tiny.dense};
    const vd_cases_options of_two = {.model = {tiny.base, tiny.improved}};
    vd_corpus corpus;
    vd_cases *cases;
    vd_comparison all;
    vd_error err = {0};
    assert_int_equal(vd_corpus_open(&paths, &corpus, &err), VD_OK);
    assert_int_equal(vd_cases_new(&corpus, &of_two, &cases, &err), VD_OK);
    assert_int_equal(vd_cases_compare(cases, &(vd_case_filter){0}, 200, &all, &err), VD_OK);
    assert_int_equal(number(tree, "all", "questions", NULL, NULL), 12);
    assert_int_equal(number(tree, "all", "right_human", "only_first", NULL),
                     all.against[1].right[VD_RIGHT_HUMAN].only_a);
    assert_int_equal(number(tree, "all", "right_relevant", "neither", NULL),
                     all.against[1].right[VD_RIGHT_RELEVANT].neither);
    const vd_interval *mrr = &all.against[1].difference[VD_MRR];
    assert_true(fabs(number(tree, "all", "metrics", "mrr", "difference") - mrr->estimate) < 1e-6);
    assert_true(fabs(number(tree, "all", "metrics", "mrr", "low") - mrr->low) < 1e-6);
    assert_true(fabs(number(tree, "all", "metrics", "mrr", "high") - mrr->high) < 1e-6);
    assert_int_equal(number(tree, "family", "exist", "questions", NULL), 4);
    assert_int_equal(number(tree, "round", "3", "questions", NULL), 4);
    const char *list[] = {"cases", NULL};
    yajl_val listed = yajl_tree_get(tree, list, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(listed)->len, 12);
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
    yajl_tree_free(tree);

    tree = compare_json(ARGUMENTS("--json", "--right", "human", "--round", "2", "--find", "ball"));
    listed = yajl_tree_get(tree, list, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(listed)->len, 4);
    yajl_tree_free(tree);
    // Part of the ids of ten pictures, which is in no text.
    tree = compare_json((const char *[]){"compare", "--json", "--find", "100001", NULL});
    listed = yajl_tree_get(tree, list, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(listed)->len, 0);
    yajl_tree_free(tree);
}

// The pair of first and third is told of with the numbers that a comparison of those two has.
static void three_models_are_told_of_in_every_form(void **state)
{
    (void)state;
    char *html = support_join(tiny.directory, "three.html");
    char *markdown = support_join(tiny.directory, "three.md");
    yajl_val tree = compare_json(ARGUMENTS("--dense", tiny.dense, "--json", "--cases", "0",
                                           "--resamples", "200", "--model", "base", "--model",
                                           "improved", "--model", third)),
             pair =
                 compare_json(ARGUMENTS("--dense", tiny.dense, "--json", "--cases", "0",
                                        "--resamples", "200", "--model", "base", "--model", third));
    const char *models[] = {"models", NULL}, *decoders[] = {"decoders", NULL},
               *further[] = {"further", NULL}, *cases[] = {"cases", NULL},
               *answers[] = {"answers", NULL};
    assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(tree, models, yajl_t_array))->len, 3);
    assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(tree, decoders, yajl_t_array))->len, 3);
    assert_null(yajl_tree_get(pair, further, yajl_t_array));
    yajl_val list = yajl_tree_get(tree, further, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(list)->len, 1);
    yajl_val of_third = YAJL_GET_ARRAY(list)->values[0];
    static const char *const paths[][4] = {
        {"all", "right_human", "only_first"},    {"all", "right_relevant", "mcnemar_mid_p"},
        {"all", "metrics", "mrr", "difference"}, {"all", "metrics", "ndcg", "low"},
        {"family", "exist", "metrics", "r@1"},   {"round", "2", "right_human", "neither"}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *const *p = paths[i];
        if (i == 4) {
            assert_true(
                fabs(number(
                         yajl_tree_get(of_third, (const char *[]){p[0], p[1], NULL}, yajl_t_object),
                         p[2], p[3], "second", NULL) -
                     number(yajl_tree_get(pair, (const char *[]){p[0], p[1], NULL}, yajl_t_object),
                            p[2], p[3], "second", NULL)) < 1e-9);
            continue;
        }
        assert_true(fabs(number(of_third, p[0], p[1], p[2], p[3]) -
                         number(pair, p[0], p[1], p[2], p[3])) < 1e-9);
    }
    yajl_val first = YAJL_GET_ARRAY(yajl_tree_get(tree, cases, yajl_t_array))->values[0];
    assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(first, answers, yajl_t_array))->len, 3);
    yajl_tree_free(pair);
    yajl_tree_free(tree);

    support_program run;
    support_program_run(&run,
                        ARGUMENTS("--dense", tiny.dense, "--resamples", "200", "--model", "base",
                                  "--model", "improved", "--model", third, "--html", html,
                                  "--markdown", markdown),
                        NULL);
    support_program_expect(&run, 0, NULL);
    static const char *const wanted[] = {"base       improved   third",
                                         "\nright      right      right",
                                         "\nwrong      wrong      wrong",
                                         "\n---- improved against base\n",
                                         "\n---- third against base\n",
                                         "\nonly third right",
                                         "p (Holm)",
                                         "third        "};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!strstr(run.out, wanted[i]))
            print_error("missing: %s\n in %s", wanted[i], run.out);
        assert_non_null(strstr(run.out, wanted[i]));
    }
    support_program_clear(&run);
    char *page = support_read_file(html, NULL);
    assert_non_null(strstr(page, "<title>base, improved and third, question by question"));
    assert_non_null(strstr(page, "McNemar&#39;s test, exact p"));
    assert_non_null(strstr(page, "<article class=\"case sides-3\""));
    assert_non_null(strstr(page, "<section class=\"side side-2\"><h4>third"));
    free(page);
    page = support_read_file(markdown, NULL);
    assert_non_null(strstr(page, "# base, improved and third, question by question"));
    assert_non_null(strstr(page, "\n## third against base\n"));
    assert_non_null(strstr(page, "\nthird: **"));
    free(page);
    free(markdown);
    free(html);
}

static void pages_hold_the_cases(void **state)
{
    (void)state;
    char *html = support_join(tiny.directory, "out.html");
    char *markdown = support_join(tiny.directory, "out.md");
    support_program run;
    support_program_run(
        &run, ARGUMENTS("--dense", tiny.dense, "--html", html, "--markdown", markdown), NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    char *page = support_read_file(html, NULL);
    for (int image = 1; image <= 4; image++) {
        char id[64];
        for (int round = 1; round <= 3; round++) {
            snprintf(id, sizeof id, " id=\"case-%d-%d\"", image, round);
            assert_non_null(strstr(page, id));
        }
        snprintf(id, sizeof id,
                 "<image id=\"pic-%d\" width=\"32\" height=\"24\" href=\"data:", image);
        char *first = strstr(page, id); // each picture once
        assert_non_null(first);
        assert_null(strstr(first + 1, id));
    }
    free(page);
    page = support_read_file(markdown, NULL);
    assert_non_null(strstr(page, "# base and improved, question by question"));
    assert_non_null(strstr(page, "### Picture 4, round 3 of 3"));
    assert_non_null(strstr(page, "McNemar's test"));
    free(page);
    free(markdown);
    free(html);
}

static void refuse(const char *const *arguments, int code, const char *a, const char *b)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, "visdial compare: ", a, b, NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refuse(ARGUMENTS("--model", "base"), 2, "no model to compare 'base' with", "--model");
    refuse(
        ARGUMENTS("--model", "a", "--model", "b", "--model", "c", "--model", "d", "--model", "e"),
        2, "'e' is one too many", "at most 4 are compared");
    refuse(ARGUMENTS("--decoder", "loud"), 2, "--decoder", "found 'loud'");
    refuse(ARGUMENTS("--decoder", "disc", "--decoder", "disc", "--decoder", "disc"), 2, "found 3",
           "each of the 2");
    refuse(ARGUMENTS("--decoder", "generative"), 5, "base.safetensors", "no such decoder");
    refuse(ARGUMENTS("--threads", "0"), 2, "--threads", "found '0'");
    refuse(ARGUMENTS("--screen", "--json"), 2, "--json", "--screen");
    // Before the work: there is no terminal here, and no such file either.
    refuse(ARGUMENTS("--screen", "--model", "a.safetensors", "--model", "b.safetensors"), 8,
           "needs a terminal", "omit --screen");
    refuse(ARGUMENTS("--group", "both,wrong"), 2, "--group", "found 'both,wrong'");
    refuse(ARGUMENTS("--right", "me"), 2, "--right", "found 'me'");
    refuse(ARGUMENTS("--right", "relevant"), 2, "--right relevant", "--dense");
    refuse(ARGUMENTS("--family", "colour"), 2, "'colour'", "color, exist");
    refuse(ARGUMENTS("--resamples", "7"), 2, "--resamples", "found '7'");
    refuse(ARGUMENTS("more"), 2, "unexpected", "more");
    refuse(ARGUMENTS("--pictures", "/nonexistent"), 3, "/nonexistent", "no such directory");
    refuse(ARGUMENTS("--html", "/nonexistent/x.html"), 3, "/nonexistent", "");
    refuse(ARGUMENTS("--model", "base", "--model", "/nonexistent"), 3, "/nonexistent", "");
    refuse((const char *const[]){"compare", "--data", tiny.val, NULL}, 2, "--features", "missing");
    char *wide = support_join(tiny.directory, "wide.safetensors");
    tiny_world_features(wide, TINY_REGION_SIZE + 3);
    refuse((const char *const[]){"compare", "--data", tiny.val, "--features", wide, NULL}, 5,
           "regions of 5 numbers", "has 8");
    free(wide);
}

static void a_damaged_picture_is_an_error(void **state)
{
    (void)state;
    char *pictures = support_join(tiny.directory, "pictures");
    char *picture = support_join(pictures, "2.png"),
         *html = support_join(tiny.directory, "no.html");
    size_t size;
    char *good = support_read_file(picture, &size);
    support_write_file(picture, good, size / 2);
    refuse(ARGUMENTS("--html", html), 4, "2.png", "PNG");
    assert_false(support_exists(html));
    support_write_file(picture, good, size);
    free(good);
    free(html);
    free(picture);
    free(pictures);
}

// Without pictures there are pages without them, with unreadable ones there is none.
static void a_folder_of_pictures_that_cannot_be_looked_at_is_an_error(void **state)
{
    (void)state;
    char *pictures = support_join(tiny.directory, "pictures");
    char *aside = support_join(tiny.directory, "aside"),
         *html = support_join(tiny.directory, "no.html");
    assert_int_equal(rename(pictures, aside), 0);
    assert_int_equal(symlink("pictures", pictures), 0);
    refuse(ARGUMENTS("--html", html), 6, pictures, strerror(ELOOP));
    assert_false(support_exists(html));
    assert_int_equal(unlink(pictures), 0);
    assert_int_equal(rename(aside, pictures), 0);
    free(html);
    free(aside);
    free(pictures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_name_groups_metrics_families_and_rounds),
        cmocka_unit_test(json_says_what_the_tables_say),
        cmocka_unit_test(three_models_are_told_of_in_every_form),
        cmocka_unit_test(pages_hold_the_cases),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_damaged_picture_is_an_error),
        cmocka_unit_test(a_folder_of_pictures_that_cannot_be_looked_at_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
