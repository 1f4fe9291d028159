// `visdial eval --task caption`: what it prints follows from the files, and what does not fit is
// explained.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/world.h"
#include "tests/support/caption_files.h"
#include "tests/support/must.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tui/measure/captions.h"

enum { SCENES = 60, EACH = 3 };

static char *directory, *captions, *scenes, *right, *wrong, *trained;
static blocks_world world;

#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        "eval", "--task", "caption", __VA_ARGS__, NULL                                             \
    }

// The dialogs' captions; and those of the next picture, every seventh of them no caption at all.
static void write_results(const char *path, int by)
{
    static char text[SCENES][EACH][BLOCKS_TEXT];
    vd_result list[SCENES];
    vd_error err = {0};
    for (int i = 0; i < SCENES; i++) {
        blocks_captions_make(&world.scene[(i + by) % SCENES], EACH, text[i]);
        list[i] = (vd_result){world.scene[i].image_id,
                              by && i % 7 == 0 ? "red on table the" : text[i][0]};
    }
    must(vd_results_write(path, list, SCENES, &err), &err);
}

static int begin(void **state)
{
    (void)state;
    vd_error err = {0};
    directory = support_temp_dir();
    captions = support_join(directory, "captions.json");
    scenes = support_join(directory, "scenes.json");
    right = support_join(directory, "right.json");
    wrong = support_join(directory, "wrong.json");
    trained = support_join(directory, "trained.json");
    must(blocks_world_new(18, BLOCKS_VAL, SCENES, &world, &err), &err);
    blocks_world_fill(&world, 0, SCENES);
    must(blocks_world_write_captions(&world, EACH, captions, &err), &err);
    must(blocks_world_write_scenes(&world, scenes, &err), &err);
    blocks_world training = world; // as if these were a training split's
    training.split = BLOCKS_TRAIN;
    training.count = SCENES / 2;
    must(blocks_world_write_captions(&training, 1, trained, &err), &err);
    write_results(right, 0);
    write_results(wrong, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    blocks_world_clear(&world);
    support_remove_tree(directory);
    free(trained);
    free(wrong);
    free(right);
    free(scenes);
    free(captions);
    free(directory);
    return 0;
}

static yajl_val json_of(const char *const *arguments)
{
    support_program p;
    support_program_run(&p, arguments, NULL);
    support_program_expect(&p, 0, NULL);
    yajl_val tree = yajl_tree_parse(p.out, NULL, 0);
    assert_non_null(tree);
    support_program_clear(&p);
    return tree;
}

static double at(yajl_val tree, const char *one, const char *two)
{
    const char *path[] = {one, two, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_number);
    if (!value)
        fail_msg("no number %s %s", one, two);
    return YAJL_GET_DOUBLE(value);
}

static void peoples_captions_are_perfect_and_true(void **state)
{
    (void)state;
    yajl_val json = json_of(ARGUMENTS("--results", right, "--references", captions, "--scenes",
                                      scenes, "--json", "--resamples", "50"));
    static const char *const ones[] = {"bleu_1",    "bleu_2", "bleu_3",  "bleu_4",
                                       "meteor_es", "read",   "faithful"};
    static const char *const nothing[] = {"doubtful", "chair_i", "chair_s",
                                          "attribute_hallucination"};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        assert_true(fabs(at(json, "all", ones[i]) - 1.0) < 1e-8);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        assert_true(at(json, "all", nothing[i]) == 0.0);
    assert_true(at(json, "all", "pictures") == SCENES);
    assert_true(at(json, "all", "true_bits") > 2.0);
    assert_true(at(json, "all", "cider_d") > 2.0);
    assert_true(at(json, "interval", "level") == 0.95);
    yajl_tree_free(json);
}

static void other_pictures_captions_are_mostly_false(void **state)
{
    (void)state;
    yajl_val json = json_of(ARGUMENTS("--results", wrong, "--references", captions, "--scenes",
                                      scenes, "--other-results", right, "--json", "--resamples",
                                      "200", "--trained-on", trained, "--split", "val"));
    assert_true(at(json, "all", "read") < 0.9 && at(json, "all", "read") > 0.8);
    assert_true(at(json, "all", "faithful") < 0.5);
    assert_true(at(json, "all", "chair_i") > 0.2);
    assert_true(at(json, "other", "faithful") == 1.0);
    assert_true(at(json, "other", "novel") <= 0.5 && at(json, "other", "novel") > 0.3);
    double faithful = at(json, "all", "faithful") * SCENES;
    assert_true(at(json, "agreement", "all_alone") == 0.0);
    assert_true(fabs(at(json, "agreement", "both") - faithful) < 1e-6);
    assert_true(fabs(at(json, "agreement", "other_alone") - SCENES + faithful) < 1e-6);
    assert_true(at(json, "agreement", "neither") == 0.0);
    const char *path[] = {"difference", "true_bits", NULL};
    yajl_val difference = yajl_tree_get(json, path, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(difference)->len, 4);
    assert_true(fabs(YAJL_GET_DOUBLE(YAJL_GET_ARRAY(difference)->values[0]) -
                     at(json, "other", "true_bits") + at(json, "all", "true_bits")) < 1e-8);
    assert_true(YAJL_GET_DOUBLE(YAJL_GET_ARRAY(difference)->values[1]) > 0.0); // the low end
    yajl_tree_free(json);
}

// Pictures on which the values of both captions differ, by falling difference.
static void check_differences(yajl_val json, const char *metric, size_t count)
{
    const char *path[] = {"largest_differences", NULL}, *value[] = {metric, NULL},
               *texts[] = {"captions", NULL};
    yajl_val list = yajl_tree_get(json, path, yajl_t_array);
    double before = INFINITY;
    assert_non_null(list);
    assert_int_equal(YAJL_GET_ARRAY(list)->len, count);
    for (size_t i = 0; i < count; i++) {
        yajl_val one = YAJL_GET_ARRAY(list)->values[i],
                 pair = yajl_tree_get(one, value, yajl_t_array),
                 text = yajl_tree_get(one, texts, yajl_t_array);
        assert_true(pair && text && YAJL_GET_ARRAY(pair)->len == 2);
        double by = YAJL_GET_DOUBLE(YAJL_GET_ARRAY(pair)->values[0]) -
                    YAJL_GET_DOUBLE(YAJL_GET_ARRAY(pair)->values[1]);
        assert_true(by != 0 && fabs(by) <= before);
        before = fabs(by);
        assert_string_not_equal(YAJL_GET_STRING(YAJL_GET_ARRAY(text)->values[0]),
                                YAJL_GET_STRING(YAJL_GET_ARRAY(text)->values[1]));
    }
}

// With scenes those whose true bits differ most, else by CIDEr-D; none of equal ones.
static void the_largest_differences_are_listed(void **state)
{
    (void)state;
    yajl_val json =
        json_of(ARGUMENTS("--results", wrong, "--references", captions, "--scenes", scenes,
                          "--other-results", right, "--json", "--resamples", "0", "--cases", "7"));
    check_differences(json, "true_bits", 7);
    yajl_tree_free(json);
    json = json_of(ARGUMENTS("--results", wrong, "--references", captions, "--other-results", right,
                             "--json", "--resamples", "0"));
    check_differences(json, "cider_d", 5);
    yajl_tree_free(json);
    json = json_of(ARGUMENTS("--results", right, "--references", captions, "--other-results", right,
                             "--json", "--resamples", "0"));
    check_differences(json, "cider_d", 0);
    yajl_tree_free(json);
    support_program p;
    support_program_run(&p,
                        ARGUMENTS("--results", wrong, "--references", captions, "--scenes", scenes,
                                  "--other-results", right, "--resamples", "0", "--cases", "1"),
                        NULL);
    support_program_expect(&p, 0, NULL);
    const char *list = strstr(p.out, "largest differences");
    assert_non_null(list);
    assert_non_null(strstr(list, "picture  true bits  caption"));
    support_program_clear(&p);
    support_program_run(&p, ARGUMENTS("--results", wrong, "--references", captions, "--cases", "3"),
                        NULL);
    support_program_expect(&p, 2, "--cases needs --other-model or --other-results", NULL);
    support_program_clear(&p);
}

static void the_table_names_what_was_measured(void **state)
{
    (void)state;
    support_program p;
    support_program_run(
        &p, ARGUMENTS("--results", wrong, "--references", captions, "--resamples", "0"), NULL);
    support_program_expect(&p, 0, NULL);
    assert_non_null(strstr(p.out, "CIDEr-D"));
    assert_non_null(strstr(p.out, "METEOR-es"));
    assert_non_null(strstr(p.out, "Karpathy split, 60 pictures, 180 captions"));
    assert_null(strstr(p.out, "faithful")); // no scenes
    support_program_clear(&p);
}

static void tokens_that_are_given_stay(void **state)
{
    (void)state;
    char *one = support_join(directory, "one.json"), *said = support_join(directory, "said.json");
    caption_files_coco(one);
    support_write_text(said, "[{\"image_id\": 9, \"caption\": \"a man 's hat\"}, {\"image_id\": 7, "
                             "\"caption\": \"a red ball\"}, {\"image_id\": 4, \"caption\": \"a "
                             "dog\"}]");
    yajl_val ours = json_of(ARGUMENTS("--results", said, "--references", one, "--json")),
             given = json_of(
                 ARGUMENTS("--results", said, "--references", one, "--json", "--tokens-given"));
    assert_true(fabs(at(ours, "all", "bleu_1") - 1.0) < 1e-8);
    assert_true(at(given, "all", "bleu_1") < 0.9); // "A", "ball." and "man's" are others
    yajl_tree_free(given);
    yajl_tree_free(ours);
    free(said);
    free(one);
}

// Karpathy's files have tokens beside the text: lower case, without punctuation.
static void tokens_of_a_karpathy_split_are_taken(void **state)
{
    (void)state;
    char *split = support_join(directory, "split.json"), *said = support_join(directory, "k.json");
    support_write_text(
        split, "{\"images\": [{\"cocoid\": 7, \"split\": \"test\", \"sentences\": [{\"tokens\": "
               "[\"a\", \"red\", \"ball\", \"on\", \"grass\"], \"raw\": \"A Red  Ball, on "
               "grass.\"}]}]}");
    support_write_text(said, "[{\"image_id\": 7, \"caption\": \"a red ball on grass\"}]");
    yajl_val given =
        json_of(ARGUMENTS("--results", said, "--references", split, "--json", "--tokens-given"));
    assert_true(fabs(at(given, "all", "bleu_4") - 1.0) < 1e-8);
    yajl_tree_free(given);
    free(said);
    free(split);
}

static void is_refused(int code, const char *const *arguments, const char *one, const char *two)
{
    support_program p;
    support_program_run(&p, arguments, NULL);
    support_program_expect(&p, code, one, two, NULL);
    assert_string_equal(p.out, "");
    support_program_clear(&p);
}

static void what_does_not_fit_is_explained(void **state)
{
    (void)state;
    char *few = support_join(directory, "few.json"), *more = support_join(directory, "more.json");
    char *text = support_read_file(right, NULL), first[40];
    snprintf(first, sizeof first, "image %lld", (long long)world.scene[0].image_id);
    support_write_text(few, "[{\"image_id\": 5, \"caption\": \"a\"}]");
    is_refused(5, ARGUMENTS("--results", few, "--references", captions), "60 of the 60", first);
    *strrchr(text, ']') = 0;
    size_t room = strlen(text) + 60;
    char *longer = malloc(room);
    snprintf(longer, room, "%s,{\"image_id\":5,\"caption\":\"a\"}]", text);
    support_write_text(more, longer);
    free(longer);
    is_refused(5, ARGUMENTS("--results", more, "--references", captions), "image 5 is not among",
               "more.json");
    char *other = support_join(directory, "other_scenes.json");
    caption_files_scenes(other);
    is_refused(5, ARGUMENTS("--results", right, "--references", captions, "--scenes", other),
               "no scene of image", "other_scenes.json");
    is_refused(3, ARGUMENTS("--results", right, "--references", captions, "--split", "test"),
               "no picture of split \"test\"", "it has val");
    is_refused(2, ARGUMENTS("--results", right), "--references", NULL);
    is_refused(2, ARGUMENTS("--results", right, "--references", captions, "--model", "best"),
               "one of the two", NULL);
    is_refused(2, (const char *const[]){"eval", "--model", "best", "--results", right, NULL},
               "--results is about captions", "--task caption");
    is_refused(4, ARGUMENTS("--results", captions, "--references", captions), "captions.json",
               "expected a list");
    free(other);
    free(text);
    free(more);
    free(few);
}

// BLEU is no mean, so its intervals come from sums: of one picture's sums, its own.
static void metrics_come_from_sums(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_caption_judge *judge;
    vd_results *results;
    vd_caption_measure measure;
    vd_interval interval[VD_CAPTION_METRICS];
    double metric[VD_CAPTION_METRICS];
    const vd_caption_paths paths = {.references = captions, .scenes = scenes};
    must(vd_caption_judge_open(&paths, &judge, &err), &err);
    must(vd_results_read(wrong, &results, &err), &err);
    must(vd_caption_measure_run(judge, results, &measure, &err), &err);
    const vd_bootstrap_options options = {.resamples = 400, .seed = 3};
    must(vd_caption_intervals(&measure, NULL, &options, interval, &err), &err);
    for (int i = 0; i < VD_CAPTION_METRICS; i++) {
        if (i == VD_CAPTION_NOVEL || i == VD_CAPTION_METEOR)
            continue; // no training captions, no jar
        assert_true(interval[i].estimate == measure.metric[i]);
        assert_true(interval[i].low <= measure.metric[i] && measure.metric[i] <= interval[i].high);
    }
    assert_true(isnan(measure.metric[VD_CAPTION_NOVEL]));
    assert_true(isnan(measure.metric[VD_CAPTION_METEOR]));
    assert_true(interval[VD_CAPTION_BLEU_4].high > interval[VD_CAPTION_BLEU_4].low);
    vd_caption_sums all = {0};
    for (int i = 0; i < SCENES; i++)
        vd_caption_sums_add(&all, &measure.picture[i]);
    vd_caption_sums_metrics(&all, metric);
    assert_true(metric[VD_CAPTION_BLEU_4] == measure.metric[VD_CAPTION_BLEU_4]);
    must(vd_caption_intervals(&measure, &measure, &options, interval, &err), &err);
    assert_true(interval[VD_CAPTION_CIDER_D].p == 1.0);
    vd_caption_measure_clear(&measure);
    vd_results_free(results);
    vd_caption_judge_close(judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peoples_captions_are_perfect_and_true),
        cmocka_unit_test(other_pictures_captions_are_mostly_false),
        cmocka_unit_test(the_largest_differences_are_listed),
        cmocka_unit_test(the_table_names_what_was_measured),
        cmocka_unit_test(tokens_that_are_given_stay),
        cmocka_unit_test(tokens_of_a_karpathy_split_are_taken),
        cmocka_unit_test(what_does_not_fit_is_explained),
        cmocka_unit_test(metrics_come_from_sums),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
