// Intervals and tests against values that were worked out or published elsewhere.
#include "engine/measure/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "tests/support/support.h"

static void is_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.9g, expected %.9g", found, expected);
}

// ---- McNemar ------------------------------------------------------------------------------------

static vd_mcnemar test_of(size_t only_a, size_t only_b)
{
    return vd_mcnemar_test(&(vd_pairs){.both = 5, .only_a = only_a, .only_b = only_b});
}

// Fagerland et al. 2013: airway hyper-responsiveness of 21 children (1 and 7 discordant pairs,
// exact 0.070, mid-p 0.039) and response of 161 patients (6 and 16: 0.052 and 0.035).
static void mcnemar_gives_the_published_values(void **state)
{
    (void)state;
    is_near(test_of(1, 7).exact, 18.0 / 256, 1e-12);
    is_near(test_of(1, 7).mid_p, 10.0 / 256, 1e-12);
    is_near(test_of(7, 1).mid_p, 10.0 / 256, 1e-12);
    is_near(test_of(6, 16).exact, 0.052, 5e-4);
    is_near(test_of(6, 16).mid_p, 0.035, 5e-4);
    is_near(test_of(6, 16).exact, 2 * 110056.0 / 4194304, 1e-12);
}

static void mcnemar_without_a_difference_finds_none(void **state)
{
    (void)state;
    is_near(test_of(0, 0).exact, 1.0, 0);
    is_near(test_of(0, 0).mid_p, 1.0, 1e-15);
    is_near(test_of(3, 3).exact, 1.0, 0);
    is_near(test_of(3, 3).mid_p, 1.0 - 0.5 * 20 / 64, 1e-12);
    is_near(test_of(0, 1).exact, 1.0, 1e-12);
    is_near(test_of(0, 10).exact, 2.0 / 1024, 1e-12);
}

// Many pairs: the normal approximation, with the tail's next term small.
static void mcnemar_of_many_pairs_is_near_the_normal_test(void **state)
{
    (void)state;
    double a = 1000000 - 1500, b = 1000000 + 1500, z = (b - a) / sqrt(a + b);
    vd_mcnemar many = test_of((size_t)a, (size_t)b);
    is_near(many.mid_p, erfc(z / sqrt(2.0)), 1e-5);
    assert_true(many.exact > many.mid_p);
    vd_mcnemar far = test_of(1000, 100000);
    assert_true(far.exact >= 0.0 && far.exact < 1e-300);
}

static void pairs_fall_into_four_groups(void **state)
{
    (void)state;
    vd_pairs pairs = {0};
    for (int i = 0; i < 10; i++)
        vd_pairs_add(&pairs, i < 4, i % 4 == 0); // b is right at 0, 4, 8
    assert_int_equal(pairs.both, 1);
    assert_int_equal(pairs.only_a, 3);
    assert_int_equal(pairs.only_b, 2);
    assert_int_equal(pairs.neither, 4);
}

// ---- bootstrap ----------------------------------------------------------------------------------

typedef struct made {
    vd_sample sample;
    double sum[600], count[600];
} made;

// One metric, one round a dialog.
static const vd_sample *make(made *m, const double *value, size_t dialogs)
{
    for (size_t i = 0; i < dialogs; i++) {
        m->sum[i] = value[i];
        m->count[i] = 1;
    }
    m->sample = (vd_sample){.dialogs = dialogs, .metrics = 1, .sum = m->sum, .count = m->count};
    return &m->sample;
}

// Two dialogs with 0 and 1: the mean of a resample is 0, 1/2, 1 in 1, 2, 1 of 4 draws.
static void two_dialogs_resample_as_coins_fall(void **state)
{
    (void)state;
    made m;
    vd_interval out;
    vd_bootstrap_options options = {.resamples = 40000, .level = 0.4, .seed = 3};
    make(&m, (const double[]){0, 1}, 2);
    assert_int_equal(vd_bootstrap(&m.sample, 1, &options, &out, NULL), VD_OK);
    is_near(out.estimate, 0.5, 0);
    is_near(out.low, 0.5, 0); // quantiles 0.3 and 0.7
    is_near(out.high, 0.5, 0);
    is_near(out.standard_error, sqrt(0.125), 0.005);
    assert_true(isnan(out.p));
    options.level = 0.6; // quantiles 0.2 and 0.8
    assert_int_equal(vd_bootstrap(&m.sample, 1, &options, &out, NULL), VD_OK);
    is_near(out.low, 0, 0);
    is_near(out.high, 1, 0);
}

