// Answers that a generative decoder makes up, and its ranking of a pool: both against the scores of
// whole batches, which are held to the golden numbers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/model/pool.h"
#include "tests/support/random_model.h"
#include "tests/support/small_dialog.h"
#include "tests/support/support.h"

// How the generative decoder of a test makes answers.
static struct way {
    vd_answer_decoder answer;
    vd_copy copy;
} way;
static struct way lstm = {VD_ANSWER_LSTM, VD_COPY_NONE},
                  attention = {VD_ANSWER_ATTENTION, VD_COPY_NONE},
                  conv = {VD_ANSWER_CONV, VD_COPY_NONE},
                  sequence = {VD_ANSWER_SEQUENCE, VD_COPY_NONE},
                  pointer = {VD_ANSWER_ATTENTION, VD_COPY_POINTER},
                  copynet = {VD_ANSWER_ATTENTION, VD_COPY_COPYNET};

static int choose(void **state)
{
    way = *(const struct way *)*state;
    return 0;
}

// A dialog after its caption, with a model of these decoders.
typedef struct talk {
    small_dialog c;
    vd_dialog *dialog;
    int32_t in[POOL * TO], out[POOL * TO];
} talk;

static void begin(talk *t, vd_decoders decoders)
{
    vd_config config = {.vocab = WORDS + VD_FIRST_WORD,
                        .embed = E,
                        .hidden = H,
                        .region = D,
                        .network = way.answer == VD_ANSWER_SEQUENCE ? VD_NETWORK_DIALOG_TRANSFORMER
                                                                    : VD_NETWORK_MVAN,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = VD_POSITIONS_SINUSOIDAL,
                        .decoders = decoders,
                        .answer = vd_has_generative(decoders) ? way.answer : VD_ANSWER_LSTM,
                        .copy = vd_has_generative(decoders) ? way.copy : VD_COPY_NONE};
    vd_error err;
    small_dialog_begin(&t->c, VD_GATE_LEAKY_RELU, VD_POSITIONS_SINUSOIDAL);
    vd_pool_free(t->c.pool);
    vd_model_free(t->c.model);
    t->c.model = support_random_model(&config);
    memset(t->in, 0, sizeof t->in);
    memset(t->out, 0, sizeof t->out);
    for (int i = 0; i < POOL; i++) {
        if (t->c.candidate_length[i] < 2)
            t->c.candidate[i * TO + t->c.candidate_length[i]++] = VD_END;
        t->c.candidate[i * TO] = VD_START;
        int words = t->c.candidate_length[i] - 1;
        memcpy(t->in + i * TO, t->c.candidate + i * TO, (size_t)words * sizeof *t->in);
        memcpy(t->out + i * TO, t->c.candidate + i * TO + 1, (size_t)words * sizeof *t->out);
    }
    must(vd_pool_new(t->c.model, t->c.candidate, t->c.candidate_length, POOL, TO, NULL, &t->c.pool,
                     &err),
         &err);
    must(vd_dialog_new(t->c.model, t->c.pool, t->c.image, P, t->c.history, t->c.history_length[0],
                       &t->dialog, &err),
         &err);
}

static void end(talk *t)
{
    vd_dialog_free(t->dialog);
    small_dialog_end(&t->c);
}

static void ask(talk *t, vd_answer *answer)
{
    vd_error err;
    must(vd_dialog_ask(t->dialog, t->c.question, t->c.question_length[0], NULL, answer, &err),
         &err);
}

static void a_pool_is_ranked_by_mean_log_probability(void **state)
{
    (void)state;
    talk t;
    vd_answer answer;
    vd_arena arena = {0};
    vd_error err;
    float scores[ROUNDS * POOL];
    begin(&t, VD_GENERATIVE);
    vd_batch batch = small_dialog_batch(&t.c);
    batch.candidate_in = t.in;
    batch.candidate_out = t.out;
    must(vd_model_scores(t.c.model, vd_model_config(t.c.model)->decoders, &arena, NULL, &batch,
                         scores, &err),
         &err);
    ask(&t, &answer);
    for (int i = 0; i < POOL; i++)
        assert_near("score", (double)answer.score[i], (double)scores[i]);
    for (int i = 1; i < POOL; i++)
        assert_true(answer.score[answer.order[i - 1]] >= answer.score[answer.order[i]]);
    vd_answer_clear(&answer);
    vd_arena_free(&arena);
    end(&t);
}

