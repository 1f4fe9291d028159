// Networks on the tape in a dialog: each question is answered as in a batch, and what an
// intervention leaves out is as if it had never been. The same of every network, MVAN too, with a
// decoder that looks at the dialog.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/base/token.h"
#include "engine/model/dialog_private.h"
#include "engine/model/pool.h"
#include "tests/support/backend.h"
#include "tests/support/must.h"
#include "tests/support/random_model.h"
#include "tests/support/readings.h"
#include "tests/support/sanitized.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"

enum { R = 4, P = 5, REAL = 4, D = SMALL_REGION, POOL = 7, TO = 5 };

typedef struct talk {
    vd_model *model;
    vd_pool *pool;
    float image[P * D];
    int32_t question[R * VD_MAX_QUESTION], question_length[R];
    int32_t entry[R * VD_MAX_HISTORY], entry_length[R];
    int32_t candidate[POOL * TO], candidate_length[POOL], option[R * POOL], truth[R];
    int32_t in[POOL * TO], out[POOL * TO];
} talk;

static int draw(vd_rng *rng, int32_t *ids, int most)
{
    int n = 1 + vd_rng_below(rng, most);
    for (int i = 0; i < n; i++)
        ids[i] = VD_FIRST_WORD + vd_rng_below(rng, SMALL_VOCAB - VD_FIRST_WORD);
    return n;
}

// Entry r is question r - 1 with an answer of the pool.
static void begin(talk *t, const vd_config *which)
{
    vd_rng rng = vd_rng_seed(12, (uint64_t)which->network);
    vd_config config = small_config();
    vd_error err;
    memset(t, 0, sizeof *t);
    config.network = which->network;
    config.text = which->text;
    config.heads = which->heads;
    config.score_rounds = which->score_rounds;
    config.score_regions = which->score_regions;
    config.positions = VD_POSITIONS_NONE;
    config.decoders = which->decoders;
    config.answer = which->answer;
    config.copy = which->copy;
    t->model = support_random_model(&config);
    assert_int_equal(vd_model_config(t->model)->copy, which->copy);
    must(vd_model_use(t->model, support_backend(), &err), &err);
    for (int i = 0; i < REAL * D; i++)
        t->image[i] = (float)vd_rng_range(&rng, 0.1, 1);
    for (int c = 0; c < POOL; c++) {
        int32_t *ids = t->candidate + c * TO;
        int n = draw(&rng, ids + 1, TO - 2);
        ids[0] = VD_START;
        ids[n + 1] = VD_END;
        t->candidate_length[c] = n + 2;
        memcpy(t->in + c * TO, ids, (size_t)(n + 1) * sizeof *ids);
        memcpy(t->out + c * TO, ids + 1, (size_t)(n + 1) * sizeof *ids);
    }
    t->entry_length[0] = draw(&rng, t->entry, 10);
    for (int r = 0; r < R; r++) {
        int32_t *question = t->question + r * VD_MAX_QUESTION;
        t->question_length[r] = draw(&rng, question, 8);
        if (r + 1 < R)
            t->entry_length[r + 1] =
                vd_history_entry(question, t->question_length[r], t->candidate + r * TO,
                                 t->candidate_length[r], t->entry + (r + 1) * VD_MAX_HISTORY);
        for (int c = 0; c < POOL; c++)
            t->option[r * POOL + c] = c;
    }
    must(vd_pool_new(t->model, t->candidate, t->candidate_length, POOL, TO, NULL, &t->pool, &err),
         &err);
    must(vd_pool_score_by(t->pool, config.decoders, t->candidate, t->candidate_length, TO, &err),
         &err);
}

static void end(talk *t)
{
    vd_pool_free(t->pool);
    vd_model_free(t->model);
}

// A dialog with the entries 0..last but `without`.
static vd_dialog *dialog_of(const talk *t, const float *image, int last, int without)
{
    vd_dialog *dialog;
    vd_error err;
    must(vd_dialog_new(t->model, t->pool, image, P, t->entry, t->entry_length[0], &dialog, &err),
         &err);
    for (int r = 1; r <= last; r++)
        if (r != without)
            must(vd_dialog_append(dialog, t->entry + r * VD_MAX_HISTORY, t->entry_length[r], &err),
                 &err);
    return dialog;
}

