// train: options that change nothing; --resume: exact, with --out alone, and refused where the run
// would become another.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/model/model.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"

static void a_resumed_run_makes_the_same_model_bit_for_bit(void **state)
{
    (void)state;
    const char *const val[] = {"--val", tiny.val, "--val-features", tiny.features, NULL};
    train_run_expect("whole", 0, "", MORE(val[0], val[1], val[2], val[3]));
    // Stops in the middle of an epoch, at its end, and after the last step but before its measures.
    static const char *const stops[] = {"1", "3", "4", "5"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char out[16];
        snprintf(out, sizeof out, "parts%s", stops[i]);
        train_run_expect(out, 0, "--resume continues it",
                         MORE(val[0], val[1], val[2], val[3], "--stop-after", stops[i]));
        train_run_expect(out, 0, "", MORE(val[0], val[1], val[2], val[3], "--resume"));
        train_run_same("whole", out);
    }
}

#define GOING_ON(...)                                                                              \
    MORE("--network", "dialog-transformer", "--decoder", "gen", "--answer", "sequence",            \
         "--optimiser", "adamw", "--beta-2", "0.98", "--next-word", "0.1", __VA_ARGS__)

// The network itself answers, in a run with AdamW, which resumes exactly.
static void a_network_that_goes_on_with_its_text_answers(void **state)
{
    (void)state;
    support_program run;
    train_run_expect("going", 0, "", GOING_ON("--epochs", "2"));
    train_run_expect("going_parts", 0, "--resume continues it",
                     GOING_ON("--epochs", "2", "--stop-after", "2"));
    train_run_expect("going_parts", 0, "", GOING_ON("--epochs", "2", "--resume"));
    train_run_same("going", "going_parts");
    char *model = train_run_file("going", "model.safetensors");
    const char *const commands[][10] = {
        {"ask", "--image", "1", "--model", model, "--assets", tiny.directory, "is it red"},
        {"eval", "--model", model, "--data", tiny.val, "--features", tiny.features},
        {"info", model}};
    static const char *const expected[] = {"a word)", "MRR", "sequence"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        support_program_run(&run, commands[i], NULL);
        support_program_expect(&run, 0, NULL);
        assert_non_null(strstr(run.out, expected[i]));
        support_program_clear(&run);
    }
    free(model);
}

// Half the rate, in that share of the epochs; a resumed run knows where it is.
static void a_linear_start_is_of_the_first_epochs(void **state)
{
    (void)state;
    const char *const run[] = {"--network",  "memn2n",   "--linear-start", "0.5",
                               "--schedule", "constant", "--rate",         "0.001"};
#define LINEAR(...)                                                                                \
    MORE(run[0], run[1], run[2], run[3], run[4], run[5], run[6], run[7], __VA_ARGS__)
    train_run_expect("linear", 0, "", LINEAR("--epochs", "2"));
    char *scalars = train_run_scalars("linear");
    for (int step = 1; step <= 6; step++) {
        char name[64];
        double found;
        snprintf(name, sizeof name, "train/learning_rate %d ", step);
        const char *at = strstr(scalars, name);
        assert_non_null(at);
        assert_int_equal(sscanf(at + strlen(name), "%la", &found), 1);
        assert_true(fabs(found - (step <= 3 ? 0.0005 : 0.001)) < 1e-9);
    }
    free(scalars);
    train_run_expect("linear_parts", 0, "--resume continues it",
                     LINEAR("--epochs", "2", "--stop-after", "2"));
    train_run_expect("linear_parts", 0, "", LINEAR("--epochs", "2", "--resume"));
    train_run_same("linear", "linear_parts");
#undef LINEAR
}

