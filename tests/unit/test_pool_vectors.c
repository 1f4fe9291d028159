// A pool's vectors: made in pieces, by several threads, sharing what answers begin with.
#include "engine/model/pool.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/network.h"
#include "engine/model/model_private.h"
#include "engine/base/rng.h"
#include "tests/support/random_model.h"
#include "tests/support/support.h"

enum { VOCAB = 24, H = 12, WIDTH = 7, ANSWERS = 3000 };

typedef struct answers {
    vd_model *model;
    int32_t tokens[ANSWERS * WIDTH], lengths[ANSWERS];
} answers;

// Few words and few lengths: many answers begin alike and some are the same; answer 7 is empty.
static int begin(void **state)
{
    static answers a;
    vd_rng rng = vd_rng_seed(1, 1);
    vd_config config = {.vocab = VOCAB,
                        .embed = 6,
                        .hidden = H,
                        .region = 5,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_SINUSOIDAL,
                        .decoders = VD_DISCRIMINATIVE};
    a.model = support_random_model(&config);
    memset(a.tokens, 0, sizeof a.tokens);
    for (int i = 0; i < ANSWERS; i++) {
        a.lengths[i] = i == 7 ? 0 : 2 + vd_rng_below(&rng, WIDTH - 1);
        for (int n = 0; n < a.lengths[i]; n++)
            a.tokens[i * WIDTH + n] = n ? 4 + vd_rng_below(&rng, n < 3 ? 5 : 20)
                                      : n == a.lengths[i] - 1 ? VD_END
                                                              : VD_START;
    }
    *state = &a;
    return 0;
}

static int end(void **state)
{
    vd_model_free(((answers *)*state)->model);
    return 0;
}

static vd_pool *encode(const answers *a, const vd_watch *watch)
{
    vd_pool *pool;
    vd_error err;
    vd_status status =
        vd_pool_new(a->model, a->tokens, a->lengths, ANSWERS, WIDTH, watch, &pool, &err);
    if (status)
        fail_msg("%s", err.text);
    return pool;
}

static const vd_real *vectors_of(const vd_pool *pool)
{
    return vd_matrix_reals(&pool->vectors);
}

static void vectors_are_those_of_answers_read_alone(void **state)
{
    const answers *a = *state;
    vd_pool *pool = encode(a, NULL);
    vd_arena arena = {.memory = &vd_memory_host};
    vd_error err;
    double worst = 0.0;
    for (int i = 0; i < ANSWERS; i++) {
        vd_pass pass;
        vd_text_pass text = {0};
        vd_packed packed;
        vd_real vector[H] = {0};
        vd_arena_reset(&arena);
        vd_model_pass(a->model, &arena, &pass);
        assert_int_equal(vd_packed_make(a->tokens + (size_t)i * WIDTH, &a->lengths[i], 1, WIDTH,
                                        &arena, &packed, &err),
                         VD_OK);
        assert_int_equal(vd_words_forward(&pass, &text, &packed, VD_SITE_CANDIDATE_WORDS, &err),
                         VD_OK);
        assert_int_equal(vd_recurrent_forward(&pass, &text, pass.w->candidate, 1, NULL,
                                              VD_SITE_CANDIDATE_LAYER, &err),
                         VD_OK);
        vd_last_states(pass.be, &packed, 1, H, text.recurrent.y, vector);
        for (int k = 0; k < H; k++)
            worst = fmax(worst,
                         fabs((double)(vector[k] - vectors_of(pool)[(size_t)i * H + (size_t)k])));
    }
    assert_true(worst < 1e-6);
    for (int k = 0; k < H; k++)
        assert_true(vectors_of(pool)[7 * H + k] == 0);
    vd_arena_free(&arena);
    vd_pool_free(pool);
}

