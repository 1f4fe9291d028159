// What-if questions against dialogs where the change was made for real, and the trace against the
// uncached stages.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/model/dialog.h"
#include "engine/model/model_private.h"
#include "engine/networks/mvan/network.h"
#include "tests/support/backend.h"
#include "tests/support/small_dialog.h"
#include "tests/support/support.h"

static vd_dialog *dialog_of(const small_dialog *c, const float *image, int regions, int skip)
{
    vd_dialog *dialog;
    vd_error err;
    int first = skip == 0 ? 1 : 0;
    must(vd_dialog_new(c->model, c->pool, image, regions,
                       c->history + (size_t)first * VD_MAX_HISTORY, c->history_length[first],
                       &dialog, &err),
         &err);
    for (int t = first + 1; t < ROUNDS; t++)
        if (t != skip)
            must(vd_dialog_append(dialog, c->history + (size_t)t * VD_MAX_HISTORY,
                                  c->history_length[t], &err),
                 &err);
    return dialog;
}

static void ask_if(const small_dialog *c, vd_dialog *dialog, const vd_intervention *what_if,
                   vd_answer *out, vd_trace *trace)
{
    vd_error err;
    must(vd_dialog_ask_if(dialog, c->question, c->question_length[0], what_if, NULL, out, trace,
                          &err),
         &err);
}

static void assert_scores(const vd_answer *found, const vd_answer *expected)
{
    for (int i = 0; i < POOL; i++)
        assert_near("score", (double)found->score[i], (double)expected->score[i]);
}

static bool scores_differ(const vd_answer *a, const vd_answer *b)
{
    double most = 0;
    for (int i = 0; i < POOL; i++)
        most = fmax(most, fabs((double)a->score[i] - (double)b->score[i]));
    return most > 1e-4;
}

static void a_masked_region_is_a_picture_without_it(void **state)
{
    (void)state;
    static small_dialog c;
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_SINUSOIDAL);
    vd_dialog *whole = dialog_of(&c, c.image, REAL, -1);
    vd_answer plain, masked, without;
    ask_if(&c, whole, NULL, &plain, NULL);
    for (int region = 0; region < REAL; region++) {
        float image[REAL * D];
        bool mask[REAL] = {false};
        mask[region] = true;
        int left = 0;
        for (int k = 0; k < REAL; k++)
            if (k != region)
                memcpy(image + (size_t)left++ * D, c.image + (size_t)k * D, D * sizeof *image);
        vd_dialog *other = dialog_of(&c, image, left, -1);
        ask_if(&c, whole, &(vd_intervention){.mask_region = mask}, &masked, NULL);
        ask_if(&c, other, NULL, &without, NULL);
        assert_scores(&masked, &without);
        assert_true(scores_differ(&masked, &plain));
        assert_int_equal(masked.regions, REAL);
        assert_near("the region left out", (double)masked.region_attention[region], 0);
        for (int k = 0; k < left; k++)
            assert_near("another region", (double)masked.region_attention[k < region ? k : k + 1],
                        (double)without.region_attention[k]);
        vd_answer_clear(&masked);
        vd_answer_clear(&without);
        vd_dialog_free(other);
    }
    ask_if(&c, whole, NULL, &masked, NULL); // the dialog is as it was
    assert_memory_equal(masked.score, plain.score, POOL * sizeof(float));
    vd_answer_clear(&masked);
    vd_answer_clear(&plain);
    vd_dialog_free(whole);
    small_dialog_end(&c);
}

static void a_dropped_round_is_a_dialog_without_it(void **state)
{
    (void)state;
    static small_dialog c;
    small_dialog_begin(&c, VD_GATE_SIGMOID, VD_POSITIONS_SINUSOIDAL);
    vd_dialog *whole = dialog_of(&c, c.image, REAL, -1);
    vd_answer plain, dropped, without;
    ask_if(&c, whole, NULL, &plain, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        bool drop[ROUNDS] = {false};
        drop[round] = true;
        vd_dialog *other = dialog_of(&c, c.image, REAL, round);
        ask_if(&c, whole, &(vd_intervention){.drop_entry = drop}, &dropped, NULL);
        ask_if(&c, other, NULL, &without, NULL);
        assert_scores(&dropped, &without);
        assert_true(scores_differ(&dropped, &plain));
        assert_int_equal(dropped.rounds, ROUNDS);
        assert_near("the round left out", (double)dropped.context_attention[round], 0);
        for (int r = 0; r < ROUNDS - 1; r++) {
            int place = r < round ? r : r + 1;
            assert_near("another round", (double)dropped.context_attention[place],
                        (double)without.context_attention[r]);
            assert_int_equal(dropped.history_length[place], without.history_length[r]);
            for (int i = 0; i < without.question_length; i++)
                for (int j = 0; j < without.history_length[r]; j++)
                    assert_near(
                        "a word of it",
                        (double)dropped.topic_attention[(place * dropped.question_length + i) *
                                                            dropped.history_width +
                                                        j],
                        (double)without.topic_attention[(r * without.question_length + i) *
                                                            without.history_width +
                                                        j]);
        }
        vd_answer_clear(&dropped);
        vd_answer_clear(&without);
        vd_dialog_free(other);
    }
    vd_answer_clear(&plain);
    vd_dialog_free(whole);
    small_dialog_end(&c);
}

