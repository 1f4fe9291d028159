#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/model/model.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"
#include "tui/commands/command.h"
#include "tui/train/event_file.h"
#include "tui/train/run_settings.h"
#include "tui/train/training.h"

// ---- order and settings -------------------------------------------------------------------------

static void every_epoch_shows_every_dialog_once_in_its_own_order(void **state)
{
    (void)state;
    enum { N = 50 };
    size_t first[N], again[N], second[N], other[N];
    vd_training_order(1, 0, first, N);
    vd_training_order(1, 0, again, N);
    vd_training_order(1, 1, second, N);
    vd_training_order(2, 0, other, N);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    int seen[N] = {0};
    for (int i = 0; i < N; i++)
        seen[first[i]]++;
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(vd_training_epoch_steps(50, 32), 2);
    assert_int_equal(vd_training_epoch_steps(64, 32), 2);
}

static void presets_are_the_two_models_people_compare(void **state)
{
    (void)state;
    vd_run_settings s = vd_run_settings_defaults(), improved = s;
    assert_int_equal(s.network.gate, VD_GATE_LEAKY_RELU);
    assert_int_equal(s.training.optimiser, VD_ADAM);
    assert_int_equal(s.network.positions, VD_POSITIONS_SINUSOIDAL);
    assert_int_equal(s.training.margin, 4);
    assert_int_equal(s.training.batch, 32);
    assert_true(vd_run_settings_preset(&s, "base"));
    assert_int_equal(s.network.gate, VD_GATE_SIGMOID);
    assert_int_equal(s.training.optimiser, VD_RMSPROP);
    assert_int_equal(s.network.positions, VD_POSITIONS_NONE);
    assert_int_equal(s.training.margin, 1);
    assert_false(vd_run_settings_preset(&s, "best"));
    assert_true(vd_run_settings_preset(&s, "improved")); // which is the default
    for (const vd_setting *row = vd_config_settings; row->name; row++)
        assert_true(vd_run_settings_same(&s, &improved, row->name));
    for (const vd_setting *row = vd_train_settings; row->name; row++)
        assert_true(vd_run_settings_same(&s, &improved, row->name));
}

// ---- running ------------------------------------------------------------------------------------

static void a_run_leaves_model_checkpoint_pool_and_log(void **state)
{
    (void)state;
    support_program run;
    train_run_start(
        &run, "run", 0,
        MORE("--val", tiny.val, "--val-features", tiny.features, "--val-dense", tiny.dense));
    support_program_wait(&run);
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.err, ""); // --quiet
    assert_non_null(strstr(run.out, "epoch 1  step 3"));
    assert_non_null(strstr(run.out, "epoch 2  step 6"));
    assert_non_null(strstr(run.out, "correct@1"));
    support_program_clear(&run);

    char *log = train_run_file("run", "log.tsv"), *pool = train_run_file("run", "pool.txt");
    char *text = support_read_file(log, NULL);
    int rows = 0, tabs = 0;
    for (char *c = text; *c; c++) {
        rows += *c == '\n';
        tabs += *c == '\t';
    }
    assert_int_equal(rows, 3);
    assert_int_equal(tabs, 3 * 9);
    free(text);
    text = support_read_file(pool, NULL);
    // 8 dialogs: 4 yes, 4 no, and 16 colours, evenly.
    assert_string_equal(text, "8\tred\n8\tblue\n4\tyes\n4\tno\n");
    free(text);
    char *model = train_run_file("run", "model.safetensors");
    const char *const ask[] = {"ask", "--image", "1", "--model", model, "is it red", NULL};
    support_program_run(&run, ask, NULL); // the model is one to chat with
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    free(model);
    free(pool);
    free(log);
}