// The difference 2 - 1 of two dialogs is -1 or 1: d* = -1, 0, 1 in 1, 2, 1 of 4 draws, so 3/4 are
// <= 0 and p is 1; with 3 dialogs of difference 1, 1, -1: d* <= 0 in 7 of 27 (x <= 1 of 3).
static void the_p_value_is_that_of_all_resamples(void **state)
{
    (void)state;
    made a, b;
    vd_interval out;
    vd_bootstrap_options options = {.resamples = 60000, .seed = 9};
    make(&a, (const double[]){1, 0}, 2);
    make(&b, (const double[]){0, 1}, 2);
    assert_int_equal(vd_bootstrap_paired(&a.sample, 1, &b.sample, 1, &options, &out, NULL), VD_OK);
    is_near(out.estimate, 0, 0);
    is_near(out.p, 1, 0);
    make(&a, (const double[]){1, 1, 0}, 3);
    make(&b, (const double[]){0, 0, 1}, 3);
    assert_int_equal(vd_bootstrap_paired(&a.sample, 1, &b.sample, 1, &options, &out, NULL), VD_OK);
    is_near(out.estimate, 1.0 / 3, 1e-15);
    is_near(out.p, 2 * 7.0 / 27, 0.01);
    is_near(out.low, -1, 0);
    is_near(out.high, 1, 0);
}

// Few dialogs that all say the same are few dialogs: n of them p = 2^(1-n) at least.
static void a_few_dialogs_do_not_make_sure(void **state)
{
    (void)state;
    made a, b;
    vd_interval out;
    for (size_t n = 1; n <= 4; n++) {
        make(&a, (const double[]){1, 3, 2, 4}, n);
        make(&b, (const double[]){0, 0, 0, 0}, n);
        assert_int_equal(vd_bootstrap_paired(&a.sample, 1, &b.sample, 1, NULL, &out, NULL), VD_OK);
        is_near(out.p, ldexp(1, 1 - (int)n), 0);
        assert_int_equal(isnan(out.low), n == 1);
        assert_int_equal(isnan(out.high), n == 1);
        assert_int_equal(isnan(out.standard_error), n == 1);
    }
}

static void a_model_does_not_differ_from_itself(void **state)
{
    (void)state;
    made m;
    double value[300];
    vd_rng rng = vd_rng_seed(5, 1);
    for (int i = 0; i < 300; i++)
        value[i] = vd_rng_normal(&rng);
    make(&m, value, 300);
    vd_sample runs[3] = {m.sample, m.sample, m.sample};
    vd_interval out;
    vd_bootstrap_options options = {.resamples = 500, .draw_runs = true};
    assert_int_equal(vd_bootstrap_paired(runs, 3, runs, 3, &options, &out, NULL), VD_OK);
    is_near(out.estimate, 0, 0);
    is_near(out.low, 0, 0);
    is_near(out.high, 0, 0);
    is_near(out.p, 1, 0);
}

