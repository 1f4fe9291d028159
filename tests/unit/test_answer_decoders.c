// The generative decoders that look at the dialog, after every network that they can follow: their
// probabilities are those of all answers there are, their ranking is that of each answer alone, and
// they know nothing of what comes later.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/token.h"
#include "engine/networks/dialog_tokens.h"
#include "engine/networks/network.h"
#include "engine/networks/positions.h"
#include "engine/train/trainer.h"
#include "tests/support/must.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"
#include "tests/support/step.h"
#include "tests/support/support.h"

enum {
    N = SMALL_DIALOGS * SMALL_ROUNDS,
    TINY = 7,
    OWN = 2,
    WORDS = 3,
    MOST = 700,
    MOST_SCORES = 100
};

// How answers are said.
typedef struct kind {
    vd_answer_decoder answer;
    vd_copy copy;
} kind;

static const kind kinds[] = {{VD_ANSWER_ATTENTION, VD_COPY_NONE},
                             {VD_ANSWER_CONV, VD_COPY_NONE},
                             {VD_ANSWER_ATTENTION, VD_COPY_POINTER},
                             {VD_ANSWER_ATTENTION, VD_COPY_COPYNET},
                             {VD_ANSWER_SEQUENCE, VD_COPY_NONE}};
enum { KINDS = sizeof kinds / sizeof *kinds };

// A network with random weights, and the last pass through it.
typedef struct room {
    vd_config config;
    vd_layout layout, gradient_layout;
    vd_weights weights, gradients;
    vd_real *block, *gradient, *sinusoid;
    vd_arena arena;
    vd_network net;
} room;

static void open_room(room *r, vd_network_kind network, kind said, int vocab)
{
    vd_rng rng = vd_rng_seed(17, (uint64_t)network);
    vd_error err;
    *r = (room){.config = small_config()};
    r->config.network = network;
    r->config.vocab = vocab;
    r->config.decoders = VD_GENERATIVE;
    r->config.answer = said.answer;
    r->config.copy = said.copy;
    vd_weights_layout(&r->config, &r->layout, NULL, NULL);
    size_t n = r->layout.elements;
    r->block = vd_alloc(n, sizeof *r->block);
    r->gradient = vd_alloc(n, sizeof *r->gradient);
    vd_layout_init(&r->layout, r->block, &rng);
    for (size_t i = 0; i < n; i++) // attention that prefers something
        r->block[i] += (vd_real)(0.3 * vd_rng_normal(&rng));
    vd_weights_layout(&r->config, &r->layout, r->block, &r->weights);
    vd_weights_layout(&r->config, &r->gradient_layout, r->gradient, &r->gradients);
    must(vd_words_table(vd_backend_cpu(), r->config.embed, &r->sinusoid, &err), &err);
}

static void describe(const room *r, char *out, size_t size)
{
    snprintf(out, size, "%s, %s, copy %s", vd_network_names[r->config.network],
             vd_answer_names[r->config.answer], vd_copy_names[r->config.copy]);
}

static void close_room(room *r)
{
    vd_free(r->block);
    vd_free(r->gradient);
    vd_backend_cpu()->memory->release(r->sinusoid);
    vd_arena_free(&r->arena);
}

static vd_status encode(room *r, const vd_batch *batch, bool gradients, vd_error *err)
{
    r->net = (vd_network){.pass = {.be = vd_backend_cpu(),
                                   .config = &r->config,
                                   .w = &r->weights,
                                   .dw = gradients ? &r->gradients : NULL,
                                   .sinusoid = r->sinusoid,
                                   .arena = &r->arena}};
    return vd_network_encode(&r->net, batch, err);
}

static void must_encode(room *r, const vd_batch *batch)
{
    vd_error err;
    vd_arena_reset(&r->arena);
    must(encode(r, batch, false, &err), &err);
}

static void for_every_network(int vocab, void (*promise)(room *r))
{
    for (int n = VD_NETWORK_MVAN; n < VD_NETWORKS; n++)
        for (int k = 0; k < KINDS; k++) {
            static room r;
            const vd_config follows = {.network = (vd_network_kind)n,
                                       .decoders = VD_GENERATIVE,
                                       .answer = kinds[k].answer,
                                       .copy = kinds[k].copy};
            if (vd_encoder_check(&follows, NULL) != VD_OK)
                continue;
            open_room(&r, (vd_network_kind)n, kinds[k], vocab);
            promise(&r);
            close_room(&r);
        }
}