// Resumed bit for bit, in half precision in the file, asked, and walked through.
static void every_network_is_trained_as_mvan_is(void **state)
{
    static const char *const names[] = {"lf-bu", "hrea", "mac", "dmn"};
    static const char *const looks[] = {"", "", "step 5 of 5", "hop 3 of 3"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char whole[32], parts[32];
        snprintf(whole, sizeof whole, "whole-%s", names[i]);
        snprintf(parts, sizeof parts, "parts-%s", names[i]);
        train_run_expect(whole, 0, "", MORE("--network", names[i], "--half"));
        train_run_expect(parts, 0, "--resume continues it",
                         MORE("--network", names[i], "--half", "--stop-after", "2"));
        train_run_expect(parts, 0, "", MORE("--network", names[i], "--half", "--resume"));
        train_run_same_file(whole, parts, "model.safetensors");
        train_run_same_file(whole, parts, "checkpoint.safetensors");
        char *model = train_run_file(whole, "model.safetensors");
        const char *const info[] = {"info", model, NULL};
        const char *ask[] = {"ask", "--image", "1", "--model", model, "is it red", NULL};
        support_program run;
        support_program_run(&run, info, NULL);
        support_program_expect(&run, 0, NULL);
        assert_non_null(strstr(run.out, names[i]));
        support_program_clear(&run);
        support_program_run(&run, ask, NULL);
        support_program_expect(&run, 0, NULL);
        assert_non_null(strstr(run.out, looks[i]));
        support_program_clear(&run);
        ask[0] = "walk";
        support_program_run(&run, ask, NULL);
        support_program_expect(&run, 0, NULL);
        assert_non_null(strstr(run.out, "Candidate scores"));
        support_program_clear(&run);
        free(model);
    }
}

// The arguments of a run that is measured after each of five epochs, with more of them.
#define MEASURED(...)                                                                              \
    MORE("--val", tiny.val, "--val-features", tiny.features, "--epochs", "5", "--rate",            \
         "0.05" __VA_OPT__(, ) __VA_ARGS__)

static void the_best_epoch_is_kept(void **state)
{
    (void)state;
    train_run_expect("best", 0, "", MEASURED());
    char *path = train_run_file("best", "log.tsv"), *text = support_read_file(path, NULL);
    double best = 0;
    int at = 0, epoch;
    for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        double loss, r1, r5, r10, rank, mrr;
        assert_int_equal(sscanf(line + 1, "%d %*d %lf %lf %lf %lf %lf %lf", &epoch, &loss, &r1, &r5,
                                &r10, &rank, &mrr),
                         7);
        assert_true(strchr(line + 1, '\n')[-1] == '\t'); // nobody says what NDCG is
        if (mrr > best + 1e-9)
            at = epoch;
        best = mrr > best ? mrr : best;
    }
    // Training as long as the best epoch says gives that model.
    char stop[16];
    snprintf(stop, sizeof stop, "%d", 3 * at);
    train_run_expect("until", 0, "", MEASURED("--stop-after", stop));
    train_run_same_file("best", "until", "best.safetensors");
    free(text);
    free(path);
}

// Where the relevance is learned, the best epoch is that of the best NDCG.
static void the_best_epoch_is_that_of_what_is_learned(void **state)
{
    (void)state;
    train_run_expect("ndcg", 0, "",
                     MEASURED("--train-dense", tiny.dense, "--margin", "1", "--rate", "0.3",
                              "--val-dense", tiny.dense));
    char *path = train_run_file("ndcg", "log.tsv"), *text = support_read_file(path, NULL);
    double best[2] = {0};
    int at[2] = {0}, epoch;
    for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        double now[2];
        assert_int_equal(
            sscanf(line + 1, "%d %*d %*f %*f %*f %*f %*f %lf %lf", &epoch, &now[0], &now[1]), 3);
        for (int i = 0; i < 2; i++)
            if (now[i] > best[i] + 1e-9) {
                at[i] = epoch;
                best[i] = now[i];
            }
    }
    assert_int_not_equal(at[0], at[1]); // or it would show nothing
    char stop[16];
    snprintf(stop, sizeof stop, "%d", 3 * at[1]);
    train_run_expect("ndcg_until", 0, "",
                     MEASURED("--train-dense", tiny.dense, "--margin", "1", "--rate", "0.3",
                              "--val-dense", tiny.dense, "--stop-after", stop));
    train_run_same_file("ndcg", "ndcg_until", "best.safetensors");
    free(text);
    free(path);
}

#define COPYING(...)                                                                               \
    MORE("--network", "lf", "--decoder", "generative", "--answer", "lstm-attention", "--copy",     \
         "pointer", "--coverage", __VA_ARGS__)