// The numbers beside them are those of whole batches, which are held to the public code's.
static void decoders_are_chosen_to_rank(void **state)
{
    (void)state;
    static const vd_decoders by[] = {VD_DISCRIMINATIVE, VD_GENERATIVE, VD_BOTH};
    talk t;
    vd_answer answer;
    vd_arena arena = {0};
    vd_error err;
    float scores[ROUNDS * POOL];
    begin(&t, VD_BOTH);
    vd_batch batch = small_dialog_batch(&t.c);
    batch.candidate_in = t.in;
    batch.candidate_out = t.out;
    assert_int_equal(vd_pool_decoders(t.c.pool), VD_DISCRIMINATIVE);
    for (int twice = 0; twice < 2; twice++)
        for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
            must(vd_pool_score_by(t.c.pool, by[k], t.c.candidate, t.c.candidate_length, TO, &err),
                 &err);
            assert_int_equal(vd_pool_decoders(t.c.pool), by[k]);
            must(vd_model_scores(t.c.model, by[k], &arena, NULL, &batch, scores, &err), &err);
            ask(&t, &answer);
            for (int i = 0; i < POOL; i++)
                assert_near("score", (double)answer.score[i], (double)scores[i]);
            for (int i = 1; i < POOL; i++)
                assert_true(answer.score[answer.order[i - 1]] >= answer.score[answer.order[i]]);
            vd_answer_clear(&answer);
        }
    vd_arena_free(&arena);
    end(&t);
}

static void a_decoder_that_is_not_there_is_refused(void **state)
{
    (void)state;
    for (int has = VD_DISCRIMINATIVE; has <= VD_GENERATIVE; has++) {
        talk t;
        vd_error err;
        begin(&t, (vd_decoders)has);
        for (int by = VD_DISCRIMINATIVE; by <= VD_BOTH; by++)
            if (by != has)
                support_refused(vd_pool_score_by(t.c.pool, (vd_decoders)by, t.c.candidate,
                                                 t.c.candidate_length, TO, &err),
                                VD_MISMATCH, &err, "has no such decoder, only a",
                                vd_decoders_name((vd_decoders)has), NULL);
        assert_int_equal(vd_pool_decoders(t.c.pool), has);
        end(&t);
    }
}

static void check_utterance(const vd_generated_answer *u)
{
    assert_true(u->length >= 1 && u->length <= VD_MOST_WORDS && u->score < 0);
    for (int i = 0; i < u->length; i++) {
        assert_true(u->word[i] >= VD_FIRST_WORD || u->word[i] == VD_END);
        assert_int_not_equal(u->word[i], VD_END);
        for (int j = 0; j + 1 < i; j++)
            assert_false(u->word[j] == u->word[i - 1] && u->word[j + 1] == u->word[i]);
    }
}

static bool same(const vd_generated_answer *a, const vd_generated_answer *b)
{
    return a->length == b->length &&
           memcmp(a->word, b->word, (size_t)a->length * sizeof *a->word) == 0;
}

static void what_is_said_is_worth_what_it_says(void **state)
{
    (void)state;
    for (int decoders = VD_GENERATIVE; decoders <= VD_BOTH; decoders++) {
        talk t;
        vd_answer answer;
        vd_error err;
        begin(&t, (vd_decoders)decoders);
        ask(&t, &answer);
        vd_generated_answers said = answer.generated;
        vd_answer_clear(&answer);
        assert_int_equal(said.count, VD_BEAMS);
        check_utterance(&said.greedy);
        // The pool of a model that only says: what was said scores there as it was said.
        int32_t tokens[(VD_BEAMS + 1) * VD_MAX_CANDIDATE] = {0}, lengths[VD_BEAMS + 1];
        for (int i = 0; i <= VD_BEAMS; i++) {
            const vd_generated_answer *u = i < VD_BEAMS ? &said.beam[i] : &said.greedy;
            check_utterance(u);
            for (int j = 0; j < i && i < VD_BEAMS; j++)
                assert_false(same(&said.beam[j], u));
            assert_true(i == 0 || i == VD_BEAMS || said.beam[i - 1].score >= u->score);
            int32_t *row = tokens + i * VD_MAX_CANDIDATE;
            row[0] = VD_START;
            memcpy(row + 1, u->word, (size_t)u->length * sizeof *row);
            bool cut = u->length == VD_MOST_WORDS; // it may not have come to its end
            row[u->length + 1] = VD_END;
            lengths[i] = u->length + (cut ? 1 : 2);
        }
        if (decoders == VD_GENERATIVE) {
            vd_pool *pool;
            vd_dialog *dialog;
            must(vd_pool_new(t.c.model, tokens, lengths, VD_BEAMS + 1, VD_MAX_CANDIDATE, NULL,
                             &pool, &err),
                 &err);
            must(vd_dialog_new(t.c.model, pool, t.c.image, P, t.c.history, t.c.history_length[0],
                               &dialog, &err),
                 &err);
            must(vd_dialog_ask(dialog, t.c.question, t.c.question_length[0], NULL, &answer, &err),
                 &err);
            for (int i = 0; i <= VD_BEAMS; i++) {
                const vd_generated_answer *u = i < VD_BEAMS ? &said.beam[i] : &said.greedy;
                if (u->length < VD_MOST_WORDS)
                    assert_near("said", (double)u->score, (double)answer.score[i]);
            }
            vd_answer_clear(&answer);
            vd_dialog_free(dialog);
            vd_pool_free(pool);
        }
        end(&t);
    }
}

