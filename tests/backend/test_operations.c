// The operations of the backend under test against the CPU's, on odd sizes (trial.h): products,
// layers, elements, optimisers, rows, ranking, loss. Those of the tape: test_tape_operations.c.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/trial.h"

// ---- matrix products ----------------------------------------------------------------------------

typedef struct sizes {
    bool ta, tb;
    int m, n, k;
    float beta;
} sizes;

static void do_product(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context;
    const vd_product one = {.m = s->m,
                            .n = s->n,
                            .k = s->k,
                            .a = at[0],
                            .lda = s->ta ? s->m + 2 : s->k + 2,
                            .b = at[1],
                            .ldb = s->tb ? s->k + 1 : s->n + 1,
                            .c = at[2],
                            .ldc = s->n + 3};
    be->products(s->ta, s->tb, s->beta, &one, 1);
}

static void do_products(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context;
    vd_product list[5];
    int lda = s->ta ? s->m : s->k, ldb = s->tb ? s->k : s->n;
    for (int i = 0; i < 5; i++) // of different sizes, one of them empty
        list[i] = (vd_product){.m = i == 3 ? 0 : s->m,
                               .n = s->n - i % 2,
                               .k = s->k - (s->ta ? 0 : i % 3 == 2),
                               .a = (float *)at[0] + i,
                               .lda = lda,
                               .b = (float *)at[1] + i,
                               .ldb = ldb,
                               .c = (float *)at[2] + (size_t)i * (size_t)(s->m * (s->n + 3)),
                               .ldc = s->n + 3};
    be->products(s->ta, s->tb, s->beta, list, 5);
}

static void matrix_products(void **state)
{
    static const int size[][3] = {{1, 1, 1}, {1, 37, 65},  {1, 5, 131},
                                  {3, 5, 7}, {33, 65, 17}, {70, 31, 129}};
    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int kind = 0; kind < 8; kind++) {
            sizes s = {kind & 1, kind & 2, size[i][0], size[i][1], size[i][2], kind & 4 ? 1 : 0};
            size_t m = (size_t)s.m, n = (size_t)s.n, k = (size_t)s.k;
            trial t = trial_begin("product", i * 8 + (size_t)kind);
            trial_reals(&t, (m + 2) * (k + 2));
            trial_reals(&t, (n + 2) * (k + 2));
            trial_reals(&t, m * (n + 3));
            trial_finish(&t, do_product, &s);
            t = trial_begin("products", i * 8 + (size_t)kind);
            trial_reals(&t, m * k + 8);
            trial_reals(&t, n * k + 8);
            trial_reals(&t, 5 * m * (n + 3));
            trial_finish(&t, do_products, &s);
        }
}

static void do_empty_gemm(const vd_backend *be, void **at, void *context)
{
    (void)context;
    vd_multiply(be, false, true, 3, 5, 0, at[0], at[0], 0, at[1]);
    vd_multiply(be, false, true, 3, 5, 0, at[0], at[0], 1, at[2]);
    vd_multiply(be, false, true, 0, 5, 4, at[0], at[0], 0, at[1]);
}

static void products_of_nothing(void **state)
{
    (void)state;
    trial t = trial_begin("empty gemm", 1);
    for (int i = 0; i < 3; i++)
        trial_reals(&t, 40);
    trial_finish(&t, do_empty_gemm, NULL);
}

static void do_linear(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context;
    vd_matrix w = vd_matrix_of(at[1], s->n, s->k), dw = vd_matrix_of(at[6], s->n, s->k);
    vd_matrix part = vd_matrix_columns(&w, 1, s->k - 1);
    be->linear(at[0], &w, at[2], at[3], s->m);
    be->linear(at[0], &w, NULL, at[4], s->m);
    be->linear_backward(at[0], &w, at[3], at[5], s->k, 1, &dw, at[7], s->m);
    be->linear_backward(at[0], &w, at[3], at[8], s->k, 0, NULL, NULL, s->m);
    be->linear(at[0], &part, NULL, at[9], s->m); // of rows that are one number shorter
    be->linear_backward(NULL, &part, at[3], (float *)at[10] + 1, s->k, 0, NULL, NULL, s->m);
}

static void layers(void **state)
{
    static const int size[][3] = {{1, 3, 2}, {19, 33, 40}, {700, 35, 9}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        sizes s = {.m = size[i][0], .n = size[i][1], .k = size[i][2]};
        size_t m = (size_t)s.m, n = (size_t)s.n, k = (size_t)s.k;
        const size_t all[] = {m * k, n * k, n, m * n, m * n, m * k, n * k, n, m * k, m * n, m * k};
        trial t = trial_begin("linear", i);
        t.tolerance = 1e-4; // sums of 700 rows
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            trial_reals(&t, all[a]);
        trial_finish(&t, do_linear, &s);
    }
}

// ---- element by element -------------------------------------------------------------------------

