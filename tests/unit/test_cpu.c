// The CPU backend's faster ways against the plain one: every instruction set, weights in 16 bits,
// any number of threads.
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/backend/arena.h"
#include "engine/backend/backend.h"
#include "engine/backend/cpu/blas.h"
#include "engine/backend/cpu/gemv.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/skinny_gemm.h"
#include "engine/base/threads.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "engine/model/model_private.h"
#include "engine/model/pool.h"
#include "engine/train/trainer.h"
#include "tests/support/must.h"
#include "tests/support/random_model.h"
#include "tests/support/small_batch.h"
#include "tests/support/support.h"

static const char *const SETS[] = {"portable", "avx2", "avx512"};
enum { SET_COUNT = sizeof SETS / sizeof *SETS, MOST = 1 << 16 };

static float x[MOST], w[MOST], y[MOST];
static uint16_t half[MOST];

static void fill(float *numbers, int count, vd_rng *rng)
{
    for (int i = 0; i < count; i++)
        numbers[i] = (float)vd_rng_range(rng, -1, 1);
}

// w as `type` has it, and where it is.
static const void *rounded(vd_dtype type, int count)
{
    for (int i = 0; i < count && type != VD_F32; i++) {
        uint32_t bits;
        memcpy(&bits, &w[i], sizeof bits);
        half[i] = type == VD_F16 ? vd_half_from_float(w[i]) : (uint16_t)(bits >> 16);
        bits = (uint32_t)half[i] << 16;
        if (type == VD_F16)
            w[i] = vd_half_to_float(half[i]);
        else
            memcpy(&w[i], &bits, sizeof bits);
    }
    return type == VD_F32 ? (const void *)w : half;
}

static bool few_rows(const vd_cpu_product *p)
{
    vd_cpu_gemv(p);
    return true;
}

// As many numbers as there are, so that a sanitizer sees what is read behind them.
static void *exactly(const void *numbers, size_t count, size_t size)
{
    void *copy = test_malloc(count * size);
    assert_non_null(copy);
    memcpy(copy, numbers, count * size);
    return copy;
}

static void check_product(bool (*multiply)(const vd_cpu_product *p), vd_dtype type, int m, int n,
                          int k, bool add)
{
    vd_rng rng = vd_rng_seed(3, (uint64_t)(m * 1000 + n * 10 + k));
    int ldx = k + 3, ldw = k + 1, ldy = n + 2;
    fill(x, m * ldx, &rng);
    fill(w, n * ldw, &rng);
    fill(y, m * ldy, &rng);
    float *before = exactly(y, (size_t)(m * ldy), sizeof *y);
    void *weights = exactly(rounded(type, n * ldw), (size_t)(n * ldw - 1),
                            type == VD_F32 ? sizeof *w : sizeof *half);
    float *rows = exactly(x, (size_t)(m * ldx - 3), sizeof *x);
    assert_true(multiply(&(vd_cpu_product){.a = rows,
                                           .b = weights,
                                           .type = type,
                                           .c = y,
                                           .lda = ldx,
                                           .ldb = ldw,
                                           .ldc = ldy,
                                           .m = m,
                                           .n = n,
                                           .k = k,
                                           .beta = add}));
    for (int r = 0; r < m; r++)
        for (int j = 0; j < ldy; j++) {
            double sum = j >= n || add ? (double)before[r * ldy + j] : 0;
            for (int i = 0; j < n && i < k; i++)
                sum += (double)x[r * ldx + i] * (double)w[j * ldw + i];
            if (!(fabs(sum - (double)y[r * ldy + j]) <= 1e-6 * (k + 1)))
                fail_msg("%s, type %d, %dx%dx%d: y[%d][%d] is %.9g, expected %.9g",
                         vd_cpu_instruction_names[vd_cpu_instructions()], type, m, n, k, r, j,
                         (double)y[r * ldy + j], sum);
        }
    test_free(before);
    test_free(weights);
    test_free(rows);
}

