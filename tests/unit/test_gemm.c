// Matrix products of the CPU backend against plain sums: every way they are computed (few rows,
// some, many; packed weights), layout and number format, and results that depend on nothing else.
#include <dlfcn.h>
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
#include "engine/backend/cpu/cpu.h"
#include "engine/backend/cpu/skinny_gemm.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/base/rng.h"

static const char *const SETS[] = {"portable", "avx2", "avx512"};
static const vd_dtype TYPES[] = {VD_F32, VD_F16, VD_BF16};
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

static bool choose(int set)
{
    if (vd_cpu_choose(SETS[set]))
        return true;
    print_message("NOT HERE: %s, which this processor lacks\n", SETS[set]);
    return false;
}

static bool is_open(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library;
}

// ---- what a question needs ----------------------------------------------------------------------

// The largest products of a question: 100 regions, 40 words, a history of 440, and the answers of a
// bundled pool; and then one that shows that OpenBLAS would have been seen.
static void a_question_is_multiplied_without_openblas(void **state)
{
    enum { REGIONS = 100, WIDE = 2648, IN = 2048, WORDS = 40, SAID = 440, E = 300, POOL = 841 };
    const vd_backend *be = vd_backend_cpu();
    float *x = vd_alloc((size_t)WIDE * IN, sizeof *x),
          *y = vd_alloc((size_t)WIDE * WIDE, sizeof *y);
    (void)state;
    assert_true(x && y);
    for (int s = 0; s < SET_COUNT; s++) {
        if (!choose(s))
            continue;
        vd_matrix w = vd_matrix_of(x, IN, WIDE);
        be->linear(x, &w, NULL, y, REGIONS);
        w.type = VD_F16;
        be->linear(x, &w, NULL, y, REGIONS);
        const vd_matrix pool = {x, VD_F16, 384, 96, 96, NULL, 0};
        be->linear(x, &pool, NULL, y, POOL);
        be->pack(&w);
        be->linear(x, &w, NULL, y, REGIONS);
        be->unpack(&w);
        vd_multiply(be, false, true, WORDS, SAID, 512, x, x, 0, y);
        vd_multiply(be, false, false, WORDS, E, SAID, x, x, 0, y);
        vd_multiply(be, false, false, REGIONS, WIDE, WORDS / 2, x, x, 1, y);
    }
    assert_false(is_open());
    vd_multiply(be, false, false, 500, 500, 500, x, x, 0, y);
    if (!is_open())
        print_message("NOT HERE: OpenBLAS\n");
    vd_free(x);
    vd_free(y);
}

// ---- against plain sums -------------------------------------------------------------------------

// c (m, n) = op(a) op(b) + beta c.
typedef struct product {
    bool ta, tb;
    int m, n, k;
    float beta;
    const float *a, *b;
    int lda, ldb, ldc;
    float *c;
} product;

// Row r of op(a) times column j of op(b).
static double plain_sum(const product *p, size_t r, size_t j)
{
    size_t lda = (size_t)p->lda, ldb = (size_t)p->ldb;
    const float *x = p->a + (p->ta ? r : r * lda), *y = p->b + (p->tb ? j * ldb : j);
    size_t x_step = p->ta ? lda : 1, y_step = p->tb ? 1 : ldb;
    double sum = 0;
    for (size_t i = 0; i < (size_t)p->k; i++)
        sum += (double)x[i * x_step] * (double)y[i * y_step];
    return sum;
}

// c after the product is what it was before, plus plain sums; what lies beside it is untouched.
static void expect_product(const product *p, const float *before)
{
    for (int r = 0; r < p->m; r++)
        for (int j = 0; j < p->ldc; j++) {
            size_t here = (size_t)r * (size_t)p->ldc + (size_t)j;
            double was = (double)before[here], found = (double)p->c[here];
            double sum = j < p->n ? plain_sum(p, (size_t)r, (size_t)j) : 0;
            double expected = j >= p->n ? was : p->beta == 0 ? sum : sum + was;
            if (!(fabs(found - expected) <= 1e-6 * (p->k + 1)))
                fail_msg("%s, %d%d, %dx%dx%d: c[%d][%d] is %.9g, expected %.9g",
                         vd_cpu_instruction_names[vd_cpu_instructions()], p->ta, p->tb, p->m, p->n,
                         p->k, r, j, found, expected);
        }
}