static vd_answer ask(const talk *t, vd_dialog *dialog, int r, const vd_intervention *what_if,
                     vd_trace *trace)
{
    vd_answer answer;
    vd_error err;
    must(vd_dialog_ask_if(dialog, t->question + r * VD_MAX_QUESTION, t->question_length[r], what_if,
                          NULL, &answer, trace, &err),
         &err);
    return answer;
}

static void assert_scores(const talk *t, const char *what, const float *found,
                          const float *expected)
{
    char name[40];
    for (int i = 0; i < POOL; i++)
        if (!(fabs((double)(found[i] - expected[i])) <= 1e-5))
            fail_msg("%s, %s: score %d is %.9g, expected %.9g",
                     support_reading_name(vd_model_config(t->model), name), what, i,
                     (double)found[i], (double)expected[i]);
}

static void as_in_a_batch(const talk *t)
{
    const vd_batch batch = {.dialogs = 1,
                            .rounds = R,
                            .regions = P,
                            .candidates = POOL,
                            .question_width = VD_MAX_QUESTION,
                            .history_width = VD_MAX_HISTORY,
                            .candidate_width = TO,
                            .distinct = POOL,
                            .image = t->image,
                            .question = t->question,
                            .question_length = t->question_length,
                            .history = t->entry,
                            .history_length = t->entry_length,
                            .candidate = t->candidate,
                            .candidate_length = t->candidate_length,
                            .option = t->option,
                            .truth = t->truth,
                            .candidate_in = t->in,
                            .candidate_out = t->out};
    float scores[R * POOL];
    vd_arena arena = {0};
    vd_error err;
    must(vd_model_scores(t->model, vd_model_config(t->model)->decoders, &arena, NULL, &batch,
                         scores, &err),
         &err);
    for (int r = 0; r < R; r++) {
        vd_dialog *dialog = dialog_of(t, t->image, r, 0);
        vd_answer a = ask(t, dialog, r, NULL, NULL);
        assert_scores(t, "in a batch", a.score, scores + r * POOL);
        vd_answer_clear(&a);
        vd_dialog_free(dialog);
    }
    vd_arena_free(&arena);
}

static void table_is_the_dialogs(const vd_trace_table *table)
{
    bool regions = table->row_axis == VD_AXIS_REGIONS;
    assert_true(table->rows == P || !regions);
    for (int i = 0; i < table->rows * table->columns && table->share; i++)
        assert_true(table->value[i] >= 0 && table->value[i] <= 1);
    for (int i = 0; regions && i < table->columns; i++)
        assert_true(table->value[(P - 1) * table->columns + i] == 0); // padding
}

// How long an axis is in the last round.
static int axis_size(const talk *t, vd_axis axis)
{
    int words = 0;
    for (int r = 0; r < R; r++)
        words += t->entry_length[r];
    return axis == VD_AXIS_QUESTIONS       ? 1
           : axis == VD_AXIS_ENTRIES       ? R
           : axis == VD_AXIS_REGIONS       ? P
           : axis == VD_AXIS_HISTORY_WORDS ? words
                                           : t->question_length[R - 1];
}

// A row sums to one, in all or in each entry; that of a region which is padding to nothing.
static void shares_are_whole(const vd_attention *at, int row)
{
    const float *share = at->share + (size_t)row * (size_t)at->columns;
    bool padding = at->query == VD_AXIS_REGIONS && row == P - 1;
    double sum = vd_attention_nothing(at, row);
    assert_true((sum > 0) == (at->nothing && !padding));
    for (int c = 0; c < at->columns; c++)
        sum += (double)share[c];
    assert_true(fabs(sum - (padding ? 0 : at->by_entry ? R : 1)) < 1e-5);
    if (at->key == VD_AXIS_REGIONS)
        assert_true(share[P - 1] == 0);
}