// ---- probabilities ------------------------------------------------------------------------------

enum { ROOM = 400 };

// Own numbers for the unknown words of a tiny batch.
static void number_unknown(vd_batch *batch)
{
    static int32_t own[2][ROOM];
    const int32_t *from[] = {batch->question, batch->history};
    const int count[] = {N * batch->question_width, N * batch->history_width};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < count[k]; i++)
            own[k][i] = from[k][i] == VD_UNKNOWN ? TINY + i % OWN : from[k][i];
    batch->own.question = own[0];
    batch->own.history = own[1];
}

// small_batch() with the words of a tiny vocabulary.
static vd_batch tiny_batch(void)
{
    static int32_t ids[2][ROOM], unknown[N];
    vd_batch batch = *small_batch();
    const int32_t *from[] = {batch.question, batch.history};
    const int count[] = {N * batch.question_width, N * batch.history_width};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < count[k]; i++) {
            assert_true(count[k] <= ROOM);
            ids[k][i] = from[k][i] ? 1 + from[k][i] % (TINY - 1) : 0;
        }
    batch.question = ids[0];
    batch.history = ids[1];
    batch.candidates = batch.distinct = 0;
    batch.candidate_in = batch.candidate_out = NULL;
    for (int n = 0; n < N; n++)
        unknown[n] = -1;
    batch.truth = unknown;
    return batch;
}

// Answers as a decoder reads and says them.
typedef struct answers {
    int count;
    int32_t in[MOST * WORDS], out[MOST * WORDS], length[MOST];
} answers;

// All that begin with these `length` words, and come to their end or to WORDS words; may: which
// words there are.
static void list_answers(answers *list, const bool *may, const int32_t *words, int length)
{
    int32_t next[WORDS];
    memcpy(next, words, (size_t)length * sizeof *next);
    for (int w = 0; w < TINY + OWN; w++) {
        next[length] = w;
        if (!may[w])
            continue;
        if (w != VD_END && length + 1 < WORDS) {
            list_answers(list, may, next, length + 1);
            continue;
        }
        int32_t *in = list->in + list->count * WORDS, *out = list->out + list->count * WORDS;
        assert_true(list->count < MOST);
        in[0] = VD_START;
        memcpy(in + 1, next, (size_t)length * sizeof *in);
        memcpy(out, next, (size_t)(length + 1) * sizeof *out);
        list->length[list->count++] = length + 1;
    }
}

// The vocabulary, and what a question sees of the dialog.
static void list_words(const room *r, int n, bool may[TINY + OWN])
{
    const vd_source *source = &r->net.pass.source;
    for (int w = 0; w < TINY + OWN; w++)
        may[w] = w < TINY;
    for (int k = 0; k < 2 && source->id; k++)
        for (int j = 0; j < source->seen[n].key[k].count; j++)
            may[source->id[source->seen[n].key[k].first + j]] = true;
}

static void answers_and_the_unfinished_rest_are_all_there_is(room *r)
{
    static answers all;
    static float score[MOST];
    vd_batch batch = tiny_batch();
    vd_error err;
    int own = 0;
    number_unknown(&batch);
    must_encode(r, &batch);
    for (int n = 0; n < N; n++) {
        bool may[TINY + OWN];
        int question[MOST];
        double sum = 0;
        list_words(r, n, may);
        own += may[TINY] + may[TINY + 1];
        all.count = 0;
        list_answers(&all, may, (int32_t[]){0}, 0);
        for (int i = 0; i < all.count; i++)
            question[i] = n;
        must(vd_given_scores(&r->net.pass, all.in, all.out, all.length, question, all.count, WORDS,
                             score, &err),
             &err);
        for (int i = 0; i < all.count; i++)
            sum += exp((double)score[i] * all.length[i]);
        if (!(fabs(sum - 1) < 1e-5)) {
            char name[100];
            describe(r, name, sizeof name);
            fail_msg("%s, question %d: %.9g", name, n, sum);
        }
    }
    assert_int_equal(own > 0, r->config.copy != VD_COPY_NONE);
}

