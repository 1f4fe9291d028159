// The cross entropy over many words on the CPU: the loss and its gradient as in double precision,
// for targets and for shares of relevance, and the same to the bit with any number of threads.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/backend/backend.h"
#include "engine/base/rng.h"
#include "engine/base/threads.h"

enum { ROWS = 70, WORDS = 1003, LARGEST = 200 }; // large enough to be shared by threads

static float score[ROWS * WORDS], gradient[ROWS * WORDS], relevance[ROWS * WORDS];
static int32_t truth[ROWS];

static int begin(void **state)
{
    vd_rng rng = vd_rng_seed(4, 1);
    (void)state;
    for (int i = 0; i < ROWS * WORDS; i++) {
        score[i] = (float)vd_rng_range(&rng, -9, 9);
        relevance[i] = i % 97 ? 0 : 0.5f;
    }
    for (int r = 0; r < ROWS; r++)
        truth[r] = r * 41 % WORDS;
    truth[1] = WORDS - 1;
    truth[2] = -1;              // not known
    for (int r = 3; r < 6; r++) // a word that is far likelier than all others: not, or the target
        score[r * WORDS + (r == 4 ? truth[r] : 500)] = LARGEST;
    return 0;
}

static double run(const float *shares, int threads)
{
    double loss;
    const vd_candidate_loss l = {.questions = ROWS,
                                 .candidates = WORDS,
                                 .margin = 1,
                                 .scale = 0.5,
                                 .truth = truth,
                                 .relevance = shares,
                                 .scores = score,
                                 .dscores = gradient,
                                 .loss = &loss};
    vd_threads_use(threads);
    memset(gradient, 1, sizeof gradient);
    vd_backend_cpu()->candidate_loss(&l);
    return loss;
}

static double share_of(const float *shares, int r, int w, double relevant)
{
    return relevant > 0 ? (double)shares[r * WORDS + w] / relevant : w == truth[r];
}

// Of a row: its loss; checks its gradient.
static double check_row(const float *shares, int r)
{
    const float *z = score + r * WORDS, *d = gradient + r * WORDS;
    double most = -INFINITY, sum = 0, loss = 0, relevant = 0;
    for (int w = 0; w < WORDS; w++) {
        most = fmax(most, (double)z[w]);
        relevant += shares ? (double)shares[r * WORDS + w] : 0;
    }
    for (int w = 0; w < WORDS; w++)
        sum += exp((double)z[w] - most);
    for (int w = 0; w < WORDS; w++) {
        double log_p = (double)z[w] - most - log(sum), y = share_of(shares, r, w, relevant);
        loss -= y * log_p;
        double expected = truth[r] < 0 ? 0 : 0.5 * (exp(log_p) - y);
        assert_true(fabs((double)d[w] - expected) < 1e-7 + 1e-6 * fabs(expected));
    }
    return truth[r] < 0 ? 0 : loss;
}

static void check(const float *shares)
{
    double loss = run(shares, 1), expected = 0;
    for (int r = 0; r < ROWS; r++)
        expected += 0.5 * check_row(shares, r);
    assert_true(fabs(loss - expected) < 1e-6 * expected);
}

static void it_is_as_in_double_precision(void **state)
{
    (void)state;
    check(NULL);
}

static void shares_are_too(void **state)
{
    (void)state;
    check(relevance);
}

static void threads_change_nothing(void **state)
{
    static float kept[ROWS * WORDS];
    (void)state;
    for (int shares = 0; shares < 2; shares++) {
        double loss = run(shares ? relevance : NULL, 1);
        memcpy(kept, gradient, sizeof kept);
        for (int threads = 2; threads <= 3; threads++) {
            assert_true(run(shares ? relevance : NULL, threads) == loss);
            assert_memory_equal(gradient, kept, sizeof kept);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_as_in_double_precision),
        cmocka_unit_test(shares_are_too),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
