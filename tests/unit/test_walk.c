// The walk through an answer: what-if in words, the command's numbers against `ask`, and each
// what-if against the conversation where it was made for real.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "engine/base/alloc.h"
#include "tests/support/attentions.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/session/walk.h"

static tiny_world tiny;
static vd_world *world;

static int make_tiny(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return vd_world_open_files(&(vd_world_files){0}, &world, NULL);
}

static int remove_tiny(void **state)
{
    (void)state;
    vd_world_close(world);
    tiny_world_remove(&tiny);
    return 0;
}

// ---- what-if in words ---------------------------------------------------------------------------

static void a_switch_is_named_as_it_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"caption", "round 2",    "region 1",
                                        "word 3",  "word 3=red", "attention 4",
                                        "picture", "positions",  "attention regions"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vd_switch one;
        vd_error err;
        char name[64];
        assert_int_equal(vd_switch_parse(texts[i], VD_OF_ANSWER, &one, &err), VD_OK);
        vd_switch_name(&one, name, sizeof name);
        assert_string_equal(name, texts[i]);
    }
}

static void what_is_no_switch_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",           "rounds 2",  "round",        "region x",
                                        "word 3=",    "picture 2", "region 1=red", "round 2x",
                                        "word 1=a b", "caption 1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vd_switch one;
        vd_error err;
        support_refused(vd_switch_parse(texts[i], VD_OF_ANSWER, &one, &err), VD_USAGE, &err,
                        texts[i], "expected caption, round N", NULL);
    }
    vd_switch one;
    vd_error err;
    support_refused(vd_switch_parse("moon", VD_OF_CAPTION, &one, &err), VD_USAGE, &err,
                    "what-if 'moon': expected region N, word N=OTHER or history", NULL);
    static const char *const numbers[][2] = {
        {"round 0", "1 to 100000"}, {"attention 0", "1 to 1000"}, {"word 21", "1 to 20"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        support_refused(vd_switch_parse(numbers[i][0], VD_OF_ANSWER, &one, &err), VD_USAGE, &err,
                        numbers[i][0], numbers[i][1], NULL);
    }
}

static void flipping_twice_changes_nothing(void **state)
{
    (void)state;
    vd_switches switches = {0};
    const vd_switch word = {VD_SWITCH_WORD, 2, ""}, red = {VD_SWITCH_WORD, 2, "red"},
                    region = {VD_SWITCH_REGION, 2, ""};
    assert_true(vd_switches_flip(&switches, &word));
    assert_true(vd_switches_flip(&switches, &region));
    assert_true(vd_switches_flip(&switches, &red)); // another word at the same place
    assert_int_equal(switches.count, 2);
    assert_string_equal(switches.at[0].word, "red");
    assert_true(vd_switches_flip(&switches, &red));
    assert_int_equal(switches.count, 1);
    assert_non_null(vd_switches_find(&switches, &region));
    for (int i = 0; i < VD_SWITCHES - 1; i++)
        assert_true(vd_switches_flip(&switches, &(vd_switch){VD_SWITCH_ENTRY, i, ""}));
    assert_false(vd_switches_flip(&switches, &word));
}

