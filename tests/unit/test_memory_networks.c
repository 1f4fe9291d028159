// What networks with memories promise beside what all do (test_encoders.c): what the order of
// entries and the round they are read in change.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/encoder.h"
#include "engine/networks/network.h"
#include "engine/networks/parts.h"
#include "tests/support/must.h"
#include "tests/support/small_trainer.h"
#include "tests/support/step.h"
#include "tests/support/support.h"

enum { R = 4, P = 3, D = SMALL_REGION, T = 5, MOST_H = 16 };

// One dialog.
typedef struct talk {
    float image[P * D];
    int32_t question[R * T], question_length[R], history[R * T], history_length[R], truth[R];
} talk;

static void fill(vd_rng *rng, int32_t *ids, int32_t *lengths)
{
    for (int r = 0; r < R; r++) {
        lengths[r] = 2 + vd_rng_below(rng, T - 1);
        for (int i = 0; i < T; i++)
            ids[r * T + i] = i < lengths[r] ? 1 + vd_rng_below(rng, SMALL_VOCAB - 1) : 0;
    }
}

static talk make_talk(uint64_t seed)
{
    talk t = {0};
    vd_rng rng = vd_rng_seed(seed, 3);
    for (int i = 0; i < P * D; i++)
        t.image[i] = (float)vd_rng_range(&rng, 0.1, 1);
    fill(&rng, t.question, t.question_length);
    fill(&rng, t.history, t.history_length);
    for (int r = 0; r < R; r++)
        t.truth[r] = -1;
    return t;
}

static void swap_entries(talk *t, int a, int b)
{
    int32_t kept[T], length = t->history_length[a];
    memcpy(kept, t->history + a * T, sizeof kept);
    memcpy(t->history + a * T, t->history + b * T, sizeof kept);
    memcpy(t->history + b * T, kept, sizeof kept);
    t->history_length[a] = t->history_length[b];
    t->history_length[b] = length;
}

static void ask_again(talk *t, int from, int to)
{
    memcpy(t->question + to * T, t->question + from * T, T * sizeof *t->question);
    t->question_length[to] = t->question_length[from];
}

// A network with random weights, and the last pass through it.
typedef struct room {
    vd_config config;
    vd_layout layout;
    vd_weights weights;
    vd_real *block;
    vd_arena arena;
    vd_network net;
} room;

static void open_room(room *r, vd_network_kind network, vd_tying tying, int hops)
{
    vd_rng rng = vd_rng_seed(5, 2);
    *r = (room){.config = small_config()};
    r->config.network = network;
    r->config.positions = VD_POSITIONS_NONE;
    r->config.tying = tying;
    r->config.hops = hops;
    vd_weights_layout(&r->config, &r->layout, NULL, NULL);
    r->block = vd_alloc(r->layout.elements, sizeof *r->block);
    vd_layout_init(&r->layout, r->block, &rng);
    for (size_t i = 0; i < r->layout.elements; i++)
        r->block[i] += (vd_real)(0.2 * vd_rng_normal(&rng));
    vd_weights_layout(&r->config, &r->layout, r->block, &r->weights);
}

static void close_room(room *r)
{
    vd_free(r->block);
    vd_arena_free(&r->arena);
}

static vd_real *numbers_of(const room *r, const char *name)
{
    const vd_parameter *p = vd_layout_find(&r->layout, name);
    assert_non_null(p);
    return r->block + p->offset;
}

static void forget_ages(room *r)
{
    for (int k = 0; k < r->layout.count; k++) {
        const vd_parameter *p = &r->layout.parameter[k];
        if (strstr(p->name, ".memory.time."))
            memset(r->block + p->offset, 0, p->elements * sizeof *r->block);
    }
}