static void attentions_are_the_dialogs(const talk *t)
{
    vd_dialog *dialog = dialog_of(t, t->image, R - 1, 0);
    vd_trace trace;
    vd_answer a = ask(t, dialog, R - 1, NULL, &trace);
    for (int i = 0; i < a.attentions; i++) {
        const vd_attention *at = &a.attention[i];
        assert_int_equal(at->rows, axis_size(t, at->query));
        assert_int_equal(at->columns, axis_size(t, at->key));
        for (int row = 0; row < at->rows; row++)
            shares_are_whole(at, row);
    }
    for (int s = 0; s < trace.stages; s++) {
        assert_true(trace.stage[s].title[0] && trace.stage[s].why && trace.stage[s].outs > 0);
        for (int i = 0; i < trace.stage[s].outs; i++)
            assert_non_null(trace.stage[s].out[i].value);
        for (int i = 0; i < trace.stage[s].tables; i++)
            table_is_the_dialogs(&trace.stage[s].table[i]);
    }
    vd_trace_clear(&trace);
    vd_answer_clear(&a);
    vd_dialog_free(dialog);
}

static void what_is_left_out_was_never_there(const talk *t)
{
    const bool entry[R] = {false, true, false, false}, region[P] = {false, false, true};
    float image[P * D];
    memcpy(image, t->image, sizeof image);
    memset(image + 2 * D, 0, D * sizeof *image);
    vd_dialog *whole = dialog_of(t, t->image, R - 1, 0), *less = dialog_of(t, t->image, R - 1, 1),
              *blind = dialog_of(t, image, R - 1, 0);
    vd_answer found = ask(t, whole, R - 1, &(vd_intervention){.drop_entry = entry}, NULL),
              expected = ask(t, less, R - 1, NULL, NULL);
    assert_scores(t, "without an entry", found.score, expected.score);
    const float *shares = vd_answer_shares(&found, VD_AXIS_ENTRIES);
    assert_true(!shares || shares[1] == 0);
    vd_answer_clear(&found);
    vd_answer_clear(&expected);
    found = ask(t, whole, R - 1, &(vd_intervention){.mask_region = region}, NULL);
    expected = ask(t, blind, R - 1, NULL, NULL);
    assert_scores(t, "without a region", found.score, expected.score);
    vd_answer_clear(&found);
    vd_answer_clear(&expected);
    vd_dialog_free(whole);
    vd_dialog_free(less);
    vd_dialog_free(blind);
}

// Those of the question with one of two names.
static void these_are_uniform(const talk *t, const char *one, const char *other)
{
    const char *const flat[] = {one, other, NULL};
    vd_dialog *dialog = dialog_of(t, t->image, R - 1, 0);
    vd_answer a = ask(t, dialog, R - 1, &(vd_intervention){.uniform = flat}, NULL);
    for (int i = 0; i < a.attentions; i++) {
        const vd_attention *at = &a.attention[i];
        double share = at->key == VD_AXIS_REGIONS ? 1.0 / REAL : 1.0 / at->columns;
        bool is_flat = strcmp(at->name, one) == 0 || strcmp(at->name, other) == 0;
        is_flat &= at->query == VD_AXIS_QUESTIONS;
        for (int c = 0; is_flat && c < at->columns; c++)
            assert_true(at->key == VD_AXIS_REGIONS && c == REAL
                            ? at->share[c] == 0
                            : fabs((double)at->share[c] - share) < 1e-6);
    }
    vd_answer_clear(&a);
    vd_dialog_free(dialog);
}

static void flattened_attentions_are_uniform(const talk *t)
{
    these_are_uniform(t, "regions", "rounds");
    these_are_uniform(t, "history-words", "question-words");
}

// Of an answer's attentions those of its words: a row for each and for its end, which sum to one;
// how many there are.
static int check_looks(const talk *t, const vd_answer *a, int words)
{
    int found = 0;
    for (int i = 0; i < a->attentions; i++) {
        const vd_attention *at = &a->attention[i];
        if (at->query != VD_AXIS_ANSWER_WORDS)
            continue;
        found++;
        assert_string_equal(at->name, "answer-words");
        assert_int_equal(at->key, VD_AXIS_DIALOG_WORDS);
        assert_int_equal(at->rows, a->given.length + 1);
        assert_int_equal(at->columns, words);
        for (int r = 0; r < at->rows; r++) {
            double sum = 0;
            for (int c = 0; c < words; c++)
                sum += (double)at->share[r * words + c];
            if (!(fabs(sum - 1) < 1e-5))
                fail_msg("%s: word %d of the answer gives %.9g",
                         vd_network_names[vd_model_config(t->model)->network], r, sum);
        }
    }
    return found;
}

