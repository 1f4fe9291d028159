// No command writes over a file that it reads, nor two outputs into one file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"

static tiny_world tiny;
static char *bundled; // the extractor

// In the directory of the files, so that their names are short.
static int make_tiny(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    char *bin = realpath(getenv("VISDIAL_BIN") ? getenv("VISDIAL_BIN") : "build/visdial", NULL);
    setenv("VISDIAL_BIN", bin, 1);
    free(bin);
    bundled = realpath("assets/extractor.safetensors", NULL);
    assert_int_equal(chdir(tiny.directory), 0);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    tiny_world_remove(&tiny);
    free(bundled);
    return 0;
}

// It is refused, and the file is what it was.
static void refuse(const char *const *arguments, const char *kept, const char *said)
{
    support_program run;
    size_t before = 0, after = 0, entries = support_count_entries(".");
    char *then = support_exists(kept) ? support_read_file(kept, &before) : NULL;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 2, "would overwrite", said, "name another output", NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
    assert_int_equal(support_exists(kept), then != NULL);
    if (then) {
        char *now = support_read_file(kept, &after);
        assert_int_equal(after, before);
        assert_memory_equal(now, then, before);
        free(now);
    }
    free(then);
    assert_int_equal(support_count_entries("."), entries);
}

#define REFUSE(kept, ...) refuse((const char *const[]){__VA_ARGS__, NULL}, kept, "which is read")
#define REFUSE_TWO(kept, ...)                                                                      \
    refuse((const char *const[]){__VA_ARGS__, NULL}, kept, "which is written too")

static void what_is_read_is_not_written_over(void **state)
{
    (void)state;
    support_write_text("counts.json", "{\"a\": 9}");
    support_write_text("talk.jsonl", "{\"transcript\": 1}\n");
    REFUSE("val.json", "data", "pack", "val.json", "--out", "val.json");
    REFUSE("counts.json", "data", "pack", "val.json", "--vocab", "counts.json", "--out",
           "counts.json");
    REFUSE("val.json", "data", "vocab", "val.json", "--out", "val.json");
    REFUSE("talk.jsonl", "replay", "talk.jsonl", "--no-check", "--visdial", "talk.jsonl");
    REFUSE("talk.jsonl", "replay", "talk.jsonl", "--no-check", "--html", "talk.jsonl");
    REFUSE("features.safetensors", "features", "import", "features.safetensors", "--out",
           "features.safetensors");
    REFUSE("val.json", "pool", "build", "--data", "val.json", "--out", "val.json");
    REFUSE("base.safetensors", "pool", "build", "--data", "val.json", "--model", "base.safetensors",
           "--out", "base.safetensors");
    static const char *const ranked[] = {"val.json", "features.safetensors", "dense.json",
                                         "base.safetensors"};
    for (size_t i = 0; i < sizeof ranked / sizeof *ranked; i++) {
        REFUSE(ranked[i], "eval", "--model", "base", "--data", "val.json", "--features",
               "features.safetensors", "--dense", "dense.json", "--ranks", ranked[i]);
        REFUSE(ranked[i], "compare", "--data", "val.json", "--features", "features.safetensors",
               "--dense", "dense.json", "--html", ranked[i]);
    }
    // The bundled ones, too, which nobody named.
    REFUSE("dialogs.json", "compare", "--markdown", "dialogs.json");
}

static void the_extractor_keeps_pictures_and_weights(void **state)
{
    (void)state;
    size_t size;
    char *weights = support_read_file(bundled, &size);
    support_write_file("extractor.safetensors", weights, size);
    free(weights);
    support_write_text("1.png", "not looked at");
    REFUSE("1.png", "extract", "--out", "1.png", "1.png", "--model", "extractor.safetensors");
    REFUSE("extractor.safetensors", "extract", "--out", "./extractor.safetensors", "1.png");
}

static void two_outputs_have_two_files(void **state)
{
    (void)state;
    support_write_text("talk.jsonl", "{\"transcript\": 1}\n");
    REFUSE_TWO("same", "compare", "--html", "same", "--markdown", "same", "--data", "val.json",
               "--features", "features.safetensors");
    REFUSE_TWO("same", "replay", "talk.jsonl", "--no-check", "--html", "same", "--visdial",
               "./same");
    REFUSE_TWO("base.vectors.safetensors", "pool", "build", "--data", "val.json", "--model",
               "base.safetensors", "--out", "./base.vectors.safetensors");
}

static void another_name_for_the_same_file_is_known(void **state)
{
    (void)state;
    assert_int_equal(link("val.json", "hard.json"), 0);
    assert_int_equal(symlink("val.json", "soft.json"), 0);
    REFUSE("val.json", "data", "vocab", "val.json", "--out", "pictures/../val.json");
    REFUSE("val.json", "data", "vocab", "val.json", "--out", "hard.json");
    REFUSE("val.json", "data", "vocab", "val.json", "--out", "soft.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_not_written_over),
        cmocka_unit_test(the_extractor_keeps_pictures_and_weights),
        cmocka_unit_test(two_outputs_have_two_files),
        cmocka_unit_test(another_name_for_the_same_file_is_known),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
