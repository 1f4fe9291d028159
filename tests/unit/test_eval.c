#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "engine/base/alloc.h"
#include "engine/model/pool.h"
#include "tests/support/one_world.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tui/measure/measure.h"

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
static vd_status oracle(void *context, int worker, const vd_batch *batch, float *scores,
                        vd_error *err)
{
    (void)context;
    (void)worker;
    (void)err;
    for (int i = 0; i < batch->dialogs * batch->rounds; i++) {
        for (int o = 0; o < batch->candidates; o++) {
            float best = i % batch->rounds == 0 ? 1 : -1;
            scores[i * batch->candidates + o] = o == batch->truth[i] ? best : 0;
        }
    }
    return VD_OK;
}

static const vd_measure_source from_oracle = {.score = oracle};

static void rounds_are_counted_by_family_and_by_distance(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    vd_error err;
    vd_measure measure;
    for (size_t batch = 1; batch <= 5; batch += 2) { // however the dialogs are cut into batches
        vd_measure_options options = {.batch = batch};
        assert_int_equal(vd_measure_run(l.dataset, &from_oracle, &options, &measure, &err), VD_OK);
        assert_int_equal(measure.dialogs, 4);
        assert_int_equal(measure.all.rounds, 12);
        double recall = vd_metrics_mean(&measure.all, VD_R1);
        double rank = vd_metrics_mean(&measure.all, VD_MEAN_RANK);
        assert_true(recall > 0.333 && recall < 0.334);
        assert_true(rank > 2.99 && rank < 3.01); // (1 + 4 + 4) / 3
        assert_int_equal(measure.family_count, 2);
        assert_string_equal(measure.family[0].name, "color");
        assert_string_equal(measure.family[1].name, "exist");
        assert_int_equal(measure.family[0].metrics.rounds, 8);
        assert_int_equal(measure.family[1].metrics.rounds, 4);
        for (int distance = 0; distance < 3; distance++) {
            recall = vd_metrics_mean(&measure.coreference[distance], VD_R1);
            assert_int_equal(measure.coreference[distance].rounds, 4);
            assert_true(distance == 0 ? recall > 0.999 : recall < 0.001);
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
    assert_int_equal(vd_measure_run(l.dataset, &from_oracle, &options, &measure, &err), VD_OK);
    assert_int_equal(measure.all.rounds, 9);
    vd_measure_clear(&measure);
    atomic_int stop = 1;
    options.stop = &stop;
    assert_int_equal(vd_measure_run(l.dataset, &from_oracle, &options, &measure, &err),
                     VD_INTERRUPTED);
    assert_null(measure.family);
    unload(&l);
}

static vd_status measure_once(void *context, vd_error *err)
{
    loaded *l = context;
    vd_measure measure;
    vd_measure_options options = {.batch = 2};
    vd_status status = vd_measure_run(l->dataset, &from_oracle, &options, &measure, err);
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

// Scores of every round, in order.
static vd_status keep_scores(void *user, const vd_visdial_dialog *dialog, int32_t round,
                             const float *scores, vd_error *err)
{
    float **at = user;
    (void)err;
    for (int i = 0; i < dialog->rounds[round].option_count; i++)
        *(*at)++ = scores[i];
    return VD_OK;
}

enum { SCORES = 4 * 3 * TINY_ANSWERS };

static void score_with(const loaded *l, vd_measure_source *source, size_t batch, float *scores)
{
    vd_measure measure;
    vd_error err;
    float *at = scores;
    vd_measure_options options = {.batch = batch, .report = keep_scores, .user = &at};
    assert_int_equal(vd_measure_run(l->dataset, source, &options, &measure, &err), VD_OK);
    assert_int_equal(at - scores, SCORES);
    vd_measure_clear(&measure);
}

// Bit for bit, however many threads share the work.
static void scores_do_not_depend_on_the_number_of_workers(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    float one[SCORES], several[SCORES], own[SCORES];
    for (size_t batch = 1; batch <= 3; batch++) {
        vd_measure_source source;
        source = vd_measure_model_open(l.model, VD_DISCRIMINATIVE, 1);
        score_with(&l, &source, batch, one);
        vd_measure_model_close(&source);
        source = vd_measure_model_open(l.model, VD_DISCRIMINATIVE, 1);
        source.prepare = NULL; // no pool: every batch encodes its own candidates
        score_with(&l, &source, batch, own);
        vd_measure_model_close(&source);
        for (int workers = 2; workers <= 4; workers++) {
            source = vd_measure_model_open(l.model, VD_DISCRIMINATIVE, workers);
            score_with(&l, &source, batch, several);
            vd_measure_model_close(&source);
            assert_memory_equal(one, several, sizeof one);
        }
        for (int i = 0; i < SCORES; i++)
            assert_float_equal(one[i], own[i], 1e-5);
    }
    unload(&l);
}

static size_t span_of(const loaded *l, vd_measure_options options)
{
    size_t span;
    vd_error err;
    assert_int_equal(vd_measure_span(l->dataset, &options, &span, &err), VD_OK);
    return span;
}

// Where memory has no room for the answers of all dialogs, fewer dialogs share them: whole batches.
static void scores_do_not_depend_on_how_many_dialogs_share_answers(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    vd_error err;
    float all[SCORES], few[SCORES], *at = few;
    vd_measure measure;
    vd_measure_source source;
    vd_measure_options options = {.batch = 3, .report = keep_scores, .user = &at};
    assert_int_equal(span_of(&l, options), 4);
    options.first = 1;
    assert_int_equal(span_of(&l, options), 3);
    options.limit = 2;
    assert_int_equal(span_of(&l, options), 2);
    options.first = options.limit = 0;
    options.answers = 1;
    assert_int_equal(span_of(&l, options), 3);
    source = vd_measure_model_open(l.model, VD_DISCRIMINATIVE, 2);
    score_with(&l, &source, 3, all);
    assert_int_equal(vd_measure_run(l.dataset, &source, &options, &measure, &err), VD_OK);
    assert_memory_equal(all, few, sizeof all);
    vd_measure_clear(&measure);
    vd_measure_model_close(&source);
    unload(&l);
}

static void dialogs_and_rounds_add_up(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    vd_error err;
    vd_measure measure;
    vd_measure_options options = {.batch = 3};
    assert_int_equal(vd_measure_run(l.dataset, &from_oracle, &options, &measure, &err), VD_OK);
    assert_int_equal(measure.rounds, 3);
    vd_metrics dialogs = {0}, rounds = {0};
    for (size_t d = 0; d < measure.dialogs; d++) {
        vd_metrics_merge(&dialogs, &measure.dialog[d]);
        assert_int_equal(measure.dialog[d].rounds, 3);
        assert_true(measure.dialog[d].sum[VD_R1] == 1.0);
    }
    for (int r = 0; r < measure.rounds; r++) {
        vd_metrics_merge(&rounds, &measure.round[r]);
        assert_true(vd_metrics_mean(&measure.round[r], VD_R1) == (r == 0 ? 1.0 : 0.0));
    }
    for (int way = 0; way < 2; way++) {
        const vd_metrics *sums = way ? &rounds : &dialogs;
        assert_int_equal(sums->rounds, measure.all.rounds);
        assert_int_equal(sums->dense_rounds, measure.all.dense_rounds);
        for (int i = 0; i < VD_METRICS; i++)
            assert_float_equal(sums->sum[i], measure.all.sum[i], 1e-5);
    }
    vd_measure_clear(&measure);
    unload(&l);
}

static vd_status measure_model_once(void *context, vd_error *err)
{
    loaded *l = context;
    vd_measure measure;
    vd_measure_options options = {.batch = 2};
    vd_measure_source source = vd_measure_model_open(l->model, VD_DISCRIMINATIVE, 2);
    vd_status status = vd_measure_run(l->dataset, &source, &options, &measure, err);
    if (status == VD_OK)
        vd_measure_clear(&measure);
    vd_measure_model_close(&source);
    return status;
}

static void a_model_out_of_memory_says_so(void **state)
{
    (void)state;
    loaded l = load(tiny.val);
    // Where memory that is kept between batches is asked for again in parts, no failure comes.
    int failed = 0;
    for (size_t n = 1; n <= 60; n++) {
        vd_error err = {0};
        vd_alloc_fail_at(n);
        vd_status status = measure_model_once(&l, &err);
        vd_alloc_fail_at(0);
        assert_true(status == VD_OK || (status == VD_NO_MEMORY && err.text[0]));
        failed += status != VD_OK;
    }
    assert_true(failed > 20);
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
    vd_arena arena = {0};
    const vd_batch *batch;
    const size_t index[] = {0, 1, 2, 3};
    const vd_dataset_view view = {0};
    assert_int_equal(vd_loader_new(l.dataset, &loader, &err), VD_OK);
    assert_int_equal(vd_loader_batch(loader, index, 4, &view, &batch, &err), VD_OK);
    float scores[4 * 3 * TINY_ANSWERS], ranks[TINY_ANSWERS];
    assert_int_equal(vd_model_scores(l.model, vd_model_config(l.model)->decoders, &arena, NULL,
                                     batch, scores, &err),
                     VD_OK);
    vd_metrics metrics = {0};
    for (int i = 0; i < 12; i++) {
        vd_metrics_ranks(scores + i * TINY_ANSWERS, TINY_ANSWERS, ranks);
        vd_metrics_add(&metrics, ranks, TINY_ANSWERS, batch->truth[i],
                       l.dialogs->dialogs[i / 3].rounds[i % 3].relevance);
    }
    assert_int_equal(number(tree, "all", "rounds"), 12);
    assert_int_equal(number(tree, "all", "dense_rounds"), 12);
    assert_true(fabs(number(tree, "all", "r@1") - vd_metrics_mean(&metrics, VD_R1)) < 1e-6);
    assert_true(fabs(number(tree, "all", "mrr") - vd_metrics_mean(&metrics, VD_MRR)) < 1e-6);
    assert_true(fabs(number(tree, "all", "ndcg") - vd_metrics_mean(&metrics, VD_NDCG)) < 1e-6);
    vd_arena_free(&arena);
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
    const char *other[] = {"other_image", NULL}, *none[] = {"no_history", NULL},
               *decoder[] = {"decoder", NULL};
    assert_string_equal(YAJL_GET_STRING(yajl_tree_get(tree, decoder, yajl_t_string)),
                        "discriminative");
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

static double value(yajl_val tree, const char *const *path)
{
    const char *keys[6] = {0};
    for (int i = 0; i < 5 && path[i]; i++)
        keys[i] = path[i];
    yajl_val found = yajl_tree_get(tree, keys, yajl_t_number);
    assert_non_null(found);
    return YAJL_GET_DOUBLE(found);
}

// What took the time is in the file, though the intervals are stopped.
static void rankings_outlive_the_intervals(void **state)
{
    (void)state;
    char *ranks = support_join(tiny.directory, "outlive.json");
    support_program run;
    support_program_start(&run,
                          ARGUMENTS("--model", "base", "--data", tiny.val, "--features",
                                    tiny.features, "--ranks", ranks, "--resamples", "10000000"),
                          NULL, 0);
    struct timespec pause = {.tv_nsec = 2000000};
    for (int i = 0; i < 10000 && !support_exists(ranks); i++)
        nanosleep(&pause, NULL);
    kill(run.pid, SIGTERM);
    support_program_wait(&run);
    assert_int_equal(run.code, 128 + SIGTERM);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
    yajl_tree_free(evaluate(ARGUMENTS("--from-ranks", ranks, "--data", tiny.val, "--json")));
    free(ranks);
}

// Written, read again: the same metrics, intervals too, since no scores tie.
static void rankings_go_to_a_file_and_come_back(void **state)
{
    (void)state;
    static const char *const keys[] = {"r@1", "r@5", "r@10", "mean", "mrr", "ndcg", "correct@1"};
    char *ranks = support_join(tiny.directory, "ranks.json");
    yajl_val model =
        evaluate(ARGUMENTS("--model", "base", "--data", tiny.val, "--features", tiny.features,
                           "--dense", tiny.dense, "--ranks", ranks, "--json", "--threads", "2"));
    yajl_val file = evaluate(
        ARGUMENTS("--from-ranks", ranks, "--data", tiny.val, "--dense", tiny.dense, "--json"));
    const char *level[] = {"interval", "level", NULL};
    assert_true(value(file, level) == 0.95);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_true(number(model, "all", keys[i]) == number(file, "all", keys[i]));
        const char *path[] = {"interval", keys[i], NULL};
        yajl_val a = yajl_tree_get(model, path, yajl_t_array);
        yajl_val b = yajl_tree_get(file, path, yajl_t_array);
        assert_true(a && b && YAJL_GET_ARRAY(a)->len == 2);
        for (int end = 0; end < 2; end++) {
            double bound = YAJL_GET_DOUBLE(YAJL_GET_ARRAY(a)->values[end]);
            assert_true(bound == YAJL_GET_DOUBLE(YAJL_GET_ARRAY(b)->values[end]));
            double mean = number(model, "all", keys[i]);
            assert_true(end ? bound >= mean : bound <= mean);
        }
    }
    const char *rounds[] = {"round", NULL};
    assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(file, rounds, yajl_t_array))->len, 3);
    yajl_tree_free(model);
    yajl_tree_free(file);

    // Without intervals, over fewer dialogs, and when rounds are missing.
    file = evaluate(ARGUMENTS("--from-ranks", ranks, "--data", tiny.val, "--json", "--resamples",
                              "0", "--limit", "2"));
    assert_int_equal(number(file, "all", "rounds"), 6);
    assert_null(yajl_tree_get(file, level, yajl_t_number));
    yajl_tree_free(file);
    char *text = support_read_file(ranks, NULL), *last = strrchr(text, '{');
    snprintf(last - 2, 4, "]\n");
    support_write_text(ranks, text);
    refuse(ARGUMENTS("--from-ranks", ranks, "--data", tiny.val), 5, "image 4, round 3 has no ranks",
           "expected all rounds");
    free(text);
    free(ranks);
}

// A test split: the last round of each dialog has candidates and nobody knows the answer.
static void a_test_split_can_be_ranked(void **state)
{
    (void)state;
    char *data = support_join(tiny.directory, "test.json");
    char *ranks = support_join(tiny.directory, "test_ranks.json");
    support_write_text(
        data, "{\"version\":\"1.0\",\"split\":\"test2018\",\"data\":{"
              "\"questions\":[\"is it red\",\"how many\"],\"answers\":[\"yes\",\"no\",\"2\"],"
              "\"dialogs\":[{\"image_id\":1,\"caption\":\"a cube\",\"dialog\":["
              "{\"question\":0,\"answer\":1},"
              "{\"question\":1,\"answer_options\":[0,1,2]}]},"
              "{\"image_id\":2,\"caption\":\"a ball\",\"dialog\":["
              "{\"question\":1,\"answer_options\":[2,1,0]}]}]}}");
    refuse(ARGUMENTS("--model", "base", "--data", data, "--features", tiny.features), 4,
           "nothing to measure", "--ranks");
    yajl_val tree = evaluate(ARGUMENTS("--model", "base", "--data", data, "--features",
                                       tiny.features, "--ranks", ranks, "--json"));
    yajl_tree_free(tree);
    char *text = support_read_file(ranks, NULL), reason[200];
    tree = yajl_tree_parse(text, reason, sizeof reason);
    assert_true(YAJL_IS_ARRAY(tree) && YAJL_GET_ARRAY(tree)->len == 2);
    for (size_t i = 0; i < 2; i++) {
        yajl_val entry = YAJL_GET_ARRAY(tree)->values[i];
        const char *image[] = {"image_id", NULL}, *round[] = {"round_id", NULL};
        const char *list[] = {"ranks", NULL};
        assert_int_equal(YAJL_GET_INTEGER(yajl_tree_get(entry, image, yajl_t_number)), i + 1);
        assert_int_equal(YAJL_GET_INTEGER(yajl_tree_get(entry, round, yajl_t_number)), 2 - i);
        yajl_val own = yajl_tree_get(entry, list, yajl_t_array);
        int seen = 0;
        for (size_t k = 0; k < YAJL_GET_ARRAY(own)->len; k++)
            seen |= 1 << YAJL_GET_INTEGER(YAJL_GET_ARRAY(own)->values[k]);
        assert_int_equal(seen, 2 + 4 + 8);
    }
    yajl_tree_free(tree);
    free(text);
    support_program run;
    support_program_run(
        &run, (const char *[]){"study", "--data", data, ranks, "--against", ranks, NULL}, NULL);
    support_program_expect(&run, 4, "nothing to compare", NULL);
    support_program_clear(&run);
    free(ranks);
    free(data);
}

// The real dialogs with rankings that are known: what the public code says of them.
static void the_public_numbers_come_out_of_ranks_files(void **state)
{
    (void)state;
    const char *val = support_shared("data/visdial/visdial_1.0_val_sample.json");
    char *ranks = support_join(tiny.directory, "real_ranks.json");
    vd_visdial *data;
    assert_int_equal(vd_visdial_read(val, &data, NULL), VD_OK);
    FILE *file = fopen(ranks, "w");
    assert_non_null(file);
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int r = 0; r < data->dialogs[d].round_count; r++) {
            fprintf(file, "%s{\"image_id\": %lld, \"round_id\": %d, \"ranks\": [",
                    d + (size_t)r ? "," : "[", (long long)data->dialogs[d].image_id, r + 1);
            for (int i = 0; i < data->dialogs[d].rounds[r].option_count; i++)
                fprintf(file, "%s%d", i ? ", " : "", 100 - i);
            fprintf(file, "]}");
        }
    fprintf(file, "]");
    fclose(file);
    vd_visdial_free(data);
    yajl_val tree = evaluate(
        ARGUMENTS("--from-ranks", ranks, "--data", val, "--dense",
                  support_shared("data/visdial/visdial_1.0_val_sample_dense_annotations.json"),
                  "--json", "--resamples", "100"));
    char *text = support_read_file("tests/golden/data/metrics.json", NULL), reason[200];
    yajl_val golden = yajl_tree_parse(text, reason, sizeof reason);
    static const char *const keys[] = {"r@1", "r@5", "r@10", "mean", "mrr", "ndcg"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *path[] = {"rankings", "reverse order", keys[i], NULL};
        double off = value(golden, path) - number(tree, "all", keys[i]);
        assert_true(off < 1e-6 && off > -1e-6);
    }
    assert_int_equal(number(tree, "all", "rounds"), 970);
    yajl_tree_free(golden);
    yajl_tree_free(tree);
    free(text);
    free(ranks);
}

