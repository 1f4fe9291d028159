// Ranks and metrics on small cases worked out by hand.
#include "engine/measure/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"

#define CLOSE(a, b) assert_true(fabs((double)(a) - (double)(b)) < 1e-9)

static void ranks_are(const float *scores, int n, const float *expected)
{
    float ranks[16];
    vd_metrics_ranks(scores, n, ranks);
    for (int i = 0; i < n; i++)
        assert_true(ranks[i] == expected[i]);
}

static void ranks_start_at_one_and_ties_share_their_mean(void **state)
{
    (void)state;
    ranks_are((const float[]){0.1f, 0.9f, 0.5f}, 3, (const float[]){3, 1, 2});
    ranks_are((const float[]){0.5f, 0.9f, 0.5f, 0.1f}, 4, (const float[]){2.5f, 1, 2.5f, 4});
    ranks_are((const float[]){0, 0, 0, 0, 0}, 5, (const float[]){3, 3, 3, 3, 3});
    ranks_are((const float[]){0.0f, -0.0f}, 2, (const float[]){1.5f, 1.5f});
    ranks_are((const float[]){7}, 1, (const float[]){1});
}

static void infinities_rank_and_nan_ranks_last(void **state)
{
    (void)state;
    ranks_are((const float[]){NAN, -INFINITY, INFINITY, NAN, 0}, 5,
              (const float[]){4.5f, 3, 1, 4.5f, 2});
    ranks_are((const float[]){NAN, NAN}, 2, (const float[]){1.5f, 1.5f});
}

// The order of the candidates must not matter: permuting them permutes the ranks.
static void the_order_of_candidates_never_helps(void **state)
{
    (void)state;
    enum { N = 12 };
    vd_rng rng = vd_rng_seed(1, 2);
    for (int round = 0; round < 200; round++) {
        float scores[N], moved[N], ranks[N], moved_ranks[N], relevance[N], moved_relevance[N];
        int place[N];
        for (int i = 0; i < N; i++) {
            scores[i] = (float)vd_rng_below(&rng, 5);
            relevance[i] = (float)vd_rng_below(&rng, 3) / 2.0f;
            place[i] = i;
        }
        for (int i = N - 1; i > 0; i--) {
            int j = vd_rng_below(&rng, i + 1), other = place[i];
            place[i] = place[j];
            place[j] = other;
        }
        for (int i = 0; i < N; i++) {
            moved[place[i]] = scores[i];
            moved_relevance[place[i]] = relevance[i];
        }
        vd_metrics_ranks(scores, N, ranks);
        vd_metrics_ranks(moved, N, moved_ranks);
        for (int i = 0; i < N; i++)
            assert_true(ranks[i] == moved_ranks[place[i]]);
        CLOSE(vd_metrics_ndcg(ranks, relevance, N),
              vd_metrics_ndcg(moved_ranks, moved_relevance, N));
        CLOSE(vd_metrics_correct(ranks, relevance, N),
              vd_metrics_correct(moved_ranks, moved_relevance, N));
    }
}

static void ndcg_follows_its_definition(void **state)
{
    (void)state;
    const float relevance[] = {0, 1, 0.5f, 0};
    const double ideal = 1.0 + 0.5 / log2(3.0); // K = 2
    CLOSE(vd_metrics_ndcg((const float[]){3, 1, 2, 4}, relevance, 4), 1.0);
    CLOSE(vd_metrics_ndcg((const float[]){3, 2, 1, 4}, relevance, 4),
          (0.5 + 1.0 / log2(3.0)) / ideal);
    CLOSE(vd_metrics_ndcg((const float[]){1, 3, 2, 4}, relevance, 4), 0.5 / log2(3.0) / ideal);
    CLOSE(vd_metrics_ndcg((const float[]){1, 3, 4, 2}, relevance, 4), 0.0);
    const float nothing[] = {0, 0, 0, 0};
    CLOSE(vd_metrics_ndcg((const float[]){1, 2, 3, 4}, nothing, 4), 0.0);
}

