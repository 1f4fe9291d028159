// Metrics against numbers made by others: the public implementation's over three fixed rankings of
// real dialogs, published NDCG examples, and a synthetic set computed once by a separate program.
#include "engine/measure/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "features/dialogs/visdial.h"
#include "tests/support/support.h"

enum { OPTIONS = 100 };

typedef double (*scorer)(int64_t image_id, int round, int index);

static double in_order(int64_t image_id, int round, int index)
{
    (void)image_id;
    (void)round;
    return -index;
}

static double reversed(int64_t image_id, int round, int index)
{
    (void)image_id;
    (void)round;
    return index;
}

static double by_sine(int64_t image_id, int round, int index)
{
    return sin(0.37 * (double)image_id + 7.1 * round + 1.3 * index);
}

static double number(yajl_val tree, const char *key)
{
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_number);
    if (!value)
        fail_msg("no number %s in the golden metrics", key);
    return YAJL_GET_DOUBLE(value);
}

static void is_within(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: found %.9f, expected %.9f", what, found, expected);
}

static vd_metrics rank_all(const vd_visdial *data, scorer score)
{
    vd_metrics metrics = {0};
    for (size_t d = 0; d < data->dialog_count; d++) {
        const vd_visdial_dialog *dialog = &data->dialogs[d];
        for (int r = 0; r < dialog->round_count; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            assert_int_equal(round->option_count, OPTIONS);
            float scores[OPTIONS], ranks[OPTIONS];
            for (int i = 0; i < OPTIONS; i++)
                scores[i] = (float)score(dialog->image_id, r + 1, i);
            vd_metrics_ranks(scores, OPTIONS, ranks);
            vd_metrics_add(&metrics, ranks, OPTIONS, round->truth, round->relevance);
        }
    }
    return metrics;
}

static void hold_to(yajl_val golden, const vd_visdial *data, const char *ranking, scorer score)
{
    const char *path[] = {"rankings", ranking, NULL};
    yajl_val expected = yajl_tree_get(golden, path, yajl_t_object);
    assert_non_null(expected);
    vd_metrics metrics = rank_all(data, score);
    assert_int_equal(metrics.rounds, 970);
    assert_int_equal(metrics.dense_rounds, 97);
    is_within(vd_metrics_mean(&metrics, VD_R1), number(expected, "r@1"), 1e-6, "r@1");
    is_within(vd_metrics_mean(&metrics, VD_R5), number(expected, "r@5"), 1e-6, "r@5");
    is_within(vd_metrics_mean(&metrics, VD_R10), number(expected, "r@10"), 1e-6, "r@10");
    is_within(vd_metrics_mean(&metrics, VD_MEAN_RANK), number(expected, "mean"), 1e-6, "mean rank");
    is_within(vd_metrics_mean(&metrics, VD_MRR), number(expected, "mrr"), 1e-6, "mrr");
    is_within(vd_metrics_mean(&metrics, VD_NDCG), number(expected, "ndcg"), 1e-6, "ndcg");
}

static yajl_val golden_metrics(void)
{
    char *text = support_read_file("tests/golden/data/metrics.json", NULL), message[200] = "";
    yajl_val golden = yajl_tree_parse(text, message, sizeof message);
    assert_string_equal(message, "");
    free(text);
    return golden;
}

static void fixed_rankings_of_real_dialogs_give_the_public_numbers(void **state)
{
    (void)state;
    const char *dialogs = support_shared("data/visdial/visdial_1.0_val_sample.json"),
               *dense =
                   support_shared("data/visdial/visdial_1.0_val_sample_dense_annotations.json");
    yajl_val golden = golden_metrics();
    vd_visdial *data;
    vd_error err = {0};
    vd_status status = vd_visdial_read(dialogs, &data, &err);
    if (!status)
        status = vd_visdial_read_dense(data, dense, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, VD_OK);
    hold_to(golden, data, "candidate order", in_order);
    hold_to(golden, data, "reverse order", reversed);
    hold_to(golden, data, "sin(0.37*image_id + 7.1*round + 1.3*index), round from 1, index from 0",
            by_sine);
    vd_visdial_free(data);
    yajl_tree_free(golden);
}

// One relevance of 1 and two of 0.2: the first at rank 1, 2, 3, the others behind K.
static void published_ndcg_examples_hold(void **state)
{
    (void)state;
    yajl_val golden = golden_metrics();
    yajl_val list = yajl_tree_get(golden, (const char *[]){"published_ndcg", NULL}, yajl_t_array);
    yajl_val percent = yajl_tree_get(YAJL_GET_ARRAY(list)->values[0],
                                     (const char *[]){"ndcg_percent", NULL}, yajl_t_array);
    float relevance[OPTIONS] = {0}, scores[OPTIONS], ranks[OPTIONS];
    relevance[13] = relevance[73] = 0.2f;
    relevance[62] = 1.0f;
    assert_int_equal(YAJL_GET_ARRAY(percent)->len, 3);
    for (int rank = 1; rank <= 3; rank++) {
        for (int i = 0; i < OPTIONS; i++)
            scores[i] = relevance[i] > 0.0f ? 0.0f : (float)(1 + i);
        scores[62] = 101.5f - (float)rank; // of 97 irrelevant ones the best have 100, 99, ...
        vd_metrics_ranks(scores, OPTIONS, ranks);
        assert_true(ranks[62] == (float)rank);
        is_within(100.0 * vd_metrics_ndcg(ranks, relevance, OPTIONS),
                  YAJL_GET_DOUBLE(YAJL_GET_ARRAY(percent)->values[rank - 1]), 0.005,
                  "published NDCG");
    }
    yajl_tree_free(golden);
}

static void a_synthetic_set_gives_the_numbers_computed_elsewhere(void **state)
{
    (void)state;
    vd_metrics metrics = {0};
    for (int k = 0; k < 40; k++) {
        float scores[OPTIONS], ranks[OPTIONS], relevance[OPTIONS];
        for (int i = 0; i < OPTIONS; i++) {
            int step = (i + 3 * k) % 9 - 5;
            scores[i] = (float)((i * (k + 3) * 17 + k * 13) % 101);
            relevance[i] = step > 0 ? (float)step / 3.0f : 0.0f;
        }
        vd_metrics_ranks(scores, OPTIONS, ranks);
        vd_metrics_add(&metrics, ranks, OPTIONS, (37 * k + 11) % 100, relevance);
    }
    is_within(vd_metrics_mean(&metrics, VD_R1), 0.025, 1e-9, "r@1");
    is_within(vd_metrics_mean(&metrics, VD_R5), 0.05, 1e-9, "r@5");
    is_within(vd_metrics_mean(&metrics, VD_R10), 0.15, 1e-9, "r@10");
    is_within(vd_metrics_mean(&metrics, VD_MEAN_RANK), 46.025, 1e-9, "mean rank");
    is_within(vd_metrics_mean(&metrics, VD_MRR), 0.06851454585031228, 1e-9, "mrr");
    is_within(vd_metrics_mean(&metrics, VD_NDCG), 0.28056346002977595, 1e-7, "ndcg");
    is_within(vd_metrics_mean(&metrics, VD_CORRECT), 0.075, 1e-9, "correct");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_rankings_of_real_dialogs_give_the_public_numbers),
        cmocka_unit_test(published_ndcg_examples_hold),
        cmocka_unit_test(a_synthetic_set_gives_the_numbers_computed_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
