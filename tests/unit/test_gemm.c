// Large matrix products on packed panels: every shape of edge, layout and number format against
// plain sums, held weights, and results that depend on nothing else.
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/backend/backend.h"
#include "engine/base/threads.h"
#include "engine/backend/cpu/gemm.h"
#include "engine/backend/cpu/fp16_weights.h"
#include "engine/backend/cpu/skinny_gemm.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_weights.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"

static const char *const SETS[] = {"avx2", "avx512"};
enum { SET_COUNT = sizeof SETS / sizeof *SETS };

static float *numbers(size_t count, vd_rng *rng)
{
    float *x = vd_alloc(count, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)vd_rng_range(rng, -1, 1);
    return x;
}

// x as `type` has it, where x stays as it is then.
static uint16_t *halves(float *x, vd_dtype type, size_t count)
{
    uint16_t *half = vd_alloc(count, sizeof *half);
    assert_non_null(half);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        half[i] = type == VD_F16 ? vd_half_from_float(x[i]) : (uint16_t)(bits >> 16);
        bits = (uint32_t)half[i] << 16;
        if (type == VD_F16)
            x[i] = vd_half_to_float(half[i]);
        else
            memcpy(&x[i], &bits, sizeof bits);
    }
    return half;
}

static float at(const float *x, bool transposed, int ld, int r, int c)
{
    return transposed ? x[(size_t)c * (size_t)ld + (size_t)r]
                      : x[(size_t)r * (size_t)ld + (size_t)c];
}

// c after the product is what it was before, plus plain sums; what lies beside it is untouched.
static void expect_product(const vd_gemm *p, const float *b, const float *before)
{
    for (int r = 0; r < p->m; r++)
        for (int j = 0; j < p->ldc; j++) {
            double was = (double)before[r * p->ldc + j], sum = 0;
            for (int i = 0; j < p->n && i < p->k; i++)
                sum += (double)at(p->a, p->ta, p->lda, r, i) * (double)at(b, p->tb, p->ldb, i, j);
            double expected = j < p->n ? (double)p->alpha * sum + (double)p->beta * was : was;
            double found = (double)p->c[r * p->ldc + j];
            if (!(fabs(found - expected) <= 1e-6 * (p->k + 1)))
                fail_msg("%s, %d%d, type %d, %dx%dx%d: c[%d][%d] is %.9g, expected %.9g",
                         vd_backend_cpu_instructions(), p->ta, p->tb, p->type, p->m, p->n, p->k, r,
                         j, found, expected);
        }
}

static void check(vd_gemm p)
{
    vd_rng rng = vd_rng_seed(5, (uint64_t)(p.m * 10000 + p.n * 100 + p.k));
    p.lda = (p.ta ? p.m : p.k) + 3;
    p.ldb = (p.tb ? p.k : p.n) + 1;
    p.ldc = p.n + 2;
    size_t a_size = (size_t)(p.ta ? p.k : p.m) * (size_t)p.lda;
    size_t b_size = (size_t)(p.tb ? p.n : p.k) * (size_t)p.ldb;
    size_t c_size = (size_t)p.m * (size_t)p.ldc;
    float *a = numbers(a_size, &rng), *b = numbers(b_size, &rng), *before = numbers(c_size, &rng);
    void *half = p.type == VD_F32 ? NULL : halves(b, p.type, b_size);
    p.a = a;
    p.b = half ? half : b;
    p.c = vd_alloc(c_size, sizeof *p.c);
    assert_non_null(p.c);
    memcpy(p.c, before, c_size * sizeof *p.c);
    if (p.beta == 0) // is not read
        for (size_t i = 0; i < c_size; i++)
            p.c[i] = i % (size_t)p.ldc < (size_t)p.n ? NAN : before[i];
    assert_true(vd_cpu_gemm(&p));
    expect_product(&p, b, before);
    vd_free(a);
    vd_free(b);
    vd_free(before);
    vd_free(half);
    vd_free(p.c);
}

