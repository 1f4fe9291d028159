// Blocks pictures, dialogs and captions of a seed are the same whatever compiler built the program.
// After a change of the grammar on purpose: put the hash that the message names here.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/hash.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

#define EXPECTED 0xa143c9364719fc59ull

static void a_seed_determines_everything(void **state)
{
    (void)state;
    static const char *const files[] = {"train.json", "train_dense.json", "train_scenes.json",
                                        "train_captions.json"};
    char *directory = support_temp_dir();
    const char *const make[] = {
        "blocks",        "make",          "--out",   directory, "--seed", "4711",       "--train",
        "1000",          "--val",         "0",       "--test",  "0",      "--captions", "5",
        "--no-features", "--no-pictures", "--quiet", NULL};
    support_program run;
    support_program_run(&run, make, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *name = support_join(directory, files[i]), *text = support_read_file(name, NULL);
        hash = vd_hash_text(hash, text);
        free(text);
        free(name);
    }
    support_remove_tree(directory);
    free(directory);
    if (hash != EXPECTED)
        fail_msg("the hash is 0x%016llx, expected 0x%016llx", (unsigned long long)hash, EXPECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_determines_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