// A beam may drop what greedy search says, and end below it.
static void the_greedy_answer_is_among_the_best(void **state)
{
    (void)state;
    enum { QUESTIONS = 300, ASKED = 4 };
    talk t;
    vd_rng rng = vd_rng_seed(9, 1);
    begin(&t, VD_GENERATIVE);
    for (int n = 0; n < QUESTIONS; n++) {
        vd_answer answer;
        vd_error err;
        int32_t question[ASKED];
        for (int i = 0; i < ASKED; i++)
            question[i] = VD_FIRST_WORD + vd_rng_below(&rng, WORDS);
        must(vd_dialog_ask(t.dialog, question, 1 + n % ASKED, NULL, &answer, &err), &err);
        const vd_generated_answers *said = &answer.generated;
        int found = 0;
        for (int i = 0; i < said->count; i++) {
            found += same(&said->beam[i], &said->greedy);
            assert_true(i == 0 || said->beam[i - 1].score >= said->beam[i].score);
        }
        assert_int_equal(found, 1);
        vd_answer_clear(&answer);
    }
    end(&t);
}

static void without_that_decoder_nothing_is_said(void **state)
{
    (void)state;
    talk t;
    vd_answer answer;
    begin(&t, VD_DISCRIMINATIVE);
    ask(&t, &answer);
    assert_int_equal(answer.generated.count, 0);
    vd_answer_clear(&answer);
    end(&t);
}

static void saying_can_be_stopped(void **state)
{
    (void)state;
    talk t;
    vd_answer answer;
    vd_error err;
    const atomic_int stop = 1;
    begin(&t, VD_GENERATIVE);
    assert_int_equal(
        vd_dialog_ask(t.dialog, t.c.question, t.c.question_length[0], &stop, &answer, &err),
        VD_INTERRUPTED);
    end(&t);
}

static void vectors_of_such_a_pool_are_refused(void **state)
{
    (void)state;
    talk t;
    vd_error err;
    begin(&t, VD_GENERATIVE);
    support_refused(vd_pool_save(t.c.pool, "/nowhere/x", &err), VD_USAGE, &err, "generative", NULL);
    end(&t);
}

static talk shared;

static vd_status ask_again(void *context, vd_error *err)
{
    vd_answer answer;
    vd_decoders by = context ? VD_BOTH : VD_GENERATIVE;
    vd_dialog_free(shared.dialog);
    shared.dialog = NULL;
    vd_status status =
        vd_pool_score_by(shared.c.pool, by, shared.c.candidate, shared.c.candidate_length, TO, err);
    if (status == VD_OK)
        status = vd_dialog_new(shared.c.model, shared.c.pool, shared.c.image, P, shared.c.history,
                               shared.c.history_length[0], &shared.dialog, err);
    if (status == VD_OK)
        status = vd_dialog_ask(shared.dialog, shared.c.question, shared.c.question_length[0], NULL,
                               &answer, err);
    if (status == VD_OK)
        vd_answer_clear(&answer);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    // Not all of them are failures of the call: an arena that cannot join its blocks keeps them.
    for (int both = 0; both < 2; both++) {
        int failed = 0;
        size_t made = 0;
        begin(&shared, both ? VD_BOTH : VD_GENERATIVE);
        for (size_t n = 1; n <= made + 1; n++) { // while the one before met its failure
            vd_error err;
            vd_alloc_fail_at(n);
            vd_status status = ask_again(both ? &shared : NULL, &err);
            made = vd_alloc_fail_at(0);
            assert_true(status == VD_OK || status == VD_NO_MEMORY);
            failed += status == VD_NO_MEMORY;
        }
        assert_true(failed > 20);
        end(&shared);
    }
}

// ---- own numbers --------------------------------------------------------------------------------