// Of copy pointer, in the last epoch alone.
static void coverage_is_of_the_last_epoch(void **state)
{
    (void)state;
    static const char *const runs[] = {"uncovered", "covered"};
    char *text[2], *second[2];
    for (int i = 0; i < 2; i++) {
        train_run_expect(runs[i], 0, "", COPYING(i ? "1" : "0", "--epochs", "2"));
        char *path = train_run_file(runs[i], "log.tsv");
        text[i] = support_read_file(path, NULL);
        second[i] = strstr(text[i], "\n2\t");
        assert_non_null(second[i]);
        free(path);
    }
    assert_int_equal(second[0] - text[0], second[1] - text[1]);
    assert_memory_equal(text[0], text[1], (size_t)(second[0] - text[0]));
    assert_string_not_equal(second[0], second[1]);
    train_run_expect("nothing_to_cover", 2, "--coverage needs --copy pointer, found none",
                     MORE("--coverage", "1"));
    free(text[0]);
    free(text[1]);
}

// A run that ends early ends with an epoch that has it.
static void coverage_is_of_the_epoch_after_the_patience(void **state)
{
    (void)state;
    const char *const *const runs[] = {
        COPYING("1", "--val", tiny.val, "--val-features", tiny.features, "--rate", "1e-9",
                "--schedule", "constant", "--epochs", "6", "--patience", "1"),
        COPYING("1", "--val", tiny.val, "--val-features", tiny.features, "--rate", "1e-9",
                "--schedule", "constant", "--epochs", "3")};
    train_run_expect("patient", 0, "", runs[0]);
    train_run_expect("three_epochs", 0, "", runs[1]);
    train_run_same_file("patient", "three_epochs", "log.tsv");
}

// Counts in the public layout instead of the data's own words; also packed with them.
static void words_come_from_a_file_of_counts(void **state)
{
    (void)state;
    char *counts = support_join(tiny.directory, "counts.json"),
         *packed = support_join(tiny.directory, "counted.packed");
    support_write_text(counts, "{\"cube\": 3, \"zebra\": 9, \"red\": 9, \"is\": 2, \"blue\": 1}");
    const char *const pack[] = {"data", "pack",  tiny.train, "--vocab",
                                counts, "--out", packed,     NULL};
    support_program run;
    support_program_run(&run, pack, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    const char *rare = "--min-count";
    train_run_expect("counted", 0, "", MORE("--vocab", counts, rare, "2", "--epochs", "1"));
    train_run_expect("counted_packed", 0, "", MORE("--data", packed, rare, "2", "--epochs", "1"));
    static const char *const from[] = {"counted", "counted_packed"};
    static const char *const order[] = {"zebra", "red", "cube", "is"};
    for (int i = 0; i < 2; i++) {
        char *path = train_run_file(from[i], "model.safetensors");
        vd_model *model;
        vd_error err;
        assert_int_equal(vd_model_load(path, &model, &err), VD_OK);
        const vd_vocab *words = vd_model_vocab(model);
        assert_int_equal(vd_vocab_size(words), VD_FIRST_WORD + 4);
        for (int32_t k = 0; k < 4; k++)
            assert_string_equal(vd_vocab_word(words, VD_FIRST_WORD + k), order[k]);
        vd_model_free(model);
        free(path);
    }
    // A model of these words goes on with the data's own behind them.
    char *known = train_run_file("counted", "model.safetensors");
    train_run_expect("more_words", 2, "--from", MORE("--new-words"));
    train_run_expect("more_words", 0, "",
                     MORE("--from", known, "--new-words", rare, "1", "--epochs", "1"));
    char *grown = train_run_file("more_words", "model.safetensors");
    vd_model *model;
    vd_error err;
    assert_int_equal(vd_model_load(grown, &model, &err), VD_OK);
    const vd_vocab *all = vd_model_vocab(model);
    assert_true(vd_vocab_size(all) > VD_FIRST_WORD + 4);
    for (int32_t k = 0; k < 4; k++)
        assert_string_equal(vd_vocab_word(all, VD_FIRST_WORD + k), order[k]);
    vd_model_free(model);
    free(grown);
    free(known);
    train_run_expect("words_and_model", 2, "--vocab and --from",
                     MORE("--vocab", counts, "--from", tiny.base));
    const char *const last[] = {"--stop-after", "1", rare, "2", "--vocab", counts, NULL};
    train_run_expect("stopped", 0, "", last);
    train_run_expect("stopped", 0, "",
                     MORE("--vocab", counts, rare, "2", "--resume", "--stop-after", "2"));
    support_write_text(counts, "{\"cube\": 3, \"zebra\": 9}");
    train_run_expect("stopped", 5, "2 words, not the 4 the run was started with",
                     MORE("--vocab", counts, rare, "2", "--resume"));
    support_write_text(counts, "{\"cube\": 3, \"zebra\": 9, \"green\": 9, \"is\": 2}");
    train_run_expect("stopped", 5,
                     "word 2 is \"green\", the run was started with \"red\" there; leave it out",
                     MORE("--vocab", counts, rare, "2", "--resume"));
    free(packed);
    free(counts);
}

static void a_vocabulary_without_words_is_refused(void **state)
{
    (void)state;
    char *words = support_join(tiny.directory, "words.json");
    train_run_expect("wordless", 4, "no word occurs 10000 times in ", MORE("--min-count", "10000"));
    support_write_text(words, "{\"cube\": 3}");
    train_run_expect("wordless", 4, "no word occurs 4 times in ",
                     MORE("--vocab", words, "--min-count", "4"));
    train_run_expect("wordless", 4, "words.json; lower --min-count",
                     MORE("--vocab", words, "--min-count", "4"));
    support_write_text(words, "{}");
    train_run_expect("wordless", 4, "words.json: there are no words in it", MORE("--vocab", words));
    free(words);
}

static void word_vectors_start_from_glove(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "glove.txt");
    support_write_text(path, "unk 0.5 0.5\nred 1 2\nyes 3 4\n");
    train_run_expect("glove", 2, "--glove and --from", MORE("--glove", path, "--from", tiny.base));
    train_run_expect("glove", 5, "--embed is 6, but", MORE("--glove", path));
    train_run_expect("glove", 0, "", MORE("--embed", "2", "--glove", path, "--rate", "1e-9"));
    char *file = train_run_file("glove", "model.safetensors");
    vd_safetensors *model;
    vd_model *loaded;
    vd_error err;
    float row[2];
    assert_int_equal(vd_model_load(file, &loaded, &err), VD_OK);
    assert_string_equal(vd_model_metadata(loaded, "started_from"), "glove.txt");
    assert_int_equal(vd_safetensors_open(file, &model, &err), VD_OK);
    const vd_tensor *words = vd_safetensors_find(model, "encoder.word_embed.weight");
    size_t red = (size_t)vd_vocab_id(vd_model_vocab(loaded), "red");
    assert_int_equal(vd_tensor_floats(words, 2 * red, 2, row, &err), VD_OK);
    assert_true(row[0] > 0.999f && row[0] < 1.001f && row[1] > 1.999f && row[1] < 2.001f);
    vd_safetensors_close(model);
    vd_model_free(loaded);
    free(file);
    free(path);
}

