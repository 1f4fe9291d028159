// Every operation of the backend under test against the CPU's, on odd sizes: the same inputs go
// through both tables, and every array an operation may write is compared afterwards.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "tests/support/backend.h"
#include "tests/support/support.h"

// ---- running one operation twice ----------------------------------------------------------------

enum { MOST_ARRAYS = 16, MOST_BYTES = 1 << 22 };

typedef struct array {
    void *host; // what both start from
    size_t bytes;
    bool floats;
} array;

typedef struct trial {
    const char *name;
    int count;
    array array[MOST_ARRAYS];
    double tolerance;
    vd_rng rng;
    vd_error err;
} trial;

typedef void (*operation)(const vd_backend *be, void **at, void *context);

static trial begin(const char *name, uint64_t seed)
{
    return (trial){.name = name, .tolerance = 2e-5, .rng = vd_rng_seed(seed, 17)};
}

static int add_array(trial *t, size_t bytes, bool floats)
{
    assert_true(t->count < MOST_ARRAYS);
    t->array[t->count] = (array){vd_alloc(bytes, 1), bytes, floats};
    return t->count++;
}

// An array of random numbers in [-1, 1); returns its index.
static int reals(trial *t, size_t n)
{
    int i = add_array(t, n * sizeof(float), true);
    float *x = t->array[i].host;
    for (size_t k = 0; k < n; k++)
        x[k] = (float)vd_rng_range(&t->rng, -1, 1);
    return i;
}

static int ints(trial *t, size_t n, int below)
{
    int i = add_array(t, n * sizeof(int), false);
    int *x = t->array[i].host;
    for (size_t k = 0; k < n; k++)
        x[k] = vd_rng_below(&t->rng, below);
    return i;
}

static void compare_array(const trial *t, int i, const void *expected, const void *found)
{
    const array *a = &t->array[i];
    if (!a->floats) {
        assert_memory_equal(expected, found, a->bytes);
        return;
    }
    const float *x = expected, *y = found;
    for (size_t k = 0; k < a->bytes / sizeof *x; k++)
        if (!(fabs((double)x[k] - (double)y[k]) <= t->tolerance * (1 + fabs((double)x[k]))))
            fail_msg("%s, array %d[%zu]: cpu %.9g, %s %.9g", t->name, i, k, (double)x[k],
                     support_backend()->name, (double)y[k]);
}

static void run_on(const trial *t, const vd_backend *be, operation op, void *context, void **out)
{
    void *at[MOST_ARRAYS];
    for (int i = 0; i < t->count; i++) {
        at[i] = be->memory->allocate(t->array[i].bytes);
        assert_non_null(at[i]);
        if (be->memory->guard) // so that a write beyond its end is seen
            be->memory->guard(at[i], t->array[i].bytes, t->array[i].bytes);
        be->memory->upload(at[i], t->array[i].host, t->array[i].bytes);
    }
    op(be, at, context);
    for (int i = 0; i < t->count; i++) {
        out[i] = vd_alloc(t->array[i].bytes, 1);
        be->memory->download(out[i], at[i], t->array[i].bytes);
        be->memory->release(at[i]);
    }
    const char *error = be->last_error();
    if (error)
        fail_msg("%s: %s", t->name, error);
}

static void finish(trial *t, operation op, void *context)
{
    void *expected[MOST_ARRAYS], *found[MOST_ARRAYS];
    run_on(t, vd_backend_cpu(), op, context, expected);
    run_on(t, support_backend(), op, context, found);
    for (int i = 0; i < t->count; i++) {
        compare_array(t, i, expected[i], found[i]);
        vd_free(expected[i]);
        vd_free(found[i]);
        vd_free(t->array[i].host);
    }
}

// ---- matrix products ----------------------------------------------------------------------------

typedef struct sizes {
    bool ta, tb;
    int m, n, k;
    float beta;
} sizes;

static void do_gemm(const vd_backend *be, void **at, void *context)
{
    const sizes *s = context;
    be->gemm(s->ta, s->tb, s->m, s->n, s->k, 0.5f, at[0], s->ta ? s->m + 2 : s->k + 2, at[1],
             s->tb ? s->k + 1 : s->n + 1, s->beta, at[2], s->n + 3);
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
            trial t = begin("gemm", i * 8 + (size_t)kind);
            reals(&t, (m + 2) * (k + 2));
            reals(&t, (n + 2) * (k + 2));
            reals(&t, m * (n + 3));
            finish(&t, do_gemm, &s);
            t = begin("products", i * 8 + (size_t)kind);
            reals(&t, m * k + 8);
            reals(&t, n * k + 8);
            reals(&t, 5 * m * (n + 3));
            finish(&t, do_products, &s);
        }
}

