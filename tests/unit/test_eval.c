#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "engine/alloc.h"
#include "engine/trainer.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/measure.h"

static tiny_world tiny;

static int make_tiny(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    tiny_world_remove(&tiny);
    return 0;
}

#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        "eval", "--quiet", __VA_ARGS__, NULL                                                       \
    }

// ---- measuring ----------------------------------------------------------------------------------

typedef struct loaded {
    vd_visdial *dialogs;
    vd_regions *regions;
    vd_model *model;
    vd_dataset *dataset;
} loaded;

static loaded load(const char *data)
{
    loaded l = {0};
    vd_error err;
    assert_int_equal(vd_visdial_read(data, &l.dialogs, &err), VD_OK);
    assert_int_equal(vd_visdial_read_dense(l.dialogs, tiny.dense, &err), VD_OK);
    assert_int_equal(vd_regions_open(tiny.features, &l.regions, &err), VD_OK);
    assert_int_equal(vd_model_load(tiny.base, &l.model, &err), VD_OK);
    assert_int_equal(
        vd_dataset_new(l.dialogs, l.regions, vd_model_vocab(l.model), &l.dataset, &err), VD_OK);
    return l;
}

static void unload(loaded *l)
{
    vd_dataset_free(l->dataset);
    vd_model_free(l->model);
    vd_regions_close(l->regions);
    vd_visdial_free(l->dialogs);
}

// Gives the human answer the best score in every first round, the worst in every other.
static vd_status oracle(void *context, const vd_batch *batch, float *scores, vd_error *err)
{
    (void)context;
    (void)err;
    for (int i = 0; i < batch->dialogs * batch->rounds; i++) {
        for (int o = 0; o < batch->candidates; o++) {
            float best = i % batch->rounds == 0 ? 1 : -1;
            scores[i * batch->candidates + o] = o == batch->truth[i] ? best : 0;
        }
    }
    return VD_OK;
}

static void rounds_are_counted_by_family_and_by_distance(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    vd_error err;
    vd_measure measure;
    for (size_t batch = 1; batch <= 5; batch += 2) { // however the dialogs are cut into batches
        vd_measure_options options = {.batch = batch};
        assert_int_equal(vd_measure_run(l.dataset, oracle, NULL, &options, &measure, &err), VD_OK);
        assert_int_equal(measure.dialogs, 4);
        assert_int_equal(measure.all.rounds, 12);
        vd_metrics_means mean = vd_metrics_mean(&measure.all);
        assert_true(mean.recall[0] > 0.333 && mean.recall[0] < 0.334);
        assert_true(mean.mean_rank > 2.99 && mean.mean_rank < 3.01); // (1 + 4 + 4) / 3
        assert_int_equal(measure.family_count, 2);
        assert_string_equal(measure.family[0].name, "color");
        assert_string_equal(measure.family[1].name, "exist");
        assert_int_equal(measure.family[0].metrics.rounds, 8);
        assert_int_equal(measure.family[1].metrics.rounds, 4);
        for (int distance = 0; distance < 3; distance++) {
            mean = vd_metrics_mean(&measure.coreference[distance]);
            assert_int_equal(measure.coreference[distance].rounds, 4);
            assert_true(distance == 0 ? mean.recall[0] > 0.999 : mean.recall[0] < 0.001);
        }
        vd_measure_clear(&measure);
    }
    unload(&l);
}

static void measuring_can_be_limited_and_stopped(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    vd_error err;
    vd_measure measure;
    vd_measure_options options = {.limit = 3, .batch = 2};
    assert_int_equal(vd_measure_run(l.dataset, oracle, NULL, &options, &measure, &err), VD_OK);
    assert_int_equal(measure.all.rounds, 9);
    vd_measure_clear(&measure);
    atomic_int stop = 1;
    options.stop = &stop;
    assert_int_equal(vd_measure_run(l.dataset, oracle, NULL, &options, &measure, &err),
                     VD_INTERRUPTED);
    assert_null(measure.family);
    unload(&l);
}

static vd_status measure_once(void *context, vd_error *err)
{
    loaded *l = context;
    vd_measure measure;
    vd_measure_options options = {.batch = 2};
    vd_status status = vd_measure_run(l->dataset, oracle, NULL, &options, &measure, err);
    if (status == VD_OK)
        vd_measure_clear(&measure);
    return status;
}

static void memory_that_is_out_is_reported(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    assert_true(support_fail_each_allocation(measure_once, &l) > 4);
    unload(&l);
}

// ---- command ------------------------------------------------------------------------------------

static void tables_show_all_rounds_families_and_distances(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run,
                        ARGUMENTS("--model", "base", "--data", tiny.val, "--features",
                                  tiny.features, "--dense", tiny.dense),
                        NULL);
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.err, "");
    static const char *const wanted[] = {"R@1",       "R@10",  "MRR",      "NDCG",
                                         "correct@1", "\nall", "\ncolor",  "\nexist",
                                         "\nnone",    "\n1 ",  "4 dialogs"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_non_null(strstr(run.out, wanted[i]));
    support_program_clear(&run);
}

static yajl_val evaluate(const char *const *arguments)
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

static double number(yajl_val tree, const char *group, const char *key)
{
    const char *path[] = {group, key, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_number);
    assert_non_null(value);
    return YAJL_GET_DOUBLE(value);
}