static void products_equal_plain_sums(void **state)
{
    const int few[][3] = {{1, 1, 1},   {1, 7, 300},   {2, 5, 16},   {3, 4, 17},  {5, 9, 15},
                          {6, 8, 64},  {7, 13, 33},   {13, 6, 100}, {36, 3, 96}, {4, 6, 3000},
                          {1, 3, 641}, {16, 17, 700}, {37, 9, 1281}};
    // Around the sizes of tiles, groups, blocks and parts.
    const int some[][3] = {{1, 1, 1},     {3, 5, 7},     {7, 12, 192},  {8, 11, 193},
                           {13, 50, 40},  {24, 48, 15},  {25, 49, 384}, {33, 100, 385},
                           {36, 23, 600}, {71, 60, 250}, {100, 7, 30},  {VD_SKINNY_ROWS, 97, 300}};
    const vd_dtype types[] = {VD_F32, VD_F16, VD_BF16};
    (void)state;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s])) {
            print_message("NOT HERE: %s, which this processor lacks\n", SETS[s]);
            continue;
        }
        assert_string_equal(vd_cpu_instruction_names[vd_cpu_instructions()], SETS[s]);
        for (int t = 0; t < 3; t++) {
            for (size_t i = 0; i < sizeof few / sizeof *few; i++)
                check_product(few_rows, types[t], few[i][0], few[i][1], few[i][2], i % 2);
            for (size_t i = 0; i < sizeof some / sizeof *some; i++)
                check_product(vd_cpu_skinny_gemm, types[t], some[i][0], some[i][1], some[i][2],
                              i % 2);
        }
    }
    assert_false(vd_cpu_choose("abacus"));
}

static void check_rows_alone(bool (*multiply)(const vd_cpu_product *p))
{
    enum { M = 100, N = 90, K = 500 };
    static float alone[M * N];
    vd_rng rng = vd_rng_seed(6, 6);
    fill(x, M * K, &rng);
    fill(w, N * K, &rng);
    vd_cpu_product p = {.a = x,
                        .b = w,
                        .type = VD_F32,
                        .c = y,
                        .lda = K,
                        .ldb = K,
                        .ldc = N,
                        .m = M,
                        .n = N,
                        .k = K};
    vd_threads_use(4);
    assert_true(multiply(&p));
    vd_threads_use(1);
    vd_cpu_product row = p;
    row.c = alone;
    assert_true(multiply(&row));
    assert_memory_equal(y, alone, sizeof alone);
    for (row.m = 1; row.m < M; row.m += row.m < 8 ? 1 : 9) {
        row.a = x + (size_t)(M - row.m) * K;
        assert_true(multiply(&row));
        assert_memory_equal(y + (size_t)(M - row.m) * N, alone, (size_t)row.m * N * sizeof *y);
    }
    vd_threads_use(0);
}

static void a_row_is_the_same_whatever_is_beside_it(void **state)
{
    (void)state;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s]))
            continue;
        check_rows_alone(few_rows);
        check_rows_alone(vd_cpu_skinny_gemm);
    }
}

static void too_many_rows_are_refused(void **state)
{
    vd_cpu_product p = {.a = x, .b = w, .type = VD_F32, .c = y, .n = 1};
    (void)state;
    p.m = VD_SKINNY_ROWS + 1;
    p.k = p.lda = p.ldb = 1;
    p.ldc = 1;
    assert_false(vd_cpu_skinny_gemm(&p));
    p.m = VD_SKINNY_ROWS;
    p.k = p.lda = p.ldb = 17000; // more numbers than there is room for
    assert_false(vd_cpu_skinny_gemm(&p));
}

// ---- threads ------------------------------------------------------------------------------------

typedef struct count_job {
    int done[100];
} count_job;

static void count_piece(void *data, int index)
{
    count_job *job = data;
    job->done[index]++;
}

static void count_nested(void *data, int index)
{
    vd_threads_run(100, count_piece, (count_job *)data + index);
}

static void every_piece_is_done_once(void **state)
{
    (void)state;
    static count_job job[4];
    for (int threads = 1; threads <= 4; threads++) {
        vd_threads_use(threads);
        for (int i = 0; i < 200; i++) {
            memset(job, 0, sizeof job);
            vd_threads_run(4, count_nested, job);
            for (int k = 0; k < 400; k++)
                assert_int_equal(job[k / 100].done[k % 100], 1);
        }
    }
    vd_threads_use(0);
}

typedef struct own_job {
    pthread_t own;
    atomic_int by_others;
} own_job;

static void count_others(void *data, int index)
{
    own_job *job = data;
    (void)index;
    if (!pthread_equal(job->own, pthread_self()))
        atomic_fetch_add(&job->by_others, 1);
}

static void *do_alone(void *data)
{
    own_job *job = data;
    job->own = pthread_self();
    vd_threads_alone(true);
    for (int i = 0; i < 200; i++)
        vd_threads_run(1000, count_others, job);
    return NULL;
}

static void a_thread_alone_does_all_pieces(void **state)
{
    own_job job = {.own = pthread_self()};
    pthread_t thread;
    (void)state;
    vd_threads_use(4);
    assert_int_equal(pthread_create(&thread, NULL, do_alone, &job), 0);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&job.by_others), 0);
    vd_threads_use(0);
}