static void do_gates(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context;
    for (int g = 0; g < 3; g++) {
        be->gated((vd_gate)g, at[3 * g], at[3 * g + 1], s->m, s->n);
        be->gated_backward((vd_gate)g, at[3 * g], at[3 * g + 2], s->m, s->n);
    }
    size_t n = (size_t)s->m * (size_t)s->n;
    be->sigmoid_gate(at[9], at[10], at[11], n);
    be->sigmoid_gate_backward(at[9], at[10], at[11], at[12], n);
}

static void do_elements(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context;
    size_t n = (size_t)s->m * (size_t)s->n;
    be->map(VD_RELU, at[0], at[0], n);
    be->relu_backward(at[0], at[1], n);
    be->add_scaled(at[2], 1, at[3], n);
    be->add_scaled((vd_real *)at[2] + 1, 1, at[3], n - 1); // not aligned
    be->dropout(at[4], at[5], n, 0.3f, UINT64_C(0x123456789abcdef0));
    be->dropout(at[6], at[6], n, 0.25f, 99);
    be->softmax(at[7], s->m, s->n - 1, s->n);
    be->copy_rows(at[9], 0, NULL, s->m, s->n, at[10], s->n);
    be->normalise_regions(at[11], at[11], 1, s->m, s->n);
}

static void elements(void **state)
{
    static const int size[][2] = {{1, 2}, {7, 33}, {41, 300}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        sizes s = {.m = size[i][0], .n = size[i][1]};
        size_t n = (size_t)s.m * (size_t)s.n;
        trial t = trial_begin("gates", i);
        for (int a = 0; a < 9; a++)
            trial_reals(&t, a % 3 == 0 ? 2 * n : n);
        for (int a = 9; a < 13; a++)
            trial_reals(&t, n);
        trial_finish(&t, do_gates, &s);
        t = trial_begin("elements", i);
        for (int a = 0; a < 12; a++)
            trial_reals(&t, n);
        trial_finish(&t, do_elements, &s);
    }
}

static void do_optimisers(const vd_backend *be, void **at, void *context)
{
    size_t n = *(size_t *)context;
    be->adam(at[0], at[1], at[2], at[3], n, 0.5f, 1e-3, &vd_moments_usual, 1);
    be->adam(at[0], at[1], at[2], at[3], n, 1, 1e-3, &vd_moments_usual, 2);
    be->rmsprop(at[4], at[1], at[3], n, 0.5f, 1e-3);
    be->adamax(at[4], at[1], at[2], at[3], n, 0.5f, 1e-3, &vd_moments_usual, 3);
    float sum = (float)be->square_sum(at[1], n);
    be->memory->upload(at[5], &sum, sizeof sum);
}

static void optimisers(void **state)
{
    static const size_t size[] = {1, 1000, 300001};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t n = size[i];
        trial t = trial_begin("optimisers", i);
        for (int a = 0; a < 5; a++)
            trial_reals(&t, n);
        for (size_t k = 0; k < n; k++) // second moments are not negative
            ((float *)t.array[3].host)[k] = fabsf(((float *)t.array[3].host)[k]);
        trial_reals(&t, 1);
        trial_finish(&t, do_optimisers, &n);
    }
}

// ---- pictures in half precision ----------------------------------------------------------------

static void do_halves(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context; // m rows of n, of k that are 3 numbers farther apart
    be->load_halves(at[0], (size_t)s->n + 3, at[1], s->m, (size_t)s->n, at[2]);
}

static void halves_widen(void **state)
{
    static const int size[][3] = {{1, 1, 1}, {5, 33, 3}, {3, 4096, 16}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        sizes s = {.m = size[i][0], .n = size[i][1], .k = size[i][2]};
        trial t = trial_begin("load_halves", i);
        t.tolerance = 0;
        size_t n = (size_t)s.k * ((size_t)s.n + 3);
        uint16_t *half = t.array[trial_array(&t, n * sizeof *half, false)].host;
        for (size_t k = 0; k < n; k++) { // all that are finite, in turn
            half[k] = (uint16_t)(k * 29);
            if ((half[k] & 0x7c00) == 0x7c00)
                half[k] &= 0x83ff;
        }
        trial_ints(&t, (size_t)s.m, s.k);
        trial_reals(&t, (size_t)s.m * (size_t)s.n);
        trial_finish(&t, do_halves, &s);
    }
}

// ---- rows ---------------------------------------------------------------------------------------

static void do_rows(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context; // m rows of n, lists point into k rows
    vd_matrix table = vd_matrix_of(at[0], s->k, s->n), dtable = vd_matrix_of(at[3], s->k, s->n);
    be->embed(&table, at[1], s->m, at[2]);
    be->embed_backward(&dtable, at[1], s->m, at[2]);
    be->copy_rows(at[5], s->n, at[1], s->m, s->n, at[2], s->n);
    be->add_rows(at[0], at[1], s->m, s->n, at[4]);
    be->scatter_rows(at[4], s->n, at[1], s->m, s->n, at[5], s->n);
    vd_concat(be, at[0], at[1], s->n, at[4], NULL, s->n, at[6], s->m);
    be->gather(at[7], at[8], s->m, 5, s->k, at[9]);
    be->gather_backward(at[9], at[8], s->m, 5, s->k, at[10]);
    be->softmax(at[11], s->m, s->k, s->k);
    be->word_log(at[11], at[1], s->m, s->k, at[12]);
    be->word_gradient(at[11], at[1], NULL, NULL, s->m, s->k, 0.25f);
    be->word_gradient(at[11], at[1], at[12], at[9], s->m, s->k, 0.25f);
}

