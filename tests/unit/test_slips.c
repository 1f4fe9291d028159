// Slips in typed questions: which differences are slips, and how a question is read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/must.h"
#include "tests/support/support.h"
#include "tui/session/slips.h"

static vd_vocab *vocab;
static vd_error err;

static int start(void **state)
{
    static const char *const words[] = {"?",      "the",    "how",  "many",     "yellow",  "three",
                                        "balls",  "ball",   "near", "cylinder", "color",   "what",
                                        "bigger", "what's", "is",   "purple",   "t-shirt", "short"};
    (void)state;
    must(vd_vocab_from_words(words, sizeof words / sizeof *words, &vocab, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    vd_vocab_free(vocab);
    return 0;
}

static void slips_are_told_from_other_words(void **state)
{
    (void)state;
    static const char *const slips[][2] = {
        {"teh", "the"},       {"mnay", "many"},         {"hte", "the"},
        {"yelow", "yellow"},  {"balll", "ball"},        {"biger", "bigger"},
        {"colour", "color"},  {"purpel", "purple"},     {"purpl", "purple"},
        {"porple", "purple"}, {"cilynder", "cylinder"}, {"cylindr", "cylinder"}};
    static const char *const others[][2] = {
        {"tree", "three"}, {"bear", "near"}, {"cat", "hat"},           {"to", "ot"},
        {"the", "the"},    {"wall", "ball"}, {"hurple", "purple"},     {"short", "shirt"},
        {"two", "too"},    {"", "a"},        {"xylinder", "cylinders"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
        if (!vd_is_slip(slips[i][0], slips[i][1]))
            fail_msg("%s is a slip of %s", slips[i][0], slips[i][1]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (vd_is_slip(others[i][0], others[i][1]))
            fail_msg("%s is no slip of %s", others[i][0], others[i][1]);
}

static void reads(const char *typed, const char *question, const char *says)
{
    char *found, *said;
    must(vd_typed_question(vocab, typed, &found, &said, &err), &err);
    assert_string_equal(found, question);
    assert_string_equal(said, says);
    vd_free(found);
    vd_free(said);
}

static void questions_are_read_without_slips_and_it_is_said(void **state)
{
    (void)state;
    reads("how many yellow balls", "how many yellow balls", "");
    reads("How mnay yelow balls?", "how many yellow balls",
          "mnay: read as many  yelow: read as yellow");
    reads("what's teh color, or is it purpel", "what's the color, or is it purple",
          "teh: read as the  purpel: read as purple");
    // Unknown, and no slips.
    reads("is the tree near a bear", "is the tree near a bear", "");
    // Parts of words are no words.
    reads("is the t-short wat", "is the t-short wat", "");
    reads("", "", "");
}

static void invalid_text_is_refused(void **state)
{
    (void)state;
    char *question = NULL;
    support_refused(vd_typed_question(vocab, "a \xff", &question, NULL, &err), VD_FORMAT, &err,
                    "byte", NULL);
    assert_null(question);
}

static vd_status read_with_slips(void *context, vd_error *e)
{
    char *question = NULL, *said = NULL;
    (void)context;
    vd_status status = vd_typed_question(vocab, "teh ball", &question, &said, e);
    vd_free(question);
    vd_free(said);
    return status;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(read_with_slips, NULL) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_are_told_from_other_words),
        cmocka_unit_test(questions_are_read_without_slips_and_it_is_said),
        cmocka_unit_test(invalid_text_is_refused),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, start, end);
}
