// assets/blocks/experiments.py: trains and evaluates what is not done yet, and prints a table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

static void run(const char *directory, const char *out)
{
    char command[1024];
    snprintf(command, sizeof command,
             "python3 assets/blocks/experiments.py networks --data %s/data --out %s/runs --visdial "
             "\"$VISDIAL_BIN\" --only lf --only mn-att --seeds 2 >%s/%s 2>%s/errors",
             directory, directory, directory, out, directory);
    assert_int_equal(system(command), 0);
}

static void runs_are_done_once_and_make_a_table(void **state)
{
    (void)state;
    if (system("python3 --version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char *directory = support_temp_dir(), *data = support_join(directory, "data"),
         *model = support_join(directory, "runs/networks/lf-2/model.safetensors"),
         *first = support_join(directory, "first"), *again = support_join(directory, "again");
    const char *const make[] = {"blocks", "make", "--out",  data, "--train", "6",
                                "--val",  "3",    "--test", "1",  "--quiet", NULL};
    support_program p;
    support_program_run(&p, make, NULL);
    support_program_expect(&p, 0, NULL);
    support_program_clear(&p);
    run(directory, "first");
    assert_true(support_exists(model));
    char *table = support_read_file(first, NULL);
    assert_non_null(strstr(table, "\n| lf | 2 | 0."));
    assert_non_null(strstr(table, "\n| mn-att | 2 | 0."));
    assert_null(strstr(table, "mvan"));
    // What is done is read, not done again.
    assert_int_equal(remove(model), 0);
    run(directory, "again");
    assert_false(support_exists(model));
    char *same = support_read_file(again, NULL);
    assert_string_equal(table, same);
    free(table);
    free(same);
    support_remove_tree(directory);
    free(first);
    free(again);
    free(model);
    free(data);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_done_once_and_make_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
