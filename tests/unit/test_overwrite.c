// No command writes over a file that it reads, nor two outputs into one file.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"

static tiny_world tiny;
static char *bundled, *captioner, *assets; // the extractor, and what is shipped

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
    captioner = realpath("assets/captioner.safetensors", NULL);
    assets = realpath("assets", NULL);
    assert_int_equal(chdir(tiny.directory), 0);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    tiny_world_remove(&tiny);
    free(bundled);
    free(captioner);
    free(assets);
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

static void keep_refuses(const char *kept, const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 2, kept, "exists already", "--force", NULL);
    support_program_clear(&run);
}

// What is there stays, and is written over with --force only.
static void keep(const char *kept, int count, const char *const *arguments)
{
    support_program run;
    size_t before, after;
    const char *forced[24];
    memcpy(forced, arguments, (size_t)count * sizeof *arguments);
    forced[count] = "--force";
    forced[count + 1] = NULL;
    char *then = support_read_file(kept, &before);
    keep_refuses(kept, arguments);
    char *now = support_read_file(kept, &after);
    assert_int_equal(after, before);
    assert_memory_equal(now, then, before);
    free(now);
    support_program_run(&run, forced, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    now = support_read_file(kept, &after);
    assert_true(after != before || memcmp(now, then, before) != 0);
    free(now);
    free(then);
}
#define KEEP(kept, ...)                                                                            \
    keep(kept, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                        \
         (const char *const[]){__VA_ARGS__, NULL})

static void a_data_set_that_is_there_is_not_written_over(void **state)
{
    (void)state;
    size_t size;
    char *weights = support_read_file(bundled, &size);
    support_write_file("extractor.safetensors", weights, size);
    free(weights);
    support_write_text("there.packed", "another");
    KEEP("there.packed", "data", "pack", "val.json", "--out", "there.packed");
    support_write_text("there.json", "another");
    KEEP("there.json", "data", "vocab", "val.json", "--out", "there.json");
    support_write_text("there.safetensors", "another");
    KEEP("there.safetensors", "features", "import", "features.safetensors", "--out",
         "there.safetensors");
    support_write_text("there.safetensors", "another");
    KEEP("there.safetensors", "extract", "pictures/1.png", "--out", "there.safetensors");
    support_write_text("page", "another");
    KEEP("page", "caption", "--image", "1000001", "--html", "page", "--assets", assets);
    support_write_text("page", "another");
    KEEP("page", "compare", "--html", "page", "--quiet", "--resamples", "100");
    support_write_text("page", "another");
    KEEP("page", "eval", "--model", "base", "--data", "val.json", "--features",
         "features.safetensors", "--ranks", "page", "--quiet");
    support_write_text("page", "another");
    KEEP("page", "pool", "build", "--data", "val.json", "--out", "page");
    support_write_text("page", "another");
    KEEP("page", "blocks", "show", "--png", "page");
    support_write_text("talk.jsonl", "{\"transcript\": 1}\n");
    static const char *const written[] = {"--html", "--markdown", "--visdial"};
    support_write_text("page", "another");
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        keep_refuses("page", (const char *const[]){"replay", "talk.jsonl", "--no-check", written[i],
                                                   "page", NULL});
    support_write_text("counts.json", "{\"a\": 9}");
    keep_refuses("page", (const char *const[]){"import", tiny.base, "--words", "counts.json",
                                               "--out", "page", NULL});
    keep_refuses("page", (const char *const[]){"eval", "--task", "caption", "--model", captioner,
                                               "--features", "features.safetensors", "--out",
                                               "page", NULL});
    const char *const names[] = {"val.json", "val_scenes.json", "pool.txt"};
    const char *const world[] = {"dialogs.json", "features.safetensors", "pool.txt"};
    assert_int_equal(mkdir("made", 0777), 0);
    assert_int_equal(chdir("made"), 0);
    for (int i = 0; i < 3; i++) {
        support_write_text(names[i], "another");
        KEEP(names[i], "blocks", "make", "--out", ".", "--train", i == 2 ? "1" : "0", "--val",
             i < 2 ? "1" : "0", "--test", "0", "--no-features", "--no-pictures", "--quiet");
        for (int k = 0; k < 3; k++)
            unlink(names[k]);
        unlink("val_dense.json");
    }
    for (int i = 0; i < 3; i++) {
        support_write_text(world[i], "another");
        KEEP(world[i], "blocks", "world", "--out", ".", "--train", "1", "--count", "1", "--quiet",
             "--extractor", bundled);
        for (int k = 0; k < 3; k++)
            unlink(world[k]);
        unlink("dense.json");
        unlink("scenes.json");
    }
    assert_int_equal(mkdir("pictures", 0777) && errno != EEXIST, 0);
    support_write_text("pictures/1000001.png", "another");
    KEEP("pictures/1000001.png", "blocks", "make", "--out", ".", "--train", "0", "--val", "1",
         "--test", "0", "--no-features", "--quiet");
    assert_int_equal(chdir(".."), 0);
    // An empty file, and a device, hold nothing that could be lost.
    support_write_text("empty", "");
    support_program run;
    const char *const empty[] = {"data", "vocab", "val.json", "--out", "empty", NULL};
    support_program_run(&run, empty, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
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
        cmocka_unit_test(a_data_set_that_is_there_is_not_written_over),
        cmocka_unit_test(another_name_for_the_same_file_is_known),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