// Entries that are left out are not looked at; the given answer is the pool's best.
static void words_of_the_answer_look_at_the_dialog(const talk *t, bool conv)
{
    static const char *const flat[] = {"answer-words", NULL};
    const bool entry[R] = {false, true, false, false};
    vd_dialog *dialog = dialog_of(t, t->image, R - 1, 0);
    vd_answer a = ask(t, dialog, R - 1, NULL, NULL),
              less = ask(t, dialog, R - 1, &(vd_intervention){.drop_entry = entry}, NULL),
              even = ask(t, dialog, R - 1, &(vd_intervention){.uniform = flat}, NULL);
    int words = a.history_start[R] + a.question_length, layers = conv ? 3 : 1;
    assert_int_equal(check_looks(t, &a, words), layers);
    assert_int_equal(check_looks(t, &less, words), layers);
    assert_int_equal(check_looks(t, &even, words), layers);
    assert_true(fabs((double)(a.given.score - a.score[a.order[0]])) < 1e-6);
    const vd_attention *without =
        vd_answer_attention(&less, VD_AXIS_ANSWER_WORDS, VD_AXIS_DIALOG_WORDS);
    for (int c = a.history_start[1]; c < a.history_start[2]; c++)
        assert_true(without->share[c] == 0);
    const vd_attention *same =
        vd_answer_attention(&even, VD_AXIS_ANSWER_WORDS, VD_AXIS_DIALOG_WORDS);
    for (int c = 0; c < words; c++)
        assert_true(fabs((double)same->share[c] - 1.0 / words) < 1e-6);
    vd_answer_clear(&a);
    vd_answer_clear(&less);
    vd_answer_clear(&even);
    vd_dialog_free(dialog);
}

static void answers_as_a_fresh_one(const talk *t, const char *what, vd_dialog *dialog, int r,
                                   int without)
{
    vd_dialog *fresh = dialog_of(t, t->image, r, without);
    vd_answer found = ask(t, dialog, r, NULL, NULL), expected = ask(t, fresh, r, NULL, NULL);
    assert_scores(t, what, found.score, expected.score);
    assert_int_equal(found.attentions, expected.attentions);
    for (int i = 0; i < found.attentions; i++)
        for (int c = 0; c < found.attention[i].rows * found.attention[i].columns; c++)
            assert_true(fabs((double)(found.attention[i].share[c] -
                                      expected.attention[i].share[c])) <= 1e-5);
    vd_answer_clear(&found);
    vd_answer_clear(&expected);
    vd_dialog_free(fresh);
}

// What is kept from question to question changes no answer: the same question again, an
// intervention in between, another question in its place, entries forgotten and said again.
static void a_growing_dialog_answers_as_a_fresh_one(const talk *t)
{
    const bool region[P] = {true};
    vd_dialog *dialog = dialog_of(t, t->image, 0, 0);
    vd_error err;
    for (int r = 0; r < R; r++) {
        if (r > 0)
            must(vd_dialog_append(dialog, t->entry + r * VD_MAX_HISTORY, t->entry_length[r], &err),
                 &err);
        vd_answer a = ask(t, dialog, r, &(vd_intervention){.mask_region = region}, NULL);
        vd_answer_clear(&a);
        a = ask(t, dialog, (r + 1) % R, NULL, NULL); // another question
        vd_answer_clear(&a);
        answers_as_a_fresh_one(t, "growing", dialog, r, 0);
        answers_as_a_fresh_one(t, "again", dialog, r, 0);
    }
    vd_dialog_truncate(dialog, 2);
    must(vd_dialog_append(dialog, t->entry + 3 * VD_MAX_HISTORY, t->entry_length[3], &err), &err);
    answers_as_a_fresh_one(t, "another entry", dialog, 3, 2);
    vd_dialog_truncate(dialog, 2);
    answers_as_a_fresh_one(t, "truncated", dialog, 1, 0);
    for (int r = 2; r < R; r++)
        must(vd_dialog_append(dialog, t->entry + r * VD_MAX_HISTORY, t->entry_length[r], &err),
             &err);
    answers_as_a_fresh_one(t, "said again", dialog, R - 1, 0);
    vd_dialog_free(dialog);
}

