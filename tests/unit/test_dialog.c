// A dialog's cached answers against the uncached network over the same small_dialog, and the
// promises of engine/model/dialog.h.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/model/dialog.h"
#include "engine/model/model_private.h"
#include "engine/networks/network.h"
#include "engine/train/trainer.h"
#include "tests/support/attentions.h"
#include "tests/support/backend.h"
#include "tests/support/small_dialog.h"
#include "tests/support/support.h"

static void compare_round(const vd_answer *a, const vd_network *net, int t)
{
    const vd_pass *pass = &net->pass;
    int q = a->question_length, first = pass->question_words.start[t], stride;
    int rounds = pass->span.questions, words = pass->question_words.tokens;
    float *scores = support_read(net->scores, (size_t)(rounds * POOL));
    float *context = support_read(pass->context, (size_t)(rounds * ROUNDS));
    float *topic = support_read(pass->topic, pass->topic_start[1]);
    float *word = support_read(pass->word, (size_t)(P * words));
    float *region = support_read(pass->region, (size_t)pass->rows);
    const vd_attention *looks = vd_answer_attention(a, VD_AXIS_REGIONS, VD_AXIS_QUESTION_WORDS);
    const float *regions = vd_answer_shares(a, VD_AXIS_REGIONS);
    size_t start = vd_pass_word_start(pass, t, &stride);
    for (int i = 0; i < POOL; i++)
        assert_near("score", (double)a->score[i], (double)scores[t * POOL + i]);
    assert_int_equal(a->rounds, t + 1);
    for (int r = 0; r <= t; r++) {
        assert_near("context", (double)vd_answer_shares(a, VD_AXIS_ENTRIES)[r],
                    (double)context[t * ROUNDS + r]);
        for (int i = 0; i < q; i++)
            for (int j = 0; j < support_entry_length(a, r); j++)
                assert_near("topic", (double)support_topic(a, r, i, j),
                            (double)topic[(size_t)(first + i) * (size_t)pass->history_words.tokens +
                                          (size_t)(pass->history_words.start[r] + j)]);
    }
    for (int i = 0; i < P * q; i++)
        assert_near("word", (double)looks->share[i],
                    (double)word[start + (size_t)(i / q * stride + i % q)]);
    for (int k = 0; k < REAL; k++)
        assert_near("region", (double)regions[k], (double)region[pass->span.region_start[t] + k]);
    for (int k = REAL; k < P; k++)
        assert_near("region of padding", (double)regions[k], 0);
    float *const read[] = {scores, context, topic, word, region};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        vd_free(read[i]);
}

static void compare(vd_gate gate, vd_positions positions, bool joined)
{
    static small_dialog c;
    vd_dialog *dialog;
    vd_answer a;
    vd_error err;
    vd_arena arena = {0};
    vd_network net = {0};
    small_dialog_begin(&c, gate, positions);
    vd_batch batch = small_dialog_batch(&c);
    vd_model_pass(c.model, &arena, &net.pass);
    vd_real *gradient = vd_alloc(c.model->layout.elements, sizeof *gradient);
    vd_weights gradients;
    vd_layout layout;
    vd_weights_layout(&c.model->config, &layout, gradient, &gradients);
    net.pass.dw = joined ? &gradients : NULL;
    must(vd_network_encode(&net, &batch, &err), &err);
    must(vd_discriminative_forward(&net, &err), &err);

    must(vd_dialog_new(c.model, c.pool, c.image, P, c.history, c.history_length[0], &dialog, &err),
         &err);
    for (int t = 0; t < ROUNDS; t++) {
        if (t > 0)
            must(vd_dialog_append(dialog, c.history + (size_t)t * VD_MAX_HISTORY,
                                  c.history_length[t], &err),
                 &err);
        must(vd_dialog_ask(dialog, c.question + (size_t)t * VD_MAX_QUESTION, c.question_length[t],
                           NULL, &a, &err),
             &err);
        compare_round(&a, &net, t);
        vd_answer_clear(&a);
    }
    vd_dialog_free(dialog);
    vd_free(gradient);
    vd_arena_free(&arena);
    small_dialog_end(&c);
}

