// What a batch may hold: batches at the edge of what they may be are computed right, those beyond
// it are refused before anything reads them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/model/model.h"
#include "engine/networks/network.h"
#include "engine/train/trainer.h"
#include "tests/support/must.h"
#include "tests/support/small_batch.h"
#include "tests/support/step.h"
#include "tests/support/support.h"

// Room for every batch of this file.
enum {
    B = SMALL_DIALOGS,
    R = SMALL_ROUNDS,
    D = SMALL_REGION,
    P = 50,
    O = 6,
    U = 9,
    TQ = 7,
    TH = 11,
    TO = 4
};

typedef struct numbers {
    vd_batch batch;
    float image[B * P * D];
    int32_t question[B * R * TQ], question_length[B * R], history[B * R * TH],
        history_length[B * R], candidate[U * TO], candidate_length[U], option[B * R * O],
        truth[B * R], spoken[2][U * TO];
} numbers;

// The small batch in memory that a test may change.
static void begin(numbers *n)
{
    const vd_batch *from = small_batch();
    memset(n, 0, sizeof *n);
    n->batch = *from;
    assert_true(from->candidates == O && from->distinct == U && from->question_width == TQ &&
                from->history_width == TH && from->candidate_width == TO);
#define COPY(field, count)                                                                         \
    memcpy(n->field, from->field, (size_t)(count) * sizeof *n->field);                             \
    n->batch.field = n->field
    COPY(image, B * from->regions * D);
    COPY(question, B * R * TQ);
    COPY(question_length, B * R);
    COPY(history, B * R * TH);
    COPY(history_length, B * R);
    COPY(candidate, U * TO);
    COPY(candidate_length, U);
    COPY(option, B * R * O);
    COPY(truth, B * R);
#undef COPY
}

static vd_trainer *new_trainer(vd_positions positions)
{
    vd_config config = {.vocab = SMALL_VOCAB,
                        .embed = 6,
                        .hidden = 8,
                        .region = D,
                        .gate = VD_GATE_LEAKY_RELU,
                        .positions = positions};
    vd_train_options options = vd_train_defaults();
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    options.dropout = options.lstm_dropout = options.position_dropout = 0;
    options.margin = 1;
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    vd_vocab_free(vocab);
    return trainer;
}

// The loss by its definition: mean over the known rounds of log sum_c exp z_c - z_truth.
static double loss_of(const vd_batch *batch, const float *scores)
{
    double total = 0;
    int known = 0;
    for (int k = 0; k < batch->dialogs * batch->rounds; k++) {
        const float *z = scores + k * batch->candidates;
        double sum = 0;
        if (batch->truth[k] < 0)
            continue;
        for (int c = 0; c < batch->candidates; c++)
            sum += exp((double)z[c]);
        total += log(sum) - (double)z[batch->truth[k]];
        known++;
    }
    return known ? total / known : 0;
}

// Scores of a batch, after the trainer's memory was filled with not-a-number, so that whatever is
// read without having been written shows. The pass with gradients must agree.
static void score(vd_trainer *trainer, const vd_batch *batch, float *scores)
{
    static numbers spoilt;
    vd_error err;
    double loss, norm;
    begin(&spoilt);
    for (int i = 0; i < B * spoilt.batch.regions * D; i++)
        spoilt.image[i] = NAN;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(step_take(trainer, &spoilt.batch, 0, &loss, &norm, &err), VD_FORMAT);
        must(step_take(trainer, batch, 0, &loss, &norm, &err), &err);
        must(vd_trainer_scores(trainer, batch, scores, &err), &err);
        for (int k = 0; k < batch->dialogs * batch->rounds * batch->candidates; k++)
            assert_true(isfinite(scores[k]));
        assert_true(fabs(loss - loss_of(batch, scores)) < 1e-5);
    }
}

static void assert_same(const float *a, const float *b, int count)
{
    for (int i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5f))
            fail_msg("score %d: %.9g and %.9g", i, (double)a[i], (double)b[i]);
}

// ---- at the edge --------------------------------------------------------------------------------

static void a_history_without_a_word_is_answered(void **state)
{
    (void)state;
    static numbers n;
    float whole[B * R * O], alone[B * R * O];
    vd_trainer *trainer = new_trainer(VD_POSITIONS_NONE);
    begin(&n);
    memset(n.history_length, 0, sizeof n.history_length);
    score(trainer, &n.batch, whole);
    // What the entries hold beyond their length is nobody's business.
    memset(n.history, 0, sizeof n.history);
    n.batch.history_width = 0;
    score(trainer, &n.batch, alone);
    assert_same(whole, alone, B * R * O);
    // A single word to ask with makes vectors of what were matrices.
    n.batch.dialogs = n.batch.rounds = n.question_length[0] = 1;
    score(trainer, &n.batch, alone);
    vd_trainer_free(trainer);
}

