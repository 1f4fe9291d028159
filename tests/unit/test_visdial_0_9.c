// VisDial v0.9, as its files are laid out: splits train and val on COCO 2014 images, ten rounds of
// 100 candidates, tables of their own, no dense annotations. From the files to a model and its
// rankings, by the program.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engine/base/safetensors.h"
#include "engine/base/rng.h"
#include "features/pictures/image.h"
#include "features/regions/regions.h"
#include "tests/support/must.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

enum {
    TRAIN = 8,
    VAL = 4,
    DIALOGS = TRAIN + VAL,
    ROUNDS = 10,
    OPTIONS = 100,
    QUESTIONS = 30,
    ANSWERS = 130,
    REGIONS = 36,
    SIZE = 8
};

static char *directory, *train, *val, *features, *photos, *packed, *run_directory, *ranks;

static int image_of(int dialog)
{
    return dialog < TRAIN ? 378466 + 37 * dialog : 185565 + 11 * dialog;
}

static void write_split(const char *path, const char *split, int first, int count)
{
    FILE *out = fopen(path, "w");
    vd_rng rng = vd_rng_seed(9, (uint64_t)first);
    assert_non_null(out);
    fputs("{\"data\": {\"answers\": [", out);
    for (int i = 0; i < ANSWERS; i++)
        fprintf(out, "%s\"%s %d\"", i ? ", " : "", i % 3 ? "yes it has" : "no there are", i);
    fputs("], \"dialogs\": [", out);
    for (int d = 0; d < count; d++) {
        fprintf(out, "%s{\"caption\": \"a man and %d dogs in a park\", \"dialog\": [",
                d ? ", " : "", d);
        for (int r = 0; r < ROUNDS; r++) {
            int truth = vd_rng_below(&rng, OPTIONS), start = vd_rng_below(&rng, ANSWERS);
            fprintf(out, "%s{\"answer\": %d, \"answer_options\": [", r ? ", " : "",
                    (start + truth) % ANSWERS);
            for (int i = 0; i < OPTIONS; i++)
                fprintf(out, "%s%d", i ? ", " : "", (start + i) % ANSWERS);
            fprintf(out, "], \"gt_index\": %d, \"question\": %d}", truth,
                    vd_rng_below(&rng, QUESTIONS));
        }
        fprintf(out, "], \"image_id\": %d}", image_of(first + d));
    }
    fputs("], \"questions\": [", out);
    for (int i = 0; i < QUESTIONS; i++)
        fprintf(out, "%s\"is there a dog number %d\"", i ? ", " : "", i);
    fprintf(out, "]}, \"split\": \"%s\", \"version\": \"0.9\"}", split);
    assert_int_equal(fclose(out), 0);
}

static void write_features(void)
{
    vd_region_set set;
    vd_error err = {0};
    vd_rng rng = vd_rng_seed(4, 4);
    must(vd_region_set_new(DIALOGS, REGIONS, SIZE, &set, &err), &err);
    for (int i = 0; i < DIALOGS; i++) {
        set.image_id[i] = image_of(i);
        set.used[i] = REGIONS;
        for (int k = 0; k < REGIONS * SIZE; k++)
            set.features[i * REGIONS * SIZE + k] = vd_half_from_float((float)vd_rng_uniform(&rng));
        for (int k = 0; k < REGIONS; k++)
            memcpy(set.boxes + (i * REGIONS + k) * 4, (float[]){0, 0, 1, 1}, 4 * sizeof(float));
    }
    must(vd_region_set_write(&set, features, "test", &err), &err);
    vd_region_set_clear(&set);
}

// Of COCO's names, in its directories.
static void write_photos(void)
{
    vd_image image;
    vd_error err = {0};
    must(vd_image_new(8, 6, &image, &err), &err);
    mkdir(photos, 0777);
    for (int i = 0; i < DIALOGS; i++) {
        char name[80];
        const char *split = i < TRAIN ? "train2014" : "val2014";
        char *part = support_join(photos, split);
        mkdir(part, 0777);
        snprintf(name, sizeof name, "COCO_%s_%012d.jpg", split, image_of(i));
        char *path = support_join(part, name);
        must(vd_image_write_png(path, &image, &err), &err);
        free(path);
        free(part);
    }
    vd_image_clear(&image);
}

