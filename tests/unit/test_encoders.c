// What every network on the tape promises: a question knows nothing of what comes after it; padding
// changes nothing; a dialog in a batch is the dialog alone; attentions sum to one; the order of
// regions is irrelevant, but to dmn, which reads them one after the other; fifty dialogs are
// learned by heart, the pictures with them.
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
#include "engine/train/trainer.h"
#include "tests/support/must.h"
#include "tests/support/readings.h"
#include "tests/support/sanitized.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"
#include "tests/support/step.h"
#include "tests/support/support.h"

enum { B = 3, R = 4, P = 5, REAL = 4, TQ = 6, TH = 8, TO = 4, O = 5, U = 9, D = SMALL_REGION };
enum { N = B * R, MOST_H = 64 };

// Dialogs as numbers, with room for padding.
typedef struct dialogs {
    float image[B * P * D];
    int32_t question[N * TQ], question_length[N], history[N * TH], history_length[N];
    int32_t truth[N];
} dialogs;

static void fill(vd_rng *rng, int32_t *ids, int32_t *lengths, int count, int width, int most)
{
    for (int s = 0; s < count; s++) {
        lengths[s] = 1 + vd_rng_below(rng, most);
        for (int i = 0; i < width; i++)
            ids[s * width + i] = i < lengths[s] ? 1 + vd_rng_below(rng, SMALL_VOCAB - 1) : 0;
    }
}

// The last region of each picture is padding.
static dialogs make_dialogs(uint64_t seed)
{
    dialogs d = {0};
    vd_rng rng = vd_rng_seed(seed, 1);
    for (int b = 0; b < B; b++)
        for (int i = 0; i < REAL * D; i++)
            d.image[b * P * D + i] = (float)vd_rng_range(&rng, 0.1, 1);
    fill(&rng, d.question, d.question_length, N, TQ, TQ - 2);
    fill(&rng, d.history, d.history_length, N, TH, TH - 2);
    for (int n = 0; n < N; n++)
        d.truth[n] = -1;
    return d;
}