static void options_add_each_thing_once(void **state)
{
    (void)state;
    vd_switches switches = {0};
    vd_error err;
    static const char *const texts[] = {"attention rounds", "attention regions", "attention rounds",
                                        "attention 1",      "word 3=blue",       "word 3=blue",
                                        "word 2=blue"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(vd_switches_add(&switches, VD_OF_ANSWER, "what-if", texts[i], &err),
                         VD_OK);
    char text[256];
    vd_switches_text(&switches, text, sizeof text);
    assert_string_equal(text, "attention rounds, attention regions, attention 1, word 3=blue, word "
                              "2=blue");
    support_refused(vd_switches_add(&switches, VD_OF_ANSWER, "what-if", "word 3=green", &err),
                    VD_USAGE, &err, "--what-if", "word 3=green", "word 3=blue", NULL);
}

// ---- the walk -----------------------------------------------------------------------------------

static vd_session *talk(const char *const *questions)
{
    vd_session *session;
    vd_error err;
    assert_int_equal(vd_session_new(world, "improved", &session, &err), VD_OK);
    assert_int_equal(vd_session_picture(session, 0, &err), VD_OK);
    for (; *questions; questions++) {
        vd_reply reply;
        assert_int_equal(vd_session_ask(session, *questions, NULL, &reply, &err), VD_OK);
        assert_int_equal(vd_session_accept(session, &reply, 0, &err), VD_OK);
    }
    return session;
}

static const char *const said[] = {"what color is the cube", "is it next to the ball", NULL};

static vd_walk *walk_with(vd_session *session, const char *switched)
{
    vd_walk *walk;
    vd_error err;
    vd_switches switches = {0};
    if (switched) {
        switches.count = 1;
        assert_int_equal(vd_switch_parse(switched, VD_OF_ANSWER, &switches.at[0], &err), VD_OK);
    }
    if (vd_walk_new(session, "what color is the ball", &switches, true, NULL, &walk, &err))
        fail_msg("%s", err.text);
    return walk;
}

static void assert_same_scores(const vd_answer *a, const vd_answer *b)
{
    assert_int_equal(a->candidates, b->candidates);
    for (int i = 0; i < a->candidates; i++)
        if (fabsf(a->score[i] - b->score[i]) > 1e-5f)
            fail_msg("answer %d: %g and %g", i, (double)a->score[i], (double)b->score[i]);
}

static void the_walk_is_of_the_answer_that_ask_gives(void **state)
{
    (void)state;
    vd_session *session = talk(said);
    vd_walk *walk = walk_with(session, NULL);
    vd_reply reply;
    assert_int_equal(vd_session_ask(session, "what color is the ball", NULL, &reply, NULL), VD_OK);
    assert_same_scores(&walk->reply.answer, &reply.answer);
    assert_int_equal(walk->changed.answer.candidates, 0);
    assert_int_equal(walk->entries, 3);
    assert_string_equal(walk->entry[1].label, "round 1: what color is the cube");
    for (int r = 0; r < walk->entries; r++)
        assert_int_equal(walk->entry[r].words.count, support_entry_length(&reply.answer, r));
    assert_string_equal(walk->entry[1].words.word[6], "<S>");
    const float *regions = vd_answer_shares(&reply.answer, VD_AXIS_REGIONS);
    for (int p = 1; p < walk->regions; p++)
        assert_true(regions[walk->region[p - 1]] >= regions[walk->region[p]]);
    // 3 regions, 3 entries, 6 words, 4 attentions, positions, picture
    assert_int_equal(walk->effects, TINY_REGIONS + 3 + 6 + 4 + 2);
    vd_reply_clear(&reply);
    vd_walk_free(walk);
    vd_session_free(session);
}

static void dropping_a_word_is_asking_without_it(void **state)
{
    (void)state;
    static const struct {
        const char *switched, *asked;
    } cases[] = {{"word 2", "what is the ball"}, {"word 5=cube", "what color is the cube"}};
    vd_session *session = talk(said);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vd_walk *walk = walk_with(session, cases[i].switched);
        vd_reply reply;
        assert_int_equal(vd_session_ask(session, cases[i].asked, NULL, &reply, NULL), VD_OK);
        assert_same_scores(&walk->changed.answer, &reply.answer);
        assert_int_equal(walk->changed.words, reply.words);
        for (int k = 0; k < reply.words; k++)
            assert_string_equal(walk->changed.word[k], reply.word[k]);
        vd_reply_clear(&reply);
        vd_walk_free(walk);
    }
    vd_session_free(session);
}

static void dropping_a_round_is_a_conversation_without_it(void **state)
{
    (void)state;
    static const char *const without[] = {"what color is the cube", NULL};
    vd_session *session = talk(said), *other = talk(without);
    vd_walk *walk = walk_with(session, "round 2");
    vd_reply reply;
    assert_int_equal(vd_session_ask(other, "what color is the ball", NULL, &reply, NULL), VD_OK);
    assert_same_scores(&walk->changed.answer, &reply.answer);
    // The same among the effects: region 1..3, caption, round 1, round 2.
    const vd_effect *e = &walk->effect[TINY_REGIONS + 2];
    assert_true(e->what.kind == VD_SWITCH_ENTRY && e->what.index == 2);
    assert_true(fabs(e->left - (double)reply.answer.probability[walk->reply.answer.order[0]]) <
                1e-5);
    vd_reply_clear(&reply);
    vd_walk_free(walk);
    vd_session_free(session);
    vd_session_free(other);
}

static void what_is_not_there_cannot_be_switched(void **state)
{
    (void)state;
    static const struct {
        const char *switched, *says;
    } cases[] = {{"round 3", "there are only 2 rounds before"},
                 {"region 4", "there are only 3 regions"},
                 {"word 7", "there are only 6 words in the question"},
                 {"attention 5", "1 rounds, 2 history-words, 3 question-words, 4 regions"},
                 {"attention moon", "1 rounds, 2 history-words, 3 question-words, 4 regions"}};
    vd_session *session = talk(said);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vd_walk *walk;
        vd_error err;
        vd_switches one = {.count = 1};
        assert_int_equal(vd_switch_parse(cases[i].switched, VD_OF_ANSWER, &one.at[0], &err), VD_OK);
        support_refused(
            vd_walk_new(session, "what color is the ball", &one, true, NULL, &walk, &err), VD_USAGE,
            &err, cases[i].switched, cases[i].says, NULL);
        assert_null(walk);
    }
    vd_session_free(session);
}