// The last token is only for a decoder that says answers.
static void long_answers_are_read_to_where_they_are_cut(void **state)
{
    const answers *a = *state;
    int32_t tokens[2 * VD_MAX_CANDIDATE];
    const int32_t lengths[] = {VD_MAX_CANDIDATE, VD_CUT_CANDIDATE};
    vd_pool *pool;
    vd_error err;
    for (int i = 0; i < 2 * VD_MAX_CANDIDATE; i++)
        tokens[i] = VD_FIRST_WORD + i % VD_MAX_CANDIDATE % 5;
    assert_int_equal(vd_pool_new(a->model, tokens, lengths, 2, VD_MAX_CANDIDATE, NULL, &pool, &err),
                     VD_OK);
    assert_memory_equal(vectors_of(pool), vectors_of(pool) + H, H * sizeof(vd_real));
    vd_pool_free(pool);
}

static void the_same_answers_give_the_same_bits(void **state)
{
    const answers *a = *state;
    vd_pool *first = encode(a, NULL), *again = encode(a, NULL);
    assert_memory_equal(vectors_of(first), vectors_of(again),
                        (size_t)ANSWERS * H * sizeof(vd_real));
    vd_pool_free(first);
    vd_pool_free(again);
}

static void vectors_in_16_bits_are_the_same_but_rounded(void **state)
{
    const answers *a = *state;
    vd_pool *whole = encode(a, NULL), *halved = encode(a, NULL);
    enum { NUMBERS = ANSWERS * H };
    static float numbers[NUMBERS];
    vd_real e[H], z[ANSWERS];
    vd_pool_halve(halved);
    vd_pool_halve(halved); // once is enough
    vd_floats_from_halves(halved->vectors.data, NUMBERS, numbers);
    for (int i = 0; i < NUMBERS; i++)
        assert_true(fabs((double)(numbers[i] - vectors_of(whole)[i])) <=
                    fabs((double)vectors_of(whole)[i]) * 0x1p-11 + 1e-7);
    // Scores are those of what is read back.
    for (int k = 0; k < H; k++)
        e[k] = (vd_real)(k - 5);
    a->model->be->linear(e, &halved->vectors, NULL, z, 1);
    for (int i = 0; i < ANSWERS; i++) {
        double sum = 0;
        for (int k = 0; k < H; k++)
            sum += (double)e[k] * (double)numbers[i * H + k];
        assert_true(fabs(sum - (double)z[i]) < 1e-5);
    }
    vd_pool_free(whole);
    vd_pool_free(halved);
}

static void note(void *user, size_t done)
{
    *(size_t *)user = done;
}

static void work_is_watched_and_can_be_stopped(void **state)
{
    const answers *a = *state;
    size_t done = 0;
    atomic_int stop = 0;
    vd_watch watch = {note, &done, &stop};
    vd_pool *pool = encode(a, &watch);
    assert_int_equal(done, ANSWERS);
    vd_pool_free(pool);
    stop = 1;
    vd_error err;
    assert_int_equal(
        vd_pool_new(a->model, a->tokens, a->lengths, ANSWERS, WIDTH, &watch, &pool, &err),
        VD_INTERRUPTED);
    assert_null(pool);
}

static vd_status encode_some(void *context, vd_error *err)
{
    const answers *a = context;
    vd_pool *pool;
    vd_status status = vd_pool_new(a->model, a->tokens, a->lengths, 100, WIDTH, NULL, &pool, err);
    vd_pool_free(pool);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    const answers *a = *state;
    assert_true(support_fail_each_allocation(encode_some, *state) > 4);
    // Several pieces: memory kept from piece to piece is asked for in one go, and when that fails,
    // in parts, so that not every failure ends the work.
    int failed = 0;
    for (size_t n = 1; n <= 30; n++) {
        vd_pool *pool;
        vd_error err;
        vd_alloc_fail_at(n);
        vd_status status =
            vd_pool_new(a->model, a->tokens, a->lengths, ANSWERS, WIDTH, NULL, &pool, &err);
        vd_alloc_fail_at(0);
        assert_true(status == VD_OK || (status == VD_NO_MEMORY && !pool));
        failed += status != VD_OK;
        vd_pool_free(pool);
    }
    assert_true(failed > 4);
}

