// An independent reader of scenes and texts (blocks_solver.py) judges 3,000 questions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

static void answers_are_true_to_a_person_who_reads_and_looks(void **state)
{
    (void)state;
    if (system("python3 --version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char *directory = support_temp_dir(), command[2000], *verdict;
    support_program run;
    const char *const make[] = {
        "blocks", "make", "--out",  directory, "--seed",  "4711",          "--train",       "300",
        "--val",  "1",    "--test", "1",       "--quiet", "--no-features", "--no-pictures", NULL};
    support_program_run(&run, make, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    snprintf(command, sizeof command,
             "python3 tests/unit/blocks_solver.py %s/train.json %s/train_dense.json "
             "%s/train_scenes.json >%s/verdict",
             directory, directory, directory, directory);
    assert_int_equal(system(command), 0);
    char *name = support_join(directory, "verdict");
    verdict = support_read_file(name, NULL);
    int questions = 0, read = 0, wrong = 0, references = 0, wrong_references = 0;
    assert_int_equal(sscanf(verdict, // NOLINT(cert-err34-c)
                            "questions %d, read %d, wrong %d, with reference %d, wrong %d",
                            &questions, &read, &wrong, &references, &wrong_references),
                     5);
    print_message("%s", verdict);
    assert_int_equal(questions, 3000);
    assert_true(read >= 2990);
    assert_int_equal(wrong, 0);
    assert_true(references >= 750);
    assert_true(100 * wrong_references <= references);
    support_remove_tree(directory);
    free(verdict);
    free(name);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_true_to_a_person_who_reads_and_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