static void every_table_of_shares_sums_to_one(void **state)
{
    (void)state;
    vd_session *session = talk(said);
    vd_walk *walk = walk_with(session, "region 1");
    const char *answers[TINY_ANSWERS];
    for (int i = 0; i < TINY_ANSWERS; i++)
        answers[i] = vd_session_texts(session)[i];
    int sums = 0;
    for (int changed = 0; changed < 2; changed++)
        for (int s = 0; s < walk->trace.stages; s++) {
            vd_walk_stage stage;
            vd_walk_stage_make(walk, changed, s, answers, &stage);
            const vd_trace_stage *of = stage.of;
            assert_true(*of->title && of->why && of->formula[0] && of->ins && of->outs);
            for (int t = 0; t < stage.tables; t++) {
                const vd_walk_table *table = &stage.table[t];
                if (!table->share || table->text || strncmp(table->title, "Gate", 4) == 0)
                    continue;
                bool heat = table->columns > 1; // each row sums to one, else the column
                for (int r = 0; r < (heat ? table->rows : 1); r++) {
                    double sum = 0;
                    for (int i = 0; i < (heat ? table->columns : table->rows); i++)
                        sum += table->value[r * table->columns + i];
                    assert_true(fabs(sum - 1) < 1e-5);
                    sums++;
                }
            }
            vd_walk_stage_clear(&stage);
        }
    assert_int_equal(sums, 2 * (1 + TINY_REGIONS + 1 + 1));
    vd_walk_free(walk);
    vd_session_free(session);
}

static vd_status walk_once(void *context, vd_error *err)
{
    vd_session *session = context;
    vd_walk *walk;
    vd_switches switches = {.count = 2,
                            .at = {{VD_SWITCH_WORD, 1, "red"}, {VD_SWITCH_REGION, 0, ""}}};
    static const char *const answers[TINY_ANSWERS] = {"a", "b", "c", "d"};
    vd_status status = vd_walk_new(session, "is it red", &switches, true, NULL, &walk, err);
    for (int s = 0; status == VD_OK && s < walk->trace.stages; s++) {
        vd_walk_stage stage;
        vd_walk_stage_make(walk, true, s, answers, &stage);
        vd_walk_stage_clear(&stage);
    }
    vd_walk_free(walk);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    vd_session *session = talk(said + 1);
    assert_true(support_fail_each_allocation(walk_once, session) > 100);
    vd_session_free(session);
}

// ---- the command --------------------------------------------------------------------------------

#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        "walk", __VA_ARGS__, NULL                                                                  \
    }

static void json_holds_every_stage_and_effect(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run,
                        ARGUMENTS("--image", "1", "--json", "--what-if", "region 2",
                                  "what color is the cube", "is it red"),
                        NULL);
    support_program_expect(&run, 0, NULL);
    char error[256];
    yajl_val json = yajl_tree_parse(run.out, error, sizeof error);
    assert_non_null(json);
    yajl_val stages = yajl_tree_get(json, (const char *[]){"stages", NULL}, yajl_t_array);
    yajl_val effects = yajl_tree_get(json, (const char *[]){"effects", NULL}, yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(stages)->len, 8);
    assert_int_equal(YAJL_GET_ARRAY(effects)->len, TINY_REGIONS + 2 + 4 + 4 + 2);
    assert_non_null(yajl_tree_get(json, (const char *[]){"changed_answers", NULL}, yajl_t_array));
    yajl_val out = yajl_tree_get(YAJL_GET_ARRAY(stages)->values[5], (const char *[]){"out", NULL},
                                 yajl_t_array);
    yajl_val e = yajl_tree_get(YAJL_GET_ARRAY(out)->values[0], (const char *[]){"values", NULL},
                               yajl_t_array);
    assert_int_equal(YAJL_GET_ARRAY(e)->len, 4); // H
    yajl_tree_free(json);
    support_program_clear(&run);
}

static void markdown_has_a_heading_a_stage_and_no_foreign_markup(void **state)
{
    (void)state;
    support_program run;
    support_program_run(
        &run, ARGUMENTS("--image", "1", "--markdown", "--what-if", "word 1", "is *it* <b>red|"),
        NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "# is \\*it\\* \\<b\\>red\\|\n"));
    assert_non_null(strstr(run.out, "\n## 1. Word states\n"));
    assert_non_null(strstr(run.out, "\n## 8. Softmax\n"));
    assert_non_null(strstr(run.out, "\n## What if\n\nChanged: word 1 \"is\" left out\n"));
    assert_non_null(strstr(run.out, "\n## Attention is not effect\n"));
    assert_null(strstr(run.out, "<b>"));
    support_program_clear(&run);
}

