// Answers that are alike, and rankings in which they are folded together.
#include "features/text/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

static void keys_are(const char *answer, const char *expected)
{
    char key[96];
    vd_fold_key(answer, key, sizeof key);
    assert_string_equal(key, expected);
}

static void keys_leave_out_what_says_nothing(void **state)
{
    (void)state;
    keys_are("yes", "yes");
    keys_are("yes it is", "yes");
    keys_are("yes, they are.", "yes");
    keys_are("no there is not", "no");
    keys_are("nope", "no");
    keys_are("no, it isn't", "no");
    keys_are("no, it's red", "no red");
    keys_are("not many", "not many");
    keys_are("yeah", "yes");
    keys_are("yep, 2 of them", "yes 2");
    keys_are("just 2", "2");
    keys_are("only", "only");
    keys_are("it's a red cube", "red cube");
    keys_are("there are 2", "2");
    keys_are("it is", "it is");
    keys_are("", "");
    keys_are("!?", "!?");
    keys_are("caf\xc3\xa9", "caf\xc3\xa9");
    char small[8];
    vd_fold_key("yes yellow banana", small, sizeof small);
    assert_string_equal(small, "yes");
    vd_fold_key("it is there", small, sizeof small);
    assert_string_equal(small, "it is t");
}

static const char *const answers[] = {"yes",           "no",        "yes it is", "red",
                                      "yes, they are", "it is red", "it is"};
enum { ANSWERS = sizeof answers / sizeof *answers };

static void groups_are_named_by_their_first(void **state)
{
    (void)state;
    const int32_t expected[ANSWERS] = {0, 1, 0, 3, 0, 3, 6};
    int32_t *group = vd_fold_answers(answers, ANSWERS);
    assert_memory_equal(group, expected, sizeof expected);
    g_free(group);
}

static void rankings_show_the_best_of_each_group(void **state)
{
    (void)state;
    float probability[ANSWERS] = {0.1f, 0.25f, 0.3f, 0.05f, 0.02f, 0.2f, 0.08f};
    int32_t order[ANSWERS] = {2, 1, 5, 0, 6, 3, 4};
    int32_t *group = vd_fold_answers(answers, ANSWERS);
    const vd_answer answer = {.candidates = ANSWERS, .probability = probability, .order = order};
    vd_answer_group list[ANSWERS];
    int count = vd_fold_ranking(&answer, group, ANSWERS, list);
    const struct {
        int32_t answer;
        int place, alike;
        double probability;
    } expected[] = {{2, 0, 2, 0.42}, {1, 1, 0, 0.25}, {5, 2, 1, 0.25}, {6, 4, 0, 0.08}};
    assert_int_equal(count, 4);
    for (int i = 0; i < count; i++) {
        assert_int_equal(list[i].answer, expected[i].answer);
        assert_int_equal(list[i].place, expected[i].place);
        assert_int_equal(list[i].alike, expected[i].alike);
        assert_float_equal(list[i].probability, expected[i].probability, 1e-6);
    }
    assert_int_equal(vd_fold_ranking(&answer, group, 2, list), 2);
    assert_float_equal(list[0].probability, 0.42, 1e-6);
    g_free(group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_leave_out_what_says_nothing),
        cmocka_unit_test(groups_are_named_by_their_first),
        cmocka_unit_test(rankings_show_the_best_of_each_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
