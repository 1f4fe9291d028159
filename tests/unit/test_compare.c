// Cases of a comparison: what stands in them, how they are grouped, chosen and counted.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/model/pool.h"
#include "features/dialogs/dataset.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/compare/compare.h"

static tiny_world tiny;
static char *third; // a model

static int make_tiny(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    third = support_join(tiny.directory, "third.safetensors");
    tiny_world_model(&tiny, third, TINY_REGION_SIZE, NULL);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    free(third);
    tiny_world_remove(&tiny);
    return 0;
}

// ---- cases --------------------------------------------------------------------------------------

static vd_corpus open_corpus(void)
{
    vd_corpus corpus;
    vd_error err = {0};
    const vd_corpus_paths paths = {
        .data = tiny.val, .features = tiny.features, .dense = tiny.dense};
    assert_int_equal(vd_corpus_open(&paths, &corpus, &err), VD_OK);
    return corpus;
}

static vd_cases *open_with(const vd_corpus *corpus, vd_cases_options options)
{
    vd_cases *cases;
    vd_error err = {0};
    vd_status status = vd_cases_new(corpus, &options, &cases, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    return cases;
}

static vd_cases *open_cases(const vd_corpus *corpus)
{
    return open_with(corpus, (vd_cases_options){.model = {tiny.base, tiny.improved}});
}

static vd_cases *open_three(const vd_corpus *corpus)
{
    return open_with(corpus, (vd_cases_options){.model = {tiny.base, tiny.improved, third}});
}

// The scores of the evaluation, for a model: (dialogs, 3, TINY_ANSWERS).
static float *scores_of(const vd_cases *cases, int side)
{
    vd_error err;
    vd_dataset *set;
    vd_loader *loader;
    vd_arena arena = {0};
    const vd_batch *batch;
    const size_t index[] = {0, 1, 2, 3};
    const vd_dataset_view plain = {0};
    float *scores = vd_alloc((size_t)4 * 3 * TINY_ANSWERS, sizeof *scores);
    assert_non_null(scores);
    assert_int_equal(vd_dataset_new(cases->corpus->dialogs, cases->corpus->regions,
                                    vd_model_vocab(cases->model[side]), &set, &err),
                     VD_OK);
    assert_int_equal(vd_loader_new(set, &loader, &err), VD_OK);
    assert_int_equal(vd_loader_batch(loader, index, 4, &plain, &batch, &err), VD_OK);
    assert_int_equal(vd_model_scores(cases->model[side],
                                     vd_model_config(cases->model[side])->decoders, &arena, NULL,
                                     batch, scores, &err),
                     VD_OK);
    vd_arena_free(&arena);
    vd_loader_free(loader);
    vd_dataset_free(set);
    return scores;
}

// What stands in a case is what the evaluation's scores say, and the case in full (through the
// dialog's caches, history made of human answers) gives the same scores again.
static void cases_agree_with_the_evaluation(void **state)
{
    (void)state;
    vd_corpus corpus = open_corpus();
    vd_cases *cases = open_three(&corpus);
    assert_int_equal(cases->models, 3);
    assert_int_equal(cases->count, 12);
    assert_int_equal(cases->rounds, 3);
    float *scores[3] = {scores_of(cases, 0), scores_of(cases, 1), scores_of(cases, 2)};
    for (size_t i = 0; i < cases->count; i++) {
        const vd_case *at = &cases->at[i];
        assert_int_equal(at->dialog, i / 3);
        assert_int_equal(at->round, i % 3);
        const vd_visdial_round *round = vd_case_round(cases, at);
        vd_case_sheet full;
        vd_error err = {0};
        float most = 0;
        assert_int_equal(vd_case_sheet_make(cases, at, VD_RIGHT_HUMAN, NULL, &full, &err), VD_OK);
        for (int side = 0; side < 3; side++) {
            const float *score = scores[side] + i * TINY_ANSWERS;
            float ranks[TINY_ANSWERS];
            vd_metrics metrics = {0};
            vd_metrics_ranks(score, TINY_ANSWERS, ranks);
            vd_metrics_add(&metrics, ranks, TINY_ANSWERS, round->truth, round->relevance);
            assert_true(fabsf(at->side[side].rank - ranks[round->truth]) < 1e-6f);
            assert_memory_equal(&at->side[side].metrics, &metrics, sizeof metrics);
            const vd_answer *answer = &full.reply[side].answer;
            assert_int_equal(answer->candidates, TINY_ANSWERS);
            assert_int_equal(answer->rounds, at->round + 1);
            assert_int_equal(answer->order[0], at->side[side].first);
            for (int o = 0; o < TINY_ANSWERS; o++)
                assert_true(fabsf(answer->score[o] - score[o]) < 1e-5f);
            double moved = 0;
            for (int o = 0; o < TINY_ANSWERS; o++)
                moved += fabs((double)full.reply[0].answer.probability[o] -
                              (double)answer->probability[o]);
            assert_true(fabs(moved / 2 - (double)at->side[side].moved) < 1e-5);
            most = fmaxf(most, at->side[side].moved);
        }
        assert_true(at->moved > 0 && at->moved >= most && at->moved <= most);
        assert_int_equal(full.sheet.regions, full.reply[0].answer.regions);
        vd_case_sheet_clear(&full);
    }
    for (int side = 0; side < 3; side++)
        vd_free(scores[side]);
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
}

static void a_model_against_itself_differs_nowhere(void **state)
{
    (void)state;
    vd_corpus corpus = open_corpus();
    vd_error err = {0};
    vd_cases *cases =
        open_with(&corpus, (vd_cases_options){.model = {"base", tiny.base}, .limit = 3});
    assert_string_equal(cases->name[0], "base (1)");
    assert_string_equal(cases->name[1], "base (2)");
    assert_int_equal(cases->dialogs, 3);
    assert_int_equal(cases->count, 9);
    vd_comparison all;
    assert_int_equal(vd_cases_compare(cases, &(vd_case_filter){0}, 200, &all, &err), VD_OK);
    assert_int_equal(all.cases, 9);
    for (int by = 0; by < 2; by++) {
        assert_int_equal(all.against[1].right[by].only_a, 0);
        assert_int_equal(all.against[1].right[by].only_b, 0);
        assert_true(vd_mcnemar_test(&all.against[1].right[by]).exact >= 1);
    }
    for (int m = 0; m < VD_METRICS; m++) {
        assert_true(all.against[1].difference[m].estimate >= 0 &&
                    all.against[1].difference[m].estimate <= 0);
        assert_true(all.against[1].difference[m].p >= 1);
    }
    for (size_t i = 0; i < cases->count; i++)
        assert_true(cases->at[i].moved < 1e-6f);
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
}

// Groups made up by hand, so that every one has members.
static vd_case_side made_side(bool human, double correct)
{
    vd_metrics metrics = {.rounds = 1, .dense_rounds = 1};
    metrics.sum[VD_R1] = human;
    metrics.sum[VD_CORRECT] = correct;
    return (vd_case_side){.metrics = metrics, .rank = human ? 1 : 2};
}

static void cases_are_grouped_filtered_and_ordered(void **state)
{
    (void)state;
    vd_corpus corpus = open_corpus();
    vd_cases *cases = open_cases(&corpus);
    for (size_t i = 0; i < cases->count; i++) {
        cases->at[i].side[0] = made_side(i & 1, (double)(i >> 1 & 1));
        cases->at[i].side[1] = made_side(i >> 1 & 1, i & 1 ? 0.5 : 1);
        cases->at[i].moved = (float)(i * 5 % 12) / 12;
    }
    cases->at[11].side[0].metrics = cases->at[11].side[1].metrics = (vd_metrics){0};
    static const vd_case_group by_human[] = {VD_CASE_NEITHER, VD_CASE_FIRST, VD_CASE_SECOND,
                                             VD_CASE_BOTH};
    for (size_t i = 0; i < 11; i++)
        assert_int_equal(vd_case_group_of(cases, &cases->at[i], VD_RIGHT_HUMAN), by_human[i % 4]);
    assert_int_equal(vd_case_group_of(cases, &cases->at[11], VD_RIGHT_HUMAN), VD_CASE_UNKNOWN);
    assert_int_equal(vd_case_group_of(cases, &cases->at[2], VD_RIGHT_RELEVANT), VD_CASE_BOTH);
    assert_int_equal(vd_case_group_of(cases, &cases->at[1], VD_RIGHT_RELEVANT), VD_CASE_NEITHER);

    const vd_case *out[12];
    vd_case_filter filter = {0};
    assert_int_equal(vd_cases_select(cases, &filter, VD_CASE_BY_DIFFERENCE, out), 12);
    for (int i = 1; i < 12; i++)
        assert_true(out[i - 1]->moved > out[i]->moved);
    filter.groups = 1u << VD_CASE_FIRST | 1u << VD_CASE_UNKNOWN;
    assert_int_equal(vd_cases_select(cases, &filter, VD_CASE_BY_DIALOG, out), 4);
    assert_ptr_equal(out[0], &cases->at[1]);
    assert_ptr_equal(out[3], &cases->at[11]);
    filter = (vd_case_filter){.family = "exist", .round = 2};
    assert_int_equal(vd_cases_select(cases, &filter, VD_CASE_BY_DIALOG, out), 4);
    filter.round = 3;
    assert_int_equal(vd_cases_select(cases, &filter, VD_CASE_BY_DIALOG, out), 0);
    filter = (vd_case_filter){.text = "NEXT to"};
    assert_int_equal(vd_cases_select(cases, &filter, VD_CASE_BY_DIALOG, out), 4);
    filter.text = "no such words";
    assert_int_equal(vd_cases_select(cases, &filter, VD_CASE_BY_DIALOG, out), 0);

    vd_comparison all;
    vd_error err = {0};
    assert_int_equal(vd_cases_compare(cases, &(vd_case_filter){0}, 100, &all, &err), VD_OK);
    assert_int_equal(all.against[1].right[VD_RIGHT_HUMAN].both, 2);
    assert_int_equal(all.against[1].right[VD_RIGHT_HUMAN].only_a, 3);
    assert_int_equal(all.against[1].right[VD_RIGHT_HUMAN].only_b, 3);
    assert_int_equal(all.against[1].right[VD_RIGHT_HUMAN].neither, 3);
    vd_slices slices;
    assert_int_equal(vd_cases_slices(cases, 100, NULL, &slices, &err), VD_OK);
    assert_int_equal(slices.count, 1 + 2 + 3);
    assert_string_equal(slices.slice[1].family, "color");
    assert_int_equal(slices.slice[1].comparison.cases, 8);
    assert_int_equal(slices.slice[3].round, 1);
    assert_int_equal(slices.slice[3].comparison.cases, 4);
    vd_slices_clear(&slices);
    atomic_int stop = 1;
    assert_int_equal(vd_cases_slices(cases, 100, &stop, &slices, &err), VD_INTERRUPTED);
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
}

// ---- more than two ------------------------------------------------------------------------------

static void expect_the_same(const vd_cases *a, const vd_case *from, const vd_case *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(from[i].side, to[i].side, sizeof *from->side * (size_t)a->models);
}

// What is said of a pair does not depend on which other models are there, nor on the number of
// threads. Alone a dialog's products have fewer rows, which the engine may sum in another order.
static void a_model_is_held_against_the_first_as_if_alone(void **state)
{
    (void)state;
    vd_corpus corpus = open_corpus();
    vd_cases *three = open_three(&corpus);
    vd_cases_options options = {.model = {tiny.base, third}, .threads = 1};
    vd_cases *pair = open_with(&corpus, options);
    vd_comparison of_three, of_pair;
    vd_error err = {0};
    assert_int_equal(vd_cases_compare(three, &(vd_case_filter){0}, 300, &of_three, &err), VD_OK);
    assert_int_equal(vd_cases_compare(pair, &(vd_case_filter){0}, 300, &of_pair, &err), VD_OK);
    assert_memory_equal(&of_three.against[2], &of_pair.against[1], sizeof of_pair.against[1]);
    assert_memory_equal(&of_three.metrics[2], &of_pair.metrics[1], sizeof of_pair.metrics[1]);
    for (size_t i = 0; i < pair->count; i++)
        assert_memory_equal(&three->at[i].side[2], &pair->at[i].side[1],
                            sizeof pair->at[i].side[1]);
    options.threads = 4;
    vd_cases *again = open_with(&corpus, options);
    expect_the_same(pair, again->at, pair->at, pair->count);
    options.one = true;
    options.image_id = 3;
    vd_cases *one = open_with(&corpus, options);
    options.threads = 1;
    vd_cases *slow = open_with(&corpus, options);
    assert_int_equal(one->count, 3);
    expect_the_same(pair, one->at, slow->at, one->count);
    for (size_t i = 0; i < one->count; i++) {
        assert_int_equal(vd_case_dialog(one, &one->at[i])->image_id, 3);
        assert_int_equal(one->at[i].round, i);
        for (int side = 0; side < 2; side++) {
            const vd_case_side *alone = &one->at[i].side[side],
                               *there = &pair->at[6 + i].side[side];
            assert_memory_equal(&alone->metrics, &there->metrics, sizeof there->metrics);
            assert_true(alone->rank == there->rank && alone->first == there->first);
            assert_float_equal(alone->moved, there->moved, 1e-5f);
        }
    }
    vd_cases_free(slow);
    vd_cases_free(one);
    vd_cases_free(again);
    vd_cases_free(pair);
    vd_cases_free(three);
    vd_corpus_close(&corpus);
}

// ---- decoders -----------------------------------------------------------------------------------

// A model that has two decoders ranks by both, by one, or by the other: in the list of the cases as
// in each of them.
static void every_decoder_can_rank(void **state)
{
    (void)state;
    char *both = support_join(tiny.directory, "both.safetensors");
    tiny_world_model(&tiny, both, TINY_REGION_SIZE, NULL);
    vd_corpus corpus = open_corpus();
    vd_cases_options options = {.model = {both, both, both, both}};
    vd_error err = {0};
    assert_int_equal(vd_cases_add_decoder(&options, "decoder", "both", &err), VD_OK);
    assert_int_equal(vd_cases_add_decoder(&options, "decoder", "discriminative", &err), VD_OK);
    assert_int_equal(vd_cases_add_decoder(&options, "decoder", "gen", &err), VD_OK);
    support_refused(vd_cases_complete(&options, &err), VD_USAGE, &err, "found 3", "each of the 4",
                    NULL);
    options.model[3] = NULL;
    assert_int_equal(vd_cases_complete(&options, &err), VD_OK);
    vd_cases *cases = open_with(&corpus, options);
    assert_string_equal(cases->name[0], "both, both");
    assert_string_equal(cases->name[1], "both, discriminative");
    assert_string_equal(cases->name[2], "both, generative");
    int moved = 0;
    for (size_t i = 0; i < cases->count; i++) {
        const vd_case *at = &cases->at[i];
        vd_case_sheet full;
        assert_int_equal(vd_case_sheet_make(cases, at, VD_RIGHT_HUMAN, NULL, &full, &err), VD_OK);
        for (int side = 0; side < 3; side++) {
            const vd_answer *answer = &full.reply[side].answer;
            double far = 0;
            for (int o = 0; o < TINY_ANSWERS; o++)
                far += fabs((double)full.reply[0].answer.probability[o] -
                            (double)answer->probability[o]);
            assert_int_equal(answer->order[0], at->side[side].first);
            assert_true(fabs(far / 2 - (double)at->side[side].moved) < 1e-5);
            moved += at->side[side].moved > 1e-4f;
        }
        for (int o = 0; o < TINY_ANSWERS; o++) // the mean of the others
            assert_float_equal(full.reply[0].answer.score[o],
                               (full.reply[1].answer.score[o] + full.reply[2].answer.score[o]) / 2,
                               1e-5f);
        vd_case_sheet_clear(&full);
    }
    assert_true(moved > 12); // they do not say the same
    vd_cases_free(cases);
    // Left out: all that the model has. One for all where it is named once.
    cases = open_with(&corpus, (vd_cases_options){.model = {both, tiny.base}});
    assert_int_equal(cases->by[0], VD_BOTH);
    assert_int_equal(cases->by[1], VD_DISCRIMINATIVE);
    assert_string_equal(cases->name[0], "both");
    vd_cases_free(cases);
    options = (vd_cases_options){.model = {both, tiny.base}};
    assert_int_equal(vd_cases_add_decoder(&options, "decoder", "generative", &err), VD_OK);
    assert_int_equal(vd_cases_complete(&options, &err), VD_OK);
    support_refused(vd_cases_new(&corpus, &options, &cases, &err), VD_MISMATCH, &err,
                    "base.safetensors has no such decoder, only a discriminative one", NULL);
    assert_null(cases);
    vd_corpus_close(&corpus);
    free(both);
}

// Every pattern of three ticks, by hand.
static void cases_of_three_models_are_grouped(void **state)
{
    (void)state;
    static const vd_case_group expected[] = {VD_CASE_NEITHER, VD_CASE_FIRST,  VD_CASE_SECOND,
                                             VD_CASE_FIRST,   VD_CASE_SECOND, VD_CASE_FIRST,
                                             VD_CASE_SECOND,  VD_CASE_BOTH};
    static const char *const marks[] = {"---", "+--", "-+-", "++-", "--+", "+-+", "-++", "+++"};
    vd_corpus corpus = open_corpus();
    vd_cases *cases = open_three(&corpus);
    vd_case *at = &cases->at[0];
    char text[96];
    for (int i = 0; i < 8; i++) {
        for (int side = 0; side < 3; side++)
            at->side[side] = made_side(i >> side & 1, 0);
        assert_int_equal(vd_case_group_of(cases, at, VD_RIGHT_HUMAN), expected[i]);
        vd_case_marks(cases, at, VD_RIGHT_HUMAN, true, text, sizeof text);
        assert_string_equal(text, marks[i]);
        assert_int_equal(vd_case_group_of(cases, at, VD_RIGHT_RELEVANT), VD_CASE_NEITHER);
    }
    vd_case_marks(cases, at, VD_RIGHT_HUMAN, false, text, sizeof text);
    assert_string_equal(text, "\u2713\u2713\u2713");
    at->side[0].metrics = (vd_metrics){0};
    vd_case_marks(cases, at, VD_RIGHT_HUMAN, false, text, sizeof text);
    assert_string_equal(text, "???");
    static const char *const names[] = {"all right", "base right, not all", "base wrong, not all",
                                        "all wrong", "not known"};
    for (int group = 0; group < VD_CASE_GROUPS; group++) {
        vd_case_group_name(cases, (vd_case_group)group, text, sizeof text);
        assert_string_equal(text, names[group]);
    }
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
}

static void models_of_one_name_are_told_apart(void **state)
{
    (void)state;
    char *run = support_join(tiny.directory, "run.1"),
         *other = support_join(run, "base.safetensors");
    assert_int_equal(mkdir(run, 0700), 0);
    tiny_world_model(&tiny, other, TINY_REGION_SIZE, NULL);
    vd_corpus corpus = open_corpus();
    vd_cases *cases = open_with(
        &corpus, (vd_cases_options){.model = {tiny.base, other, tiny.improved}, .limit = 1});
    const char *folder = strrchr(tiny.directory, '/') + 1;
    assert_int_equal(strncmp(cases->name[0], folder, strlen(folder)), 0);
    assert_string_equal(cases->name[0] + strlen(folder), "/base");
    assert_string_equal(cases->name[1], "run.1/base");
    assert_string_equal(cases->name[2], "improved");
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
    free(other);
    free(run);
}

// Other decoders tell them apart only where somebody chose them and the names say so.
static void models_of_one_name_with_other_decoders_are_told_apart(void **state)
{
    (void)state;
    char *run = support_join(tiny.directory, "both.1"),
         *other = support_join(run, "base.safetensors");
    assert_int_equal(mkdir(run, 0700), 0);
    tiny_world_model(&tiny, other, TINY_REGION_SIZE, NULL);
    vd_corpus corpus = open_corpus();
    vd_cases_options options = {.model = {tiny.base, other}, .limit = 1};
    vd_cases *cases = open_with(&corpus, options);
    assert_int_not_equal(cases->by[0], cases->by[1]);
    assert_non_null(strstr(cases->name[0], "/base"));
    assert_string_equal(cases->name[1], "both.1/base");
    vd_cases_free(cases);
    options.decoder[1] = (vd_decoder_choice){.made = true, .by = VD_GENERATIVE};
    cases = open_with(&corpus, options);
    assert_string_equal(cases->name[0], "base");
    assert_string_equal(cases->name[1], "base, generative");
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
    free(other);
    free(run);
}

static vd_status compare_once(void *context, vd_error *err)
{
    const vd_corpus *corpus = context;
    vd_cases *cases;
    vd_slices slices = {0};
    const vd_cases_options options = {
        .model = {tiny.base, tiny.improved, third}, .limit = 1, .threads = 1};
    vd_status status = vd_cases_new(corpus, &options, &cases, err);
    if (status)
        return status;
    vd_case_sheet sheet = {0};
    status = vd_cases_slices(cases, 1, NULL, &slices, err);
    if (status == VD_OK)
        status = vd_case_sheet_make(cases, &cases->at[2], VD_RIGHT_HUMAN, NULL, &sheet, err);
    vd_case_sheet_clear(&sheet);
    vd_slices_clear(&slices);
    vd_cases_free(cases);
    return status;
}

static vd_status open_once(void *context, vd_error *err)
{
    const vd_corpus_paths *paths = context;
    vd_corpus corpus;
    vd_status status = vd_corpus_open(paths, &corpus, err);
    vd_corpus_close(&corpus);
    return status;
}

static void memory_that_is_out_is_reported(void **state)
{
    (void)state;
    vd_corpus corpus = open_corpus();
    assert_true(support_fail_each_allocation(compare_once, &corpus) > 20);
    vd_corpus_close(&corpus);
    vd_corpus_paths paths = {.data = tiny.val, .features = tiny.features, .dense = tiny.dense};
    assert_true(support_fail_each_allocation(open_once, &paths) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_agree_with_the_evaluation),
        cmocka_unit_test(a_model_against_itself_differs_nowhere),
        cmocka_unit_test(cases_are_grouped_filtered_and_ordered),
        cmocka_unit_test(a_model_is_held_against_the_first_as_if_alone),
        cmocka_unit_test(every_decoder_can_rank),
        cmocka_unit_test(cases_of_three_models_are_grouped),
        cmocka_unit_test(models_of_one_name_are_told_apart),
        cmocka_unit_test(models_of_one_name_with_other_decoders_are_told_apart),
        cmocka_unit_test(memory_that_is_out_is_reported),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