static void products_equal_plain_sums(void **state)
{
    // A tile is 6 x 16 or 14 x 32, a block 144 x 256 x 512 or 384, or four tiles
    // wide where it is one of rows, a round 3072 x 4096.
    const int shape[][3] = {{1, 1, 1},      {6, 16, 384},   {14, 32, 8},     {5, 15, 3},
                            {7, 17, 385},   {7, 17, 513},   {13, 31, 1030},  {143, 40, 33},
                            {145, 257, 40}, {289, 33, 60},  {36, 130, 50},   {3085, 18, 5},
                            {2, 4200, 6},   {150, 4100, 4}, {300, 20, 1000}, {128, 9, 12288},
                            {64, 9, 24576}};
    const vd_dtype types[] = {VD_F32, VD_F16, VD_BF16};
    const float factors[][2] = {{1, 0}, {1, 1}, {0.5f, 0}, {-1, 0.25f}};
    (void)state;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s])) {
            print_message("NOT HERE: %s, which this processor lacks\n", SETS[s]);
            continue;
        }
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
            for (int kind = 0; kind < 6; kind++)
                check((vd_gemm){.ta = kind % 2,
                                .tb = kind >= 2,
                                .m = shape[i][0],
                                .n = shape[i][1],
                                .k = shape[i][2],
                                .type = kind >= 4 ? types[kind - 3] : VD_F32,
                                .alpha = factors[(i + (size_t)kind) % 4][0],
                                .beta = factors[(i + (size_t)kind) % 4][1]});
    }
}

// c (m, n) = a b^T, as a layer multiplies.
static vd_gemm layer(const float *a, const float *b, float *c, int m, int n, int k)
{
    return (vd_gemm){.tb = true,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = 1,
                     .a = a,
                     .lda = k,
                     .b = b,
                     .type = VD_F32,
                     .ldb = k,
                     .c = c,
                     .ldc = n};
}

static void a_product_is_the_same_whatever_is_beside_it(void **state)
{
    (void)state;
    enum { M = 400, N = 700, K = 500, FEW = 9 };
    vd_rng rng = vd_rng_seed(8, 8);
    float *a = numbers(M * K, &rng), *b = numbers(N * K, &rng), *c = numbers(M * N, &rng);
    float *other = numbers(M * N, &rng);
    vd_gemm p = layer(a, b, c, M, N, K);
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s]))
            continue;
        vd_threads_use(1);
        p.c = c;
        p.m = M;
        assert_true(vd_cpu_gemm(&p));
        vd_threads_use(4);
        p.c = other;
        assert_true(vd_cpu_gemm(&p));
        assert_memory_equal(c, other, M * N * sizeof *c);
        p.m = FEW;
        assert_true(vd_cpu_gemm(&p));
        assert_memory_equal(c, other, FEW * N * sizeof *c);
    }
    vd_threads_use(0);
    vd_free(a);
    vd_free(b);
    vd_free(c);
    vd_free(other);
}

static void held_weights_are_copied_once(void **state)
{
    (void)state;
    enum { M = 30, N = 90, K = 400, LARGE = 5000 };
    vd_rng rng = vd_rng_seed(7, 7);
    float *a = numbers(M * LARGE, &rng), *b = numbers(LARGE * K, &rng);
    float *c = numbers(M * LARGE, &rng), *before = numbers(M * LARGE, &rng);
    vd_gemm p = layer(a, b, c, M, N, K);
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s]))
            continue;
        assert_false(vd_cpu_gemm_holds(b));
        vd_cpu_gemm_hold(b);
        assert_true(vd_cpu_gemm_holds(b) && !vd_cpu_gemm_holds(a));
        p.held = true;
        for (int m = M; m > 0; m -= 7) {
            p.m = m;
            assert_true(vd_cpu_gemm(&p));
            expect_product(&p, b, before);
        }
        // It shows that there was a copy, and that another matrix of them is another copy.
        float kept = b[0];
        b[0] = 300;
        assert_true(vd_cpu_gemm(&p));
        assert_true(fabsf(c[0]) < 100);
        p.n = N - 1;
        p.ldc = N - 1;
        assert_true(vd_cpu_gemm(&p));
        expect_product(&p, b, before);
        b[0] = kept;
        vd_cpu_gemm_hold(b);
        p.n = p.ldc = N;
        assert_true(vd_cpu_gemm(&p));
        expect_product(&p, b, before);
        p.n = p.ldc = LARGE; // too large to be held
        p.m = 3;
        assert_true(vd_cpu_gemm(&p));
        expect_product(&p, b, before);
        vd_cpu_gemm_hold(NULL);
        assert_false(vd_cpu_gemm_holds(b));
        p.n = p.ldc = N;
        p.m = M;
    }
    vd_free(a);
    vd_free(b);
    vd_free(c);
    vd_free(before);
}