static void grow(const talk *t, vd_dialog *dialog)
{
    vd_error err;
    for (int i = 0; i < 17; i++) { // kept rows grow twice
        int r = 1 + i % (R - 1);
        must(vd_dialog_append(dialog, t->entry + r * VD_MAX_HISTORY, t->entry_length[r], &err),
             &err);
    }
}

// The question is answered, or memory is out; the next one is answered as ever.
static void one_allocation_fails(const talk *t, size_t which, const vd_answer *expected)
{
    vd_dialog *dialog = dialog_of(t, t->image, 0, 0);
    vd_answer a = ask(t, dialog, 0, NULL, NULL);
    vd_error err;
    vd_answer_clear(&a);
    grow(t, dialog);
    vd_alloc_fail_at(which);
    vd_status status = vd_dialog_ask(dialog, t->question, t->question_length[0], NULL, &a, &err);
    vd_alloc_fail_at(0);
    assert_true(status == VD_OK || status == VD_NO_MEMORY);
    if (status == VD_OK)
        vd_answer_clear(&a);
    a = ask(t, dialog, 0, NULL, NULL);
    assert_scores(t, "after a failed allocation", a.score, expected->score);
    vd_answer_clear(&a);
    vd_dialog_free(dialog);
}

// Networks that keep what they computed of the entries.
static const vd_config keeping[] = {{.network = VD_NETWORK_AMEM},
                                    {.network = VD_NETWORK_DIALOG_TRANSFORMER},
                                    {.network = VD_NETWORK_DIALOG_TRANSFORMER,
                                     .decoders = VD_GENERATIVE,
                                     .answer = VD_ANSWER_SEQUENCE}};
enum { KEEPING = sizeof keeping / sizeof *keeping };

static void failed_allocations_change_no_answer(void **state)
{
    (void)state;
    static talk t;
    // Only the host's allocations can be made to fail.
    for (int n = 0; n < KEEPING && support_backend()->memory->host; n++) {
        begin(&t, &keeping[n]);
        vd_dialog *dialog = dialog_of(&t, t.image, 0, 0);
        grow(&t, dialog);
        vd_answer expected = ask(&t, dialog, 0, NULL, NULL);
        for (size_t which = 1; which < 40; which++)
            one_allocation_fails(&t, which, &expected);
        vd_answer_clear(&expected);
        vd_dialog_free(dialog);
        end(&t);
    }
}

// Rows that are kept get wider with the entries.
static void a_long_dialog_answers_as_a_fresh_one(const talk *t)
{
    vd_dialog *dialog = dialog_of(t, t->image, 0, 0);
    vd_error err;
    for (int i = 1; i < 18; i++) {
        int r = 1 + i % (R - 1);
        must(vd_dialog_append(dialog, t->entry + r * VD_MAX_HISTORY, t->entry_length[r], &err),
             &err);
        vd_answer found = ask(t, dialog, 0, NULL, NULL);
        vd_dialog *fresh = dialog_of(t, t->image, 0, 0);
        for (int k = 1; k <= i; k++) {
            r = 1 + k % (R - 1);
            must(vd_dialog_append(fresh, t->entry + r * VD_MAX_HISTORY, t->entry_length[r], &err),
                 &err);
        }
        vd_answer expected = ask(t, fresh, 0, NULL, NULL);
        assert_scores(t, "long", found.score, expected.score);
        assert_int_equal(dialog->memo.entries, i + 1);
        vd_answer_clear(&found);
        vd_answer_clear(&expected);
        vd_dialog_free(fresh);
    }
    vd_dialog_free(dialog);
}

// Other numbers there give another answer.
static void the_next_question_reads_what_was_kept(const talk *t)
{
    vd_dialog *dialog = dialog_of(t, t->image, 1, 0);
    vd_answer before = ask(t, dialog, 1, NULL, NULL);
    for (int i = 0; i < dialog->memo.width; i++)
        dialog->memo_rows.numbers[i] += 1;
    vd_answer after = ask(t, dialog, 1, NULL, NULL);
    double most = 0;
    for (int i = 0; i < POOL; i++)
        most = fmax(most, fabs((double)(after.score[i] - before.score[i])));
    assert_true(most > 1e-4);
    vd_answer_clear(&before);
    vd_answer_clear(&after);
    vd_dialog_free(dialog);
}