static void do_empty_gemm(const vd_backend *be, void **at, void *context)
{
    (void)context;
    be->gemm(false, true, 3, 5, 0, 1, at[0], 1, at[0], 1, 0, at[1], 5);
    be->gemm(false, true, 3, 5, 0, 1, at[0], 1, at[0], 1, 0.5f, at[2], 5);
    be->gemm(false, true, 0, 5, 4, 1, at[0], 4, at[0], 4, 0, at[1], 5);
}

static void products_of_nothing(void **state)
{
    (void)state;
    trial t = begin("empty gemm", 1);
    for (int i = 0; i < 3; i++)
        reals(&t, 40);
    finish(&t, do_empty_gemm, NULL);
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
        trial t = begin("linear", i);
        t.tolerance = 1e-4; // sums of 700 rows
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            reals(&t, all[a]);
        finish(&t, do_linear, &s);
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
    be->add(at[2], at[3], n);
    be->add((vd_real *)at[2] + 1, at[3], n - 1); // not aligned
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
        trial t = begin("gates", i);
        for (int a = 0; a < 9; a++)
            reals(&t, a % 3 == 0 ? 2 * n : n);
        for (int a = 9; a < 13; a++)
            reals(&t, n);
        finish(&t, do_gates, &s);
        t = begin("elements", i);
        for (int a = 0; a < 12; a++)
            reals(&t, n);
        finish(&t, do_elements, &s);
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
        trial t = begin("optimisers", i);
        for (int a = 0; a < 5; a++)
            reals(&t, n);
        for (size_t k = 0; k < n; k++) // second moments are not negative
            ((float *)t.array[3].host)[k] = fabsf(((float *)t.array[3].host)[k]);
        reals(&t, 1);
        finish(&t, do_optimisers, &n);
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
        trial t = begin("load_halves", i);
        t.tolerance = 0;
        size_t n = (size_t)s.k * ((size_t)s.n + 3);
        uint16_t *half = t.array[add_array(&t, n * sizeof *half, false)].host;
        for (size_t k = 0; k < n; k++) { // all that are finite, in turn
            half[k] = (uint16_t)(k * 29);
            if ((half[k] & 0x7c00) == 0x7c00)
                half[k] &= 0x83ff;
        }
        ints(&t, (size_t)s.m, s.k);
        reals(&t, (size_t)s.m * (size_t)s.n);
        finish(&t, do_halves, &s);
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
    be->concat(at[0], at[1], s->n, at[4], NULL, s->n, at[6], s->m);
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
        trial t = begin("rows", i);
        reals(&t, k * n);
        ints(&t, m, s.k);
        const size_t all[] = {m * n, k * n, m * n, k * n, m * 2 * n, m * k};
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            reals(&t, all[a]);
        ints(&t, m * 5, s.k);
        reals(&t, m * 5);
        reals(&t, m * k);
        reals(&t, m * k);
        reals(&t, m);
        finish(&t, do_rows, &s);
    }
}

// ---- of networks on a tape ----------------------------------------------------------------------

static void do_functions(const vd_backend *be, void **at, void *context)
{
    size_t n = *(size_t *)context;
    for (int f = VD_TANH; f <= VD_ABSOLUTE; f++) {
        be->map((vd_function)f, at[0], at[1], n);
        be->map_backward((vd_function)f, at[0], at[1], at[2], at[3], n);
        be->add_scaled(at[4], 0.3f * (float)(f + 1), at[1], n);
    }
}

static void functions_of_a_number(void **state)
{
    static const size_t size[] = {1, 1000, 40001};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t n = size[i];
        trial t = begin("functions", i);
        for (int a = 0; a < 5; a++)
            reals(&t, n);
        for (size_t k = 0; k < n; k++)
            ((float *)t.array[0].host)[k] *= 4;
        finish(&t, do_functions, &n);
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
        trial t = begin("listed rows", i);
        t.tolerance = 2e-4; // norms of a single number, sums over rows
        reals(&t, k * n);
        ints(&t, m, s.k);
        reals(&t, m * n);
        reals(&t, m * n);
        reals(&t, k * n);
        reals(&t, m * n);
        ints(&t, m, s.k + 1);
        for (size_t r = 0; r < m; r++)
            ((int *)t.array[6].host)[r]--; // some are -1
        reals(&t, m * (n + 3));
        reals(&t, m * n);
        reals(&t, n);
        reals(&t, n);
        reals(&t, m * n);
        reals(&t, m);
        reals(&t, m);
        ints(&t, m, s.k < s.m ? s.k : s.m);
        reals(&t, n);
        finish(&t, do_listed_rows, &s);
    }
}