static vd_batch batch_of(const dialogs *d, int first, int count)
{
    return (vd_batch){.dialogs = count,
                      .rounds = R,
                      .regions = P,
                      .question_width = TQ,
                      .history_width = TH,
                      .image = d->image + first * P * D,
                      .question = d->question + first * R * TQ,
                      .question_length = d->question_length + first * R,
                      .history = d->history + first * R * TH,
                      .history_length = d->history_length + first * R,
                      .truth = d->truth};
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

static void open_room(room *r, const vd_config *which)
{
    vd_rng rng = vd_rng_seed(11, 2);
    *r = (room){.config = small_config()};
    r->config.network = which->network;
    r->config.text = which->text;
    r->config.heads = which->heads;
    r->config.score_rounds = which->score_rounds;
    r->config.score_regions = which->score_regions;
    r->config.positions = which->network % 2 ? VD_POSITIONS_NONE : VD_POSITIONS_LEARNED;
    vd_weights_layout(&r->config, &r->layout, NULL, NULL);
    r->block = vd_alloc(r->layout.elements, sizeof *r->block);
    vd_layout_init(&r->layout, r->block, &rng);
    for (size_t i = 0; i < r->layout.elements; i++) // attention does not start flat
        r->block[i] += (vd_real)(0.2 * vd_rng_normal(&rng));
    vd_weights_layout(&r->config, &r->layout, r->block, &r->weights);
}

static void close_room(room *r)
{
    vd_free(r->block);
    vd_arena_free(&r->arena);
}

// e (count R, H) of dialogs, NULL and a failed test after an error.
static void encode(room *r, const vd_batch *batch, float *out)
{
    vd_error err;
    size_t n = (size_t)(batch->dialogs * batch->rounds * r->config.hidden);
    vd_arena_reset(&r->arena);
    r->net = (vd_network){
        .pass = {
            .be = vd_backend_cpu(), .config = &r->config, .w = &r->weights, .arena = &r->arena}};
    must(vd_network_encode(&r->net, batch, &err), &err);
    memcpy(out, r->net.pass.encoded, n * sizeof *out);
}

// Rows from..to-1 of e are these.
static void assert_rows(const room *r, const char *what, const float *found, const float *expected,
                        int from, int to)
{
    int h = r->config.hidden;
    char name[40];
    for (int i = from * h; i < to * h; i++)
        if (!(fabs((double)(found[i] - expected[i])) <= 1e-5 * fmax(1, fabs((double)expected[i]))))
            fail_msg("%s, %s: question %d, number %d: %.9g, expected %.9g",
                     support_reading_name(&r->config, name), what, i / h, i % h, (double)found[i],
                     (double)expected[i]);
}

static bool rows_differ(const room *r, const float *a, const float *b, int row)
{
    double most = 0;
    for (int i = row * r->config.hidden; i < (row + 1) * r->config.hidden; i++)
        most = fmax(most, fabs((double)(a[i] - b[i])));
    return most > 1e-4;
}

static void what_comes_later_changes_nothing(room *r)
{
    dialogs d = make_dialogs(1);
    vd_batch batch = batch_of(&d, 0, B);
    float before[N * MOST_H], after[N * MOST_H];
    encode(r, &batch, before);
    for (int b = 0; b < B; b++) { // round 2 is asked otherwise, and what it left in the history
        d.question[(b * R + 2) * TQ] ^= 1;
        d.history_length[b * R + 2] = 1 + d.history_length[b * R + 2] % (TH - 2);
        d.history[(b * R + 2) * TH] ^= 1;
    }
    encode(r, &batch, after);
    for (int b = 0; b < B; b++) {
        assert_rows(r, "later rounds", after, before, b * R, b * R + 2);
        assert_true(rows_differ(r, after, before, b * R + 2));
    }
}

static void padding_changes_nothing(room *r)
{
    dialogs d = make_dialogs(2);
    float image[B * REAL * D], all[N * MOST_H], found[N * MOST_H];
    vd_batch batch = batch_of(&d, 0, B);
    encode(r, &batch, all);
    for (int b = 0; b < B; b++)
        memcpy(image + b * REAL * D, d.image + b * P * D, REAL * D * sizeof *image);
    batch.image = image;
    batch.regions = REAL;
    encode(r, &batch, found);
    assert_rows(r, "regions of zeros", found, all, 0, N);
    for (int n = 0; n < N; n++) {
        for (int i = d.question_length[n]; i < TQ; i++)
            d.question[n * TQ + i] = 7;
        for (int i = d.history_length[n]; i < TH; i++)
            d.history[n * TH + i] = 7;
    }
    encode(r, &batch, found);
    assert_rows(r, "words beyond the length", found, all, 0, N);
    for (int n = R - 1; n < N; n += R) // the last round does not exist
        d.question_length[n] = d.history_length[n] = 0;
    encode(r, &batch, found);
    for (int b = 0; b < B; b++)
        assert_rows(r, "a round that does not exist", found, all, b * R, b * R + R - 1);
}

static void a_batch_is_its_dialogs(room *r)
{
    dialogs d = make_dialogs(3);
    float all[N * MOST_H], one[R * MOST_H];
    vd_batch batch = batch_of(&d, 0, B);
    encode(r, &batch, all);
    for (int b = 0; b < B; b++) {
        batch = batch_of(&d, b, 1);
        encode(r, &batch, one);
        assert_rows(r, "alone", one, all + b * R * r->config.hidden, 0, R);
    }
}

static void the_order_of_regions_matters_to_dmn_alone(room *r)
{
    dialogs d = make_dialogs(4), other = d;
    float before[N * MOST_H], after[N * MOST_H];
    vd_batch batch = batch_of(&d, 0, B);
    encode(r, &batch, before);
    for (int b = 0; b < B; b++)
        for (int k = 0; k < P; k++) // padding comes first
            memcpy(d.image + (b * P + k) * D, other.image + (b * P + P - 1 - k) * D,
                   D * sizeof *d.image);
    encode(r, &batch, after);
    if (r->config.network != VD_NETWORK_DMN)
        assert_rows(r, "regions the other way round", after, before, 0, N);
    for (int n = 0; n < N && r->config.network == VD_NETWORK_DMN; n++)
        assert_true(rows_differ(r, after, before, n));
}

static void attentions_sum_to_one(room *r)
{
    dialogs d = make_dialogs(5);
    float e[N * MOST_H];
    vd_batch batch = batch_of(&d, 0, B);
    encode(r, &batch, e);
    for (const vd_shown *s = r->net.pass.tape->shown; s; s = s->next) {
        const vd_segments *q = &s->value->pairing->queries;
        assert_true(q->count > 0);
        for (int i = 0; i < q->count; i++) {
            double sum = 0;
            for (int k = 0; k < q->length[i]; k++)
                sum += (double)s->value->x[q->start[i] + k];
            // One for each entry that is seen, or one in all.
            bool by_entry = s->value->pairing->by_entry;
            assert_true(q->length[i] > 0);
            assert_true(fabs(sum - (by_entry ? rint(sum) : 1)) < 1e-5 && sum > 0.5);
        }
    }
}

static void keep_promises(const vd_config *config)
{
    static void (*const promises[])(room *) = {
        what_comes_later_changes_nothing,          padding_changes_nothing, a_batch_is_its_dialogs,
        the_order_of_regions_matters_to_dmn_alone, attentions_sum_to_one,
    };
    static room r;
    open_room(&r, config);
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++)
        promises[i](&r);
    close_room(&r);
}

