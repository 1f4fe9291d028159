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
#include "engine/networks/network.h"
#include "tests/support/attentions.h"
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

static const float *regions_of(const vd_answer *answer)
{
    return vd_answer_shares(answer, VD_AXIS_REGIONS);
}

static const float *rounds_of(const vd_answer *answer)
{
    return vd_answer_shares(answer, VD_AXIS_ENTRIES);
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
        assert_near("the region left out", (double)regions_of(&masked)[region], 0);
        for (int k = 0; k < left; k++)
            assert_near("another region", (double)regions_of(&masked)[k < region ? k : k + 1],
                        (double)regions_of(&without)[k]);
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
        assert_near("the round left out", (double)rounds_of(&dropped)[round], 0);
        for (int r = 0; r < ROUNDS - 1; r++) {
            int place = r < round ? r : r + 1;
            assert_near("another round", (double)rounds_of(&dropped)[place],
                        (double)rounds_of(&without)[r]);
            assert_int_equal(support_entry_length(&dropped, place),
                             support_entry_length(&without, r));
            for (int i = 0; i < without.question_length; i++)
                for (int j = 0; j < support_entry_length(&without, r); j++)
                    assert_near("a word of it", (double)support_topic(&dropped, place, i, j),
                                (double)support_topic(&without, r, i, j));
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
        assert_near("nothing to choose from", (double)regions_of(&blank)[k], 1.0 / REAL);
    vd_answer_clear(&blank);
    vd_answer_clear(&masked);
    vd_answer_clear(&expected);
    vd_dialog_free(whole);
    vd_dialog_free(other);
    small_dialog_end(&c);
}

// The largest distance of its shares from uniform ones, of real regions.
static double unevenness(const vd_answer *answer, const vd_attention *a)
{
    double most = 0;
    for (int r = 0; r < a->rows; r++)
        for (int c = 0; c < (a->key == VD_AXIS_REGIONS ? REAL : a->columns); c++) {
            int keys = a->key == VD_AXIS_REGIONS ? REAL : a->columns, entry = 0;
            if (a->by_entry) {
                while (answer->history_start[entry + 1] <= c)
                    entry++;
                keys = support_entry_length(answer, entry);
            }
            most = fmax(most, fabs((double)a->share[r * a->columns + c] - 1.0 / keys));
        }
    return most;
}

static void a_flattened_attention_is_uniform(void **state)
{
    (void)state;
    static const char *const names[] = {"rounds", "history-words", "question-words", "regions"};
    enum { NAMES = sizeof names / sizeof *names };
    static small_dialog c;
    small_dialog_begin(&c, VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE);
    vd_dialog *dialog = dialog_of(&c, c.image, P, -1); // the last region is padding
    vd_answer plain;
    ask_if(&c, dialog, NULL, &plain, NULL);
    assert_int_equal(plain.attentions, NAMES);
    for (int i = 0; i < NAMES; i++)
        assert_string_equal(plain.attention[i].name, names[i]);
    for (unsigned set = 1; set < 1u << NAMES; set++) {
        const char *flat[NAMES + 1] = {NULL};
        int count = 0;
        for (int i = 0; i < NAMES; i++)
            if (set >> i & 1)
                flat[count++] = names[i];
        vd_answer a;
        ask_if(&c, dialog, &(vd_intervention){.uniform = flat}, &a, NULL);
        assert_memory_not_equal(a.score, plain.score, POOL * sizeof(float));
        assert_near("padding", (double)regions_of(&a)[REAL], 0);
        for (int i = 0; i < NAMES; i++)
            assert_true((unevenness(&a, &a.attention[i]) < 1e-6) == (set >> i & 1));
        vd_answer_clear(&a);
    }
    vd_answer_clear(&plain);
    vd_dialog_free(dialog);
    small_dialog_end(&c);
}

// What the stages gave by this name, the last time they did.
static const float *value_of(const vd_trace *trace, const char *name)
{
    const float *found = NULL;
    for (int i = 0; i < trace->stages; i++) {
        const vd_trace_stage *stage = &trace->stage[i];
        for (int k = 0; k < stage->ins + stage->outs; k++) {
            const vd_trace_value *value =
                k < stage->ins ? &stage->in[k] : &stage->out[k - stage->ins];
            if (strcmp(value->name, name) == 0)
                found = value->value;
        }
    }
    assert_non_null(found);
    return found;
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
            assert_near("e", (double)value_of(&found, "e")[i], (double)value_of(&expected, "e")[i]);
        assert_near("a round", (double)rounds_of(&swapped)[1], (double)rounds_of(&other)[1]);
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
    size_t q = (size_t)c.question_length[LAST], word = (size_t)p->question_words.start[LAST];
    size_t row = (size_t)p->span.region_start[LAST];
    const struct {
        const char *name;
        const vd_real *there;
        size_t numbers;
    } all[] = {{"W", p->question.embedding + word * E, q * E},
               {"Q", p->question.recurrent.y + word * 2 * H, q * 2 * H},
               {"q", p->question.sentence + LAST * 2 * H, (size_t)2 * H},
               {"h", p->history.sentence, (size_t)ROUNDS * 2 * H},
               {"c", p->matched + LAST * 2 * H, (size_t)2 * H},
               {"e_ctx", p->context_pair.y + LAST * 4 * H, (size_t)4 * H},
               {"u", p->gathered + word * E, q * E},
               {"e_top", p->topic_pair.y + word * 2 * E, q * 2 * E},
               {"t", p->region_topic + row * 2 * E, (size_t)REAL * 2 * E},
               {"m", p->view + row * D, (size_t)REAL * D},
               {"y", p->pooled + LAST * (D + 4 * H), (size_t)D + 4 * H},
               {"e", p->encoded + LAST * H, (size_t)H}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        compare_rows(all[i].name, value_of(&t, all[i].name), all[i].there, all[i].numbers);
    compare_rows("z of regions", t.stage[4].out[0].value, p->fused + row * H, (size_t)REAL * H);
    assert_int_equal(t.stages, 8);
    assert_int_equal(t.stage[2].out[2].shape[0], q);
    for (int i = 0; i < a.attentions; i++) // as they are in the answer
        assert_memory_equal(value_of(&t, (const char *[]){"a", "S", "M", "g"}[i]),
                            a.attention[i].share,
                            (size_t)(a.attention[i].rows * a.attention[i].columns) * sizeof(float));
    const vd_trace_table *gate = &t.stage[1].table[1], *words = &t.stage[2].table[1];
    assert_true(gate->rows == 2 && words->rows == (int)q && words->columns == 2);
    double open[2] = {0};
    float *gates = support_read(p->context_pair.gate + LAST * 4 * H, (size_t)4 * H);
    float *opened = support_read(p->topic_pair.gate + word * 2 * E, q * 2 * E);
    for (int i = 0; i < 4 * H; i++)
        open[i / (2 * H)] += (double)gates[i] / (2 * H);
    for (int i = 0; i < 2; i++)
        assert_near("gate", gate->value[i], open[i]);
    for (size_t i = 0; i < 2 * q; i++) {
        double sum = 0;
        for (int k = 0; k < E; k++)
            sum += (double)opened[i * E + (size_t)k] / E;
        assert_near("word gate", words->value[i], sum);
    }
    vd_free(gates);
    vd_free(opened);
    for (int i = 0; i < D; i++)
        assert_near("m of padding", (double)value_of(&t, "m")[REAL * D + i], 0);
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
    support_refused(status, VD_USAGE, &err, "no history entry is left (of 6): one must stay", NULL);
    assert_null(a.score);
    assert_null(trace.stage);
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