// Only --out is said again; what has moved is named, and remembered where it is now.
static void a_resumed_run_knows_what_it_reads(void **state)
{
    (void)state;
    const char *const val[] = {"--val", tiny.val, "--val-features", tiny.features, NULL};
    train_run_expect("knowing", 0, "--resume continues it",
                     MORE(val[0], val[1], val[2], val[3], "--val-dense", tiny.dense, "--val-limit",
                          "3", "--stop-after", "1"));
    char *out = support_join(tiny.directory, "knowing"),
         *inputs = train_run_file("knowing", "inputs.json"),
         *moved = support_join(tiny.directory, "moved.safetensors");
    const char *const resume[] = {"train", "--quiet", "--out", out, "--resume", NULL},
                      *const elsewhere[] = {"train",    "--quiet",        "--out", out,
                                            "--resume", "--stop-after",   "2",     "--features",
                                            moved,      "--val-features", moved,   NULL};
    support_program run;
    assert_int_equal(rename(tiny.features, moved), 0);
    support_program_run(&run, resume, NULL);
    support_program_expect(&run, 3, tiny.features, "no such file", NULL);
    support_program_clear(&run);
    support_program_run(&run, elsewhere, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    support_program_run(&run, resume, NULL);
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.err, "");
    support_program_clear(&run);
    const char *const again[] = {"train", "--out", out, "--resume", NULL};
    support_program_run(&run, again, NULL);
    support_program_expect(&run, 0, "nothing is left to train", "the model is in",
                           "knowing/model.safetensors, its best epoch in", NULL);
    support_program_clear(&run);
    assert_int_equal(rename(moved, tiny.features), 0);
    train_run_expect(
        "known", 0, "",
        MORE(val[0], val[1], val[2], val[3], "--val-dense", tiny.dense, "--val-limit", "3"));
    train_run_same("known", "knowing");
    support_write_text(inputs, "{\"data\":\"d\",\"dense\":\"x\"}");
    support_program_run(&run, resume, NULL);
    support_program_expect(&run, 4, inputs, "\"dense\"", NULL);
    support_program_clear(&run);
    const char *const other[] = {"[1]", "{}", "{\"data\":3,\"features\":\"f\"}",
                                 "{\"data\":\"d\",\"features\":\"f\",\"val\":[]}"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        support_write_text(inputs, other[i]);
        support_program_run(&run, resume, NULL);
        support_program_expect(&run, 4, inputs, "not what a run reads", NULL);
        support_program_clear(&run);
    }
    unlink(inputs);
    support_program_run(&run, resume, NULL);
    support_program_expect(&run, 3, inputs, "name --data and --features", NULL);
    support_program_clear(&run);
    free(moved);
    free(inputs);
    free(out);
}