static void every_network_keeps_its_promises(void **state)
{
    vd_config config = small_config();
    (void)state;
    for (int n = 0; support_reading(n, &config); n++)
        keep_promises(&config);
}

static void every_score_keeps_its_promises(void **state)
{
    vd_config config = small_config();
    (void)state;
    for (int n = 0; support_scoring(n, &config); n++)
        keep_promises(&config);
}

// Of multi-head each head is shown, then their mean.
static void heads_are_shown_before_their_mean(void **state)
{
    static room r;
    dialogs d = make_dialogs(5);
    float e[N * MOST_H];
    vd_batch batch = batch_of(&d, 0, B);
    (void)state;
    open_room(&r, &(vd_config){
                      .network = VD_NETWORK_HREA, .heads = 2, .score_rounds = VD_SCORE_MULTI_HEAD});
    encode(&r, &batch, e);
    const vd_shown *s = r.net.pass.tape->shown, *last = s ? s->next : NULL;
    assert_true(last && last->next && !last->next->next);
    assert_true(s->heads == 2 && s->index == 0 && last->heads == 2 && last->index == 1);
    assert_true(last->next->heads == 0 && last->next->index == 0);
    bool differ = false;
    for (int i = 0; i < s->value->pairing->pairs; i++) {
        double one = (double)s->value->x[i], other = (double)last->value->x[i];
        differ |= fabs(one - other) > 1e-3;
        assert_true(fabs((double)last->next->value->x[i] - (one + other) / 2) < 1e-6);
    }
    assert_true(differ);
    close_room(&r);
}

// An answer's tokens <S> and </S>, in entries and candidates, against texts that have none.
static void boundaries_are_left_out_where_the_network_wants_none(void **state)
{
    enum { WORDS = 3, WIDE = WORDS + 2 };
    static room r;
    dialogs d = make_dialogs(6), bare;
    int32_t candidate[2][U * WIDE] = {0}, length[2][U], option[N * O];
    float scores[2][N * O];
    vd_error err;
    (void)state;
    for (int n = 0; n < N; n++) { // the question's words, <S>, an answer, </S>, </S>
        int32_t entry[] = {9, 8, VD_START, 7, VD_END, VD_END};
        int32_t *to = d.history + n * TH;
        d.history_length[n] = 6;
        memcpy(to, entry, sizeof entry);
    }
    bare = d;
    for (int n = 0; n < N; n++) {
        const int32_t entry[] = {9, 8, 7, VD_END};
        memcpy(bare.history + n * TH, entry, sizeof entry);
        bare.history_length[n] = 4;
    }
    for (int u = 0; u < U; u++) {
        length[1][u] = 1 + u % WORDS;
        length[0][u] = length[1][u] + 2;
        candidate[0][u * WIDE] = VD_START;
        candidate[0][u * WIDE + length[0][u] - 1] = VD_END;
        for (int i = 0; i < length[1][u]; i++)
            candidate[0][u * WIDE + 1 + i] = candidate[1][u * WIDE + i] = 4 + (u + i) % 20;
    }
    for (int i = 0; i < N * O; i++)
        option[i] = i % U;
    open_room(&r, &(vd_config){.network = VD_NETWORK_LF_BU});
    for (int i = 0; i < 2; i++) {
        vd_batch batch = batch_of(i ? &bare : &d, 0, B);
        batch.candidates = O;
        batch.distinct = U;
        batch.candidate_width = WIDE;
        batch.candidate = candidate[i];
        batch.candidate_length = length[i];
        batch.option = option;
        r.config.boundaries = i ? VD_BOUNDARIES_BOTH : VD_BOUNDARIES_NONE;
        vd_arena_reset(&r.arena);
        r.net = (vd_network){
            .pass = {
                .be = vd_backend_cpu(), .config = &r.config, .w = &r.weights, .arena = &r.arena}};
        must(vd_network_scores(&r.net, &batch, VD_DISCRIMINATIVE, scores[i], &err), &err);
    }
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    close_room(&r);
}