static void entries_are_computed_once(void **state)
{
    (void)state;
    static talk t;
    for (int n = 0; n < KEEPING && support_backend()->memory->host; n++) {
        begin(&t, &keeping[n]);
        a_long_dialog_answers_as_a_fresh_one(&t);
        the_next_question_reads_what_was_kept(&t);
        end(&t);
    }
}

static void talk_with(const vd_config *config)
{
    static talk t;
    begin(&t, config);
    as_in_a_batch(&t);
    attentions_are_the_dialogs(&t);
    what_is_left_out_was_never_there(&t);
    flattened_attentions_are_uniform(&t);
    a_growing_dialog_answers_as_a_fresh_one(&t);
    end(&t);
}

// Beam search takes a second a question where the CPU plays the device: there a few networks.
static bool is_tried(int network)
{
    return support_backend()->memory->host || network == VD_NETWORK_MVAN ||
           network == VD_NETWORK_AMEM || network == VD_NETWORK_MEMN2N;
}

// Where the CPU plays the device, MVAN is the network of all text encoders, mn-att that of all
// scores. The device's kernels are built without the sanitizers, so that with them a few networks
// do.
static void dialogs_with_every_network(void **state)
{
    vd_config config = small_config();
    bool host = support_backend()->memory->host;
    (void)state;
    for (int n = 0; support_reading(n, &config); n++)
        if ((!SUPPORT_SANITIZED || is_tried(config.network)) &&
            (host || config.text == VD_TEXT_OWN || config.network == VD_NETWORK_MVAN))
            talk_with(&config);
}

static void dialogs_with_every_score(void **state)
{
    vd_config config = small_config();
    bool host = support_backend()->memory->host;
    (void)state;
    for (int n = 0; support_scoring(n, &config); n++)
        if (host || config.network == VD_NETWORK_MN_ATT)
            talk_with(&config);
}

static void dialogs_that_a_decoder_looks_at(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * VD_NETWORKS; i++) {
        static talk t;
        int n = i / 2;
        bool host = support_backend()->memory->host, conv = i % 2;
        if (!is_tried(n) || (!host && conv && n != VD_NETWORK_MVAN))
            continue;
        begin(&t, &(vd_config){.network = (vd_network_kind)n,
                               .decoders = VD_GENERATIVE,
                               .answer = i % 2 ? VD_ANSWER_CONV : VD_ANSWER_ATTENTION,
                               .copy = i % 2 ? VD_COPY_NONE : (vd_copy)(n % 3)});
        as_in_a_batch(&t);
        if (host) {
            what_is_left_out_was_never_there(&t);
            a_growing_dialog_answers_as_a_fresh_one(&t);
        }
        if (host || conv)
            words_of_the_answer_look_at_the_dialog(&t, conv);
        end(&t);
    }
}

// Answers go on from what was kept, with e and without.
static void dialogs_that_go_on(void **state)
{
    bool host = support_backend()->memory->host;
    (void)state;
    for (int both = 0; both < 1 + host; both++) {
        static talk t;
        begin(&t, &(vd_config){.network = VD_NETWORK_DIALOG_TRANSFORMER,
                               .decoders = both ? VD_BOTH : VD_GENERATIVE,
                               .answer = VD_ANSWER_SEQUENCE});
        as_in_a_batch(&t);
        if (host) {
            attentions_are_the_dialogs(&t);
            what_is_left_out_was_never_there(&t);
            flattened_attentions_are_uniform(&t);
            a_growing_dialog_answers_as_a_fresh_one(&t);
        }
        end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dialogs_with_every_network),
        cmocka_unit_test(dialogs_with_every_score),
        cmocka_unit_test(dialogs_that_a_decoder_looks_at),
        cmocka_unit_test(dialogs_that_go_on),
        cmocka_unit_test(failed_allocations_change_no_answer),
        cmocka_unit_test(entries_are_computed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