static void a_question_without_a_word_is_answered(void **state)
{
    (void)state;
    static numbers n;
    float with[B * R * O], without[B * R * O];
    vd_trainer *trainer = new_trainer(VD_POSITIONS_SINUSOIDAL);
    begin(&n);
    score(trainer, &n.batch, with);
    n.question_length[R] = 0;
    score(trainer, &n.batch, without);
    for (int i = R * O; i < (R + 1) * O; i++)
        with[i] = without[i];
    assert_same(with, without, B * R * O);
    memset(n.question_length, 0, sizeof n.question_length);
    score(trainer, &n.batch, without);
    vd_trainer_free(trainer);
}

static void a_round_alone_scores_as_the_first_of_several(void **state)
{
    (void)state;
    static numbers n;
    float whole[B * R * O], alone[O];
    vd_trainer *trainer = new_trainer(VD_POSITIONS_LEARNED);
    begin(&n);
    score(trainer, &n.batch, whole);
    n.batch.dialogs = n.batch.rounds = 1;
    score(trainer, &n.batch, alone);
    assert_same(whole, alone, O);
    vd_trainer_free(trainer);
}

static void padding_changes_nothing(void **state)
{
    (void)state;
    static numbers n, padded;
    float few[B * R * O], many[B * R * O];
    vd_trainer *trainer = new_trainer(VD_POSITIONS_NONE);
    for (int regions = 1; regions <= 4; regions += 3) {
        begin(&n);
        padded = n;
        n.batch.regions = regions;
        score(trainer, &n.batch, few);
        memset(padded.image, 0, sizeof padded.image);
        for (int b = 0; b < B; b++)
            memcpy(padded.image + b * P * D, n.image + b * regions * D,
                   (size_t)(regions * D) * sizeof *n.image);
        padded.batch = n.batch;
        padded.batch.image = padded.image;
        padded.batch.regions = P;
        score(trainer, &padded.batch, many);
        assert_same(few, many, B * R * O);
    }
    vd_trainer_free(trainer);
}

static void pictures_of_nothing_but_padding_are_answered(void **state)
{
    (void)state;
    static numbers n;
    float one[B * R * O], more[B * R * O];
    vd_trainer *trainer = new_trainer(VD_POSITIONS_NONE);
    begin(&n);
    memset(n.image, 0, sizeof n.image);
    n.batch.regions = 1;
    score(trainer, &n.batch, one);
    n.batch.regions = P;
    score(trainer, &n.batch, more);
    assert_same(one, more, B * R * O);
    n.batch.regions = 0;
    score(trainer, &n.batch, more);
    vd_trainer_free(trainer);
}

static void candidates_without_a_word_score_zero(void **state)
{
    (void)state;
    static numbers n;
    float scores[B * R * O];
    vd_trainer *trainer = new_trainer(VD_POSITIONS_NONE);
    begin(&n);
    n.candidate_length[3] = 0;
    score(trainer, &n.batch, scores);
    for (int i = 0; i < B * R * O; i++)
        assert_true((n.option[i] == 3) == (scores[i] == 0));
    memset(n.candidate_length, 0, sizeof n.candidate_length);
    score(trainer, &n.batch, scores);
    for (int i = 0; i < B * R * O; i++)
        assert_true(scores[i] == 0);
    vd_trainer_free(trainer);
}

static void sorted_candidates_need_no_sorting(void **state)
{
    (void)state;
    static numbers n;
    vd_error err;
    int order[U];
    float scores[2][B * R * O];
    begin(&n);
    must(vd_packed_sort(n.batch.candidate, n.batch.candidate_length, TO, U, order, &err), &err);
    for (int i = 0; i < 2; i++) {
        vd_trainer *trainer = new_trainer(VD_POSITIONS_SINUSOIDAL);
        n.batch.candidate_order = i ? order : NULL;
        score(trainer, &n.batch, scores[i]);
        vd_trainer_free(trainer);
    }
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
}

static void a_batch_without_a_known_answer_changes_nothing(void **state)
{
    (void)state;
    static numbers n;
    double loss = -1, norm = -1;
    vd_error err;
    vd_trainer *trainer = new_trainer(VD_POSITIONS_NONE);
    begin(&n);
    for (int i = 0; i < B * R; i++)
        n.truth[i] = -1;
    must(step_take(trainer, &n.batch, 0, &loss, &norm, &err), &err);
    assert_true(loss == 0 && norm == 0);
    vd_trainer_free(trainer);
}