static void probabilities_sum_to_one(void **state)
{
    (void)state;
    for_every_network(TINY, answers_and_the_unfinished_rest_are_all_there_is);
}

// ---- scores -------------------------------------------------------------------------------------

static void all_scores(room *r, const vd_batch *batch, float *scores)
{
    vd_error err;
    vd_arena_reset(&r->arena);
    must(encode(r, batch, false, &err), &err);
    must(vd_generative_scores(&r->net, scores, &err), &err);
}

static void assert_scores(const room *r, const char *what, const float *found,
                          const float *expected, int count)
{
    for (int i = 0; i < count; i++)
        if (!(fabs((double)(found[i] - expected[i])) <= 1e-5)) {
            char name[100];
            describe(r, name, sizeof name);
            fail_msg("%s, %s: score %d is %.9g, expected %.9g", name, what, i, (double)found[i],
                     (double)expected[i]);
        }
}

static void each_candidate_scores_as_alone(room *r)
{
    const vd_batch *batch = small_batch();
    float scores[MOST_SCORES], one;
    vd_error err;
    all_scores(r, batch, scores);
    for (int i = 0; i < N * batch->candidates; i++) {
        int question = i / batch->candidates, width = batch->candidate_width;
        int32_t length = vd_batch_answer_words(batch, batch->option[i]);
        must(vd_given_scores(&r->net.pass, batch->candidate_in + batch->option[i] * width,
                             batch->candidate_out + batch->option[i] * width, &length, &question, 1,
                             width, &one, &err),
             &err);
        assert_scores(r, "alone", scores + i, &one, 1);
    }
}

static void each_dialog_scores_as_alone(room *r)
{
    const vd_batch *batch = small_batch();
    float scores[MOST_SCORES], own[MOST_SCORES];
    int rounds = batch->rounds, of = rounds * batch->candidates;
    all_scores(r, batch, scores);
    for (int b = 0; b < batch->dialogs; b++) {
        vd_batch one = *batch;
        one.dialogs = 1;
        one.image += b * batch->regions * r->config.region;
        one.question += b * rounds * batch->question_width;
        one.question_length += b * rounds;
        one.history += b * rounds * batch->history_width;
        one.history_length += b * rounds;
        one.option += b * of;
        one.truth += b * rounds;
        all_scores(r, &one, own);
        assert_scores(r, "a dialog alone", own, scores + b * of, of);
    }
}

// Another word in entry 2 and in question 2 of every dialog.
static void what_comes_later_changes_nothing(room *r)
{
    vd_batch batch = *small_batch();
    static int32_t question[N * VD_MAX_QUESTION], history[N * VD_MAX_HISTORY];
    float before[MOST_SCORES], after[MOST_SCORES];
    all_scores(r, &batch, before);
    memcpy(question, batch.question, (size_t)(N * batch.question_width) * sizeof *question);
    memcpy(history, batch.history, (size_t)(N * batch.history_width) * sizeof *history);
    for (int b = 0; b < batch.dialogs; b++) {
        int n = b * batch.rounds + 2;
        question[n * batch.question_width] ^= 1;
        history[n * batch.history_width] ^= 1;
    }
    batch.question = question;
    batch.history = history;
    all_scores(r, &batch, after);
    for (int b = 0; b < batch.dialogs; b++) {
        int first = b * batch.rounds * batch.candidates, changed = first + 2 * batch.candidates;
        assert_scores(r, "later rounds", after + first, before + first, 2 * batch.candidates);
        double most = 0;
        for (int i = changed; i < changed + batch.candidates; i++)
            most = fmax(most, fabs((double)(after[i] - before[i])));
        assert_true(most > 1e-5);
    }
}