static void cached_answers_equal_uncached_ones(void **state)
{
    (void)state;
    compare(VD_GATE_LEAKY_RELU, VD_POSITIONS_SINUSOIDAL, false);
    compare(VD_GATE_SIGMOID, VD_POSITIONS_NONE, false);
    compare(VD_GATE_ELU, VD_POSITIONS_LEARNED, false);
}

static void cached_answers_equal_the_training_pass(void **state)
{
    (void)state;
    compare(VD_GATE_LEAKY_RELU, VD_POSITIONS_SINUSOIDAL, true);
}

static void asking_changes_nothing_and_truncating_forgets(void **state)
{
    (void)state;
    static small_dialog c;
    vd_dialog *dialog;
    vd_answer before, after;
    vd_error err;
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    must(vd_dialog_new(c.model, c.pool, c.image, P, c.history, c.history_length[0], &dialog, &err),
         &err);
    must(vd_dialog_ask(dialog, c.question, c.question_length[0], NULL, &before, &err), &err);
    for (int t = 1; t < ROUNDS; t++)
        must(vd_dialog_append(dialog, c.history + (size_t)t * VD_MAX_HISTORY, c.history_length[t],
                              &err),
             &err);
    vd_dialog_truncate(dialog, 0);
    must(vd_dialog_ask(dialog, c.question, c.question_length[0], NULL, &after, &err), &err);
    assert_int_equal(after.rounds, 1);
    assert_memory_equal(before.score, after.score, POOL * sizeof(float));
    vd_answer_clear(&before);
    vd_answer_clear(&after);
    vd_dialog_free(dialog);
    small_dialog_end(&c);
}

static void answers_are_ranked_and_sum_to_one(void **state)
{
    (void)state;
    static small_dialog c;
    vd_dialog *dialog;
    vd_answer a;
    vd_error err;
    double sum = 0, words = 0, regions = 0;
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    must(vd_dialog_new(c.model, c.pool, c.image, P, c.history, c.history_length[0], &dialog, &err),
         &err);
    must(vd_dialog_ask(dialog, c.question, c.question_length[0], NULL, &a, &err), &err);
    for (int i = 0; i < POOL; i++) {
        sum += (double)a.probability[i];
        if (i > 0)
            assert_true(a.score[a.order[i]] <= a.score[a.order[i - 1]]);
    }
    for (int i = 0; i < a.question_length; i++)
        words += (double)vd_answer_attention(&a, VD_AXIS_REGIONS, VD_AXIS_QUESTION_WORDS)->share[i];
    for (int k = 0; k < P; k++)
        regions += (double)vd_answer_shares(&a, VD_AXIS_REGIONS)[k];
    assert_near("probabilities", sum, 1);
    assert_near("word attention", words, 1);
    assert_near("region attention", regions, 1);
    vd_answer_clear(&a);
    vd_dialog_free(dialog);
    small_dialog_end(&c);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static small_dialog c;
    vd_dialog *dialog;
    vd_answer a;
    vd_error err;
    atomic_int stop = 1;
    int32_t beyond = WORDS + VD_FIRST_WORD;
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    assert_int_equal(vd_dialog_new(c.model, c.pool, c.image, 0, c.history, 1, &dialog, &err),
                     VD_USAGE);
    assert_null(dialog);
    vd_model *other = small_dialog_model(VD_GATE_SIGMOID, VD_POSITIONS_SINUSOIDAL);
    assert_int_equal(vd_dialog_new(other, c.pool, c.image, P, c.history, 1, &dialog, &err),
                     VD_USAGE);
    assert_null(dialog);
    // Longer than the table of positions.
    static const int32_t answer[2 * VD_MAX_HISTORY];
    int32_t length = 2 * VD_MAX_HISTORY;
    vd_pool *pool;
    assert_int_equal(vd_pool_new(other, answer, &length, 1, length, NULL, &pool, &err), VD_USAGE);
    assert_null(pool);
    vd_model_free(other);
    must(vd_dialog_new(c.model, c.pool, c.image, P, c.history, c.history_length[0], &dialog, &err),
         &err);
    assert_int_equal(vd_dialog_ask(dialog, c.question, 0, NULL, &a, &err), VD_USAGE);
    assert_int_equal(vd_dialog_ask(dialog, c.question, VD_MAX_QUESTION, NULL, &a, &err), VD_USAGE);
    assert_int_equal(vd_dialog_ask(dialog, &beyond, 1, NULL, &a, &err), VD_USAGE);
    assert_int_equal(vd_dialog_append(dialog, c.history, 0, &err), VD_USAGE);
    assert_int_equal(vd_dialog_ask(dialog, c.question, 1, &stop, &a, &err), VD_INTERRUPTED);
    assert_null(a.score);
    stop = 0;
    must(vd_dialog_ask(dialog, c.question, 1, &stop, &a, &err), &err);
    vd_answer_clear(&a);
    vd_dialog_free(dialog);
    small_dialog_end(&c);
}