static void another_seed_makes_another_model(void **state)
{
    (void)state;
    train_run_expect("seed1", 0, "", MORE("--seed", "1"));
    train_run_expect("seed2", 0, "", MORE("--seed", "2"));
    char *a = train_run_file("seed1", "model.safetensors"),
         *b = train_run_file("seed2", "model.safetensors");
    size_t size_a, size_b;
    char *bytes_a = support_read_file(a, &size_a), *bytes_b = support_read_file(b, &size_b);
    assert_true(size_a != size_b || memcmp(bytes_a, bytes_b, size_a) != 0);
    free(bytes_a);
    free(bytes_b);
    free(a);
    free(b);
}

static void settings_reach_the_model_file(void **state)
{
    (void)state;
    train_run_expect("base", 0, "",
                     MORE("--preset", "base", "--half", "--gate", "elu", "--epochs", "1"));
    char *path = train_run_file("base", "model.safetensors");
    vd_model *model;
    vd_error err;
    assert_int_equal(vd_model_load(path, &model, &err), VD_OK);
    assert_int_equal(vd_model_config(model)->gate, VD_GATE_ELU); // an option beats the preset
    assert_int_equal(vd_model_config(model)->positions, VD_POSITIONS_NONE);
    assert_int_equal(vd_model_config(model)->region, TINY_REGION_SIZE);
    assert_string_equal(vd_model_metadata(model, "pool"), "pool.txt");
    assert_non_null(strstr(vd_model_metadata(model, "trained_on"), "train.json"));
    vd_model_free(model);
    free(path);
}

// ---- interruptions ------------------------------------------------------------------------------