static void the_number_of_threads_changes_no_bit(void **state)
{
    (void)state;
    const vd_backend *be = vd_backend_cpu();
    enum { M = 700, N = 600, K = 300 };
    vd_rng rng = vd_rng_seed(9, 9);
    float *a = vd_alloc(M * K, sizeof *a), *b = vd_alloc(N * K, sizeof *b);
    float *one = vd_alloc(M * N, sizeof *one), *many = vd_alloc(M * N, sizeof *many);
    assert_true(a && b && one && many);
    fill(a, M * K, &rng);
    fill(b, N * K, &rng);
    for (int kind = 0; kind < 4; kind++) {
        bool ta = kind == 2, tb = kind == 0 || kind == 3;
        int m = kind == 3 ? 20 : M;
        for (int t = 0; t < 2; t++) {
            vd_threads_use(t ? 4 : 1);
            vd_multiply(be, ta, tb, m, N, K, a, b, 0, t ? many : one);
            be->dropout(t ? many : one, t ? many : one, (size_t)m * N, 0.25f, 77);
            be->map(VD_RELU, t ? many : one, t ? many : one, (size_t)m * N);
        }
        assert_memory_equal(one, many, (size_t)m * N * sizeof *one);
    }
    vd_threads_use(1);
    double sum = be->square_sum(a, M * K);
    vd_threads_use(3);
    assert_true(sum == be->square_sum(a, M * K));
    vd_threads_use(0);
    vd_free(a);
    vd_free(b);
    vd_free(one);
    vd_free(many);
}

// ---- 16 bits ------------------------------------------------------------------------------------

enum { SCORES = SMALL_DIALOGS * SMALL_ROUNDS * 6 };

// Saves the numbers of `from` in a file of another type and scores the small batch with it.
static void score_as(const vd_model *from, vd_dtype type, const char *path, float *scores)
{
    vd_error err;
    vd_trainer *trainer;
    vd_model *model;
    vd_arena arena = {0};
    vd_train_options options = vd_train_defaults();
    must(vd_trainer_new(vd_model_config(from), vd_model_vocab(from), &options, &trainer, &err),
         &err);
    must(vd_trainer_start_from(trainer, from, &err), &err);
    must(vd_trainer_save_model(trainer, path, (int)type, &err), &err);
    vd_trainer_free(trainer);
    must(vd_model_load(path, &model, &err), &err);
    must(vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, small_batch(),
                         scores, &err),
         &err);
    vd_arena_free(&arena);
    vd_model_free(model);
}

static void a_16_bit_file_answers_as_its_numbers_in_float32(void **state)
{
    (void)state;
    vd_config config = {.vocab = SMALL_VOCAB,
                        .embed = 50,
                        .hidden = 48,
                        .region = SMALL_REGION,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_NONE,
                        .decoders = VD_DISCRIMINATIVE};
    vd_error err;
    char *directory = support_temp_dir(), *path = support_join(directory, "16.safetensors");
    char *again = support_join(directory, "32.safetensors");
    float exact[SCORES], halved[SCORES], widened[SCORES];
    double most = 0, range = 0;
    vd_model *model = support_random_model(&config), *in_halves;
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s]))
            continue;
        score_as(model, VD_F32, again, exact);
        score_as(model, VD_F16, path, halved);
        must(vd_model_load(path, &in_halves, &err), &err);
        score_as(in_halves, VD_F32, again, widened);
        vd_model_free(in_halves);
        for (int i = 0; i < SCORES; i++) {
            assert_true(fabs((double)halved[i] - (double)widened[i]) <= 1e-5);
            most = fmax(most, fabs((double)halved[i] - (double)exact[i]));
            range = fmax(range, fabs((double)exact[i]));
        }
    }
    // Eleven bits of each weight are left: scores keep about that.
    assert_true(most > 0 && most <= 4e-3 * range);
    vd_model_free(model);
    support_remove_tree(directory);
    free(path);
    free(again);
    free(directory);
}

static void score_small(const vd_model *model, float *scores)
{
    vd_error err;
    vd_arena arena = {0};
    must(vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, small_batch(),
                         scores, &err),
         &err);
    vd_arena_free(&arena);
}

static void packed_weights_score_as_before(void **state)
{
    (void)state;
    vd_config config = {.vocab = SMALL_VOCAB,
                        .embed = 50,
                        .hidden = 256,
                        .region = SMALL_REGION,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_NONE,
                        .decoders = VD_DISCRIMINATIVE};
    vd_error err;
    float plain[SCORES], packed[SCORES];
    vd_model *model = support_random_model(&config);
    for (int s = 0; s < SET_COUNT; s++) {
        if (!vd_cpu_choose(SETS[s]))
            continue;
        must(vd_model_use(model, vd_backend_cpu(), &err), &err);
        assert_null(model->weights.view_2.w.packed); // they stay until the model moves
        score_small(model, plain);
        must(vd_model_pack(model, &err), &err);
        must(vd_model_pack(model, &err), &err); // once is enough
        assert_non_null(model->weights.view_2.w.packed);
        assert_non_null(model->weights.region_fused.w.packed);
        score_small(model, packed);
        for (int k = 0; k < SCORES; k++)
            assert_true(fabs((double)plain[k] - (double)packed[k]) <= 1e-5);
    }
    vd_model_free(model);
}