// Of normal numbers the interval is the mean's usual one: +-1.96 deviations / sqrt(n).
static void many_dialogs_give_the_normal_interval(void **state)
{
    (void)state;
    enum { N = 600 };
    made m;
    double value[N], mean = 0, squares = 0;
    vd_rng rng = vd_rng_seed(6, 1);
    for (int i = 0; i < N; i++) {
        value[i] = 3.0 + 2.0 * vd_rng_normal(&rng);
        mean += value[i] / N;
    }
    for (int i = 0; i < N; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    double error = sqrt(squares / N / N);
    vd_interval out;
    make(&m, value, N);
    assert_int_equal(vd_bootstrap(&m.sample, 1, NULL, &out, NULL), VD_OK);
    is_near(out.estimate, mean, 1e-12);
    is_near(out.standard_error, error, 0.03 * error);
    is_near(out.low, mean - 1.96 * error, 0.08 * error);
    is_near(out.high, mean + 1.96 * error, 0.08 * error);
}

// Dialogs that go up and down together: what is shared cancels out in a paired difference.
static void pairing_takes_out_what_both_share(void **state)
{
    (void)state;
    enum { N = 400 };
    made a, b;
    double first[N], second[N];
    vd_rng rng = vd_rng_seed(7, 1);
    for (int i = 0; i < N; i++) {
        second[i] = 5.0 * vd_rng_normal(&rng);
        first[i] = second[i] + 0.1 + 0.2 * vd_rng_normal(&rng);
    }
    make(&a, first, N);
    make(&b, second, N);
    vd_interval alone, paired;
    vd_bootstrap_options options = {.resamples = 2000};
    assert_int_equal(vd_bootstrap(&a.sample, 1, &options, &alone, NULL), VD_OK);
    assert_int_equal(vd_bootstrap_paired(&a.sample, 1, &b.sample, 1, &options, &paired, NULL),
                     VD_OK);
    assert_true(paired.standard_error * 10 < alone.standard_error);
    assert_true(paired.low > 0 && paired.p < 0.01);
}

// Dialogs weigh as much as they have rounds, and a metric that was never counted is not a number.
static void metrics_are_ratios_of_sums(void **state)
{
    (void)state;
    const float relevance[] = {0, 1, 0.5f};
    vd_metrics dialog[2] = {0};
    vd_metrics_add(&dialog[0], (const float[]){1, 2, 3}, 3, 0, NULL);
    vd_metrics_add(&dialog[1], (const float[]){1, 2, 3}, 3, 2, NULL);
    vd_metrics_add(&dialog[1], (const float[]){1, 2, 3}, 3, 1, NULL);
    vd_sample sample;
    vd_interval out[VD_METRICS];
    double mean[VD_METRICS];
    assert_int_equal(vd_sample_new(dialog, 2, &sample, NULL), VD_OK);
    assert_int_equal(vd_bootstrap(&sample, 1, NULL, out, NULL), VD_OK);
    is_near(out[VD_R1].estimate, 1.0 / 3, 1e-15);
    is_near(out[VD_MEAN_RANK].estimate, 2.0, 1e-15);
    is_near(out[VD_R1].low, 0, 0);
    is_near(out[VD_R1].high, 1, 0);
    assert_true(isnan(out[VD_NDCG].estimate) && isnan(out[VD_NDCG].low));
    vd_sample_clear(&sample);

    // One annotated dialog of two: its metric, and no interval.
    vd_metrics_add(&dialog[0], (const float[]){1, 2, 3}, 3, 0, relevance);
    assert_int_equal(vd_sample_new(dialog, 2, &sample, NULL), VD_OK);
    assert_int_equal(vd_bootstrap(&sample, 1, NULL, out, NULL), VD_OK);
    vd_metrics all = dialog[0];
    vd_metrics_merge(&all, &dialog[1]);
    is_near(out[VD_NDCG].estimate, vd_metrics_mean(&all, VD_NDCG), 1e-15);
    assert_true(isnan(out[VD_NDCG].low) && isnan(out[VD_NDCG].high));
    assert_true(isnan(out[VD_NDCG].standard_error));
    vd_sample_means(&sample, mean);
    for (int i = 0; i < VD_METRICS; i++)
        is_near(mean[i], out[i].estimate, 1e-15);
    vd_sample_clear(&sample);
}

// Runs that differ widely on the same dialogs: fixed runs leave no doubt, drawn runs leave much.
static void drawing_runs_shows_how_training_varies(void **state)
{
    (void)state;
    enum { N = 100, RUNS = 6 };
    made m[RUNS];
    vd_sample runs[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double value[N];
        for (int i = 0; i < N; i++)
            value[i] = r;
        runs[r] = *make(&m[r], value, N);
    }
    vd_interval fixed, drawn;
    vd_bootstrap_options options = {.resamples = 4000};
    assert_int_equal(vd_bootstrap(runs, RUNS, &options, &fixed, NULL), VD_OK);
    options.draw_runs = true;
    assert_int_equal(vd_bootstrap(runs, RUNS, &options, &drawn, NULL), VD_OK);
    is_near(fixed.estimate, 2.5, 1e-12);
    is_near(fixed.standard_error, 0, 1e-9);
    is_near(drawn.standard_error, sqrt(35.0 / 12 / RUNS), 0.03); // of 0..5, over sqrt(6)
}

static void a_seed_fixes_every_draw(void **state)
{
    (void)state;
    made m;
    double value[50];
    for (int i = 0; i < 50; i++)
        value[i] = i * i % 17;
    make(&m, value, 50);
    vd_interval first, again, other;
    vd_bootstrap_options options = {.resamples = 300, .seed = 1};
    assert_int_equal(vd_bootstrap(&m.sample, 1, &options, &first, NULL), VD_OK);
    assert_int_equal(vd_bootstrap(&m.sample, 1, &options, &again, NULL), VD_OK);
    options.seed = 2;
    assert_int_equal(vd_bootstrap(&m.sample, 1, &options, &other, NULL), VD_OK);
    assert_true(first.low == again.low && first.standard_error == again.standard_error);
    assert_true(first.standard_error != other.standard_error);
}

static void what_cannot_be_resampled_is_refused(void **state)
{
    (void)state;
    made a, b;
    vd_interval out;
    vd_error err;
    make(&a, (const double[]){1, 2, 3}, 3);
    make(&b, (const double[]){1, 2}, 2);
    support_refused(vd_bootstrap_paired(&a.sample, 1, &b.sample, 1, NULL, &out, &err), VD_USAGE,
                    &err, "runs over 3 and 2 dialogs cannot be compared", NULL);
    support_refused(vd_bootstrap(&a.sample, 0, NULL, &out, &err), VD_USAGE, &err,
                    "a bootstrap of 0 runs", NULL);
    make(&b, NULL, 0);
    support_refused(vd_bootstrap(&b.sample, 1, NULL, &out, &err), VD_USAGE, &err,
                    "a bootstrap over 0 dialogs", NULL);
    vd_bootstrap_options options = {.resamples = -1};
    support_refused(vd_bootstrap(&a.sample, 1, &options, &out, &err), VD_USAGE, &err,
                    "-1 resamples: expected 1 or more", NULL);
    options = (vd_bootstrap_options){.level = 95};
    support_refused(vd_bootstrap(&a.sample, 1, &options, &out, &err), VD_USAGE, &err,
                    "a confidence level of 95: expected one between 0 and 1", NULL);
}

static vd_status resample_once(void *context, vd_error *err)
{
    (void)context;
    vd_metrics dialog[3] = {0};
    vd_sample sample;
    vd_interval out[VD_METRICS];
    vd_bootstrap_options options = {.resamples = 10};
    vd_status status = vd_sample_new(dialog, 3, &sample, err);
    if (status)
        return status;
    status = vd_bootstrap_paired(&sample, 1, &sample, 1, &options, out, err);
    vd_sample_clear(&sample);
    double p[2] = {0.1, 0.2};
    return status ? status : vd_holm(p, 2, err);
}

static void memory_that_is_out_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(resample_once, NULL) >= 7);
}