static int set_up(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    directory = support_temp_dir();
    train = support_join(directory, "visdial_0.9_train.json");
    val = support_join(directory, "visdial_0.9_val.json");
    features = support_join(directory, "features.safetensors");
    photos = support_join(directory, "photos");
    packed = support_join(directory, "train.packed");
    run_directory = support_join(directory, "run");
    ranks = support_join(directory, "ranks.json");
    write_split(train, "train", 0, TRAIN);
    write_split(val, "val", TRAIN, VAL);
    write_features();
    write_photos();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char *const all[] = {train, val, features, photos, packed, run_directory, ranks, directory};
    support_remove_tree(directory);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return 0;
}

// Runs the program to its good end; what it printed, free().
static char *output_of(const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    char *out = strdup(run.out);
    support_program_clear(&run);
    return out;
}

#define RUN(...) output_of((const char *const[]){__VA_ARGS__, NULL})

static void expect_line(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void both_splits_are_described(void **state)
{
    (void)state;
    char *text = RUN("data", "info", train);
    expect_line(text, "version     0.9, split train\n");
    expect_line(text, "dialogs     8\n");
    expect_line(text, "rounds      80, 10 a dialog\n");
    expect_line(text, "candidates  100 a round, 130 different\n");
    free(text);
    text = RUN("data", "info", val);
    expect_line(text, "version     0.9, split val\n");
    expect_line(text, "dialogs     4\n");
    free(text);
    text = RUN("features", "info", features, "--data", val, "--images", photos);
    expect_line(text, "4 of 4 have features");
    expect_line(text, "12 of 12 pictures have one");
    free(text);
}

static void a_packed_split_is_the_same(void **state)
{
    (void)state;
    free(RUN("data", "pack", train, "--out", packed));
    char *one = RUN("data", "info", train), *other = RUN("data", "info", packed);
    assert_string_equal(strchr(one, '\n'), strchr(other, '\n')); // but for the file's name
    free(one);
    free(other);
}

static void a_step_is_trained_and_the_run_goes_on(void **state)
{
    (void)state;
    free(RUN("train", "--data", packed, "--features", features, "--val", val, "--val-features",
             features, "--hidden", "8", "--embed", "8", "--batch", "4", "--epochs", "2", "--quiet",
             "--min-count", "1", "--out", run_directory, "--stop-after", "1"));
    // From the JSON file, as it is the same data.
    char *text = RUN("train", "--data", train, "--features", features, "--val", val,
                     "--val-features", features, "--quiet", "--out", run_directory, "--resume");
    expect_line(text, "epoch 2  step 4");
    free(text);
}

static void rankings_are_measured(void **state)
{
    (void)state;
    char *model = support_join(run_directory, "model.safetensors");
    char *text = RUN("eval", "--model", model, "--data", val, "--features", features, "--ranks",
                     ranks, "--quiet");
    char *again = RUN("eval", "--from-ranks", ranks, "--data", val);
    expect_line(text, "4 dialogs");
    // The same table of metrics, whoever ranked. Ties were drawn by lot into the file: none here.
    const char *table = strstr(text, "\n\n"), *other = strstr(again, "\n\n");
    assert_true(table && other);
    size_t length = strcspn(table + 2, "\n");
    assert_memory_equal(table + 2, other + 2, length);
    char *json = support_read_file(ranks, NULL);
    int entries = 0;
    for (const char *at = json; (at = strstr(at, "\"round_id\"")); at++)
        entries++;
    assert_int_equal(entries, VAL * ROUNDS);
    free(json);
    free(again);
    free(text);
    char name[200];
    snprintf(name, sizeof name, "%d", image_of(TRAIN));
    text = RUN("ask", "--model", model, "--data", val, "--features", features, "--image", name,
               "is there a dog");
    expect_line(text, "1. is there a dog");
    free(text);
    // There are no dense annotations of v0.9: those of another split are no match.
    support_program run;
    support_program_run(&run,
                        (const char *const[]){"eval", "--from-ranks", ranks, "--data", val,
                                              "--dense", "tests/fixtures/dense.json", NULL},
                        NULL);
    support_program_expect(&run, 5, "tests/fixtures/dense.json", "not in", NULL);
    support_program_clear(&run);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_splits_are_described),
        cmocka_unit_test(a_packed_split_is_the_same),
        cmocka_unit_test(a_step_is_trained_and_the_run_goes_on),
        cmocka_unit_test(rankings_are_measured),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
