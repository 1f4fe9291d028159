// The operations of networks on the tape, of the backend under test against the CPU's (trial.h):
// functions, rows of lists, segments, copied words.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/trial.h"

typedef struct sizes {
    int m, n, k;
} sizes;

// ---- functions and rows ------------------------------------------------------------------------

static void do_functions(const vd_backend *be, void **at, void *context)
{
    size_t n = *(size_t *)context;
    for (int f = VD_TANH; f <= VD_ABSOLUTE; f++) {
        be->map((vd_function)f, at[0], at[1], n);
        be->map_backward((vd_function)f, at[0], at[1], at[2], at[3], n);
        be->add_scaled(at[4], 0.3f * (float)(f + 1), at[1], n);
        be->add_scaled(at[4], -0.01f, at[4], n);
    }
}

static void functions_of_a_number(void **state)
{
    static const size_t size[] = {1, 1000, 40001};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t n = size[i];
        trial t = trial_begin("functions", i);
        for (int a = 0; a < 5; a++)
            trial_reals(&t, n);
        for (size_t k = 0; k < n; k++)
            ((float *)t.array[0].host)[k] *= 4;
        trial_finish(&t, do_functions, &n);
    }
}

static void do_listed_rows(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context; // m rows of n, lists point into k rows
    int m = s->m, n = s->n;
    be->multiply_rows(at[0], at[1], at[2], NULL, m, n, at[3]);
    be->multiply_rows_backward(at[3], at[2], NULL, m, n, at[4], at[1]);
    be->multiply_rows_backward(at[3], at[0], at[1], m, n, at[5], NULL);
    be->copy_rows(at[0], n, at[6], m, n, (float *)at[7] + 2, n + 3);
    be->scatter_rows((float *)at[7] + 1, n + 3, at[6], m, n, at[4], n);
    be->copy_rows((float *)at[7] + 1, n + 3, NULL, m, n, at[8], n);
    be->scatter_rows(at[8], n, NULL, m, n, (float *)at[7] + 3, n + 3);
    be->layer_norm(at[2], at[9], at[10], m, n, at[11], at[12], at[3]);
    be->layer_norm_backward(at[5], at[9], at[11], at[12], m, n, at[8], at[15], at[10]);
    be->unit_rows(at[2], m, n, at[3], at[13]);
    be->unit_rows_backward(at[5], at[3], at[13], m, n, at[8]);
    be->additive_scores(at[1], at[14], m, n, at[0], at[4], at[9], at[12]);
    be->additive_scores_backward(at[1], at[14], m, n, at[0], at[2], at[9], at[13], at[4], at[5],
                                 at[10]);
}

static void listed_rows(void **state)
{
    static const int size[][3] = {{1, 1, 1}, {9, 33, 4}, {130, 70, 50}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        sizes s = {.m = size[i][0], .n = size[i][1], .k = size[i][2]};
        size_t m = (size_t)s.m, n = (size_t)s.n, k = (size_t)s.k;
        trial t = trial_begin("listed rows", i);
        t.tolerance = 2e-4; // norms of a single number, sums over rows
        trial_reals(&t, k * n);
        trial_ints(&t, m, s.k);
        trial_reals(&t, m * n);
        trial_reals(&t, m * n);
        trial_reals(&t, k * n);
        trial_reals(&t, m * n);
        trial_ints(&t, m, s.k + 1);
        for (size_t r = 0; r < m; r++)
            ((int *)t.array[6].host)[r]--; // some are -1
        trial_reals(&t, m * (n + 3));
        trial_reals(&t, m * n);
        trial_reals(&t, n);
        trial_reals(&t, n);
        trial_reals(&t, m * n);
        trial_reals(&t, m);
        trial_reals(&t, m);
        trial_ints(&t, m, s.k < s.m ? s.k : s.m);
        trial_reals(&t, n);
        trial_finish(&t, do_listed_rows, &s);
    }
}

static void do_segments(const vd_backend *be, void **at, void *context)
{
    const vd_segments *shape = context;
    vd_segments s = *shape;
    s.start = at[0];
    s.length = at[1];
    be->softmax_segments(&s, at[2], at[3]);
    be->softmax_segments_backward(&s, at[3], at[4], at[5]);
    be->max_segments(&s, at[2], at[6], at[7]);
    be->max_segments_backward(s.count, at[7], at[6], at[5]);
    s.count = 1;
    be->softmax_segments(&s, at[2], at[2]);
}

static void segments_of_numbers(void **state)
{
    // The rows of a matrix (9, 57), of which one is empty; some have one number.
    enum { ROWS = 9, COLUMNS = 57 };
    vd_segments s = {.count = ROWS, .longest = COLUMNS};
    (void)state;
    trial t = trial_begin("segments", 1);
    for (int a = 0; a < 2; a++) {
        int *list = t.array[trial_ints(&t, ROWS, 1)].host;
        for (int r = 0; r < ROWS; r++)
            list[r] = a == 0 ? r * COLUMNS : r == 4 ? 0 : COLUMNS - 7 * r;
    }
    for (int a = 0; a < 4; a++)
        trial_reals(&t, (size_t)ROWS * COLUMNS);
    trial_reals(&t, ROWS);
    trial_ints(&t, ROWS, 1);
    trial_finish(&t, do_segments, &s);
}

// ---- words that are copied ----------------------------------------------------------------------