static void rows(void **state)
{
    static const int size[][3] = {{1, 1, 1}, {9, 33, 4}, {130, 7, 50}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        sizes s = {.m = size[i][0], .n = size[i][1], .k = size[i][2]};
        size_t m = (size_t)s.m, n = (size_t)s.n, k = (size_t)s.k;
        trial t = trial_begin("rows", i);
        trial_reals(&t, k * n);
        trial_ints(&t, m, s.k);
        const size_t all[] = {m * n, k * n, m * n, k * n, m * 2 * n, m * k};
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            trial_reals(&t, all[a]);
        trial_ints(&t, m * 5, s.k);
        trial_reals(&t, m * 5);
        trial_reals(&t, m * k);
        trial_reals(&t, m * k);
        trial_reals(&t, m);
        trial_finish(&t, do_rows, &s);
    }
}

// ---- ranking ------------------------------------------------------------------------------------

static void do_rank(const vd_backend *be, void **at, void *context)
{
    int n = *(int *)context;
    float *score = vd_alloc((size_t)n, sizeof *score), *share = vd_alloc((size_t)n, sizeof *share);
    int32_t *order = vd_alloc((size_t)n, sizeof *order),
            *scratch = vd_alloc(4 * (size_t)n, sizeof *scratch);
    be->rank(at[0], n, score, share, order, scratch);
    be->memory->upload(at[1], score, (size_t)n * sizeof *score);
    be->memory->upload(at[2], share, (size_t)n * sizeof *share);
    be->memory->upload(at[3], order, (size_t)n * sizeof *order);
    vd_free(score);
    vd_free(share);
    vd_free(order);
    vd_free(scratch);
}

static void ranking_keeps_the_order_of_equal_scores(void **state)
{
    static const int size[] = {1, 2, 100, 2048, 2049, 5003};
    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        int n = size[i];
        trial t = trial_begin("rank", i);
        float *z = t.array[trial_reals(&t, (size_t)n)].host;
        for (int k = 0; k < n; k++)
            z[k] = roundf(z[k] * 400) / 40; // many are equal
        trial_reals(&t, (size_t)n);
        trial_reals(&t, (size_t)n);
        trial_ints(&t, (size_t)n, 1);
        trial_finish(&t, do_rank, &n);
    }
}

// ---- loss ---------------------------------------------------------------------------------------

enum { QUESTIONS = 5, CANDIDATES = 150 };

static void do_loss(const vd_backend *be, void **at, void *context)
{
    double *sum = be->memory->allocate(sizeof *sum), host;
    float rounded; // the two backends add in different orders
    (void)context;
    const vd_candidate_loss loss = {.questions = QUESTIONS,
                                    .candidates = CANDIDATES,
                                    .hidden = 1,
                                    .margin = 1,
                                    .scale = 0.25,
                                    .truth = at[0],
                                    .option = at[1],
                                    .relevance = at[2],
                                    .scores = at[3],
                                    .dscores = at[4],
                                    .loss = sum};
    be->candidate_loss(&loss);
    be->memory->download(&host, sum, sizeof host);
    be->memory->release(sum);
    rounded = (float)host;
    be->memory->upload(at[5], &rounded, sizeof rounded);
}

static void shares_of_relevance(void **state)
{
    (void)state;
    trial t = trial_begin("shares of relevance", 1);
    trial_ints(&t, QUESTIONS, CANDIDATES);
    trial_ints(&t, (size_t)QUESTIONS * CANDIDATES, 1);
    float *relevance = t.array[trial_reals(&t, (size_t)QUESTIONS * CANDIDATES)].host;
    for (int i = 0; i < QUESTIONS * CANDIDATES; i++) // the first question has none
        relevance[i] = i >= CANDIDATES && relevance[i] > 0.5f ? 0.5f : 0;
    trial_reals(&t, (size_t)QUESTIONS * CANDIDATES);
    trial_reals(&t, (size_t)QUESTIONS * CANDIDATES);
    trial_reals(&t, 1);
    trial_finish(&t, do_loss, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_relevance),
        cmocka_unit_test(matrix_products),
        cmocka_unit_test(products_of_nothing),
        cmocka_unit_test(layers),
        cmocka_unit_test(elements),
        cmocka_unit_test(optimisers),
        cmocka_unit_test(halves_widen),
        cmocka_unit_test(rows),
        cmocka_unit_test(ranking_keeps_the_order_of_equal_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