static void interrupt_in_the_middle(int number, const char *out)
{
    support_program run;
    char *model = train_run_file(out, "model.safetensors");
    train_run_start(&run, out, 0, MORE("--epochs", "1000"));
    struct timespec pause = {.tv_nsec = 2000000};
    for (int i = 0; i < 30000 && !support_exists(model); i++)
        nanosleep(&pause, NULL); // the first epoch is over, the thousandth far away
    kill(run.pid, number);
    support_program_wait(&run);
    support_program_expect(&run, 130, "stopped after step", "of 3000", "--resume continues it",
                           NULL);
    long step = 0;
    sscanf(run.err, "visdial train: stopped after step %ld", &step);
    assert_true(step >= 3);
    support_program_clear(&run);
    // What it left goes on from there.
    char next[32], reached[64];
    snprintf(next, sizeof next, "%ld", step + 4);
    snprintf(reached, sizeof reached, "stopped after step %ld of 3000", step + 4);
    train_run_start(&run, out, 0, MORE("--epochs", "1000", "--resume", "--stop-after", next));
    support_program_wait(&run);
    support_program_expect(&run, 0, reached, NULL);
    support_program_clear(&run);
    free(model);
}

static void signals_leave_a_checkpoint_that_goes_on(void **state)
{
    (void)state;
    interrupt_in_the_middle(SIGINT, "sigint");
    interrupt_in_the_middle(SIGTERM, "sigterm");
    interrupt_in_the_middle(SIGHUP, "sighup");
}

static void a_full_disk_leaves_what_was_saved_before(void **state)
{
    (void)state;
    train_run_expect("full", 0, "", MORE("--stop-after", "2"));
    char *path = train_run_file("full", "checkpoint.safetensors");
    char *directory = support_join(tiny.directory, "full");
    size_t size, after, entries = support_count_entries(directory);
    char *before = support_read_file(path, &size);
    support_program run;
    train_run_start(&run, "full", size / 8, MORE("--resume", "--checkpoint-steps", "1"));
    support_program_wait(&run);
    support_program_expect(&run, 6, "model.safetensors", "the previous checkpoint", NULL);
    support_program_clear(&run);
    char *now = support_read_file(path, &after);
    assert_int_equal(after, size);
    assert_memory_equal(before, now, size);
    assert_int_equal(support_count_entries(directory), entries); // no half files
    free(now);
    free(before);
    train_run_expect("full", 0, "", MORE("--resume")); // with room again it goes on
    free(directory);
    free(path);
}

static void numbers_that_run_away_end_the_run_and_spare_the_checkpoint(void **state)
{
    (void)state;
    train_run_expect("wild", 0, "", MORE("--stop-after", "1"));
    char *path = train_run_file("wild", "checkpoint.safetensors"), *before, *after;
    size_t size, again;
    before = support_read_file(path, &size);
    // The optimiser's last number, a mean of squares: its root is not a number.
    static const unsigned char minus_one[4] = {0, 0, 0x80, 0xbf};
    memcpy(before + size - sizeof minus_one, minus_one, sizeof minus_one);
    support_write_file(path, before, size);
    // Step 2 makes a weight of it, step 3 a loss.
    support_program run;
    train_run_start(&run, "wild", 0, MORE("--resume"));
    support_program_wait(&run);
    support_program_expect(&run, 4, "training diverged at step 3", "try a lower --rate, or --clip",
                           "wild/checkpoint.safetensors is unchanged", NULL);
    support_program_clear(&run);
    after = support_read_file(path, &again);
    assert_int_equal(size, again);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    free(path);
}

// ---- what is refused ----------------------------------------------------------------------------

static void work_that_is_there_is_not_written_over(void **state)
{
    (void)state;
    train_run_expect("kept", 0, "", MORE("--epochs", "1"));
    train_run_expect("kept", 2, "checkpoint.safetensors exists already; continue it with --resume",
                     MORE("--epochs", "1"));
    char *checkpoint = train_run_file("kept", "checkpoint.safetensors");
    assert_int_equal(unlink(checkpoint), 0); // as after a kill while the first was written
    train_run_expect("kept", 2, "there is no checkpoint to continue from; remove it",
                     MORE("--epochs", "1"));
    unlink(checkpoint);
    support_write_text(checkpoint, "");
    train_run_expect("kept/checkpoint.safetensors", 6, "exists and is not a directory",
                     MORE("--epochs", "1"));
    free(checkpoint);
}