// Four answers; what each word of one looks at.
enum { ANSWERS = 4, COPIED = 9, PAIRS = 3 * 5 + 4 * 70 };
static const int answer_words[ANSWERS] = {3, 0, 2, 4}, answer_places[ANSWERS] = {5, 3, 0, 70};

enum {
    PAIR_START,
    PAIR_LENGTH,
    ANSWER_START,
    ANSWER_LENGTH,
    HIT,
    KNOWN,
    SHARE,
    GATE,
    LOG,
    DSHARE,
    DGATE,
    WHOLE,
    GENERATED,
    OPENED,
    TAKEN_APART,
    SUM
};

// The numbers of words, which are rounded otherwise on each backend, as floats.
static void keep_words(const vd_backend *be, const vd_copied_word *word, float *to)
{
    vd_copied_word host[COPIED];
    float x[4 * COPIED], *at = x;
    be->memory->download(host, word, sizeof host);
    for (int r = 0; r < COPIED; r++) {
        *at++ = (float)host[r].p_gen;
        *at++ = (float)host[r].generated;
        *at++ = (float)host[r].copied;
        *at++ = (float)host[r].p;
    }
    be->memory->upload(to, x, sizeof x);
}

static void do_copying(const vd_backend *be, void **at, void *context)
{
    bool has_gate = *(bool *)context;
    vd_copied_word *word = be->memory->allocate(COPIED * sizeof *word);
    double *sum = be->memory->allocate(sizeof *sum), host = 0;
    vd_copied_words c = {.pairs = {COPIED, 70, at[PAIR_START], at[PAIR_LENGTH]},
                         .share = at[OPENED],
                         .gate = has_gate ? at[GATE] : NULL,
                         .log_sum = has_gate ? NULL : at[GATE],
                         .word = word};
    const vd_packed answers = {.sequences = ANSWERS,
                               .rows = {.start = at[ANSWER_START], .length = at[ANSWER_LENGTH]}};
    be->copy_log(&c, NULL);
    keep_words(be, word, at[TAKEN_APART]);
    c.share = at[SHARE];
    c.hit = at[HIT];
    c.known = at[KNOWN];
    be->copy_log(&c, at[LOG]);
    keep_words(be, word, (float *)at[TAKEN_APART] + 4 * COPIED);
    be->copy_gradient(&c, 0.25f, at[DSHARE], has_gate ? at[DGATE] : NULL, at[WHOLE], at[GENERATED]);
    if (has_gate) { // else the places were opened, and are rounded
        be->coverage(&answers, &c.pairs, at[OPENED], 0, NULL, sum);
        be->coverage(&answers, &c.pairs, at[OPENED], 0.5f, at[DSHARE], NULL);
        be->memory->download(&host, sum, sizeof host);
    }
    const float rounded = (float)host;
    be->memory->upload(at[SUM], &rounded, sizeof rounded);
    be->memory->release(word);
    be->memory->release(sum);
}

// A row's target is in the places, in the vocabulary, in both; where there are no places, of one
// word nowhere.
static void list_places(trial *t)
{
    int *list[4], row = 0, pair = 0;
    for (int a = 0; a < 4; a++)
        list[a] = t->array[trial_ints(t, a < 2 ? COPIED : ANSWERS, 1)].host;
    uint8_t *hit = t->array[trial_array(t, PAIRS, false)].host;
    uint8_t *known = t->array[trial_array(t, COPIED, false)].host;
    for (int s = 0; s < ANSWERS; s++) {
        list[ANSWER_START][s] = row;
        list[ANSWER_LENGTH][s] = answer_words[s];
        for (int i = 0; i < answer_words[s]; i++, row++) {
            known[row] = row % 3 != 0;
            list[PAIR_START][row] = pair;
            list[PAIR_LENGTH][row] = answer_places[s];
            for (int j = 0; j < answer_places[s]; j++, pair++)
                hit[pair] = row % 3 != 1 && j % 3 == 1;
        }
    }
}

static void copied_words(void **state)
{
    (void)state;
    for (int has_gate = 0; has_gate < 2; has_gate++) {
        static const int size[] = {PAIRS,  COPIED, COPIED, PAIRS,      COPIED,
                                   COPIED, COPIED, PAIRS,  8 * COPIED, 1};
        bool context = has_gate;
        trial t = trial_begin("copied words", (uint64_t)has_gate);
        list_places(&t);
        for (size_t a = 0; a < sizeof size / sizeof *size; a++)
            trial_reals(&t, (size_t)size[a]);
        for (int r = 0; r < COPIED; r++) // a probability's
            ((float *)t.array[LOG].host)[r] -= 1;
        for (int k = 0; k < PAIRS; k++) { // many are as large as the sum of those before
            ((float *)t.array[SHARE].host)[k] = fabsf(((float *)t.array[SHARE].host)[k]) / 70;
            ((float *)t.array[OPENED].host)[k] =
                fabsf(roundf(((float *)t.array[OPENED].host)[k] * 2)) / 2;
        }
        trial_finish(&t, do_copying, &context);
    }
}

static void a_tie_covers_what_was_before(void **state)
{
    const vd_real x[] = {1, 1, 0.5f};
    vd_real dx[3] = {0};
    (void)state;
    assert_true(vd_cover(x, 3, 1, 1, dx) == 1.5);
    assert_true(dx[0] == 1 && dx[1] == 0 && dx[2] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_a_number),        cmocka_unit_test(listed_rows),
        cmocka_unit_test(segments_of_numbers),          cmocka_unit_test(copied_words),
        cmocka_unit_test(a_tie_covers_what_was_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
