// Dropout masks of the answers that decoders read: with own masks each candidate of each question
// of a training step has its own, however alike candidates are; else, and without dropout, equal
// ones are alike.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/threads.h"
#include "engine/networks/network.h"
#include "engine/networks/positions.h"
#include "tests/support/must.h"
#include "tests/support/one_directory.h"
#include "tests/support/small_trainer.h"
#include "tests/support/step.h"

// Of the batch below: every question has the same candidates, the first two of which are equal, and
// all begin alike.
enum { N = SMALL_DIALOGS * SMALL_ROUNDS, O = 4, U = 3, TO = 4, H = 32, WORDS = 3 + 3 + 4 + 2 };

static const int32_t candidate[U * TO] = {VD_START, 5,      VD_END,   0,      VD_START, 5,
                                          6,        VD_END, VD_START, VD_END, 0,        0};
static const int32_t candidate_length[U] = {3, 4, 2}, offered[O] = {0, 0, 1, 2};

static vd_batch batch_of_equals(void)
{
    static int32_t option[N * O], truth[N];
    vd_batch b = *small_batch();
    for (int i = 0; i < N * O; i++)
        option[i] = offered[i % O];
    b.candidates = O;
    b.distinct = U;
    b.candidate_width = TO;
    b.candidate = candidate;
    b.candidate_length = candidate_length;
    b.option = option;
    b.truth = truth;
    b.candidate_in = b.candidate_out = candidate;
    return b;
}

typedef struct fixture {
    vd_config config;
    vd_layout layout;
    vd_real block[400000], gradient[400000], sinusoid[VD_MAX_HISTORY * 6];
    vd_weights weights, gradients;
    vd_arena arena;
    vd_batch batch;
    vd_network net;
} fixture;

typedef struct rates {
    vd_real lstm, position;
    bool train, own;
} rates;

static fixture *open_fixture(vd_network_kind network, vd_decoders decoders)
{
    static fixture f;
    vd_rng rng = vd_rng_seed(3, 1);
    f.config = small_config();
    f.config.hidden = H;
    f.config.network = network;
    f.config.decoders = decoders;
    f.batch = batch_of_equals();
    f.arena = (vd_arena){.memory = &vd_memory_host};
    vd_weights_layout(&f.config, &f.layout, f.block, &f.weights);
    assert_true(f.layout.elements <= sizeof f.block / sizeof *f.block);
    vd_weights_layout(&f.config, &f.layout, f.gradient, &f.gradients);
    vd_layout_init(&f.layout, f.block, &rng);
    vd_words_sinusoid(f.sinusoid, VD_MAX_HISTORY, f.config.embed);
    return &f;
}

static void encode(fixture *f, rates r)
{
    vd_error err;
    vd_arena_reset(&f->arena);
    f->net = (vd_network){.pass = {.be = vd_backend_cpu(),
                                   .config = &f->config,
                                   .w = &f->weights,
                                   .dw = r.train ? &f->gradients : NULL,
                                   .sinusoid = f->sinusoid,
                                   .lstm_dropout = r.lstm,
                                   .position_dropout = r.position,
                                   .own_masks = r.own,
                                   .key = 77,
                                   .arena = &f->arena}};
    must(vd_network_encode(&f->net, &f->batch, &err), &err);
}

// How many questions give their first two candidates, which are equal, the same score.
static int equal_scores(fixture *f, rates r)
{
    int equal = 0;
    vd_error err;
    encode(f, r);
    must(vd_discriminative_forward(&f->net, &err), &err);
    for (int n = 0; n < N; n++)
        equal += f->net.scores[n * O] == f->net.scores[n * O + 1];
    return equal;
}

static void equal_candidates_differ_with_own_masks_only(void **state)
{
    (void)state;
    for (int network = VD_NETWORK_MVAN; network < VD_NETWORKS; network++) {
        fixture *f = open_fixture((vd_network_kind)network, VD_DISCRIMINATIVE);
        assert_int_equal(equal_scores(f, (rates){0.5, 0, true, true}), 0);
        assert_int_equal(equal_scores(f, (rates){0, 0.5, true, true}), 0);
        assert_int_equal(equal_scores(f, (rates){0.5, 0.5, true, true}), 0);
        assert_int_equal(equal_scores(f, (rates){0, 0, true, true}), N);
        assert_int_equal(equal_scores(f, (rates){0.5, 0.5, true, false}), N);
        assert_int_equal(equal_scores(f, (rates){0, 0, false, true}), N);
        vd_arena_free(&f->arena);
    }
}

// Without <S> and </S> the last candidate has no words: its vector is zero.
static void bare_candidates_differ_too(void **state)
{
    (void)state;
    fixture *f = open_fixture(VD_NETWORK_LF, VD_DISCRIMINATIVE);
    f->config.boundaries = VD_BOUNDARIES_NONE;
    for (int positions = 0; positions < 2; positions++) {
        assert_int_equal(equal_scores(f, (rates){0.5, positions ? 0.5F : 0, true, true}), 0);
        for (int n = 0; n < N; n++)
            assert_true(f->net.scores[n * O + O - 1] == 0);
    }
    vd_arena_free(&f->arena);
}