// ---- copies made before -------------------------------------------------------------------------

// Two matrices one after the other, as a gated layer has them, then numbers, then another.
enum { OUT = 64, IN = 700, BETWEEN = 5, LAST = 90, LAST_IN = 33 };
enum { PAIR = 2 * OUT * IN, SECOND = PAIR + BETWEEN, BLOCK = SECOND + LAST * LAST_IN };

static vd_cpu_panels *copies_of(const float *block)
{
    const vd_matrix matrix[] = {
        {block, OUT, IN}, {block + OUT * IN, OUT, IN}, {block + SECOND, LAST, LAST_IN}};
    vd_cpu_panels *copies;
    return vd_cpu_panels_new(matrix, 3, &copies, NULL) == VD_OK ? copies : NULL;
}

// The backend's product of m rows with (n, k) weights at w + from, those of float32 at `plain`.
static void expect_layer(const float *w, const float *plain, const float *a, int m, int n, int k,
                         int from, int ldw)
{
    enum { MOST_ROWS = 200 };
    static float c[MOST_ROWS * 2 * OUT], before[MOST_ROWS * 2 * OUT];
    vd_gemm p = layer(a, w, c, m, n, k);
    p.ldb = ldw;
    assert_true(m <= MOST_ROWS && n <= 2 * OUT);
    vd_backend_cpu()->gemm(false, true, m, n, k, 1, a, k, w + from, ldw, 0, c, n);
    expect_product(&p, plain + from, before);
}

static void check_copies(const float *w, const float *plain, const float *a)
{
    for (int m = 1; m <= 200; m += m < 8 ? 1 : 64) {
        expect_layer(w, plain, a, m, OUT, IN, 0, IN);
        expect_layer(w, plain, a, m, 2 * OUT, IN, 0, IN);       // both at once
        expect_layer(w, plain, a, m, 2 * OUT, IN - 300, 0, IN); // of some inputs
        expect_layer(w, plain, a, m, 2 * OUT, 300, IN - 300, IN);
        expect_layer(w, plain, a, m, LAST, LAST_IN, SECOND, LAST_IN);
    }
}

// Numbers of `type` that are copied, and both forms of them.
static void multiply_with_copies(vd_dtype type, const float *a, vd_rng *rng)
{
    size_t apart;
    float *plain = numbers(BLOCK, rng), *w = plain;
    uint16_t *half = type == VD_F32 ? NULL : halves(plain, type, BLOCK);
    if (half)
        w = vd_cpu_halves_new(half, type, BLOCK);
    vd_cpu_panels *copies = copies_of(w);
    assert_non_null(copies);
    check_copies(w, plain, a);
    vd_cpu_panels_free(copies);
    assert_null(vd_cpu_panels_find(w, OUT, IN, &apart));
    check_copies(w, plain, a);
    if (half)
        vd_cpu_halves_free(w);
    vd_free(half);
    vd_free(plain);
}

static void copies_multiply_as_the_weights_do(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(9, 9);
    float *a = numbers(200 * IN, &rng);
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s]))
            continue;
        multiply_with_copies(VD_F32, a, &rng);
        multiply_with_copies(VD_F16, a, &rng);
        multiply_with_copies(VD_BF16, a, &rng);
    }
    vd_free(a);
}