static void check_gemm(product p)
{
    vd_rng rng = vd_rng_seed(5, (uint64_t)(p.m * 10000 + p.n * 100 + p.k));
    p.lda = (p.ta ? p.m : p.k) + 3;
    p.ldb = (p.tb ? p.k : p.n) + 1;
    p.ldc = p.n + 2;
    size_t c_size = (size_t)p.m * (size_t)p.ldc;
    float *a = numbers((size_t)(p.ta ? p.k : p.m) * (size_t)p.lda, &rng);
    float *b = numbers((size_t)(p.tb ? p.n : p.k) * (size_t)p.ldb, &rng);
    float *before = numbers(c_size, &rng);
    p.a = a;
    p.b = b;
    p.c = vd_alloc(c_size, sizeof *p.c);
    assert_non_null(p.c);
    memcpy(p.c, before, c_size * sizeof *p.c);
    for (size_t i = 0; p.beta == 0 && i < c_size; i++) // is not read
        p.c[i] = i % (size_t)p.ldc < (size_t)p.n ? NAN : before[i];
    const vd_product one = {p.m, p.n, p.k, a, b, p.c, p.lda, p.ldb, p.ldc};
    vd_backend_cpu()->products(p.ta, p.tb, p.beta, &one, 1);
    expect_product(&p, before);
    vd_free(a);
    vd_free(b);
    vd_free(before);
    vd_free(p.c);
}

static void products_equal_plain_sums(void **state)
{
    // Dot products and small ones, some rows, and those that OpenBLAS gets, in one piece and more.
    const int shape[][3] = {{1, 1, 1},      {5, 15, 3},      {7, 17, 513},    {60, 40, 33},
                            {36, 700, 110}, {144, 200, 90},  {145, 200, 90},  {100, 700, 130},
                            {800, 70, 60},  {300, 20, 1000}, {150, 1100, 14}, {1100, 20, 100}};
    (void)state;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!choose(s))
            continue;
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
            for (int kind = 0; kind < 8; kind++)
                check_gemm((product){.ta = kind & 1,
                                     .tb = kind & 2,
                                     .m = shape[i][0],
                                     .n = shape[i][1],
                                     .k = shape[i][2],
                                     .beta = kind & 4 ? 1 : 0});
    }
}

// ---- weights ------------------------------------------------------------------------------------

// A layer whose weights have one of three types, with those as floats beside it.
typedef struct layer {
    vd_matrix w;
    float *plain, *b;
    uint16_t *half;
} layer;

static layer layer_of(vd_dtype type, int out, int in, vd_rng *rng)
{
    size_t count = (size_t)out * (size_t)in;
    layer l = {.plain = numbers(count, rng), .b = numbers((size_t)out, rng)};
    l.w = vd_matrix_of(l.plain, out, in);
    if (type != VD_F32) {
        l.w.data = l.half = halves(l.plain, type, count);
        l.w.type = type;
    }
    return l;
}

static void layer_free(layer *l)
{
    if (l->w.packed)
        vd_backend_cpu()->unpack(&l->w);
    vd_free(l->half);
    vd_free(l->plain);
    vd_free(l->b);
}

// The layer, and its columns from..from + count - 1, of m rows.
static void expect_layer(const layer *l, const float *x, int m, int from, int count)
{
    size_t n = (size_t)m * (size_t)l->w.rows;
    float *y = vd_alloc(n, sizeof *y), *before = vd_alloc(n, sizeof *before);
    vd_matrix part = vd_matrix_columns(&l->w, from, count);
    product p = {false, true,         m,         l->w.rows, count, 1, x, l->plain + from,
                 count, l->w.columns, l->w.rows, y};
    assert_true(y && before);
    for (size_t i = 0; i < n; i++)
        before[i] = l->b[i % (size_t)l->w.rows];
    vd_backend_cpu()->linear(x, &part, l->b, y, m);
    expect_product(&p, before);
    p.beta = 0;
    vd_backend_cpu()->linear(x, &part, NULL, y, m);
    expect_product(&p, before);
    vd_free(y);
    vd_free(before);
}

