// Random numbers: the published sequence, ranges, moments, independent streams.
#include "engine/base/rng.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_sequence_is_splitmix64s(void **state)
{
    (void)state;
    // Published values for seed 1234567; for seed 0 those of the authors' C code.
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    vd_rng rng = {1234567};
    for (int i = 0; i < 5; i++)
        assert_true(vd_rng_next(&rng) == expected[i]);
    rng = (vd_rng){0};
    assert_true(vd_rng_next(&rng) == 0xe220a8397b1dcdafu);
    assert_true(vd_rng_next(&rng) == 0x6e789e6aa1b965f4u);
}

static void a_seed_and_a_stream_give_the_same_numbers_everywhere(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(1, 2);
    assert_true(vd_rng_next(&rng) == 0x828fa3e0afc3e80bu);
    vd_rng again = vd_rng_seed(1, 2), other = vd_rng_seed(1, 3), swapped = vd_rng_seed(2, 1);
    uint64_t first = vd_rng_next(&again);
    assert_true(first == 0x828fa3e0afc3e80bu);
    assert_true(vd_rng_next(&other) != first);
    assert_true(vd_rng_next(&swapped) != first);
}

// Neighbouring seeds and streams: about half of the bits differ.
static void neighbouring_streams_have_nothing_in_common(void **state)
{
    (void)state;
    int differing = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        vd_rng one = vd_rng_seed(7, i), next = vd_rng_seed(7, i + 1);
        differing += __builtin_popcountll(vd_rng_next(&one) ^ vd_rng_next(&next));
    }
    assert_in_range(differing, 31000, 33000);
}

static void numbers_stay_in_their_ranges(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(3, 0);
    for (int i = 0; i < 100000; i++) {
        double uniform = vd_rng_uniform(&rng), range = vd_rng_range(&rng, -2.0, 3.0);
        assert_true(uniform >= 0.0 && uniform < 1.0);
        assert_true(range >= -2.0 && range < 3.0);
        assert_in_range(vd_rng_below(&rng, 7), 0, 6);
        assert_int_equal(vd_rng_below(&rng, 1), 0);
        assert_in_range(vd_rng_below(&rng, INT_MAX), 0, INT_MAX - 1);
        assert_true(isfinite(vd_rng_normal(&rng)));
    }
}

static void every_value_is_as_likely_as_the_others(void **state)
{
    (void)state;
    enum { DRAWS = 700000, VALUES = 7 };
    int seen[VALUES] = {0};
    vd_rng rng = vd_rng_seed(11, 5);
    for (int i = 0; i < DRAWS; i++)
        seen[vd_rng_below(&rng, VALUES)]++;
    for (int i = 0; i < VALUES; i++) // five standard deviations
        assert_in_range(seen[i], 100000 - 1500, 100000 + 1500);
}

static void normal_numbers_have_the_moments_of_the_normal_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 400000 };
    double sum[5] = {0};
    vd_rng rng = vd_rng_seed(13, 1);
    for (int i = 0; i < DRAWS; i++) {
        double value = vd_rng_normal(&rng), power = 1.0;
        for (int p = 1; p <= 4; p++)
            sum[p] += power *= value;
    }
    // Moments 0, 1, 0, 3 with standard errors of 1, 1.4, 3.9, 9.8 over sqrt(DRAWS).
    static const double expected[5] = {0, 0, 1, 0, 3}, error[5] = {0, 1, 1.42, 3.9, 9.8};
    for (int p = 1; p <= 4; p++)
        assert_true(fabs(sum[p] / DRAWS - expected[p]) < 5 * error[p] / sqrt(DRAWS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequence_is_splitmix64s),
        cmocka_unit_test(a_seed_and_a_stream_give_the_same_numbers_everywhere),
        cmocka_unit_test(neighbouring_streams_have_nothing_in_common),
        cmocka_unit_test(numbers_stay_in_their_ranges),
        cmocka_unit_test(every_value_is_as_likely_as_the_others),
        cmocka_unit_test(normal_numbers_have_the_moments_of_the_normal_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