// With e the same, only the words can say what differs.
static void the_words_are_looked_at(room *r)
{
    const vd_batch *batch = small_batch();
    float before[MOST_SCORES], after[MOST_SCORES];
    vd_error err;
    double most = 0;
    all_scores(r, batch, before);
    const vd_source *source = &r->net.pass.source;
    vd_pair_group *seen = source->sequence ? source->sequence->seen : source->seen;
    for (int n = 0; n < N; n++) // not the question's own
        seen[n].key[1].count = 0;
    must(vd_generative_scores(&r->net, after, &err), &err);
    for (int i = 0; i < N * batch->candidates; i++)
        most = fmax(most, fabs((double)(after[i] - before[i])));
    assert_true(most > 1e-3);
}

static void scores_are_exact(void **state)
{
    static void (*const promises[])(room *) = {
        each_candidate_scores_as_alone,
        each_dialog_scores_as_alone,
        what_comes_later_changes_nothing,
        the_words_are_looked_at,
    };
    (void)state;
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++)
        for_every_network(SMALL_VOCAB, promises[i]);
}

// ---- own numbers --------------------------------------------------------------------------------

// log P of an answer of one word to the last question of the first dialog.
static double log_of(room *r, int32_t word)
{
    const int32_t in[] = {VD_START, word}, out[] = {word, VD_END}, length = 2;
    const int question = SMALL_ROUNDS - 1;
    float score;
    vd_error err;
    must(vd_given_scores(&r->net.pass, in, out, &length, &question, 1, 2, &score, &err), &err);
    return 2 * (double)score;
}

// Unknown words of X have probabilities of their own, whatever their numbers; one that is nowhere
// is <UNK>.
static void own_words_have_their_share(room *r)
{
    enum { FAR = 5000 };
    static int32_t moved[2][ROOM];
    vd_batch batch = tiny_batch();
    if (r->config.copy == VD_COPY_NONE)
        return;
    number_unknown(&batch);
    must_encode(r, &batch);
    double first = log_of(r, TINY), second = log_of(r, TINY + 1), none = log_of(r, TINY + 7);
    assert_true(fabs(first - second) > 1e-4 && fabs(first - none) > 1e-4);
    assert_true(fabs(none - log_of(r, VD_UNKNOWN)) < 1e-6);
    const int32_t *from[] = {batch.own.question, batch.own.history};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < ROOM; i++)
            moved[k][i] = from[k][i] >= TINY ? FAR - from[k][i] : from[k][i];
    batch.own.question = moved[0];
    batch.own.history = moved[1];
    must_encode(r, &batch);
    assert_true(fabs(first - log_of(r, FAR - TINY)) < 1e-6);
    assert_true(fabs(second - log_of(r, FAR - TINY - 1)) < 1e-6);
}

static void words_are_known_by_their_numbers(void **state)
{
    vd_error err;
    (void)state;
    for_every_network(TINY, own_words_have_their_share);
    vd_batch batch = tiny_batch();
    number_unknown(&batch);
    batch.own.question = batch.question + 1; // of other words
    support_refused(vd_batch_check(&batch, TINY, &err), VD_USAGE, &err, "question 0", "word 0",
                    "expected the same", NULL);
}

static void rounds_that_do_not_exist_do_no_harm(room *r)
{
    vd_batch batch = *small_batch();
    static const int32_t none[N];
    float scores[MOST_SCORES];
    batch.question_length = batch.history_length = none;
    all_scores(r, &batch, scores);
    for (int i = 0; i < N * batch.candidates; i++)
        assert_true(isfinite(scores[i]) && scores[i] < 0);
}

static void without_answers_there_is_no_loss(room *r)
{
    vd_batch batch = *small_batch();
    int32_t unknown[N];
    double loss;
    vd_error err;
    for (int n = 0; n < N; n++)
        unknown[n] = -1;
    batch.truth = unknown;
    vd_arena_reset(&r->arena);
    must(encode(r, &batch, true, &err), &err);
    must(vd_generative_loss(&r->net, NULL, &loss, &err), &err);
    must(vd_generative_backward(&r->net, &err), &err);
    must(vd_network_encode_backward(&r->net, &err), &err);
    assert_true(loss == 0);
    for (size_t i = 0; i < r->layout.elements; i++)
        assert_true(r->gradient[i] == 0);
}

static void dialogs_without_words(void **state)
{
    (void)state;
    for_every_network(SMALL_VOCAB, rounds_that_do_not_exist_do_no_harm);
    for_every_network(SMALL_VOCAB, without_answers_there_is_no_loss);
}