static void expect_layers(const layer *l, const float *x)
{
    const int rows[] = {1, 2, 6, 7, 12, 13, 36, 144, 145, 300}, in = l->w.columns;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_layer(l, x, rows[i], 0, in);
        expect_layer(l, x, rows[i], 0, in - in / 3);
        expect_layer(l, x, rows[i], in - in / 3, in / 3);
    }
}

static void layers_equal_plain_sums_in_every_type(void **state)
{
    const int shape[][2] = {{1, 3}, {33, 40}, {130, 700}, {1050, 21}};
    (void)state;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!choose(s))
            continue;
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
            for (int t = 0; t < 3; t++) {
                vd_rng rng = vd_rng_seed(9, i);
                layer l = layer_of(TYPES[t], shape[i][0], shape[i][1], &rng);
                float *x = numbers((size_t)300 * (size_t)shape[i][1], &rng);
                expect_layers(&l, x);
                vd_backend_cpu()->pack(&l.w);
                assert_non_null(l.w.packed);
                expect_layers(&l, x);
                layer_free(&l);
                vd_free(x);
            }
    }
}

// That packed weights are used shows where the others are changed.
static void packed_weights_are_read_where_they_help(void **state)
{
    enum { OUT = 50, IN = 70, ROWS = 36 };
    vd_rng rng = vd_rng_seed(9, 10);
    layer l = layer_of(VD_F32, OUT, IN, &rng);
    float *x = numbers((size_t)ROWS * IN, &rng), y[ROWS * OUT], changed[ROWS * OUT];
    (void)state;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!choose(s))
            continue;
        float kept = l.plain[0];
        vd_backend_cpu()->pack(&l.w);
        vd_backend_cpu()->linear(x, &l.w, NULL, y, ROWS);
        l.plain[0] = 1000;
        vd_backend_cpu()->linear(x, &l.w, NULL, changed, ROWS);
        assert_memory_equal(y, changed, sizeof y);
        vd_backend_cpu()->linear(x, &l.w, NULL, changed, 1);
        assert_true(fabsf(y[0] - changed[0]) > 1);
        assert_true(vd_cpu_choose(SETS[s ? 0 : 1])); // other instructions want another form
        vd_backend_cpu()->linear(x, &l.w, NULL, changed, ROWS);
        assert_true(fabsf(y[0] - changed[0]) > 1);
        l.plain[0] = kept;
        vd_backend_cpu()->unpack(&l.w);
        assert_null(l.w.packed);
    }
    vd_alloc_fail_at(1);
    vd_backend_cpu()->pack(&l.w);
    vd_alloc_fail_at(0);
    assert_null(l.w.packed);
    layer_free(&l);
    vd_free(x);
}

static void the_number_of_threads_changes_no_product(void **state)
{
    enum { MOST = 1300, OUT = 1100, IN = 300 };
    const int rows[] = {3, 36, 200, MOST};
    vd_rng rng = vd_rng_seed(8, 8);
    float *x = numbers((size_t)MOST * IN, &rng);
    float *one = numbers((size_t)MOST * OUT, &rng), *many = numbers((size_t)MOST * OUT, &rng);
    (void)state;
    for (int s = 0; s < SET_COUNT; s++)
        for (int t = 0; t < 3 && choose(s); t++) {
            layer l = layer_of(TYPES[t], OUT, IN, &rng);
            for (int i = 0; i < 8; i++) {
                if (i == 4)
                    vd_backend_cpu()->pack(&l.w);
                vd_threads_use(1);
                vd_backend_cpu()->linear(x, &l.w, l.b, one, rows[i % 4]);
                vd_threads_use(4);
                vd_backend_cpu()->linear(x, &l.w, l.b, many, rows[i % 4]);
                assert_memory_equal(one, many, (size_t)rows[i % 4] * OUT * sizeof *one);
            }
            layer_free(&l);
        }
    vd_threads_use(0);
    vd_free(x);
    vd_free(one);
    vd_free(many);
}

