// `eval` ranks the same whatever format the region features have been read from by however many
// threads. `make tsan` runs this under ThreadSanitizer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/one_world.h"
#include "tests/support/program.h"
#include "tests/support/public_files.h"
#include "tests/support/support.h"

static char *model, *data, *public, *folder, *own;

static char *path_of(const char *name)
{
    return support_join(tiny.directory, name);
}

// A dialog about each picture of the public layouts, so that each thread reads one.
static void write_dialogs(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"version\": \"1.0\", \"split\": \"val\", \"data\": {\"questions\": [\"is it red\", "
          "\"what color is the ball\"], \"answers\": [\"yes\", \"red\", \"no\", \"blue\"], "
          "\"dialogs\": [",
          file);
    for (size_t i = 0; i < PUBLIC_IMAGES; i++)
        fprintf(file,
                "%s{\"image_id\": %lld, \"caption\": \"the ball is %s\", \"dialog\": ["
                "{\"question\": 0, \"answer\": %zu, \"gt_index\": %zu, \"answer_options\": "
                "[0, 1, 2, 3]}, {\"question\": 1, \"answer\": 3, \"gt_index\": 0, "
                "\"answer_options\": [3, 0, 1, 2]}]}",
                i ? ",\n" : "", (long long)public_image(i), i % 2 ? "red" : "blue", i % 4, i % 4);
    fputs("]}}\n", file);
    assert_int_equal(fclose(file), 0);
}

// free()
static char *ranks_of(const char *features, const char *threads)
{
    support_program run;
    char *ranks = path_of("ranks.json");
    unlink(ranks);
    const char *const arguments[] = {"eval",      "--model",        model,    "--data",
                                     data,        "--features",     features, "--threads",
                                     threads,     "--batch",        "1",      "--ranks",
                                     ranks,       "--resamples",    "0",      "--quiet",
                                     "--decoder", "discriminative", NULL};
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    char *text = support_read_file(ranks, NULL);
    free(ranks);
    return text;
}

// 3, or $VISDIAL_RUNS for a longer search.
static int runs_wanted(void)
{
    const char *text = getenv("VISDIAL_RUNS");
    return text ? (int)strtol(text, NULL, 10) : 3;
}

// first: the ranks that are expected; NULL: those of the first run, which come back (free()).
static char *expect_ranks(const char *features, char *first)
{
    static const char *const threads[] = {"1", "2", "4"};
    for (int i = 0; i < 3 * runs_wanted(); i++) {
        char *ranks = ranks_of(features, threads[i % 3]);
        assert_non_null(strstr(ranks, "\"ranks\""));
        if (!first)
            first = strdup(ranks);
        if (strcmp(ranks, first) != 0)
            fail_msg("%s with %s threads: other ranks", features, threads[i % 3]);
        free(ranks);
    }
    return first;
}

static void import_as(const char *from, const char *to)
{
    support_program run;
    const char *const arguments[] = {"features", "import", from,      "--out",
                                     to,         "--f32",  "--quiet", NULL};
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
}

static void any_threads_rank_the_same_from_the_challenge(void **state)
{
    (void)state;
    static const int layouts[] = {PUBLIC_CHALLENGE, PUBLIC_CHALLENGE_COMPRESSED};
    char *first = NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        public_layout(layouts[i], public, NULL);
        first = expect_ranks(public, first);
    }
    free(first);
}

static void any_format_and_any_threads_rank_the_same(void **state)
{
    (void)state;
    char *index = path_of("val_imgid2idx.pkl"), *first = NULL;
    for (int layout = PUBLIC_ADAPTIVE; layout < PUBLIC_LAYOUTS; layout++) {
        const char *features = layout == PUBLIC_NPZ || layout == PUBLIC_NPY ? folder : public;
        public_layout(layout, features, index);
        first = expect_ranks(features, first);
        if (layout == PUBLIC_ADAPTIVE) {
            import_as(public, own);
            first = expect_ranks(own, first);
        }
    }
    free(first);
    free(index);
}

static int set_up(void **state)
{
    if (make_tiny(state))
        return 1;
    model = path_of("base_6.safetensors");
    data = path_of("public.json");
    public = path_of("val_btmup_f.hdf5");
    folder = path_of("folder");
    own = path_of("own.safetensors");
    tiny_world_model(&tiny, model, PUBLIC_SIZE, NULL);
    write_dialogs(data);
    return 0;
}

static int tear_down(void **state)
{
    char *paths[] = {model, data, public, folder, own};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        free(paths[i]);
    return remove_tiny(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_threads_rank_the_same_from_the_challenge),
        cmocka_unit_test(any_format_and_any_threads_rank_the_same),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