// With --out alone: the margin that --train-dense needs is the checkpoint's.
static void a_resumed_run_learns_the_relevance_again(void **state)
{
    (void)state;
    const char *const dense[] = {"--train-dense", tiny.dense, "--margin", "1"};
    train_run_expect("dense", 0, "", MORE(dense[0], dense[1], dense[2], dense[3]));
    train_run_expect("denser", 0, "--resume continues it",
                     MORE(dense[0], dense[1], dense[2], dense[3], "--stop-after", "2"));
    char *out = support_join(tiny.directory, "denser");
    const char *const resume[] = {"train", "--quiet", "--out", out, "--resume", NULL};
    support_program run;
    support_program_run(&run, resume, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    free(out);
    train_run_same_file("dense", "denser", "model.safetensors");
    train_run_same_file("dense", "denser", "checkpoint.safetensors");
    train_run_expect("plain", 0, "", MORE("--margin", "1"));
    train_run_expect("generative", 2, "--train-dense needs a discriminative decoder",
                     MORE(dense[0], dense[1], dense[2], dense[3], "--decoder", "generative"));
    train_run_expect("plain", 5, "--train-dense: the run was started without it",
                     MORE("--resume", dense[0], dense[1]));
    char *with = train_run_file("dense", "log.tsv"), *without = train_run_file("plain", "log.tsv"),
         *a = support_read_file(with, NULL), *b = support_read_file(without, NULL);
    assert_string_not_equal(a, b); // the relevance was learned from
    free(a);
    free(b);
    free(with);
    free(without);
}

static void resuming_with_other_settings_or_data_is_refused(void **state)
{
    (void)state;
    train_run_expect("fixed", 3, "--resume: there is no directory", MORE("--resume"));
    train_run_expect("fixed", 0, "", MORE("--stop-after", "1"));
    train_run_expect("fixed", 5, "--rate: the run was started with 0.001, found 0.5",
                     MORE("--resume", "--rate", "0.5"));
    train_run_expect("fixed", 5, "--gate: the run was started with leaky-relu, found sigmoid",
                     MORE("--resume", "--preset", "base"));
    train_run_expect("fixed", 5, "other data", MORE("--resume", "--data", tiny.val));
    char *wide = support_join(tiny.directory, "wide.safetensors");
    tiny_world_features(wide, TINY_REGION_SIZE + 1);
    train_run_expect("fixed", 5, "expects regions of 5 numbers",
                     MORE("--resume", "--features", wide));
    train_run_expect("fixed", 5, "both must come from one extractor",
                     MORE("--resume", "--val", tiny.val, "--val-features", wide));
    // Other numbers for the same pictures; weights that it did not start from.
    size_t size;
    char *bytes = support_read_file(tiny.features, &size);
    bytes[size - 8] ^= 1;
    support_write_file(wide, bytes, size);
    train_run_expect("fixed", 5, "other features", MORE("--resume", "--features", wide));
    free(bytes);
    free(wide);
    train_run_expect("fixed", 5, "--from: the run was started from random weights",
                     MORE("--resume", "--from", tiny.improved));
    train_run_expect("fixed", 0, "", MORE("--resume"));
}

static void a_damaged_checkpoint_is_refused(void **state)
{
    (void)state;
    train_run_expect("hurt", 0, "", MORE("--stop-after", "1"));
    char *path = train_run_file("hurt", "checkpoint.safetensors");
    size_t size;
    char *bytes = support_read_file(path, &size);
    for (size_t length = 0; length < size; length += size / 5 + 1) {
        support_write_file(path, bytes, length);
        train_run_expect("hurt", 4, "checkpoint.safetensors", MORE("--resume"));
    }
    support_write_file(path, bytes, size);
    train_run_expect("hurt", 0, "", MORE("--resume"));
    free(bytes);
    free(path);
}

// MRR until the relevance of --val is known, NDCG then: the one says nothing of the other.
static void the_best_epoch_starts_over_with_another_measure(void **state)
{
    (void)state;
    train_run_expect("measured", 0, "--resume continues it",
                     MORE("--train-dense", tiny.dense, "--margin", "1", "--val", tiny.val,
                          "--val-features", tiny.features, "--epochs", "5", "--rate", "0.3",
                          "--stop-after", "9"));
    char *out = support_join(tiny.directory, "measured"),
         *best = train_run_file("measured", "best.safetensors"), *before, *after;
    size_t size, again;
    before = support_read_file(best, &size);
    const char *const resume[] = {"train",       "--out",    out,       "--resume",
                                  "--val-dense", tiny.dense, "--quiet", NULL};
    support_program run;
    support_program_run(&run, resume, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    after = support_read_file(best, &again);
    assert_true(size != again || memcmp(before, after, size) != 0);
    free(after);
    free(before);
    free(best);
    free(out);
}

// Without --val no epoch is the best one, also where a run before left one there.
static void without_validation_there_is_no_best_epoch(void **state)
{
    (void)state;
    train_run_expect("unmeasured", 0, "--resume continues it", MORE("--stop-after", "4"));
    char *out = support_join(tiny.directory, "unmeasured"),
         *best = train_run_file("unmeasured", "best.safetensors");
    assert_false(support_exists(best));
    support_write_text(best, "of a run before");
    const char *const resume[] = {"train", "--out", out, "--resume", NULL};
    support_program run;
    support_program_run(&run, resume, NULL);
    support_program_expect(&run, 0, "the model is in", "unmeasured/model.safetensors\n", NULL);
    support_program_clear(&run);
    char *text = support_read_file(best, NULL);
    assert_string_equal(text, "of a run before");
    free(text);
    free(best);
    free(out);
}

#define PATIENT                                                                                    \
    "--val", tiny.val, "--val-features", tiny.features, "--epochs", "6", "--patience", "1",        \
        "--rate", "1e-9"

// An epoch whose row cannot be written is measured again by the resumed run, and waited for once.
static void an_epoch_that_was_not_logged_counts_once(void **state)
{
    char *out = support_join(tiny.directory, "unlogged"),
         *log = train_run_file("unlogged", "log.tsv");
    (void)state;
    train_run_expect("logged", 0, "", MORE(PATIENT));
    assert_int_equal(mkdir(out, 0777), 0);
    assert_int_equal(symlink("nowhere/log.tsv", log), 0);
    train_run_expect("unlogged", 6, "log.tsv", MORE(PATIENT));
    unlink(log);
    train_run_expect("unlogged", 0, "", MORE(PATIENT, "--resume"));
    train_run_same("logged", "unlogged");
    free(log);
    free(out);
}

static void a_run_s_directory_is_described(void **state)
{
    (void)state;
    static const char *const files[] = {"checkpoint.safetensors", "model.safetensors"};
    static const char *const words[] = {"/checkpoint.safetensors: a checkpoint of a training run\n",
                                        "/model.safetensors: a model\n"};
    char *out = support_join(tiny.directory, "described");
    train_run_expect("described", 0, "", MORE("--network", "lf"));
    for (int i = 0; i < 3; i++) {
        support_program run;
        support_program_run(&run, (const char *[]){"info", out, NULL}, NULL);
        support_program_expect(&run, i < 2 ? 0 : 4, NULL);
        if (i < 2) {
            assert_non_null(strstr(run.out, "/described: the directory of a training run\n"));
            assert_non_null(strstr(run.out, "/described/log.tsv\n"));
            assert_non_null(strstr(run.out, "/described/events.out.tfevents."));
            assert_non_null(strstr(run.out, "; visdial curves "));
            assert_non_null(strstr(run.out, words[i]));
            char *file = support_join(out, files[i]);
            assert_int_equal(unlink(file), 0);
            free(file);
        }
        support_program_clear(&run);
    }
    free(out);
}

// Every run writes the same file names, and one of them is that of a bundled model.
static void a_model_of_a_run_is_named_by_its_run(void **state)
{
    (void)state;
    char *path = train_run_file("whole", "best.safetensors");
    char *checkpoint = train_run_file("whole", "checkpoint.safetensors");
    vd_model *model;
    vd_error err;
    for (int of_a_run = 1; of_a_run >= 0; of_a_run--) {
        assert_int_equal(vd_model_load(path, &model, &err), VD_OK);
        assert_string_equal(vd_model_name(model), of_a_run ? "whole/best" : "best");
        vd_model_free(model);
        unlink(checkpoint);
    }
    free(checkpoint);
    free(path);
}

static void options_that_change_nothing_are_named(void **state)
{
    (void)state;
    train_run_expect("idle", 0, "--hops changes nothing with mvan",
                     MORE("--hops", "3", "--stop-after", "1"));
    train_run_expect("idle_too", 0, "--lambda-start changes nothing with margin 1",
                     MORE("--margin", "1", "--lambda-start", "5", "--stop-after", "1"));
    train_run_expect("idle_decay", 0, "--weight-decay changes nothing with adam",
                     MORE("--weight-decay", "0.1", "--stop-after", "1"));
    train_run_expect("idle_gate", 0, "--gate changes nothing with lf",
                     MORE("--network", "lf", "--gate", "sigmoid", "--stop-after", "1"));
    train_run_expect("idle_dropout", 0, "--dropout changes nothing with memn2n",
                     MORE("--network", "memn2n", "--dropout", "0.5", "--stop-after", "1"));
    train_run_expect("idle_precision", 0, "--precision changes nothing with cpu",
                     MORE("--backend", "cpu", "--precision", "bf16", "--stop-after", "1"));
    train_run_expect("idle_image", 0, "--image changes nothing with lf",
                     MORE("--network", "lf", "--image", "raw", "--stop-after", "1"));
    train_run_expect(
        "idle_base", 0,
        "--position-dropout changes nothing with positions none\n"
        "--open-gates changes nothing with gate sigmoid\n",
        MORE("--preset", "base", "--position-dropout", "0.2", "--open-gates", "--stop-after", "1"));
    static const char *const generative[] = {"--margin", "--own-masks", "--score-words"};
    const char *const values[] = {"2", NULL, "dot"};
    for (int i = 0; i < 3; i++) {
        char words[80];
        snprintf(words, sizeof words, "%s changes nothing with %s", generative[i],
                 i < 2 ? "a generative decoder" : "answer lstm");
        const char *const more[] = {"--decoder", "generative", "--stop-after", "1", generative[i],
                                    values[i],   NULL};
        train_run_remove("idle_generative");
        train_run_expect("idle_generative", 0, words, more);
    }
    support_program run; // with a text encoder of others MVAN normalises as they do
    train_run_start(&run, "busy_image", 0,
                    MORE("--text", "gru", "--image", "raw", "--stop-after", "1"));
    support_program_wait(&run);
    support_program_expect(&run, 0, NULL);
    assert_null(strstr(run.err, "--image"));
    support_program_clear(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_change_nothing_are_named),
        cmocka_unit_test(a_resumed_run_makes_the_same_model_bit_for_bit),
        cmocka_unit_test(a_network_that_goes_on_with_its_text_answers),
        cmocka_unit_test(a_linear_start_is_of_the_first_epochs),
        cmocka_unit_test(a_resumed_run_knows_what_it_reads),
        cmocka_unit_test(a_resumed_run_learns_the_relevance_again),
        cmocka_unit_test(resuming_with_other_settings_or_data_is_refused),
        cmocka_unit_test(a_damaged_checkpoint_is_refused),
        cmocka_unit_test(the_best_epoch_starts_over_with_another_measure),
        cmocka_unit_test(without_validation_there_is_no_best_epoch),
        cmocka_unit_test(an_epoch_that_was_not_logged_counts_once),
        cmocka_unit_test(a_run_s_directory_is_described),
        cmocka_unit_test(a_model_of_a_run_is_named_by_its_run),
    };
    return cmocka_run_group_tests(tests, train_run_world, train_run_end);
}