static void two_do_not_train_in_one_directory(void **state)
{
    (void)state;
    support_program run;
    char *model = train_run_file("shared", "model.safetensors");
    train_run_start(&run, "shared", 0, MORE("--epochs", "1000"));
    struct timespec pause = {.tv_nsec = 2000000};
    for (int i = 0; i < 30000 && !support_exists(model); i++)
        nanosleep(&pause, NULL);
    train_run_expect("shared", 2, "another visdial is training in ", MORE("--epochs", "1000"));
    train_run_expect("shared", 2, "another visdial is training in ",
                     MORE("--epochs", "1000", "--resume"));
    kill(run.pid, SIGTERM);
    support_program_wait(&run);
    support_program_expect(&run, 130, "--resume continues it", NULL);
    support_program_clear(&run);
    train_run_expect("shared", 0, "--resume continues it",
                     MORE("--epochs", "1000", "--resume", "--stop-after", "1"));
    free(model);
}

static void what_a_model_fixes_cannot_be_said_otherwise(void **state)
{
    (void)state;
    train_run_expect("other", 5, "--hidden is 77, but ",
                     MORE("--from", tiny.base, "--hidden", "77"));
    train_run_expect("other", 5, "base.safetensors has 6; leave it out",
                     MORE("--from", tiny.base, "--embed", "7"));
    train_run_expect(
        "other", 5,
        "has leaky-relu gates, and only sigmoid gates can be converted to other gates; keep them "
        "with --gate leaky-relu",
        MORE("--from", tiny.base, "--preset", "base"));
    train_run_expect(
        "other", 0, "",
        MORE("--from", tiny.base, "--preset", "base", "--gate", "leaky-relu", "--epochs", "1"));
}