static void do_segments(const vd_backend *be, void **at, void *context)
{
    const vd_segments *shape = context;
    vd_segments s = *shape;
    s.start = at[0];
    s.length = at[1];
    s.stride = at[2];
    be->softmax_segments(&s, at[3], at[4]);
    be->softmax_segments_backward(&s, at[4], at[5], at[6]);
    be->max_segments(&s, at[3], at[7], at[8]);
    be->max_segments_backward(s.count, at[8], at[7], at[6]);
    s.stride = NULL;
    s.count = 1;
    be->softmax_segments(&s, at[3], at[3]);
}

static void segments_of_numbers(void **state)
{
    // The columns of a matrix (57, 9), of which one is empty; some have one number.
    enum { ROWS = 57, COLUMNS = 9 };
    vd_segments s = {.count = COLUMNS, .longest = ROWS};
    (void)state;
    trial t = begin("segments", 1);
    for (int a = 0; a < 3; a++) {
        int *list = t.array[ints(&t, COLUMNS, 1)].host;
        for (int c = 0; c < COLUMNS; c++)
            list[c] = a == 0 ? c : a == 1 ? (c == 4 ? 0 : ROWS - 7 * c) : COLUMNS;
    }
    for (int a = 0; a < 4; a++)
        reals(&t, (size_t)ROWS * COLUMNS);
    reals(&t, COLUMNS);
    ints(&t, COLUMNS, 1);
    finish(&t, do_segments, &s);
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
    vd_copied_words c = {.pairs = {COPIED, 70, at[PAIR_START], at[PAIR_LENGTH], NULL},
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
        list[a] = t->array[ints(t, a < 2 ? COPIED : ANSWERS, 1)].host;
    uint8_t *hit = t->array[add_array(t, PAIRS, false)].host;
    uint8_t *known = t->array[add_array(t, COPIED, false)].host;
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
        trial t = begin("copied words", (uint64_t)has_gate);
        list_places(&t);
        for (size_t a = 0; a < sizeof size / sizeof *size; a++)
            reals(&t, (size_t)size[a]);
        for (int r = 0; r < COPIED; r++) // a probability's
            ((float *)t.array[LOG].host)[r] -= 1;
        for (int k = 0; k < PAIRS; k++) { // many are as large as the sum of those before
            ((float *)t.array[SHARE].host)[k] = fabsf(((float *)t.array[SHARE].host)[k]) / 70;
            ((float *)t.array[OPENED].host)[k] =
                fabsf(roundf(((float *)t.array[OPENED].host)[k] * 2)) / 2;
        }
        finish(&t, do_copying, &context);
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
        trial t = begin("rank", i);
        float *z = t.array[reals(&t, (size_t)n)].host;
        for (int k = 0; k < n; k++)
            z[k] = roundf(z[k] * 400) / 40; // many are equal
        reals(&t, (size_t)n);
        reals(&t, (size_t)n);
        ints(&t, (size_t)n, 1);
        finish(&t, do_rank, &n);
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
    trial t = begin("shares of relevance", 1);
    ints(&t, QUESTIONS, CANDIDATES);
    ints(&t, (size_t)QUESTIONS * CANDIDATES, 1);
    float *relevance = t.array[reals(&t, (size_t)QUESTIONS * CANDIDATES)].host;
    for (int i = 0; i < QUESTIONS * CANDIDATES; i++) // the first question has none
        relevance[i] = i >= CANDIDATES && relevance[i] > 0.5f ? 0.5f : 0;
    reals(&t, (size_t)QUESTIONS * CANDIDATES);
    reals(&t, (size_t)QUESTIONS * CANDIDATES);
    reals(&t, 1);
    finish(&t, do_loss, NULL);
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
        cmocka_unit_test(functions_of_a_number),
        cmocka_unit_test(listed_rows),
        cmocka_unit_test(segments_of_numbers),
        cmocka_unit_test(copied_words),
        cmocka_unit_test(a_tie_covers_what_was_before),
        cmocka_unit_test(ranking_keeps_the_order_of_equal_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