// Ties: the mean over every order of the tied candidates, here over all 4! orders.
static void ndcg_of_ties_is_the_mean_over_their_orders(void **state)
{
    (void)state;
    const float relevance[] = {0, 1, 0.25f, 0.5f};
    double sum = 0.0;
    int orders = 0;
    for (int code = 0; code < 256; code++) {
        float ranks[4];
        int used = 0;
        for (int i = 0; i < 4; i++) {
            int rank = code >> 2 * i & 3;
            ranks[i] = (float)rank + 1.0f;
            used |= 1 << rank;
        }
        if (used != 15)
            continue;
        sum += vd_metrics_ndcg(ranks, relevance, 4);
        orders++;
    }
    assert_int_equal(orders, 24);
    CLOSE(vd_metrics_ndcg((const float[]){2.5f, 2.5f, 2.5f, 2.5f}, relevance, 4), sum / 24);

    double ahead = (vd_metrics_ndcg((const float[]){1, 2, 3, 4}, relevance, 4) +
                    vd_metrics_ndcg((const float[]){1, 3, 2, 4}, relevance, 4)) /
                   2;
    CLOSE(vd_metrics_ndcg((const float[]){1, 2.5f, 2.5f, 4}, relevance, 4), ahead);
}

static void correct_means_the_first_candidate_is_fully_relevant(void **state)
{
    (void)state;
    const float relevance[] = {0, 1, 0.5f, 1};
    CLOSE(vd_metrics_correct((const float[]){2, 1, 3, 4}, relevance, 4), 1.0);
    CLOSE(vd_metrics_correct((const float[]){2, 3, 1, 4}, relevance, 4), 0.0);
    CLOSE(vd_metrics_correct((const float[]){1.5f, 1.5f, 3, 4}, relevance, 4), 0.5);
    CLOSE(vd_metrics_correct((const float[]){2.5f, 2.5f, 2.5f, 2.5f}, relevance, 4), 0.5);
}

static void sums_and_means_count_what_is_known(void **state)
{
    (void)state;
    float ranks[100], relevance[100] = {0};
    for (int i = 0; i < 100; i++)
        ranks[i] = (float)i + 1.0f;
    relevance[0] = 1.0f;
    vd_metrics metrics = {0}, second = {0};
    vd_metrics_add(&metrics, ranks, 100, 0, relevance); // rank 1
    vd_metrics_add(&metrics, ranks, 100, 4, NULL);      // rank 5
    vd_metrics_add(&second, ranks, 100, 9, NULL);       // rank 10
    vd_metrics_add(&second, ranks, 100, 99, NULL);      // rank 100
    vd_metrics_add(&second, ranks, 100, -1, NULL);      // nothing known
    vd_metrics_merge(&metrics, &second);
    assert_int_equal(metrics.rounds, 4);
    assert_int_equal(metrics.dense_rounds, 1);
    CLOSE(vd_metrics_mean(&metrics, VD_R1), 0.25);
    CLOSE(vd_metrics_mean(&metrics, VD_R5), 0.5);
    CLOSE(vd_metrics_mean(&metrics, VD_R10), 0.75);
    CLOSE(vd_metrics_mean(&metrics, VD_MEAN_RANK), 29.0);
    CLOSE(vd_metrics_mean(&metrics, VD_MRR), (1.0 + 0.2 + 0.1 + 0.01) / 4.0);
    CLOSE(vd_metrics_mean(&metrics, VD_NDCG), 1.0);
    CLOSE(vd_metrics_mean(&metrics, VD_CORRECT), 1.0);

    // A tie for the first place is no first place.
    vd_metrics tied = {0};
    vd_metrics_add(&tied, (const float[]){1.5f, 1.5f}, 2, 0, NULL);
    CLOSE(tied.sum[VD_R1], 0.0);
    CLOSE(tied.sum[VD_R5], 1.0);
    assert_true(isnan(vd_metrics_mean(&(vd_metrics){0}, VD_MEAN_RANK)));
    assert_true(isnan(vd_metrics_mean(&(vd_metrics){0}, VD_NDCG)));

    // No candidate is relevant: there is no NDCG.
    vd_metrics_add(&tied, (const float[]){1, 2}, 2, 0, (const float[]){0, 0});
    assert_int_equal(tied.rounds, 2);
    assert_int_equal(tied.dense_rounds, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_start_at_one_and_ties_share_their_mean),
        cmocka_unit_test(infinities_rank_and_nan_ranks_last),
        cmocka_unit_test(the_order_of_candidates_never_helps),
        cmocka_unit_test(ndcg_follows_its_definition),
        cmocka_unit_test(ndcg_of_ties_is_the_mean_over_their_orders),
        cmocka_unit_test(correct_means_the_first_candidate_is_fully_relevant),
        cmocka_unit_test(sums_and_means_count_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