static void text_names_what_was_changed(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "1", "--what-if", "picture", "is it red"), NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "What if: picture blank\n"));
    assert_non_null(strstr(run.out, "2. Context matching and gate\n"));
    assert_non_null(strstr(run.out, "Attention is not effect"));
    assert_non_null(strstr(run.out, "\n   positions added ")); // the model has none
    assert_non_null(strstr(run.out, "\n   attention 4: regions made uniform "));
    assert_null(strstr(run.out, "without"));
    support_program_clear(&run);
}

static void what_cannot_be_walked_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[7];
        int code;
        const char *says;
    } cases[] = {
        {{"walk", "--image", "1", NULL}, 2, "no question"},
        {{"walk", "is it red", NULL}, 2, "which picture"},
        {{"walk", "--image", "1", "hello!", NULL}, 2, "'hello!' is not about the picture"},
        {{"walk", "--image", "1", "--what-if=round 1", "thanks", "is it red", NULL},
         2,
         "nothing was asked before"},
        {{"walk", "--image", "1", "--what-if", "moon", NULL}, 2, "what-if 'moon':"},
        {{"walk", "--image", "1", "--what-if=round 1", "is it red", NULL},
         2,
         "nothing was asked before"},
        {{"walk", "--image", "1", "--json", "--markdown", NULL}, 2, "choose one"},
        {{"walk", "--image", "1", "--what-if=caption", "red", NULL}, 2, "one must stay"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_program run;
        support_program_run(&run, cases[i].arguments, NULL);
        support_program_expect(&run, cases[i].code, cases[i].says, NULL);
        assert_string_equal(run.out, "");
        support_program_clear(&run);
    }
}

static void words_that_the_vocabulary_lacks_are_named(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "1", "what color is the frobnicated cube"),
                        NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "not in the vocabulary, read as <UNK>: frobnicated\n"));
    support_program_clear(&run);
    support_program_run(&run, ARGUMENTS("--image", "1", "what color is the cube"), NULL);
    support_program_expect(&run, 0, NULL);
    assert_null(strstr(run.out, "not in the vocabulary"));
    support_program_clear(&run);
    support_program_run(
        &run,
        ARGUMENTS("--image", "1", "--what-if", "word 2=frobnicated", "what color is the cube"),
        NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "not in the vocabulary, read as <UNK>: frobnicated\n"));
    support_program_clear(&run);
}

// ---- many words ---------------------------------------------------------------------------------

// Of twenty words of the history the twelve with the largest shares stay, in their order.
static void of_many_words_the_strongest_are_shown(void **state)
{
    (void)state;
    static const char *const column[] = {"share"};
    int32_t begins[] = {0, 20};
    double share[20];
    vd_walk_entry caption = {0};
    for (int i = 0; i < 20; i++)
        share[i] = i % 5 < 3 ? 0.075 : 0.0125;
    vd_trace_stage of = {.tables = 1,
                         .table = {{.title = "pooled-words",
                                    .share = true,
                                    .row_axis = VD_AXIS_HISTORY_WORDS,
                                    .column = column,
                                    .rows = 20,
                                    .columns = 1,
                                    .value = share}}};
    vd_walk walk = {.entries = 1, .entry = &caption, .trace = {.stage = &of, .stages = 1}};
    walk.reply.answer = (vd_answer){.rounds = 1, .history_start = begins};
    vd_walk_stage stage;
    vd_walk_stage_make(&walk, false, 0, NULL, &stage);
    const vd_walk_table *t = &stage.table[0];
    assert_string_equal(t->title, "pooled-words: 12 of 20 words");
    assert_int_equal(t->rows, 13);
    assert_string_equal(t->row[3], "#6@0");
    assert_string_equal(t->row[12], "the other 8");
    assert_float_equal(t->value[12], 0.1, 1e-6);
    vd_walk_stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_switch_is_named_as_it_is_read),
        cmocka_unit_test(what_is_no_switch_is_refused),
        cmocka_unit_test(flipping_twice_changes_nothing),
        cmocka_unit_test(options_add_each_thing_once),
        cmocka_unit_test(the_walk_is_of_the_answer_that_ask_gives),
        cmocka_unit_test(dropping_a_word_is_asking_without_it),
        cmocka_unit_test(dropping_a_round_is_a_conversation_without_it),
        cmocka_unit_test(what_is_not_there_cannot_be_switched),
        cmocka_unit_test(every_table_of_shares_sums_to_one),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(words_that_the_vocabulary_lacks_are_named),
        cmocka_unit_test(json_holds_every_stage_and_effect),
        cmocka_unit_test(markdown_has_a_heading_a_stage_and_no_foreign_markup),
        cmocka_unit_test(text_names_what_was_changed),
        cmocka_unit_test(what_cannot_be_walked_is_refused),
        cmocka_unit_test(of_many_words_the_strongest_are_shown),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