static vd_status encode_and_back(void *context, vd_error *err)
{
    room *r = context;
    dialogs d = make_dialogs(7);
    vd_batch batch = batch_of(&d, 0, B);
    vd_weights gradients;
    vd_layout *layout = vd_alloc(1, sizeof *layout);
    vd_real *block = vd_alloc(r->layout.elements, sizeof *block);
    vd_status status = layout && block ? VD_OK : vd_error_memory(err, "the gradients");
    r->arena = (vd_arena){0};
    if (status == VD_OK) {
        vd_weights_layout(&r->config, layout, block, &gradients);
        r->net = (vd_network){.pass = {.be = vd_backend_cpu(),
                                       .config = &r->config,
                                       .w = &r->weights,
                                       .dw = &gradients,
                                       .dropout = 0.3f,
                                       .text_dropout = 0.3f,
                                       .arena = &r->arena}};
        status = vd_network_encode(&r->net, &batch, err);
    }
    if (status == VD_OK)
        status = vd_network_encode_backward(&r->net, err);
    vd_arena_free(&r->arena);
    vd_free(layout);
    vd_free(block);
    return status;
}

static void memory_that_is_out_is_an_error(void **state)
{
    vd_config config = small_config();
    (void)state;
    for (int n = 0; support_reading(n, &config); n++) {
        static room r;
        open_room(&r, &config);
        assert_true(support_fail_each_allocation(encode_and_back, &r) > 3);
        close_room(&r);
    }
}

// ---- by heart -----------------------------------------------------------------------------------

// Texts are short and states small, so that each of four hundred steps is.
enum { PAIRS = 25, HEART = 2 * PAIRS, ROUNDS = 2, LESSONS = 400, ASKED = 3, TOLD = 4 };

// Fifty dialogs; two and two have the same words, and other pictures and answers.
static const vd_batch *lessons(void)
{
    static float image[HEART * REAL * D];
    static int32_t question[HEART * ROUNDS * TQ], question_length[HEART * ROUNDS],
        history[HEART * ROUNDS * TH], history_length[HEART * ROUNDS], candidate[U * TO],
        candidate_length[U], heard[U * TO], option[HEART * ROUNDS * O], truth[HEART * ROUNDS];
    static vd_batch batch;
    vd_rng rng = vd_rng_seed(9, 1);
    const int half = PAIRS * ROUNDS;
    for (int i = 0; i < HEART * REAL * D; i++)
        image[i] = (float)vd_rng_range(&rng, 0, 1);
    fill(&rng, question, question_length, half, TQ, ASKED);
    fill(&rng, history, history_length, half, TH, TOLD);
    fill(&rng, candidate, candidate_length, U, TO, TO);
    for (int i = 0; i < U * TO; i++)
        heard[i] = i % TO ? candidate[i - 1] : VD_START;
    memcpy(question + half * TQ, question, sizeof question / 2);
    memcpy(question_length + half, question_length, sizeof question_length / 2);
    memcpy(history + half * TH, history, sizeof history / 2);
    memcpy(history_length + half, history_length, sizeof history_length / 2);
    for (int n = 0; n < 2 * half; n++) {
        for (int i = 0; i < O; i++)
            option[n * O + i] = (n % half * 2 + i) % U;
        truth[n] = n < half ? vd_rng_below(&rng, O) : (truth[n - half] + 1) % O;
    }
    batch = (vd_batch){.dialogs = HEART,
                       .rounds = ROUNDS,
                       .regions = REAL,
                       .candidates = O,
                       .question_width = TQ,
                       .history_width = TH,
                       .candidate_width = TO,
                       .distinct = U,
                       .image = image,
                       .question = question,
                       .question_length = question_length,
                       .history = history,
                       .history_length = history_length,
                       .candidate = candidate,
                       .candidate_length = candidate_length,
                       .candidate_in = heard,
                       .candidate_out = candidate,
                       .option = option,
                       .truth = truth};
    return &batch;
}

static int right_answers(vd_trainer *trainer, const vd_batch *batch)
{
    static float scores[HEART * ROUNDS * O];
    vd_error err;
    int right = 0;
    must(vd_trainer_scores(trainer, batch, scores, &err), &err);
    for (int n = 0; n < HEART * ROUNDS; n++) {
        int best = 0;
        for (int i = 1; i < O; i++)
            best = scores[n * O + i] > scores[n * O + best] ? i : best;
        right += best == batch->truth[n];
    }
    return right;
}