static void copies_are_found_where_panels_begin(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(9, 10);
    float *w = numbers(BLOCK, &rng);
    size_t apart = 0;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s]))
            continue;
        vd_cpu_panels *copies = copies_of(w);
        const int width = vd_cpu_gemm_width();
        const float *first = vd_cpu_panels_find(w, OUT, IN, &apart);
        assert_non_null(first);
        assert_int_equal(apart, IN * width);
        for (int r = 0; r < width; r++)
            for (int k = 0; k < IN; k++)
                assert_true(first[k * width + r] == w[r * IN + k]);
        assert_ptr_equal(vd_cpu_panels_find(w + OUT * IN + 7, OUT, IN, &apart),
                         first + OUT * IN + 7 * width);
        assert_non_null(vd_cpu_panels_find(w + SECOND, LAST, LAST_IN, &apart));
        assert_null(vd_cpu_panels_find(w + IN, OUT, IN, &apart));       // within a panel
        assert_null(vd_cpu_panels_find(w, OUT, IN - 1, &apart));        // other rows
        assert_null(vd_cpu_panels_find(w, 2 * OUT + 1, IN, &apart));    // more of them
        assert_null(vd_cpu_panels_find(w + PAIR, 1, IN, &apart));       // between matrices
        assert_null(vd_cpu_panels_find(w + BLOCK, 1, LAST_IN, &apart)); // behind them
        assert_true(vd_cpu_choose("portable"));
        assert_null(vd_cpu_panels_find(w, OUT, IN, &apart)); // another form
        assert_null(copies_of(w));
        vd_cpu_panels_free(copies);
    }
    vd_cpu_panels *copies;
    assert_int_equal(vd_cpu_panels_new(NULL, 0, &copies, NULL), VD_OK);
    assert_null(copies);
    vd_cpu_panels_free(NULL);
    vd_free(w);
}

static void without_memory_there_are_no_copies(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(9, 11);
    float *w = numbers(BLOCK, &rng);
    vd_cpu_panels *copies = NULL;
    size_t apart, failed = 0;
    assert_true(vd_cpu_choose(SETS[0]));
    while (!copies) {
        vd_alloc_fail_at(++failed);
        copies = copies_of(w);
        vd_alloc_fail_at(0);
        assert_true(copies || !vd_cpu_panels_find(w, OUT, IN, &apart));
    }
    assert_int_equal(failed, 4); // three allocations, each of which may fail
    vd_cpu_panels_free(copies);
    vd_free(w);
}

// A thread of its own has no panels yet.
static void *without_memory(void *done)
{
    float x = 1, y = 2, z = 3;
    struct rlimit usual, none;
    getrlimit(RLIMIT_AS, &usual);
    none = usual;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_AS, &none);
    *(bool *)done = vd_cpu_gemm(&(vd_gemm){.m = 1,
                                           .n = 1,
                                           .k = 1,
                                           .alpha = 1,
                                           .a = &x,
                                           .lda = 1,
                                           .b = &y,
                                           .type = VD_F32,
                                           .ldb = 1,
                                           .c = &z,
                                           .ldc = 1});
    *(bool *)done |= vd_cpu_some_rows(&(vd_few_rows){.x = &x,
                                                     .w = &y,
                                                     .type = VD_F32,
                                                     .y = &z,
                                                     .ldx = 1,
                                                     .ldw = 1,
                                                     .ldy = 1,
                                                     .m = 1,
                                                     .n = 1,
                                                     .k = 1});
    setrlimit(RLIMIT_AS, &usual);
    return z == 3 ? done : NULL;
}

static void without_memory_nothing_is_done(void **state)
{
    (void)state;
    pthread_t thread;
    void *untouched;
    bool done = true;
    assert_int_equal(pthread_create(&thread, NULL, without_memory, &done), 0);
    pthread_join(thread, &untouched);
    assert_false(done);
    assert_non_null(untouched);
}

static void other_processors_have_none(void **state)
{
    float x = 1, y = 2, z = 3;
    (void)state;
    assert_true(vd_cpu_choose("portable"));
    assert_false(vd_cpu_gemm(&(vd_gemm){.m = 1,
                                        .n = 1,
                                        .k = 1,
                                        .alpha = 1,
                                        .a = &x,
                                        .lda = 1,
                                        .b = &y,
                                        .type = VD_F32,
                                        .ldb = 1,
                                        .c = &z,
                                        .ldc = 1}));
    assert_true(z == 3);
    vd_cpu_gemm_hold(&y);
    assert_false(vd_cpu_gemm_holds(&y));
    vd_cpu_gemm_hold(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_plain_sums),
        cmocka_unit_test(a_product_is_the_same_whatever_is_beside_it),
        cmocka_unit_test(held_weights_are_copied_once),
        cmocka_unit_test(copies_multiply_as_the_weights_do),
        cmocka_unit_test(copies_are_found_where_panels_begin),
        cmocka_unit_test(without_memory_there_are_no_copies),
        cmocka_unit_test(without_memory_nothing_is_done),
        cmocka_unit_test(other_processors_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