// e of the questions.
static const vd_real *encode(room *r, const talk *t)
{
    const vd_batch batch = {.dialogs = 1,
                            .rounds = R,
                            .regions = P,
                            .question_width = T,
                            .history_width = T,
                            .image = t->image,
                            .question = t->question,
                            .question_length = t->question_length,
                            .history = t->history,
                            .history_length = t->history_length,
                            .truth = t->truth};
    vd_error err;
    vd_arena_reset(&r->arena);
    r->net = (vd_network){
        .pass = {
            .be = vd_backend_cpu(), .config = &r->config, .w = &r->weights, .arena = &r->arena}};
    must(vd_network_encode(&r->net, &batch, &err), &err);
    return r->net.pass.encoded;
}

// How far e of the last question moves when two entries change places.
static double moved_by_order(room *r)
{
    talk t = make_talk(1);
    int h = r->config.hidden;
    vd_real before[MOST_H];
    double most = 0;
    memcpy(before, encode(r, &t) + (R - 1) * h, (size_t)h * sizeof *before);
    swap_entries(&t, 0, 2);
    const vd_real *after = encode(r, &t) + (R - 1) * h;
    for (int i = 0; i < h; i++)
        most = fmax(most, fabs((double)(after[i] - before[i])));
    return most;
}

static void only_its_age_says_where_an_entry_of_memn2n_stood(void **state)
{
    static room r;
    (void)state;
    for (int tying = VD_TYING_ADJACENT; tying <= VD_TYING_LAYER_WISE; tying++) {
        open_room(&r, VD_NETWORK_MEMN2N, (vd_tying)tying, 0);
        assert_true(moved_by_order(&r) > 1e-3);
        forget_ages(&r);
        assert_true(moved_by_order(&r) < 1e-6);
        close_room(&r);
    }
}

// With one hop both kinds of tying are the same, but for H.
static void one_hop_has_no_other_to_share_with(void **state)
{
    static room adjacent, shared;
    talk t = make_talk(2);
    (void)state;
    open_room(&adjacent, VD_NETWORK_MEMN2N, VD_TYING_ADJACENT, 1);
    open_room(&shared, VD_NETWORK_MEMN2N, VD_TYING_LAYER_WISE, 1);
    int e = shared.config.embed, h = shared.config.hidden;
    for (int k = 0; k < adjacent.layout.count; k++) {
        const vd_parameter *p = &adjacent.layout.parameter[k];
        memcpy(numbers_of(&shared, p->name), adjacent.block + p->offset,
               p->elements * sizeof *shared.block);
    }
    vd_real *between = numbers_of(&shared, "encoder.memory.between.weight");
    for (int i = 0; i < e * e; i++)
        between[i] = i % (e + 1) == 0;
    const vd_real *found = encode(&shared, &t), *expected = encode(&adjacent, &t);
    for (int i = 0; i < R * h; i++)
        assert_true(fabs((double)(found[i] - expected[i])) < 1e-6);
    close_room(&adjacent);
    close_room(&shared);
}

// The share of entry 0 beside that of entry 1, in the first look of a question at the rounds.
static double first_beside_second(const room *r, int question)
{
    const vd_shown *s = r->net.pass.tape->shown;
    while (s && strcmp(s->name, "rounds") != 0)
        s = s->next;
    assert_non_null(s);
    const vd_real *share = s->value->x + s->value->pairing->queries.start[question];
    return (double)share[0] / (double)share[1];
}

// How far that changes from round 1 to round 3, for the same question.
static double moved_by_round(room *r)
{
    talk t = make_talk(3);
    ask_again(&t, 1, 3);
    encode(r, &t);
    return fabs(first_beside_second(r, 1) / first_beside_second(r, 3) - 1);
}

// dmn reads the entries backwards, too, from the newest on: so facts depend on the round. A memory
// of memn2n is the entry's own.
static void facts_of_dmn_depend_on_the_round(void **state)
{
    static room r;
    (void)state;
    open_room(&r, VD_NETWORK_DMN, VD_TYING_ADJACENT, 0);
    assert_true(moved_by_round(&r) > 1e-3);
    close_room(&r);
    open_room(&r, VD_NETWORK_MEMN2N, VD_TYING_ADJACENT, 0);
    forget_ages(&r);
    assert_true(moved_by_round(&r) < 1e-5);
    close_room(&r);
}

// ---- memn2n in training -------------------------------------------------------------------------

