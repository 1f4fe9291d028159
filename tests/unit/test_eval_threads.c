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

enum { RUNS = 3 };

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
static char *ranks_of(const char *model, const char *data, const char *features,
                      const char *threads)
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

static void any_format_and_any_threads_rank_the_same(void **state)
{
    (void)state;
    static const char *const threads[] = {"1", "2", "4"};
    char *model = path_of("base_6.safetensors"), *data = path_of("public.json"), *first = NULL;
    char *file = path_of("val_btmup_f.hdf5"), *index = path_of("val_imgid2idx.pkl");
    char *folder = path_of("folder");
    tiny_world_model(&tiny, model, PUBLIC_SIZE, NULL);
    write_dialogs(data);
    for (int layout = PUBLIC_ADAPTIVE; layout < PUBLIC_LAYOUTS; layout++) {
        const char *features = layout == PUBLIC_NPZ || layout == PUBLIC_NPY ? folder : file;
        public_layout(layout, features, index);
        for (int i = 0; i < 3 * RUNS; i++) {
            char *ranks = ranks_of(model, data, features, threads[i % 3]);
            first = first ? first : strdup(ranks);
            if (strcmp(ranks, first) != 0)
                fail_msg("layout %d with %s threads: other ranks", layout, threads[i % 3]);
            free(ranks);
        }
    }
    assert_non_null(strstr(first, "\"ranks\""));
    free(first);
    free(folder);
    free(index);
    free(file);
    free(data);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_format_and_any_threads_rank_the_same),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