// ---- memory -------------------------------------------------------------------------------------

static vd_status there_and_back(void *context, vd_error *err)
{
    room *r = context;
    double loss;
    r->arena = (vd_arena){0};
    vd_status status = encode(r, small_batch(), true, err);
    if (status == VD_OK)
        status = vd_generative_loss(&r->net, NULL, &loss, err);
    if (status == VD_OK)
        status = vd_generative_backward(&r->net, err);
    if (status == VD_OK)
        status = vd_network_encode_backward(&r->net, err);
    vd_arena_free(&r->arena);
    return status;
}

static void fail_everywhere(room *r)
{
    assert_true(support_fail_each_allocation(there_and_back, r) > 3);
}

static void memory_that_is_out_is_an_error(void **state)
{
    (void)state;
    for_every_network(SMALL_VOCAB, fail_everywhere);
}

// ---- learning -----------------------------------------------------------------------------------

static void learn(kind said)
{
    enum { STEPS = 120 };
    vd_config config = small_config();
    vd_train_options options = small_options(5);
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    config.network =
        said.answer == VD_ANSWER_SEQUENCE ? VD_NETWORK_DIALOG_TRANSFORMER : VD_NETWORK_MVAN;
    config.decoders = VD_BOTH;
    config.answer = said.answer;
    config.copy = said.copy;
    options.margin = 1;
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    double first = small_steps(trainer, 1), last = small_steps(trainer, STEPS);
    assert_true(last < first / 2);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
}

static void they_learn(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++)
        learn(kinds[k]);
}

// ---- refusals -----------------------------------------------------------------------------------

static void a_discriminative_decoder_says_nothing(void **state)
{
    vd_config config = small_config();
    vd_error err;
    (void)state;
    config.decoders = VD_DISCRIMINATIVE;
    config.answer = VD_ANSWER_CONV;
    support_refused(vd_encoder_check(&config, &err), VD_USAGE, &err, "answer conv",
                    "discriminative", "expected decoder generative or both", NULL);
    config.decoders = VD_BOTH;
    assert_int_equal(vd_encoder_check(&config, &err), VD_OK);
}

static void only_what_looks_at_words_copies_them(void **state)
{
    vd_config config = small_config();
    vd_error err;
    (void)state;
    config.decoders = VD_BOTH;
    config.copy = VD_COPY_COPYNET;
    config.answer = VD_ANSWER_CONV;
    support_refused(vd_encoder_check(&config, &err), VD_USAGE, &err, "copy copynet",
                    "generated by conv", "expected answer lstm-attention", NULL);
    config.answer = VD_ANSWER_ATTENTION;
    assert_int_equal(vd_encoder_check(&config, &err), VD_OK);
    config.decoders = VD_DISCRIMINATIVE;
    support_refused(vd_encoder_check(&config, &err), VD_USAGE, &err, "discriminative", NULL);
}

static void only_a_text_is_gone_on_with(void **state)
{
    vd_config config = small_config();
    vd_error err;
    (void)state;
    config.decoders = VD_BOTH;
    config.answer = VD_ANSWER_SEQUENCE;
    support_refused(vd_encoder_check(&config, &err), VD_USAGE, &err, "answer sequence",
                    "the network mvan", "expected a network that reads", NULL);
    config.network = VD_NETWORK_DIALOG_TRANSFORMER;
    assert_int_equal(vd_encoder_check(&config, &err), VD_OK);
    config.decoders = VD_DISCRIMINATIVE;
    support_refused(vd_encoder_check(&config, &err), VD_USAGE, &err, "discriminative", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_sum_to_one),
        cmocka_unit_test(scores_are_exact),
        cmocka_unit_test(dialogs_without_words),
        cmocka_unit_test(memory_that_is_out_is_an_error),
        cmocka_unit_test(they_learn),
        cmocka_unit_test(words_are_known_by_their_numbers),
        cmocka_unit_test(a_discriminative_decoder_says_nothing),
        cmocka_unit_test(only_what_looks_at_words_copies_them),
        cmocka_unit_test(only_a_text_is_gone_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