// ---- ranking ------------------------------------------------------------------------------------

static void ranking_is_stable_and_falls(void **state)
{
    (void)state;
    enum { MANY = 50000, FEW = 5000 };
    static float score[MANY], probability[MANY];
    static int32_t order[MANY], scratch[4 * MANY];
    vd_rng rng = vd_rng_seed(4, 4);
    fill(x, MANY, &rng);
    for (int i = 0; i < MANY; i++) // many equal ones, zeros of both signs
        x[i] = i % 5 ? x[i] * 1e3f : (float)(i % 3) * -0.0f;
    for (int n = MANY; n >= FEW; n -= MANY - FEW) { // on two threads, on one
        double sum = 0;
        vd_backend_cpu()->rank(x, n, score, probability, order, scratch);
        for (int i = 1; i < n; i++) {
            float before = score[order[i - 1]], here = score[order[i]];
            assert_true(before > here || (before == here && order[i - 1] < order[i]));
        }
        for (int i = 0; i < n; i++)
            sum += (double)probability[i];
        assert_true(fabs(sum - 1) < 1e-3);
    }
}

// Three steps of torch.optim.Adamax(lr=0.01).
static void adamax_steps_as_pytorch(void **state)
{
    static const float gradient[3][3] = {
        {0.3f, -0.2f, 0}, {-0.1f, -0.4f, 0.5f}, {0.2f, 0.1f, -0.05f}};
    static const double expected[] = {0.4826639186464437, -0.9784715360251381, 1.9917818577648259};
    float weight[] = {0.5f, -1, 2}, first[3] = {0}, largest[3] = {0};
    (void)state;
    for (int step = 0; step < 3; step++)
        vd_backend_cpu()->adamax(weight, gradient[step], first, largest, 3, 1, 0.01,
                                 &vd_moments_usual, step + 1);
    for (int i = 0; i < 3; i++)
        assert_true(fabs((double)weight[i] - expected[i]) < 1e-6);
}

static void openblas_is_told_of_a_newer_processor(void **state)
{
    static const char *const names[SET_COUNT] = {NULL, "Haswell", "SkylakeX"};
    (void)state;
    for (int i = 0; i < SET_COUNT; i++)
        if (vd_cpu_choose(SETS[i])) {
            const char *core = vd_cpu_blas_core("Prescott");
            assert_true(names[i] ? core && strcmp(core, names[i]) == 0 : !core);
            assert_null(vd_cpu_blas_core("Zen"));
        }
}

// A device's memory that counts what is cleared.
static size_t cleared, clearings;

static void *take_dirty(size_t bytes)
{
    void *memory = vd_alloc(1, bytes);
    if (memory)
        memset(memory, 0xff, bytes);
    return memory;
}

static void clear(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
    cleared += bytes;
    clearings++;
}

static void an_arena_clears_many_zeros_at_once(void **state)
{
    enum { COUNT = 3000, SMALL = 100, LARGE = 3 << 20 };
    static const vd_memory device = {.allocate = take_dirty, .release = vd_free, .zero = clear};
    vd_arena arena = {.memory = &device};
    (void)state;
    for (int pass = 0; pass < 3; pass++) {
        cleared = clearings = 0;
        vd_arena_reset(&arena);
        for (int i = 0; i < COUNT; i++) {
            size_t n = i % 1000 == 999 ? LARGE : SMALL;
            vd_real *zeros = vd_arena_zeros(&arena, n);
            assert_non_null(zeros);
            for (size_t k = 0; k < n; k++)
                assert_true(zeros[k] == 0);
            memset(zeros, 0xff, n * sizeof *zeros); // used, and not cleared again
        }
    }
    assert_true(clearings < 20); // not 3,000
    assert_true(cleared < 3 * LARGE * sizeof(vd_real) + (24 << 20));
    vd_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_plain_sums),
        cmocka_unit_test(a_row_is_the_same_whatever_is_beside_it),
        cmocka_unit_test(too_many_rows_are_refused),
        cmocka_unit_test(every_piece_is_done_once),
        cmocka_unit_test(a_thread_alone_does_all_pieces),
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(a_16_bit_file_answers_as_its_numbers_in_float32),
        cmocka_unit_test(packed_weights_score_as_before),
        cmocka_unit_test(adamax_steps_as_pytorch),
        cmocka_unit_test(ranking_is_stable_and_falls),
        cmocka_unit_test(openblas_is_told_of_a_newer_processor),
        cmocka_unit_test(an_arena_clears_many_zeros_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