// Nor do they change what comes out.
static void curves_that_are_damaged_or_gone_do_not_end_a_run(void **state)
{
    (void)state;
    vd_error err;
    char *out = support_join(tiny.directory, "curves"), *path, *kept;
    train_run_expect("straight", 0, "", MORE("--epochs", "2"));
    train_run_expect("curves", 0, "", MORE("--stop-after", "2"));
    assert_int_equal(vd_events_find(out, &path, &err), VD_OK);
    size_t size;
    char *bytes = support_read_file(path, &size);
    bytes[size - 5] ^= 1;
    support_write_file(path, bytes, size);
    train_run_expect("curves", 0, "curves continue after the last complete record",
                     MORE("--resume", "--stop-after", "3"));
    kept = train_run_scalars("curves"); // which fails where a record is damaged
    assert_non_null(strstr(kept, "train/loss"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    train_run_expect("curves", 0, "training continues without curves",
                     MORE("--resume", "--stop-after", "4"));
    train_run_expect("curves", 0, "training continues without curves", MORE("--resume"));
    train_run_same_file("straight", "curves", "model.safetensors");
    free(bytes);
    free(kept);
    vd_free(path);
    free(out);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *words;
    } wrong[] = {
        {"--epochs", "x", "--epochs: expected a whole number from 1 to 1000, found 'x'"},
        {"--margin", "5", "--margin: expected a whole number from 1 to 4, found '5'"},
        {"--gate", "tanh", "--gate: expected leaky-relu, sigmoid or elu, found 'tanh'"},
        {"--positions", "x", "--positions: expected none, sinusoidal"},
        {"--optimiser", "sgd", "--optimiser: expected adam, rmsprop, adamax or adamw, found 'sgd'"},
        {"--decoder", "x", "--decoder: expected discriminative, generative or both, found 'x'"},
        {"--micro-batch", "-1", "--micro-batch: expected a whole number from 0 to 1024"},
        {"--preset", "best", "--preset: expected base or improved, found 'best'"},
        {"--dropout", "1", "--dropout: expected a number from 0 to 0.99, found '1'"},
        {"--val", "v.json", "--val-features is missing"},
        {"--val-limit", "3", "--val-limit needs --val"},
        {"--checkpoint-every", "0", "--checkpoint-every: expected a number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        train_run_expect("never", 2, wrong[i].words, MORE(wrong[i].option, wrong[i].value));
    support_program run;
    support_program_run(&run, MORE("train", "--data", tiny.train), NULL);
    support_program_expect(&run, 2, "--features is missing", NULL);
    support_program_clear(&run);
    char *out = support_join(tiny.directory, "never");
    assert_false(support_exists(out));
    free(out);
}

static void a_directory_that_cannot_be_made_is_refused(void **state)
{
    (void)state;
    train_run_expect("deep/er", 3, "deep/er' cannot be made", MORE("--epochs", "1"));
}

static void without_a_terminal_there_is_nothing_to_watch(void **state)
{
    (void)state;
    char *out = support_join(tiny.directory, "unwatched");
    train_run_expect("unwatched", 8, "leave --watch out", MORE("--watch"));
    assert_false(support_exists(out));
    free(out);
}

// ---- memory -------------------------------------------------------------------------------------

// The command in this process, its words thrown away.
static int train_here(const char *directory)
{
    char words[][16] = {"train",   "--quiet", "--data",         "",  "--features",  "",
                        "--out",   "",        "--embed",        "6", "--hidden",    "4",
                        "--batch", "4",       "--epochs",       "1", "--min-count", "1",
                        "--val",   "",        "--val-features", ""};
    enum { COUNT = sizeof words / sizeof *words };
    char *argv[COUNT + 1] = {0};
    for (int i = 0; i < COUNT; i++)
        argv[i] = words[i];
    argv[3] = tiny.train;
    argv[5] = argv[21] = tiny.features;
    argv[7] = strdup(directory);
    argv[19] = tiny.val;
    fflush(NULL);
    int null = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    char *kept = argv[7];
    vd_error why = {0};
    int code = vd_status_exit_code(vd_cmd_train.run(COUNT, argv, &why));
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(null);
    close(out);
    close(err);
    free(kept);
    return code;
}

// Some of the many: from the first on, ever farther apart.
static void memory_that_is_out_ends_the_command_and_leaves_no_half_files(void **state)
{
    (void)state;
    char *directory = support_join(tiny.directory, "memory");
    int code = 7, failed = 0;
    for (size_t n = 1; code == 7; n += 1 + n / 40) {
        support_remove_tree(directory);
        vd_alloc_fail_at(n);
        code = train_here(directory);
        vd_alloc_fail_at(0);
        failed += code == 7;
        if (code == 7 && support_exists(directory))
            assert_true(support_count_entries(directory) <= 7);
    }
    assert_int_equal(code, 0);
    assert_true(failed > 60);
    assert_int_equal(support_count_entries(directory), 7);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_epoch_shows_every_dialog_once_in_its_own_order),
        cmocka_unit_test(presets_are_the_two_models_people_compare),
        cmocka_unit_test(a_run_leaves_model_checkpoint_pool_and_log),
        cmocka_unit_test(every_network_is_trained_as_mvan_is),
        cmocka_unit_test(the_best_epoch_is_kept),
        cmocka_unit_test(the_best_epoch_is_that_of_what_is_learned),
        cmocka_unit_test(coverage_is_of_the_last_epoch),
        cmocka_unit_test(coverage_is_of_the_epoch_after_the_patience),
        cmocka_unit_test(words_come_from_a_file_of_counts),
        cmocka_unit_test(a_vocabulary_without_words_is_refused),
        cmocka_unit_test(word_vectors_start_from_glove),
        cmocka_unit_test(another_seed_makes_another_model),
        cmocka_unit_test(settings_reach_the_model_file),
        cmocka_unit_test(signals_leave_a_checkpoint_that_goes_on),
        cmocka_unit_test(a_full_disk_leaves_what_was_saved_before),
        cmocka_unit_test(numbers_that_run_away_end_the_run_and_spare_the_checkpoint),
        cmocka_unit_test(work_that_is_there_is_not_written_over),
        cmocka_unit_test(two_do_not_train_in_one_directory),
        cmocka_unit_test(what_a_model_fixes_cannot_be_said_otherwise),
        cmocka_unit_test(curves_that_are_damaged_or_gone_do_not_end_a_run),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_directory_that_cannot_be_made_is_refused),
        cmocka_unit_test(without_a_terminal_there_is_nothing_to_watch),
        cmocka_unit_test(memory_that_is_out_ends_the_command_and_leaves_no_half_files),
    };
    return cmocka_run_group_tests(tests, train_run_world, train_run_end);
}