// A row's results with packed weights do not depend on the rows beside it either.
static void a_row_is_the_same_whatever_is_beside_it(void **state)
{
    enum { MOST = 100, OUT = 90, IN = 500 };
    vd_rng rng = vd_rng_seed(6, 6);
    layer l = layer_of(VD_BF16, OUT, IN, &rng);
    float *x = numbers((size_t)MOST * IN, &rng), all[MOST * OUT], some[MOST * OUT];
    (void)state;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!choose(s))
            continue;
        vd_backend_cpu()->pack(&l.w);
        vd_backend_cpu()->linear(x, &l.w, NULL, all, MOST);
        for (int m = 7; m < MOST; m += m < 40 ? 1 : 9) {
            vd_backend_cpu()->linear(x + (size_t)(MOST - m) * IN, &l.w, NULL, some, m);
            assert_memory_equal(some, all + (size_t)(MOST - m) * OUT,
                                (size_t)m * OUT * sizeof *all);
        }
        vd_backend_cpu()->unpack(&l.w);
    }
    layer_free(&l);
    vd_free(x);
}

// ---- without memory -----------------------------------------------------------------------------

typedef struct lean_job {
    layer l;
    float *x, *y;
    bool skinny;
} lean_job;

enum { LEAN_ROWS = 200, LEAN_OUT = 300, LEAN_IN = 90 };

// A thread of its own has no scratch memory yet, and gets none.
static void *without_memory(void *data)
{
    lean_job *j = data;
    struct rlimit usual, none;
    getrlimit(RLIMIT_AS, &usual);
    none = usual;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_AS, &none);
    vd_threads_alone(true);
    j->skinny = vd_cpu_skinny_gemm(&(vd_cpu_product){.a = j->x,
                                                     .b = j->l.w.data,
                                                     .type = j->l.w.type,
                                                     .c = j->y,
                                                     .lda = LEAN_IN,
                                                     .ldb = LEAN_IN,
                                                     .ldc = LEAN_OUT,
                                                     .m = 20,
                                                     .n = LEAN_OUT,
                                                     .k = LEAN_IN});
    vd_backend_cpu()->linear(j->x, &j->l.w, j->l.b, j->y, LEAN_ROWS);
    setrlimit(RLIMIT_AS, &usual);
    return NULL;
}

static void products_need_no_memory(void **state)
{
    vd_rng rng = vd_rng_seed(9, 11);
    lean_job j = {.l = layer_of(VD_F16, LEAN_OUT, LEAN_IN, &rng),
                  .x = numbers((size_t)LEAN_ROWS * LEAN_IN, &rng),
                  .y = numbers((size_t)LEAN_ROWS * LEAN_OUT, &rng),
                  .skinny = true};
    float *expected = numbers((size_t)LEAN_ROWS * LEAN_OUT, &rng);
    pthread_t thread;
    (void)state;
    vd_backend_cpu()->linear(j.x, &j.l.w, j.l.b, expected, LEAN_ROWS);
    assert_int_equal(pthread_create(&thread, NULL, without_memory, &j), 0);
    pthread_join(thread, NULL);
    assert_false(j.skinny);
    for (size_t i = 0; i < (size_t)LEAN_ROWS * LEAN_OUT; i++)
        assert_true(fabsf(expected[i] - j.y[i]) <= 1e-4f);
    layer_free(&j.l);
    vd_free(j.x);
    vd_free(j.y);
    vd_free(expected);
    assert_null(vd_cpu_scratch(VD_SCRATCH_FLOATS + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_multiplied_without_openblas), // first: nothing has opened it
        cmocka_unit_test(products_equal_plain_sums),
        cmocka_unit_test(layers_equal_plain_sums_in_every_type),
        cmocka_unit_test(packed_weights_are_read_where_they_help),
        cmocka_unit_test(the_number_of_threads_changes_no_product),
        cmocka_unit_test(a_row_is_the_same_whatever_is_beside_it),
        cmocka_unit_test(products_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