// ---- beyond it ----------------------------------------------------------------------------------

static void refused(vd_trainer *trainer, const vd_batch *batch, const char *what)
{
    float scores[B * R * O];
    double loss;
    vd_error err;
    support_refused(vd_trainer_scores(trainer, batch, scores, &err), VD_USAGE, &err, what, NULL);
    support_refused(step_gradient(trainer, batch, 1, (vd_totals){.questions = 1}, &loss, &err),
                    VD_USAGE, &err, what, NULL);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    static numbers n;
    vd_trainer *trainer = new_trainer(VD_POSITIONS_SINUSOIDAL);
    static const struct {
        const char *what;
        size_t at;
        int32_t value;
    } wrong[] = {
        {"question 2", offsetof(numbers, question[2 * TQ]), SMALL_VOCAB},
        {"question 0", offsetof(numbers, question), -1},
        {"question 4", offsetof(numbers, question_length[4]), TQ + 1},
        {"question 4", offsetof(numbers, question_length[4]), -1},
        {"history entry 1", offsetof(numbers, history[TH]), INT32_MAX},
        {"history entry 11", offsetof(numbers, history_length[11]), TH + 1},
        {"candidate 8", offsetof(numbers, candidate[8 * TO]), INT32_MIN},
        {"candidate 1", offsetof(numbers, candidate_length[1]), TO + 1},
        {"option 5", offsetof(numbers, option[5]), U},
        {"option 0", offsetof(numbers, option), -1},
        {"answer of question 3", offsetof(numbers, truth[3]), O},
        {"answer of question 3", offsetof(numbers, truth[3]), -2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin(&n);
        memcpy((char *)&n + wrong[i].at, &wrong[i].value, sizeof wrong[i].value);
        refused(trainer, &n.batch, wrong[i].what);
    }
    int order[U] = {[3] = U};
    begin(&n);
    n.batch.candidate_order = order;
    refused(trainer, &n.batch, "position 3");
    order[3] = -1;
    refused(trainer, &n.batch, "position 3");
    vd_trainer_free(trainer);
}

static void sizes_out_of_range_are_refused(void **state)
{
    (void)state;
    static numbers n;
    static int32_t one_word[VD_MAX_HISTORY + 1];
    vd_trainer *trainer = new_trainer(VD_POSITIONS_SINUSOIDAL);
    static const size_t sizes[] = {
        offsetof(vd_batch, dialogs),        offsetof(vd_batch, rounds),
        offsetof(vd_batch, regions),        offsetof(vd_batch, candidates),
        offsetof(vd_batch, question_width), offsetof(vd_batch, distinct)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int huge = 0; huge < 2; huge++) {
            int value = huge ? INT32_MAX : -1;
            if (huge && sizes[i] == offsetof(vd_batch, question_width))
                continue; // only what a length says is read
            begin(&n);
            memcpy((char *)&n.batch + sizes[i], &value, sizeof value);
            if (huge && sizes[i] == offsetof(vd_batch, distinct))
                n.batch.candidate_width = 2;
            refused(trainer, &n.batch, "batch");
        }
    // Longer than the table of positions.
    begin(&n);
    n.batch.dialogs = n.batch.rounds = 1;
    n.batch.history = one_word;
    n.batch.history_width = n.history_length[0] = VD_MAX_HISTORY + 1;
    refused(trainer, &n.batch, "history entry 0");
    vd_trainer_free(trainer);
}

static void answers_to_say_are_checked_too(void **state)
{
    (void)state;
    static numbers n;
    vd_error err;
    begin(&n);
    must(vd_batch_check(&n.batch, SMALL_VOCAB, &err), &err);
    n.batch.candidate_in = n.spoken[0];
    n.batch.candidate_out = n.spoken[1];
    must(vd_batch_check(&n.batch, SMALL_VOCAB, &err), &err);
    for (int i = 0; i < 2; i++) {
        n.spoken[i][7] = SMALL_VOCAB;
        support_refused(vd_batch_check(&n.batch, SMALL_VOCAB, &err), VD_USAGE, &err, "answer 1",
                        NULL);
        n.spoken[i][7] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_history_without_a_word_is_answered),
        cmocka_unit_test(a_question_without_a_word_is_answered),
        cmocka_unit_test(a_round_alone_scores_as_the_first_of_several),
        cmocka_unit_test(padding_changes_nothing),
        cmocka_unit_test(pictures_of_nothing_but_padding_are_answered),
        cmocka_unit_test(candidates_without_a_word_score_zero),
        cmocka_unit_test(a_batch_without_a_known_answer_changes_nothing),
        cmocka_unit_test(sorted_candidates_need_no_sorting),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(answers_to_say_are_checked_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