static vd_status whole_conversation(void *context, vd_error *err)
{
    small_dialog *c = context;
    vd_pool *pool = NULL;
    vd_dialog *dialog = NULL;
    vd_answer a = {0};
    vd_status status =
        vd_pool_new(c->model, c->candidate, c->candidate_length, POOL, TO, NULL, &pool, err);
    if (status == VD_OK)
        status = vd_dialog_new(c->model, pool, c->image, P, c->history, c->history_length[0],
                               &dialog, err);
    if (status == VD_OK)
        status = vd_dialog_append(dialog, c->history + VD_MAX_HISTORY, c->history_length[1], err);
    if (status == VD_OK)
        status = vd_dialog_ask(dialog, c->question, c->question_length[0], NULL, &a, err);
    vd_answer_clear(&a);
    vd_trace trace = {0};
    const bool drop[2] = {true}, mask[P] = {true};
    const vd_intervention what_if = {.drop_entry = drop,
                                     .mask_region = mask,
                                     .uniform = (const char *const[]){"rounds", "regions", NULL},
                                     .swap_positions = true};
    if (status == VD_OK)
        status = vd_dialog_ask_if(dialog, c->question, c->question_length[0], &what_if, NULL, &a,
                                  &trace, err);
    vd_answer_clear(&a);
    vd_trace_clear(&trace);
    vd_dialog_free(dialog);
    vd_pool_free(pool);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static small_dialog c;
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_SINUSOIDAL);
    assert_true(support_fail_each_allocation(whole_conversation, &c) > 10);
    small_dialog_end(&c);
}

static void a_history_entry_is_question_answer_end(void **state)
{
    (void)state;
    int32_t q[25], a[25], entry[VD_MAX_HISTORY];
    for (int i = 0; i < 25; i++) {
        q[i] = 100 + i;
        a[i] = 200 + i;
    }
    assert_int_equal(vd_history_entry(q, 2, a, 3, entry), 6);
    assert_int_equal(entry[1], 101);
    assert_int_equal(entry[2], 200);
    assert_int_equal(entry[5], VD_END);
    assert_int_equal(vd_history_entry(q, 25, a, 25, entry), 39);
    assert_int_equal(entry[18], 118);
    assert_int_equal(entry[19], 200);
    assert_int_equal(entry[38], VD_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_answers_equal_uncached_ones),
        cmocka_unit_test(cached_answers_equal_the_training_pass),
        cmocka_unit_test(asking_changes_nothing_and_truncating_forgets),
        cmocka_unit_test(answers_are_ranked_and_sum_to_one),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(a_history_entry_is_question_answer_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