// ---- files --------------------------------------------------------------------------------------

static vd_status load(const answers *a, const vd_model *model, const char *path, vd_pool **out,
                      vd_error *err)
{
    return vd_pool_load(model, a->tokens, a->lengths, ANSWERS, WIDTH, path, out, err);
}

static void vectors_come_back_from_a_file(void **state)
{
    const answers *a = *state;
    char *directory = support_temp_dir(), *path = support_join(directory, "pool.vectors");
    vd_pool *made = encode(a, NULL), *loaded;
    vd_error err;
    assert_int_equal(vd_pool_save(made, path, &err), VD_OK);
    assert_int_equal(load(a, a->model, path, &loaded, &err), VD_OK);
    assert_memory_equal(vectors_of(made), vectors_of(loaded),
                        (size_t)ANSWERS * H * sizeof(vd_real));
    // What was loaded can be saved again.
    assert_int_equal(vd_pool_save(loaded, path, &err), VD_OK);
    vd_pool_free(loaded);
    vd_pool_free(made);
    assert_int_equal(load(a, a->model, path, &loaded, &err), VD_OK);
    vd_pool_free(loaded);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

static void vectors_in_16_bits_come_back_from_a_file(void **state)
{
    const answers *a = *state;
    char *directory = support_temp_dir(), *path = support_join(directory, "pool.vectors");
    vd_pool *made = encode(a, NULL), *loaded;
    vd_error err;
    enum { NUMBERS = ANSWERS * H };
    static float before[NUMBERS], after[NUMBERS];
    vd_pool_halve(made);
    assert_int_equal(made->vectors.type, VD_F16);
    vd_floats_from_halves(made->vectors.data, NUMBERS, before);
    assert_int_equal(vd_pool_save(made, path, &err), VD_OK);
    vd_pool_free(made);
    for (int again = 0; again < 2; again++) { // what was loaded can be saved again
        assert_int_equal(load(a, a->model, path, &loaded, &err), VD_OK);
        assert_true(loaded->vectors.type == VD_F16 && loaded->file); // where it lies
        vd_floats_from_halves(loaded->vectors.data, NUMBERS, after);
        assert_memory_equal(before, after, sizeof before);
        assert_int_equal(vd_pool_save(loaded, path, &err), VD_OK);
        vd_pool_free(loaded);
    }
    support_remove_tree(directory);
    free(path);
    free(directory);
}

// Who measures compares scores of few and of many answers; who chats has one pool.
static void only_large_pools_that_are_opened_are_halved(void **state)
{
    const answers *a = *state;
    char *directory = support_temp_dir(), *path = support_join(directory, "pool.vectors");
    static int32_t tokens[VD_LARGE_POOL * WIDTH], lengths[VD_LARGE_POOL];
    vd_pool *pool;
    vd_error err;
    for (size_t i = 0; i < VD_LARGE_POOL; i++) {
        memcpy(tokens + i * WIDTH, a->tokens + i % ANSWERS * WIDTH, WIDTH * sizeof *tokens);
        lengths[i] = a->lengths[i % ANSWERS];
    }
    for (int count = VD_LARGE_POOL - 1; count <= VD_LARGE_POOL; count++) {
        assert_int_equal(vd_pool_new(a->model, tokens, lengths, count, WIDTH, NULL, &pool, &err),
                         VD_OK);
        assert_int_equal(pool->vectors.type, VD_F32);
        vd_pool_free(pool);
        assert_int_equal(
            vd_pool_open(a->model, tokens, lengths, count, WIDTH, path, NULL, &pool, &err), VD_OK);
        assert_int_equal(pool->vectors.type, count >= VD_LARGE_POOL ? VD_F16 : VD_F32);
        vd_pool_free(pool);
    }
    support_remove_tree(directory);
    free(path);
    free(directory);
}

static void vectors_of_something_else_are_refused(void **state)
{
    static answers other;
    const answers *a = *state;
    char *directory = support_temp_dir(), *path = support_join(directory, "pool.vectors");
    vd_pool *made = encode(a, NULL), *pool;
    vd_error err;
    assert_int_equal(vd_pool_save(made, path, &err), VD_OK);
    vd_pool_free(made);
    other = *a;
    other.tokens[5 * WIDTH + 1]++;
    support_refused(load(&other, a->model, path, &pool, &err), VD_MISMATCH, &err, path,
                    "\"answers\" is ", "vectors of other answers, or of another model", NULL);
    assert_null(pool);
    other = *a;
    other.lengths[11]--;
    assert_int_equal(load(&other, a->model, path, &pool, &err), VD_MISMATCH);
    vd_config config = *vd_model_config(a->model);
    config.positions = VD_POSITIONS_NONE;
    vd_model *model = support_random_model(&config);
    support_refused(load(a, model, path, &pool, &err), VD_MISMATCH, &err, path, "\"model\" is ",
                    NULL);
    vd_model_free(model);
    assert_int_equal(load(a, a->model, "nowhere", &pool, &err), VD_NOT_FOUND);
    // A small pool is made anew each time and leaves no file, however slow the machine is.
    char *none = support_join(directory, "none.safetensors");
    assert_int_equal(
        vd_pool_open(a->model, a->tokens, a->lengths, ANSWERS, WIDTH, none, NULL, &pool, &err),
        VD_OK);
    vd_pool_free(pool);
    assert_int_not_equal(access(none, F_OK), 0);
    free(none);
    // Cut anywhere it is no pool; and then it is made anew.
    size_t size;
    char *file = support_read_file(path, &size);
    for (size_t length = 0; length < size; length += size / 9 + 1) {
        support_write_file(path, file, length);
        assert_int_equal(load(a, a->model, path, &pool, &err), VD_FORMAT);
        assert_null(pool);
        assert_int_equal(
            vd_pool_open(a->model, a->tokens, a->lengths, ANSWERS, WIDTH, path, NULL, &pool, &err),
            VD_OK);
        vd_pool_free(pool);
    }
    free(file);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

static vd_status save_and_load(void *context, vd_error *err)
{
    struct {
        const answers *a;
        vd_pool *pool;
        const char *path;
    } *c = context;
    vd_pool *pool;
    vd_status status = vd_pool_save(c->pool, c->path, err);
    if (status == VD_OK)
        status = load(c->a, c->a->model, c->path, &pool, err);
    if (status == VD_OK)
        vd_pool_free(pool);
    return status;
}

static void files_out_of_memory_are_reported(void **state)
{
    char *directory = support_temp_dir(), *path = support_join(directory, "pool.vectors");
    struct {
        const answers *a;
        vd_pool *pool;
        const char *path;
    } c = {*state, encode(*state, NULL), path};
    assert_true(support_fail_each_allocation(save_and_load, &c) > 8);
    assert_int_equal(support_count_entries(directory), 1);
    vd_pool_free(c.pool);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_those_of_answers_read_alone),
        cmocka_unit_test(long_answers_are_read_to_where_they_are_cut),
        cmocka_unit_test(the_same_answers_give_the_same_bits),
        cmocka_unit_test(vectors_in_16_bits_are_the_same_but_rounded),
        cmocka_unit_test(work_is_watched_and_can_be_stopped),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(vectors_come_back_from_a_file),
        cmocka_unit_test(vectors_in_16_bits_come_back_from_a_file),
        cmocka_unit_test(only_large_pools_that_are_opened_are_halved),
        cmocka_unit_test(vectors_of_something_else_are_refused),
        cmocka_unit_test(files_out_of_memory_are_reported),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