// Whether two rows of the second layer's input were dropped at the same places.
static bool same_mask(const vd_real *dropped, int a, int b)
{
    for (int i = 0; i < H; i++)
        if ((dropped[a * H + i] == 0) != (dropped[b * H + i] == 0))
            return false;
    return true;
}

static void assert_own_masks(const vd_recurrent_pass *r, int rows)
{
    assert_int_equal(r->packed[VD_LAYERS - 1]->tokens, rows);
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < a; b++)
            if (same_mask(r->dropped, a, b))
                fail_msg("rows %d and %d of %d have the same mask", b, a, rows);
}

static void every_word_of_every_candidate_has_a_mask(void **state)
{
    (void)state;
    vd_error err;
    fixture *f = open_fixture(VD_NETWORK_LF, VD_DISCRIMINATIVE);
    encode(f, (rates){0.5, 0, true, true});
    must(vd_discriminative_forward(&f->net, &err), &err);
    assert_own_masks(&f->net.candidate.text.recurrent, N * WORDS);
    for (int own = 0; own < 2; own++) { // shared masks; no dropout
        encode(f, (rates){own ? 0 : 0.5F, 0, true, own});
        must(vd_discriminative_forward(&f->net, &err), &err);
        assert_int_equal(f->net.candidate.text.recurrent.packed[VD_LAYERS - 1]->tokens, 6);
    }
    vd_arena_free(&f->arena);
}

static void every_word_of_every_said_answer_has_a_mask(void **state)
{
    (void)state;
    double loss;
    vd_error err;
    fixture *f = open_fixture(VD_NETWORK_LF, VD_GENERATIVE);
    encode(f, (rates){0.5, 0, true, false});
    must(vd_generative_loss(&f->net, NULL, &loss, &err), &err);
    assert_own_masks(&f->net.given.text.recurrent, N * 3);
    vd_arena_free(&f->arena);
}

// ---- runs ---------------------------------------------------------------------------------------

static vd_train_options dropping(void)
{
    vd_train_options options = small_options(5);
    options.lstm_dropout = 0.4;
    options.position_dropout = 0;
    options.own_masks = 1;
    return options;
}

static vd_trainer *wide_trainer(void)
{
    vd_config config = small_config();
    vd_train_options options = dropping();
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    config.hidden = 96;
    config.positions = VD_POSITIONS_NONE;
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    vd_vocab_free(vocab);
    return trainer;
}

static double steps_of_equals(vd_trainer *trainer, int count)
{
    double loss = 0, norm;
    vd_error err;
    vd_batch b = batch_of_equals();
    for (int i = 0; i < count; i++)
        must(step_take(trainer, &b, 1, &loss, &norm, &err), &err);
    return loss + norm;
}

static void threads_do_not_change_a_run(void **state)
{
    (void)state;
    double first = 0;
    for (int threads = 1; threads <= 4; threads++) {
        vd_threads_use(threads);
        vd_trainer *trainer = wide_trainer();
        double found = steps_of_equals(trainer, 3);
        if (threads == 1)
            first = found;
        assert_true(found == first);
        vd_trainer_free(trainer);
    }
    vd_threads_use(0);
}

static void a_resumed_run_is_the_run(void **state)
{
    (void)state;
    vd_error err;
    vd_trainer *whole = wide_trainer(), *half = wide_trainer(), *rest;
    char *path = support_join(directory, "half");
    steps_of_equals(half, 2);
    must(vd_trainer_checkpoint(half, path, &err), &err);
    must(vd_trainer_resume(path, &rest, &err), &err);
    assert_true(steps_of_equals(whole, 4) == steps_of_equals(rest, 2));
    vd_trainer_free(whole);
    vd_trainer_free(half);
    vd_trainer_free(rest);
    free(path);
}

static vd_status start_and_step(void *context, vd_error *err)
{
    vd_config config = small_config();
    vd_train_options options = dropping();
    vd_batch b = batch_of_equals();
    vd_trainer *trainer;
    double loss, norm;
    config.positions = VD_POSITIONS_NONE;
    vd_status status = vd_trainer_new(&config, context, &options, &trainer, err);
    if (status == VD_OK)
        status = step_take(trainer, &b, 1, &loss, &norm, err);
    vd_trainer_free(trainer);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    vd_vocab *vocab = small_vocab();
    assert_true(support_fail_each_allocation(start_and_step, vocab) > 10);
    vd_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_candidates_differ_with_own_masks_only),
        cmocka_unit_test(bare_candidates_differ_too),
        cmocka_unit_test(every_word_of_every_candidate_has_a_mask),
        cmocka_unit_test(every_word_of_every_said_answer_has_a_mask),
        cmocka_unit_test(threads_do_not_change_a_run),
        cmocka_unit_test(a_resumed_run_is_the_run),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