// ---- Holm ---------------------------------------------------------------------------------------

static void holm_steps_down(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005}, alone[] = {0.7};
    const double expected[] = {0.03, 0.06, 0.06, 0.02};
    assert_int_equal(vd_holm(p, 4, NULL), VD_OK);
    for (int i = 0; i < 4; i++)
        is_near(p[i], expected[i], 1e-12);
    assert_int_equal(vd_holm(alone, 1, NULL), VD_OK);
    is_near(alone[0], 0.7, 0);
    double high[] = {0.6, 0.9, 0.5};
    assert_int_equal(vd_holm(high, 3, NULL), VD_OK);
    for (int i = 0; i < 3; i++)
        is_near(high[i], 1.0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mcnemar_gives_the_published_values),
        cmocka_unit_test(mcnemar_without_a_difference_finds_none),
        cmocka_unit_test(mcnemar_of_many_pairs_is_near_the_normal_test),
        cmocka_unit_test(pairs_fall_into_four_groups),
        cmocka_unit_test(two_dialogs_resample_as_coins_fall),
        cmocka_unit_test(the_p_value_is_that_of_all_resamples),
        cmocka_unit_test(a_few_dialogs_do_not_make_sure),
        cmocka_unit_test(a_model_does_not_differ_from_itself),
        cmocka_unit_test(many_dialogs_give_the_normal_interval),
        cmocka_unit_test(pairing_takes_out_what_both_share),
        cmocka_unit_test(metrics_are_ratios_of_sums),
        cmocka_unit_test(drawing_runs_shows_how_training_varies),
        cmocka_unit_test(a_seed_fixes_every_draw),
        cmocka_unit_test(what_cannot_be_resampled_is_refused),
        cmocka_unit_test(memory_that_is_out_is_reported),
        cmocka_unit_test(holm_steps_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