static void damaged_weights_are_told(void **state)
{
    (void)state;
    size_t size;
    char *path = support_join(tiny.directory, "damaged.safetensors");
    char *file = support_read_file(tiny.base, &size);
    memset(file + size / 2, 0xff, size - size / 2);
    support_write_file(path, file, size);
    refuse(ARGUMENTS("--model", path, "--data", tiny.val, "--features", tiny.features), 4, path,
           "not a finite number");
    free(file);
    free(path);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refuse(ARGUMENTS("--data", tiny.val), 2, "which model", "--model");
    refuse(ARGUMENTS("--model", "base", "--data", tiny.val), 2, "--features", "missing");
    refuse(ARGUMENTS("--model", "base", "--limit", "0"), 2, "--limit", "found '0'");
    refuse(ARGUMENTS("--model", "base", "--from-ranks", "ranks.json"), 2, "--model",
           "--from-ranks");
    refuse(ARGUMENTS("--from-ranks", "ranks.json", "--batch", "3"), 2, "--batch", "--from-ranks");
    refuse(ARGUMENTS("--from-ranks", "ranks.json", "--backend", "cpu"), 2, "--backend",
           "--from-ranks");
    refuse(ARGUMENTS("--from-ranks", "/nonexistent.json", "--data", tiny.val), 3,
           "/nonexistent.json", "no such file");
    refuse(ARGUMENTS("--model", "base", "--threads", "99"), 2, "--threads", "found '99'");
    refuse(ARGUMENTS("--model", "base", "--data", tiny.val, "--features", tiny.features, "--ranks",
                     "/nonexistent/ranks.json"),
           3, "/nonexistent/ranks.json", "");
    refuse(ARGUMENTS("--model", "base", "--decoder", "neither"), 2, "--decoder", "'neither'");
    refuse(ARGUMENTS("--model", "base", "--data", tiny.val, "--features", tiny.features,
                     "--decoder", "generative"),
           5, "has no such decoder", "only a discriminative one");
    refuse(ARGUMENTS("--model", "base", "more"), 2, "unexpected", "more");
    refuse(ARGUMENTS("--model", "base", "--data", "/nonexistent.json", "--features", tiny.features),
           3, "/nonexistent.json", "no such file");

    char *features = support_join(tiny.directory, "wide.safetensors");
    tiny_world_features(features, TINY_REGION_SIZE + 3);
    refuse(ARGUMENTS("--model", "base", "--data", tiny.val, "--features", features), 5,
           "regions of 5 numbers", "has 8");
    free(features);
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
        cmocka_unit_test(scores_do_not_depend_on_the_number_of_workers),
        cmocka_unit_test(scores_do_not_depend_on_how_many_dialogs_share_answers),
        cmocka_unit_test(dialogs_and_rounds_add_up),
        cmocka_unit_test(a_model_out_of_memory_says_so),
        cmocka_unit_test(tables_show_all_rounds_families_and_distances),
        cmocka_unit_test(json_holds_the_metrics_of_the_model),
        cmocka_unit_test(changes_to_the_data_are_said),
        cmocka_unit_test(rankings_outlive_the_intervals),
        cmocka_unit_test(rankings_go_to_a_file_and_come_back),
        cmocka_unit_test(a_test_split_can_be_ranked),
        cmocka_unit_test(the_public_numbers_come_out_of_ranks_files),
        cmocka_unit_test(damaged_weights_are_told),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(truncated_data_is_refused),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