static void a_blank_picture_is_one_of_zeros(void **state)
{
    (void)state;
    static small_dialog c;
    static const float zeros[REAL * D];
    const bool all[REAL] = {true, true, true, true};
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    vd_dialog *whole = dialog_of(&c, c.image, REAL, -1), *other = dialog_of(&c, zeros, REAL, -1);
    vd_answer blank, masked, expected;
    ask_if(&c, whole, &(vd_intervention){.blank = true}, &blank, NULL);
    ask_if(&c, whole, &(vd_intervention){.mask_region = all}, &masked, NULL);
    ask_if(&c, other, NULL, &expected, NULL);
    assert_scores(&blank, &expected);
    assert_scores(&masked, &expected);
    for (int k = 0; k < REAL; k++)
        assert_near("nothing to choose from", (double)blank.region_attention[k], 1.0 / REAL);
    vd_answer_clear(&blank);
    vd_answer_clear(&masked);
    vd_answer_clear(&expected);
    vd_dialog_free(whole);
    vd_dialog_free(other);
    small_dialog_end(&c);
}

static void a_flattened_attention_is_uniform(void **state)
{
    (void)state;
    static small_dialog c;
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    vd_dialog *dialog = dialog_of(&c, c.image, P, -1); // the last region is padding
    vd_answer plain;
    ask_if(&c, dialog, NULL, &plain, NULL);
    for (unsigned flat = 1; flat < 16; flat++) {
        vd_answer a;
        ask_if(&c, dialog, &(vd_intervention){.flatten = flat}, &a, NULL);
        assert_memory_not_equal(a.score, plain.score, POOL * sizeof(float));
        double rounds = 0, history = 0, words = 0, regions = 0; // distance from uniform
        int q = a.question_length;
        for (int r = 0; r < ROUNDS; r++) {
            rounds = fmax(rounds, fabs((double)a.context_attention[r] - 1.0 / ROUNDS));
            for (int i = 0; i < q; i++)
                for (int j = 0; j < a.history_length[r]; j++)
                    history = fmax(
                        history, fabs((double)a.topic_attention[(r * q + i) * a.history_width + j] -
                                      1.0 / a.history_length[r]));
        }
        for (int i = 0; i < P * q; i++)
            words = fmax(words, fabs((double)a.word_attention[i] - 1.0 / q));
        for (int k = 0; k < REAL; k++)
            regions = fmax(regions, fabs((double)a.region_attention[k] - 1.0 / REAL));
        assert_near("padding", (double)a.region_attention[REAL], 0);
        assert_true((rounds < 1e-6) == !!(flat & VD_ATTENTION_ROUNDS));
        assert_true((history < 1e-6) == !!(flat & VD_ATTENTION_HISTORY_WORDS));
        assert_true((words < 1e-6) == !!(flat & VD_ATTENTION_QUESTION_WORDS));
        assert_true((regions < 1e-6) == !!(flat & VD_ATTENTION_REGIONS));
        vd_answer_clear(&a);
    }
    vd_answer_clear(&plain);
    vd_dialog_free(dialog);
    small_dialog_end(&c);
}