// What was said to the first question as the candidates of a batch.
static void score_said(talk *t, const vd_generated_answers *said, float *scores)
{
    enum { V = WORDS + VD_FIRST_WORD };
    int32_t in[2][VD_BEAMS * VD_MAX_CANDIDATE] = {{0}}, out[2][VD_BEAMS * VD_MAX_CANDIDATE] = {{0}};
    int32_t asked[ROUNDS * VD_MAX_QUESTION], told[ROUNDS * VD_MAX_HISTORY];
    int32_t option[ROUNDS * VD_BEAMS];
    vd_batch batch = small_dialog_batch(&t->c);
    vd_arena arena = {0};
    vd_error err;
    for (int i = 0; i < said->count; i++) {
        int32_t *read = in[0] + i * VD_MAX_CANDIDATE, *next = out[0] + i * VD_MAX_CANDIDATE;
        read[0] = VD_START;
        memcpy(read + 1, said->beam[i].word, (size_t)said->beam[i].length * sizeof *read);
        memcpy(next, said->beam[i].word, (size_t)said->beam[i].length * sizeof *next);
        next[said->beam[i].length] = VD_END;
    }
    memcpy(in[1], in[0], sizeof in[1]);
    memcpy(out[1], out[0], sizeof out[1]);
    memcpy(asked, batch.question, sizeof asked);
    memcpy(told, batch.history, sizeof told);
    int32_t *const known[] = {in[0], out[0], asked, told};
    const size_t numbers[] = {sizeof in[0], sizeof out[0], sizeof asked, sizeof told};
    for (int k = 0; k < 4; k++)
        vd_batch_known(known[k], numbers[k] / sizeof **known, V);
    for (int i = 0; i < ROUNDS * VD_BEAMS; i++)
        option[i] = i % said->count;
    batch.own.question = batch.question;
    batch.own.history = batch.history;
    batch.own.candidate_in = in[1];
    batch.own.candidate_out = out[1];
    batch.question = asked;
    batch.history = told;
    batch.candidate_in = in[0];
    batch.candidate_out = out[0];
    batch.candidates = VD_BEAMS;
    batch.distinct = said->count;
    batch.candidate_width = VD_MAX_CANDIDATE;
    batch.option = option;
    must(vd_model_scores(t->c.model, vd_model_config(t->c.model)->decoders, &arena, NULL, &batch,
                         scores, &err),
         &err);
    vd_arena_free(&arena);
}

// Unknown words of the caption and the question are said by their numbers, and are worth what a
// batch says.
static void own_words_are_said(void **state)
{
    (void)state;
    enum { V = WORDS + VD_FIRST_WORD, QUESTIONS = 20 };
    talk t;
    vd_rng rng = vd_rng_seed(10, 1);
    int own = 0;
    begin(&t, VD_GENERATIVE);
    vd_dialog_free(t.dialog);
    for (int n = 0; n < QUESTIONS; n++) {
        float scores[ROUNDS * VD_BEAMS];
        vd_answer answer;
        vd_error err;
        for (int i = 0; i < t.c.history_length[0]; i++)
            t.c.history[i] = V + vd_rng_below(&rng, 2);
        t.c.question[0] = V + 2 + n;
        must(vd_dialog_new(t.c.model, t.c.pool, t.c.image, P, t.c.history, t.c.history_length[0],
                           &t.dialog, &err),
             &err);
        ask(&t, &answer);
        score_said(&t, &answer.generated, scores);
        for (int i = 0; i < answer.generated.count; i++) {
            const vd_generated_answer *u = &answer.generated.beam[i];
            for (int k = 0; k < u->length; k++)
                own += u->word[k] >= V;
            if (u->length < VD_MOST_WORDS)
                assert_near("said", (double)u->score, (double)scores[i]);
        }
        vd_answer_clear(&answer);
        vd_dialog_free(t.dialog);
    }
    assert_true(own > 0);
    small_dialog_end(&t.c);
}

static void own_numbers_are_refused_where_nothing_is_copied(void **state)
{
    (void)state;
    talk t;
    vd_error err;
    vd_answer answer;
    const int32_t question[] = {WORDS + VD_FIRST_WORD};
    begin(&t, VD_GENERATIVE);
    support_refused(vd_dialog_ask(t.dialog, question, 1, NULL, &answer, &err), VD_USAGE, &err,
                    "each below", NULL);
    end(&t);
}

#define BY(way, test)   cmocka_unit_test_prestate_setup_teardown(test, choose, NULL, &(way))
#define COPYING(test)   BY(pointer, test), BY(copynet, test)
#define EVERY_WAY(test) BY(lstm, test), BY(attention, test), BY(conv, test), BY(sequence, test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EVERY_WAY(a_pool_is_ranked_by_mean_log_probability),
        EVERY_WAY(decoders_are_chosen_to_rank),
        EVERY_WAY(a_decoder_that_is_not_there_is_refused),
        EVERY_WAY(what_is_said_is_worth_what_it_says),
        EVERY_WAY(the_greedy_answer_is_among_the_best),
        EVERY_WAY(without_that_decoder_nothing_is_said),
        EVERY_WAY(saying_can_be_stopped),
        EVERY_WAY(vectors_of_such_a_pool_are_refused),
        EVERY_WAY(every_failed_allocation_is_reported),
        EVERY_WAY(own_numbers_are_refused_where_nothing_is_copied),
        COPYING(a_pool_is_ranked_by_mean_log_probability),
        COPYING(what_is_said_is_worth_what_it_says),
        COPYING(own_words_are_said),
        COPYING(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
