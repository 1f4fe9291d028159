// `visdial data info` says what is in a file of dialogs, and nothing that is not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

static char *directory, *vocab;

static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    vocab = support_join(directory, "words.json");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(vocab);
    return 0;
}

// The output has each of these lines.
static void expect_lines(const char *const *arguments, const char *const *lines)
{
    support_program program;
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, 0, NULL);
    for (; *lines; lines++)
        if (!strstr(program.out, *lines))
            fail_msg("\"%s\" is not in:\n%s", *lines, program.out);
    support_program_clear(&program);
}

static void expect_refused(const char *const *arguments, int code, const char *said)
{
    support_program program;
    support_program_run(&program, arguments, NULL);
    support_program_expect(&program, code, "visdial data: ", said, NULL);
    assert_string_equal(program.out, "");
    support_program_clear(&program);
}

static void a_file_is_described(void **state)
{
    (void)state;
    expect_lines((const char *[]){"data", "info", "tests/fixtures/dialogs.json", NULL},
                 (const char *[]){
                     "file        tests/fixtures/dialogs.json\n", "version     1.0, split val\n",
                     "dialogs     3\n", "rounds      6, 1 to 3 a dialog\n",
                     "candidates  4 a round, 6 different\n",
                     "captions    6.0 words each, 9 in the longest\n",
                     "questions   4 different, 5.5 words each, 6 in the longest\n",
                     "answers     6 different, 3.0 words each, 11 in the longest\n",
                     "tables      4 questions, 6 answers\n", "words       39 different\n", NULL});
    expect_lines((const char *[]){"data", "info", "tests/fixtures/dialogs_test.json", NULL},
                 (const char *[]){"rounds      3, 1 to 2 a dialog, 2 without an answer\n",
                                  "candidates  3 a round, 4 different\n", NULL});
}

static void unknown_words_are_counted(void **state)
{
    (void)state;
    support_write_text(vocab, "{\"a\": 9, \"is\": 5, \"ball\": 4}");
    const char *const few[] = {
        "data", "info", "tests/fixtures/dialogs.json", "--vocab", vocab, "--top", "2", NULL};
    expect_lines(few, (const char *[]){"unknown     37 different, 59 of 69 words (85.51 %)\n",
                                       "       6  ?\n", "       4  ball\n", NULL});
    const char *const more[] = {
        "data", "info", "tests/fixtures/dialogs.json", "--vocab", vocab, "--min-count", "4", NULL};
    expect_lines(more, (const char *[]){"unknown     36 different, 55 of 69 words", NULL});
    support_write_text(vocab, "[\"<PAD>\", \"<S>\", \"</S>\", \"<UNK>\", \"a\"]");
    expect_lines(few, (const char *[]){"unknown     38 different, 64 of 69 words", NULL});
}

static void a_packed_file_is_described_alike(void **state)
{
    (void)state;
    char *packed = support_join(directory, "packed");
    expect_lines(
        (const char *[]){"data", "pack", "tests/fixtures/dialogs.json", "--out", packed, NULL},
        (const char *[]){"packed: 3 dialogs, ", NULL});
    expect_lines((const char *[]){"data", "info", packed, "--model", "best", "--top", "0", NULL},
                 (const char *[]){"unknown", NULL});
    expect_lines((const char *[]){"data", "info", packed, NULL},
                 (const char *[]){"version     1.0, split val\n",
                                  "rounds      6, 1 to 3 a dialog\n",
                                  "answers     6 different, 3.0 words each, 11 in the longest\n",
                                  "words       39 different\n", NULL});
    expect_lines((const char *[]){"info", packed, NULL},
                 (const char *[]){": VisDial dialogs, packed\n", "dialogs     3\n", "tables      ",
                                  "--tensors lists them", NULL});
    expect_lines((const char *[]){"info", "--tensors", packed, NULL},
                 (const char *[]){"first_round", NULL});
    free(packed);
}

static void words_are_counted(void **state)
{
    (void)state;
    expect_lines((const char *[]){"data", "vocab", "tests/fixtures/dialogs.json", "--out", vocab,
                                  "--force", NULL},
                 (const char *[]){"words.json: 39 words, ", NULL});
    char *text = support_read_file(vocab, NULL);
    assert_ptr_equal(strstr(text, "{\"?\":6,\"a\":"), text); // falling counts
    free(text);
    // Read again, they are all known.
    expect_lines((const char *[]){"data", "info", "tests/fixtures/dialogs.json", "--vocab", vocab,
                                  "--min-count", "1", NULL},
                 (const char *[]){"unknown     0 different, 0 of 69 words", NULL});
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    const char *data = "tests/fixtures/dialogs.json";
    expect_refused((const char *[]){"data", NULL}, 2, "expected info, pack or vocab");
    expect_refused((const char *[]){"data", "info", NULL}, 2, "info: expected a file");
    expect_refused((const char *[]){"data", "pack", data, NULL}, 2, "--out is missing");
    expect_refused((const char *[]){"data", "vocab", data, NULL}, 2, "--out is missing");
    expect_refused((const char *[]){"data", "info", data, "--out", "x", NULL}, 2, "--out is for");
    expect_refused((const char *[]){"data", "pack", data, "--out", "x", "--model", "m", NULL}, 2,
                   "--model is for info");
    expect_refused((const char *[]){"data", "vocab", data, "--out", "x", "--vocab", "v", NULL}, 2,
                   "--vocab is not for vocab");
    expect_refused((const char *[]){"data", "pack", data, "--out", "x", "--vocab", "none", NULL}, 3,
                   "none");
    support_write_text(vocab, "[\"<PAD>\", \"<S>\", \"</S>\", \"<UNK>\", \"a\"]");
    expect_refused((const char *[]){"data", "pack", data, "--out", "x", "--vocab", vocab, NULL}, 4,
                   "a list of words without counts");
    expect_refused((const char *[]){"data", "show", data, NULL}, 2, "expected info, pack or vocab");
    expect_refused((const char *[]){"data", "info", data, data, NULL}, 2, "unexpected 'tests");
    expect_refused((const char *[]){"data", "info", "none.json", NULL}, 3, "none.json");
    expect_refused((const char *[]){"data", "info", "tests/fixtures/dense.json", NULL}, 4,
                   "tests/fixtures/dense.json: line 1");
    expect_refused((const char *[]){"data", "info", data, "--top", "x", NULL}, 2, "--top");
    expect_refused((const char *[]){"data", "info", data, "--model", "m", "--vocab", "v", NULL}, 2,
                   "give one");
    static const char *const bad[] = {
        "{\"a\": \"b\"}", "{\"a\": {\"b\": 1}}", "{\"a\": [1]}", "{\"a\": -1}", "{\"a\": 1.5}",
        "{\"a\": null}",  "{\"a\": true}",       "{\"a\": 1",    "7",           ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        support_write_text(vocab, bad[i]);
        expect_refused((const char *[]){"data", "info", data, "--vocab", vocab, NULL}, 4, vocab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_described),
        cmocka_unit_test(unknown_words_are_counted),
        cmocka_unit_test(a_packed_file_is_described_alike),
        cmocka_unit_test(words_are_counted),
        cmocka_unit_test(wrong_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