// Sinusoids have no weights, so the two models differ in nothing else.
static void swapped_positions_are_those_of_the_other_kind(void **state)
{
    (void)state;
    static small_dialog with, without;
    small_dialog_begin(&with, VD_GATE_LEAKY_RELU, VD_POSITIONS_SINUSOIDAL);
    small_dialog_begin(&without, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    vd_dialog *dialogs[2] = {dialog_of(&with, with.image, REAL, -1),
                             dialog_of(&without, without.image, REAL, -1)};
    const small_dialog *c[2] = {&with, &without};
    for (int k = 0; k < 2; k++) {
        vd_answer swapped, other;
        vd_trace found, expected;
        ask_if(c[k], dialogs[k], &(vd_intervention){.swap_positions = true}, &swapped, &found);
        ask_if(c[!k], dialogs[!k], NULL, &other, &expected);
        for (int i = 0; i < H; i++)
            assert_near("e", (double)found.encoded[i], (double)expected.encoded[i]);
        assert_near("a round", (double)swapped.context_attention[1],
                    (double)other.context_attention[1]);
        vd_answer_clear(&swapped);
        vd_answer_clear(&other);
        vd_trace_clear(&found);
        vd_trace_clear(&expected);
    }
    for (int k = 0; k < 2; k++)
        vd_dialog_free(dialogs[k]);
    small_dialog_end(&with);
    small_dialog_end(&without);
}

static void compare_rows(const char *what, const float *found, const vd_real *there, size_t n)
{
    float *expected = support_read(there, n);
    for (size_t i = 0; i < n; i++)
        assert_near(what, (double)found[i], (double)expected[i]);
    vd_free(expected);
}

static void a_trace_is_what_the_uncached_stages_computed(void **state)
{
    (void)state;
    static small_dialog c;
    enum { LAST = ROUNDS - 1 };
    vd_arena arena = {0};
    vd_network net = {0};
    vd_error err;
    small_dialog_begin(&c, VD_GATE_ELU, VD_POSITIONS_SINUSOIDAL);
    vd_batch batch = small_dialog_batch(&c);
    vd_model_pass(c.model, &arena, &net.pass);
    must(vd_network_encode(&net, &batch, &err), &err);
    vd_dialog *dialog = dialog_of(&c, c.image, P, -1);
    vd_answer a;
    vd_trace t;
    must(vd_dialog_ask_if(dialog, c.question + (size_t)LAST * VD_MAX_QUESTION,
                          c.question_length[LAST], NULL, NULL, &a, &t, &err),
         &err);
    const vd_pass *p = &net.pass;
    size_t q = (size_t)t.words, word = (size_t)p->question_words.start[LAST];
    size_t row = (size_t)p->span.region_start[LAST];
    assert_int_equal(t.words, c.question_length[LAST]);
    assert_int_equal(t.rounds, ROUNDS);
    assert_int_equal(t.regions, P);
    compare_rows("word", t.word, p->question.embedding + word * E, q * E);
    compare_rows("Q", t.state, p->question.recurrent.y + word * 2 * H, q * 2 * H);
    compare_rows("q", t.question, p->question.sentence + LAST * 2 * H, (size_t)2 * H);
    compare_rows("h", t.history, p->history.sentence, (size_t)ROUNDS * 2 * H);
    compare_rows("c", t.matched, p->matched + LAST * 2 * H, (size_t)2 * H);
    compare_rows("gate", t.context_gate, p->context_pair.gate + LAST * 4 * H, (size_t)4 * H);
    compare_rows("e_ctx", t.context, p->context_pair.y + LAST * 4 * H, (size_t)4 * H);
    compare_rows("u", t.gathered, p->gathered + word * E, q * E);
    compare_rows("word gate", t.topic_gate, p->topic_pair.gate + word * 2 * E, q * 2 * E);
    compare_rows("e_top", t.topic, p->topic_pair.y + word * 2 * E, q * 2 * E);
    compare_rows("t", t.region_topic, p->region_topic + row * 2 * E, (size_t)REAL * 2 * E);
    compare_rows("m", t.view, p->view + row * D, (size_t)REAL * D);
    compare_rows("z", t.fused, p->fused + row * H, (size_t)REAL * H);
    compare_rows("y", t.pooled, p->pooled + LAST * (D + 4 * H), (size_t)D + 4 * H);
    compare_rows("e", t.encoded, p->encoded + LAST * H, (size_t)H);
    for (int i = 0; i < D; i++)
        assert_near("m of padding", (double)t.view[REAL * D + i], 0);
    vd_answer_clear(&a);
    vd_trace_clear(&t);
    vd_dialog_free(dialog);
    vd_arena_free(&arena);
    small_dialog_end(&c);
}

static void an_empty_history_is_refused(void **state)
{
    (void)state;
    static small_dialog c;
    vd_answer a;
    vd_trace trace;
    vd_error err;
    const bool all[ROUNDS] = {true, true, true, true, true, true};
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    vd_dialog *dialog = dialog_of(&c, c.image, REAL, -1);
    vd_status status =
        vd_dialog_ask_if(dialog, c.question, c.question_length[0],
                         &(vd_intervention){.drop_entry = all}, NULL, &a, &trace, &err);
    support_refused(status, VD_USAGE, &err, "all 6 history entries are dropped: one must stay",
                    NULL);
    assert_null(a.score);
    assert_null(trace.encoded);
    vd_dialog_free(dialog);
    small_dialog_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_masked_region_is_a_picture_without_it),
        cmocka_unit_test(a_dropped_round_is_a_dialog_without_it),
        cmocka_unit_test(a_blank_picture_is_one_of_zeros),
        cmocka_unit_test(a_flattened_attention_is_uniform),
        cmocka_unit_test(swapped_positions_are_those_of_the_other_kind),
        cmocka_unit_test(a_trace_is_what_the_uncached_stages_computed),
        cmocka_unit_test(an_empty_history_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