static void learn_by_heart(const vd_config *which)
{
    const vd_batch *batch = lessons();
    vd_batch other = *batch;
    static float turned[HEART * REAL * D];
    size_t half = PAIRS * REAL * D;
    vd_trainer *trainer;
    vd_vocab *vocab = small_vocab();
    vd_config config = small_config();
    vd_train_options options = small_options(3);
    vd_error err;
    double loss = 0;
    int right = 0, steps = 0;
    char name[40];
    config.network = which->network;
    config.text = which->text;
    config.score_rounds = which->score_rounds;
    config.score_regions = which->score_regions;
    config.decoders = which->decoders;
    config.answer = which->answer;
    config.hidden = 20;
    config.positions = VD_POSITIONS_NONE;
    options.dropout = options.lstm_dropout = options.position_dropout = options.text_dropout = 0;
    options.margin = 1;
    options.rate = 0.008;
    options.clip = 5;
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    const int most = SUPPORT_SANITIZED ? 5 : LESSONS; // with one look at the answers
    for (; steps < most && right < HEART * ROUNDS; steps++) {
        must(step_take(trainer, batch, 1, &loss, NULL, &err), &err);
        if (steps % 5 == 4)
            right = right_answers(trainer, batch);
    }
    memcpy(turned, batch->image + half, half * sizeof *turned);
    memcpy(turned + half, batch->image, half * sizeof *turned);
    other.image = turned;
    int without = right_answers(trainer, &other);
    if (!SUPPORT_SANITIZED && (right < HEART * ROUNDS || without > right / 2))
        fail_msg("%s: %d of %d right after %d steps, loss %.3f; %d with another picture",
                 support_reading_name(which, name), right, HEART * ROUNDS, steps, loss, without);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
}

static void every_network_learns_fifty_dialogs_by_heart(void **state)
{
    vd_config config = small_config();
    (void)state;
    for (int n = 0; support_reading(n, &config); n++)
        if (config.text == VD_TEXT_OWN || config.network == VD_NETWORK_MN_ATT)
            learn_by_heart(&config);
    learn_by_heart(&(vd_config){.network = VD_NETWORK_MN_ATT,
                                .score_rounds = VD_SCORE_MULTI_HEAD,
                                .score_regions = VD_SCORE_MULTI_HEAD});
    learn_by_heart(&(vd_config){.network = VD_NETWORK_DIALOG_TRANSFORMER,
                                .decoders = VD_GENERATIVE,
                                .answer = VD_ANSWER_SEQUENCE});
}

static void tables_start_as_the_papers_have_them(void **state)
{
    static const struct {
        vd_network_kind network;
        const char *name;
        vd_init_kind kind;
    } tables[] = {
        {VD_NETWORK_MEMN2N, "encoder.memory.words.1.weight", VD_INIT_WORDS},
        {VD_NETWORK_MEMN2N, "encoder.memory.time.0.weight", VD_INIT_NORMAL},
        {VD_NETWORK_MAC, "encoder.rounds.age.weight", VD_INIT_NORMAL},
        {VD_NETWORK_DIALOG_TRANSFORMER, "encoder.place.weight", VD_INIT_NORMAL},
        {VD_NETWORK_DIALOG_TRANSFORMER, "encoder.regions.kind", VD_INIT_NORMAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        vd_config config = small_config();
        vd_layout layout = {0};
        config.network = tables[i].network;
        vd_encoder_of(&config)->declare(&config, &layout);
        const vd_parameter *table = vd_layout_find(&layout, tables[i].name);
        if (!table || table->init.kind != tables[i].kind || table->init.scale != 0.1)
            fail_msg("%s: expected N(0, 0.1), found %g", tables[i].name,
                     table ? table->init.scale : NAN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_start_as_the_papers_have_them),
        cmocka_unit_test(every_network_keeps_its_promises),
        cmocka_unit_test(every_score_keeps_its_promises),
        cmocka_unit_test(heads_are_shown_before_their_mean),
        cmocka_unit_test(memory_that_is_out_is_an_error),
        cmocka_unit_test(boundaries_are_left_out_where_the_network_wants_none),
        cmocka_unit_test(every_network_learns_fifty_dialogs_by_heart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