enum { PAIRS = R * (R + 1) / 2 };

// Of what each question sees, oldest first; the table's rows are their numbers.
static void read_ages(room *r, vd_real random, int ages[PAIRS])
{
    static vd_real nothing[R * MOST_H];
    vd_pass *pass = &r->net.pass;
    vd_inputs in = {.config = &r->config,
                    .span = &pass->span,
                    .question_words = &pass->question_words,
                    .history_words = &pass->history_words};
    const vd_value *none =
        vd_tape_constant(pass->tape, VD_AXIS_ENTRIES, nothing, R, r->config.embed);
    const vd_value *y =
        vd_aged_entries(pass->tape, &in, none, "encoder.memory.time.0.weight", random);
    assert_int_equal(y->rows, PAIRS);
    for (int i = 0; i < PAIRS; i++)
        ages[i] = (int)y->x[i * y->columns];
}

// Entries stay in order; at most the asked share of them, rounded up, is skipped, in every table
// the same.
static void random_time_skips_some_ages(void **state)
{
    static room r;
    talk t = make_talk(4);
    int skipped = 0, plain[PAIRS], ages[PAIRS], again[PAIRS];
    (void)state;
    open_room(&r, VD_NETWORK_MEMN2N, VD_TYING_ADJACENT, 0);
    vd_real *time = numbers_of(&r, "encoder.memory.time.0.weight");
    for (int age = 0, i = 0; age < 64; age++)
        for (int n = 0; n < r.config.embed; n++)
            time[i++] = (vd_real)age;
    for (uint64_t key = 0; key < 40; key++) {
        encode(&r, &t);
        r.net.pass.tape->key = key;
        read_ages(&r, 0, plain);
        read_ages(&r, (vd_real)1 / 3, ages);
        read_ages(&r, (vd_real)1 / 3, again);
        assert_memory_equal(ages, again, sizeof ages);
        for (int n = 0, i = 0; n < R; n++)
            for (int entry = 0; entry <= n; entry++, i++) {
                assert_int_equal(plain[i], n - entry);
                assert_true(entry == 0 || ages[i] < ages[i - 1]);
                assert_in_range(ages[i] - plain[i], 0, (n + 3) / 3);
                skipped += ages[i] - plain[i];
            }
    }
    assert_true(skipped > 0);
    close_room(&r);
}

// The loss of memn2n's first step, and the scores of a batch.
static double first_loss(double random_time, bool linear, float *scores)
{
    const vd_batch *batch = small_batch(), *next = batch;
    vd_config config = small_config();
    vd_train_options options = small_options(3);
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    double loss;
    config.network = VD_NETWORK_MEMN2N;
    options.random_time = random_time;
    const vd_micro_batches step = {.count = 1,
                                   .of = vd_batch_totals(batch),
                                   .linear = linear,
                                   .next = step_next,
                                   .context = (void *)&next};
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    must(vd_trainer_gradient(trainer, &step, &loss, &err), &err);
    must(vd_trainer_scores(trainer, batch, scores, &err), &err);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    return loss;
}

static void random_time_and_linear_start_are_of_training_alone(void **state)
{
    const vd_batch *batch = small_batch();
    size_t n = (size_t)(batch->dialogs * batch->rounds * batch->candidates);
    float *plain = vd_alloc(n, sizeof *plain), *other = vd_alloc(n, sizeof *other);
    double loss = first_loss(0, false, plain);
    (void)state;
    for (int linear = 0; linear < 2; linear++) {
        assert_true(fabs(first_loss(!linear, linear, other) - loss) > 1e-6);
        assert_memory_equal(other, plain, n * sizeof *plain);
    }
    vd_free(plain);
    vd_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_its_age_says_where_an_entry_of_memn2n_stood),
        cmocka_unit_test(one_hop_has_no_other_to_share_with),
        cmocka_unit_test(facts_of_dmn_depend_on_the_round),
        cmocka_unit_test(random_time_skips_some_ages),
        cmocka_unit_test(random_time_and_linear_start_are_of_training_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