// The command and the engine's own scores must say the same.
static void json_holds_the_metrics_of_the_model(void **state)
{
    (void)state;
    yajl_val tree = evaluate(ARGUMENTS("--model", tiny.base, "--data", tiny.val, "--features",
                                       tiny.features, "--dense", tiny.dense, "--json"));
    loaded l = load(tiny.val);
    vd_error err;
    vd_loader *loader;
    vd_scorer *scorer;
    const vd_batch *batch;
    const size_t index[] = {0, 1, 2, 3};
    const vd_dataset_view view = {0};
    assert_int_equal(vd_loader_new(l.dataset, &loader, &err), VD_OK);
    assert_int_equal(vd_scorer_new(l.model, &scorer, &err), VD_OK);
    assert_int_equal(vd_loader_batch(loader, index, 4, &view, &batch, &err), VD_OK);
    float scores[4 * 3 * TINY_ANSWERS], ranks[TINY_ANSWERS];
    assert_int_equal(vd_scorer_run(scorer, batch, scores, &err), VD_OK);
    vd_metrics metrics = {0};
    for (int i = 0; i < 12; i++) {
        vd_metrics_ranks(scores + i * TINY_ANSWERS, TINY_ANSWERS, ranks);
        vd_metrics_add(&metrics, ranks, TINY_ANSWERS, batch->truth[i],
                       l.dialogs->dialogs[i / 3].rounds[i % 3].relevance);
    }
    vd_metrics_means mean = vd_metrics_mean(&metrics);
    assert_int_equal(number(tree, "all", "rounds"), 12);
    assert_int_equal(number(tree, "all", "dense_rounds"), 12);
    assert_true(number(tree, "all", "r@1") - mean.recall[0] < 1e-6);
    assert_true(mean.recall[0] - number(tree, "all", "r@1") < 1e-6);
    assert_true(number(tree, "all", "mrr") - mean.mrr < 1e-6);
    assert_true(mean.mrr - number(tree, "all", "mrr") < 1e-6);
    assert_true(number(tree, "all", "ndcg") - mean.ndcg < 1e-6);
    assert_true(mean.ndcg - number(tree, "all", "ndcg") < 1e-6);
    vd_scorer_free(scorer);
    vd_loader_free(loader);
    unload(&l);
    yajl_tree_free(tree);
}

static void changes_to_the_data_are_said(void **state)
{
    (void)state;
    yajl_val tree =
        evaluate(ARGUMENTS("--model", tiny.base, "--data", tiny.val, "--features", tiny.features,
                           "--json", "--other-image", "--no-history", "--limit", "2"));
    const char *other[] = {"other_image", NULL}, *none[] = {"no_history", NULL};
    assert_true(YAJL_IS_TRUE(yajl_tree_get(tree, other, yajl_t_any)));
    assert_true(YAJL_IS_TRUE(yajl_tree_get(tree, none, yajl_t_any)));
    assert_int_equal(number(tree, "all", "rounds"), 6);
    yajl_tree_free(tree);
}

static void refuse(const char *const *arguments, int code, const char *a, const char *b)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, "visdial eval: ", a, b, NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refuse(ARGUMENTS("--data", tiny.val), 2, "which model", "--model");
    refuse(ARGUMENTS("--model", "base", "--data", tiny.val), 2, "--features", "missing");
    refuse(ARGUMENTS("--model", "base", "--limit", "0"), 2, "--limit", "found '0'");
    refuse(ARGUMENTS("--model", "base", "more"), 2, "unexpected", "more");
    refuse(ARGUMENTS("--model", "base", "--data", "/nonexistent.json", "--features", tiny.features),
           3, "/nonexistent.json", "no such file");

    char *features = support_join(tiny.directory, "wide.safetensors");
    tiny_world_features(features, TINY_REGION_SIZE + 3);
    refuse(ARGUMENTS("--model", "base", "--data", tiny.val, "--features", features), 5,
           "regions of 5 numbers", "has 8");
    free(features);
    // The bundled dialogs hold a picture without features.
    refuse(ARGUMENTS("--model", "base"), 3, "99", "features");
}

static void truncated_data_is_refused(void **state)
{
    (void)state;
    size_t size;
    char *text = support_read_file(tiny.val, &size);
    char *cut = support_join(tiny.directory, "cut.json");
    for (size_t length = 0; length < size - 4; length += size / 11) {
        support_write_file(cut, text, length);
        refuse(ARGUMENTS("--model", "base", "--data", cut, "--features", tiny.features), 4, cut,
               "");
    }
    text = (free(text), support_read_file(tiny.features, &size));
    for (size_t length = 0; length < size; length += size / 7 + 1) {
        support_write_file(cut, text, length);
        refuse(ARGUMENTS("--model", "base", "--data", tiny.val, "--features", cut), 4, cut, "");
    }
    free(text);
    free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_counted_by_family_and_by_distance),
        cmocka_unit_test(measuring_can_be_limited_and_stopped),
        cmocka_unit_test(memory_that_is_out_is_reported),
        cmocka_unit_test(tables_show_all_rounds_families_and_distances),
        cmocka_unit_test(json_holds_the_metrics_of_the_model),
        cmocka_unit_test(changes_to_the_data_are_said),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(truncated_data_is_refused),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
