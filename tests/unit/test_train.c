#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/alloc.h"
#include "engine/model.h"
#include "engine/rng.h"
#include "engine/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/command.h"
#include "tui/event_file.h"
#include "tui/run_settings.h"
#include "tui/training.h"

static tiny_world tiny;

static int make_tiny(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    tiny_world_remove(&tiny);
    return 0;
}

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
    vd_run_settings s = vd_run_settings_defaults();
    assert_int_equal(s.gate, VD_GATE_LEAKY_RELU);
    assert_int_equal(s.optimiser, VD_ADAM);
    assert_int_equal(s.positions, VD_POSITIONS_SINUSOIDAL);
    assert_int_equal(s.margin, 4);
    assert_int_equal(s.batch, 32);
    assert_true(vd_run_settings_preset(&s, "base"));
    assert_int_equal(s.gate, VD_GATE_SIGMOID);
    assert_int_equal(s.optimiser, VD_RMSPROP);
    assert_int_equal(s.positions, VD_POSITIONS_NONE);
    assert_int_equal(s.margin, 1);
    assert_false(vd_run_settings_preset(&s, "best"));
}

static void settings_become_the_trainers_options(void **state)
{
    (void)state;
    vd_run_settings s = vd_run_settings_defaults();
    vd_error err;
    static const char *const set[][2] = {{"optimiser", "rmsprop"},
                                         {"margin", "2"},
                                         {"lambda-start", "10"},
                                         {"lambda-decay", "0.5"},
                                         {"lambda-floor", "1"},
                                         {"dropout", "0.5"},
                                         {"lstm-dropout", "0.125"},
                                         {"rate", "0.25"},
                                         {"clip", "3"},
                                         {"seed", "42"},
                                         {"position-dropout", "0"}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_int_equal(vd_run_settings_set(&s, set[i][0], set[i][1], &err), VD_OK);
    vd_train_options options;
    vd_run_settings_options(&s, &options);
    assert_int_equal(options.optimiser, VD_RMSPROP);
    assert_int_equal(options.margin, 2);
    assert_true(options.lambda_start == 10 && options.lambda_decay == 0.5);
    assert_true(options.lambda_floor == 1 && options.dropout == 0.5f);
    assert_true(options.lstm_dropout == 0.125f && options.position_dropout == 0);
    assert_true(options.rate == 0.25 && options.clip == 3);
    assert_int_equal(options.seed, 42);
}

// ---- running ------------------------------------------------------------------------------------

enum { MOST = 40 };

// `visdial train` on the tiny world into tiny.directory/out, with more arguments.
static void start(support_program *run, const char *out, size_t most_bytes, const char *const *more)
{
    char *directory = support_join(tiny.directory, out);
    const char *arguments[MOST] = {
        "train",   "--quiet", "--data",   tiny.train, "--features",  tiny.features,
        "--out",   directory, "--embed",  "6",        "--hidden",    "4",
        "--batch", "3",       "--epochs", "2",        "--min-count", "1"};
    int count = 18;
    for (; *more && count < MOST - 1; more++)
        arguments[count++] = *more;
    arguments[count] = NULL;
    support_program_start(run, arguments, NULL, most_bytes);
    free(directory);
}

#define MORE(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__ __VA_OPT__(, ) NULL                                                            \
    }

static void expect(const char *out, int code, const char *words, const char *const *more)
{
    support_program run;
    start(&run, out, 0, more);
    support_program_wait(&run);
    support_program_expect(&run, code, words, NULL);
    support_program_clear(&run);
}

static char *file_of(const char *out, const char *name)
{
    char inner[100];
    snprintf(inner, sizeof inner, "%s/%s", out, name);
    return support_join(tiny.directory, inner);
}

static void expect_same_file(const char *a, const char *b, const char *name)
{
    char *path_a = file_of(a, name), *path_b = file_of(b, name);
    size_t size_a, size_b;
    char *bytes_a = support_read_file(path_a, &size_a),
         *bytes_b = support_read_file(path_b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, size_a);
    free(bytes_a);
    free(bytes_b);
    free(path_a);
    free(path_b);
}

static void a_run_leaves_model_checkpoint_pool_and_log(void **state)
{
    (void)state;
    support_program run;
    start(&run, "run", 0,
          MORE("--val", tiny.val, "--val-features", tiny.features, "--val-dense", tiny.dense));
    support_program_wait(&run);
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.err, ""); // --quiet
    assert_non_null(strstr(run.out, "epoch 1  step 3"));
    assert_non_null(strstr(run.out, "epoch 2  step 6"));
    assert_non_null(strstr(run.out, "correct@1"));
    support_program_clear(&run);

    char *log = file_of("run", "log.tsv"), *pool = file_of("run", "pool.txt");
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
    char *model = file_of("run", "model.safetensors");
    const char *const ask[] = {"ask", "--image", "1", "--model", model, "is it red", NULL};
    support_program_run(&run, ask, NULL); // the model is one to chat with
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    free(model);
    free(pool);
    free(log);
}

static void add_scalar(void *context, int64_t step, const char *tag, double value)
{
    fprintf(context, "%s %ld %a\n", tag, (long)step, value);
}

// All scalars of a run's event file as text, free().
static char *scalars_of(const char *out)
{
    char *run = support_join(tiny.directory, out), *path, *text = NULL;
    size_t size, offset = 0;
    vd_error err;
    FILE *memory = open_memstream(&text, &size);
    assert_int_equal(vd_events_find(run, &path, &err), VD_OK);
    assert_int_equal(vd_events_read(path, &offset, add_scalar, memory, &err), VD_OK);
    fclose(memory);
    vd_free(path);
    free(run);
    return text;
}

static void expect_same_run(const char *a, const char *b)
{
    static const char *const files[] = {"model.safetensors", "checkpoint.safetensors",
                                        "best.safetensors", "log.tsv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        expect_same_file(a, b, files[i]);
    char *x = scalars_of(a), *y = scalars_of(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void a_resumed_run_makes_the_same_model_bit_for_bit(void **state)
{
    (void)state;
    const char *const val[] = {"--val", tiny.val, "--val-features", tiny.features, NULL};
    expect("whole", 0, "", MORE(val[0], val[1], val[2], val[3]));
    // Stops in the middle of an epoch, at its end, and after the last step but before its measures.
    static const char *const stops[] = {"1", "3", "4", "5"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char out[16];
        snprintf(out, sizeof out, "parts%s", stops[i]);
        expect(out, 0, "--resume continues it",
               MORE(val[0], val[1], val[2], val[3], "--stop-after", stops[i]));
        expect(out, 0, "", MORE(val[0], val[1], val[2], val[3], "--resume"));
        expect_same_run("whole", out);
    }
}

// Killed again and again wherever it happens to be, and resumed each time.
static void a_run_that_is_killed_ends_as_if_it_was_not(void **state)
{
    (void)state;
    enum { KILLS = 12 };
    const char *arguments[] = {"--epochs",  "12",     "--checkpoint-steps", "2",
                               "--decoder", "both",   "--micro-batch",      "2",
                               "--val",     tiny.val, "--val-features",     tiny.features,
                               NULL,        NULL};
    const size_t last = sizeof arguments / sizeof *arguments - 2;
    vd_rng rng = vd_rng_seed((uint64_t)time(NULL), 9);
    char *checkpoint = file_of("killed", "checkpoint.safetensors");
    int kills = 0, code = -1;
    expect("alive", 0, "", arguments);
    while (code != 0) {
        support_program run;
        arguments[last] = support_exists(checkpoint) ? "--resume" : NULL;
        start(&run, "killed", 0, arguments);
        struct timespec pause = {.tv_nsec = 1000000 * (long)vd_rng_below(&rng, 60)};
        nanosleep(&pause, NULL);
        if (kills < KILLS)
            kill(run.pid, SIGKILL);
        support_program_wait(&run);
        if (run.code != 0 && run.code != 128 + SIGKILL)
            fail_msg("exit code %d: %s", run.code, run.err);
        kills += run.code == 128 + SIGKILL;
        code = run.code;
        support_program_clear(&run);
    }
    print_message("killed %d times\n", kills);
    expect_same_run("alive", "killed");
    free(checkpoint);
}

static void the_best_epoch_is_kept(void **state)
{
    (void)state;
    expect("best", 0, "",
           MORE("--val", tiny.val, "--val-features", tiny.features, "--epochs", "5", "--rate",
                "0.05"));
    char *path = file_of("best", "log.tsv"), *text = support_read_file(path, NULL);
    double best = 0;
    int at = 0, epoch;
    for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        double loss, r1, r5, r10, rank, mrr;
        assert_int_equal(sscanf(line + 1, "%d %*d %lf %lf %lf %lf %lf %lf", &epoch, &loss, &r1, &r5,
                                &r10, &rank, &mrr),
                         7);
        if (mrr > best + 1e-9)
            at = epoch;
        best = mrr > best ? mrr : best;
    }
    // Training as long as the best epoch says gives that model.
    char stop[16];
    snprintf(stop, sizeof stop, "%d", 3 * at);
    expect("until", 0, "",
           MORE("--val", tiny.val, "--val-features", tiny.features, "--epochs", "5", "--rate",
                "0.05", "--stop-after", stop));
    expect_same_file("best", "until", "best.safetensors");
    free(text);
    free(path);
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
    expect("counted", 0, "", MORE("--vocab", counts, rare, "2", "--epochs", "1"));
    expect("counted_packed", 0, "", MORE("--data", packed, rare, "2", "--epochs", "1"));
    static const char *const from[] = {"counted", "counted_packed"};
    static const char *const order[] = {"zebra", "red", "cube", "is"};
    for (int i = 0; i < 2; i++) {
        char *path = file_of(from[i], "model.safetensors");
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
    expect("words_and_model", 2, "--vocab and --from",
           MORE("--vocab", counts, "--from", tiny.base));
    const char *const last[] = {"--stop-after", "1", rare, "2", "--vocab", counts, NULL};
    expect("stopped", 0, "", last);
    expect("stopped", 0, "", MORE("--vocab", counts, rare, "2", "--resume", "--stop-after", "2"));
    support_write_text(counts, "{\"cube\": 3, \"zebra\": 9}");
    expect("stopped", 5, "--vocab", MORE("--vocab", counts, rare, "2", "--resume"));
    free(packed);
    free(counts);
}

static void word_vectors_start_from_glove(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "glove.txt");
    support_write_text(path, "unk 0.5 0.5\nred 1 2\nyes 3 4\n");
    expect("glove", 2, "--glove and --from", MORE("--glove", path, "--from", tiny.base));
    expect("glove", 5, "--embed is 6, but", MORE("--glove", path));
    expect("glove", 0, "", MORE("--embed", "2", "--glove", path, "--rate", "1e-9"));
    char *file = file_of("glove", "model.safetensors");
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
    expect("seed1", 0, "", MORE("--seed", "1"));
    expect("seed2", 0, "", MORE("--seed", "2"));
    char *a = file_of("seed1", "model.safetensors"), *b = file_of("seed2", "model.safetensors");
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
    expect("base", 0, "", MORE("--preset", "base", "--half", "--gate", "elu", "--epochs", "1"));
    char *path = file_of("base", "model.safetensors");
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
    char *model = file_of(out, "model.safetensors");
    start(&run, out, 0, MORE("--epochs", "1000"));
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
    start(&run, out, 0, MORE("--epochs", "1000", "--resume", "--stop-after", next));
    support_program_wait(&run);
    support_program_expect(&run, 0, reached, NULL);
    support_program_clear(&run);
    free(model);
}

static void c_c_and_sigterm_leave_a_checkpoint_that_goes_on(void **state)
{
    (void)state;
    interrupt_in_the_middle(SIGINT, "sigint");
    interrupt_in_the_middle(SIGTERM, "sigterm");
}

static void a_full_disk_leaves_what_was_saved_before(void **state)
{
    (void)state;
    expect("full", 0, "", MORE("--stop-after", "2"));
    char *path = file_of("full", "checkpoint.safetensors");
    char *directory = support_join(tiny.directory, "full");
    size_t size, after, entries = support_count_entries(directory);
    char *before = support_read_file(path, &size);
    support_program run;
    start(&run, "full", size / 8, MORE("--resume", "--checkpoint-steps", "1"));
    support_program_wait(&run);
    support_program_expect(&run, 6, "model.safetensors", "the checkpoint before this one", NULL);
    support_program_clear(&run);
    char *now = support_read_file(path, &after);
    assert_int_equal(after, size);
    assert_memory_equal(before, now, size);
    assert_int_equal(support_count_entries(directory), entries); // no half files
    free(now);
    free(before);
    expect("full", 0, "", MORE("--resume")); // with room again it goes on
    free(directory);
    free(path);
}

static void numbers_that_run_away_end_the_run_and_spare_the_checkpoint(void **state)
{
    (void)state;
    expect("wild", 0, "", MORE("--stop-after", "1"));
    char *path = file_of("wild", "checkpoint.safetensors"), *before, *after;
    size_t size, again;
    before = support_read_file(path, &size);
    static const unsigned char nan[4] = {0, 0, 0xc0, 0x7f};
    memcpy(before + size - sizeof nan, nan, sizeof nan); // the optimiser's last number
    support_write_file(path, before, size);
    // Step 2 makes a weight of it, step 3 a loss.
    support_program run;
    start(&run, "wild", 0, MORE("--resume"));
    support_program_wait(&run);
    support_program_expect(&run, 4, "training went wrong at step 3",
                           "try a lower --rate, or --clip",
                           "wild/checkpoint.safetensors is as it was before", NULL);
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
    expect("kept", 0, "", MORE("--epochs", "1"));
    expect("kept", 2, "is there already", MORE("--epochs", "1"));
}

static void resuming_with_other_settings_or_data_is_refused(void **state)
{
    (void)state;
    expect("fixed", 3, "--resume: there is no", MORE("--resume"));
    expect("fixed", 0, "", MORE("--stop-after", "1"));
    expect("fixed", 5, "--rate: the checkpoint was begun with 0.001, found 0.5",
           MORE("--resume", "--rate", "0.5"));
    expect("fixed", 5, "--gate: the checkpoint was begun with leaky-relu, found sigmoid",
           MORE("--resume", "--preset", "base"));
    expect("fixed", 5, "other dialogs", MORE("--resume", "--data", tiny.val));
    char *wide = support_join(tiny.directory, "wide.safetensors");
    tiny_world_features(wide, TINY_REGION_SIZE + 1);
    expect("fixed", 5, "expects regions of 5 numbers", MORE("--resume", "--features", wide));
    expect("fixed", 5, "both must come from one extractor",
           MORE("--resume", "--val", tiny.val, "--val-features", wide));
    free(wide);
    expect("fixed", 0, "", MORE("--resume"));
}

static void a_damaged_checkpoint_is_refused(void **state)
{
    (void)state;
    expect("hurt", 0, "", MORE("--stop-after", "1"));
    char *path = file_of("hurt", "checkpoint.safetensors");
    size_t size;
    char *bytes = support_read_file(path, &size);
    for (size_t length = 0; length < size; length += size / 5 + 1) {
        support_write_file(path, bytes, length);
        expect("hurt", 4, "checkpoint.safetensors", MORE("--resume"));
    }
    support_write_file(path, bytes, size);
    expect("hurt", 0, "", MORE("--resume"));
    free(bytes);
    free(path);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *words;
    } wrong[] = {
        {"--epochs", "x", "--epochs: expected a whole number from 1 to 1000, found 'x'"},
        {"--margin", "5", "--margin: expected a whole number from 1 to 4, found '5'"},
        {"--gate", "tanh", "--gate: expected sigmoid, leaky-relu or elu, found 'tanh'"},
        {"--positions", "x", "--positions: expected none, sinusoidal"},
        {"--optimiser", "sgd", "--optimiser: expected adam or rmsprop, found 'sgd'"},
        {"--decoder", "x", "--decoder: expected discriminative, generative or both, found 'x'"},
        {"--micro-batch", "-1", "--micro-batch: expected a whole number from 0 to 1024"},
        {"--preset", "best", "--preset: expected base or improved, found 'best'"},
        {"--dropout", "1", "--dropout: expected a number from 0 to 0.95, found '1'"},
        {"--val", "v.json", "--val-features is missing"},
        {"--val-limit", "3", "--val-limit needs --val"},
        {"--checkpoint-every", "0", "--checkpoint-every: expected a number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect("never", 2, wrong[i].words, MORE(wrong[i].option, wrong[i].value));
    support_program run;
    support_program_run(&run, MORE("train", "--data", tiny.train), NULL);
    support_program_expect(&run, 2, "--features is missing", NULL);
    support_program_clear(&run);
    char *out = support_join(tiny.directory, "never");
    assert_false(support_exists(out));
    free(out);
}

static void pictures_without_features_are_refused_before_anything_is_done(void **state)
{
    (void)state;
    char *data = support_join(tiny.directory, "dialogs.json");
    expect("bare", 3, "99", MORE("--data", data));
    expect("deep/er", 3, "--out", MORE("--epochs", "1"));
    free(data);
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
    int code = vd_cmd_train(COUNT, argv);
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
            assert_true(support_count_entries(directory) <= 6);
    }
    assert_int_equal(code, 0);
    assert_true(failed > 60);
    assert_int_equal(support_count_entries(directory), 6);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_epoch_shows_every_dialog_once_in_its_own_order),
        cmocka_unit_test(presets_are_the_two_models_people_compare),
        cmocka_unit_test(settings_become_the_trainers_options),
        cmocka_unit_test(a_run_leaves_model_checkpoint_pool_and_log),
        cmocka_unit_test(a_resumed_run_makes_the_same_model_bit_for_bit),
        cmocka_unit_test(a_run_that_is_killed_ends_as_if_it_was_not),
        cmocka_unit_test(the_best_epoch_is_kept),
        cmocka_unit_test(words_come_from_a_file_of_counts),
        cmocka_unit_test(word_vectors_start_from_glove),
        cmocka_unit_test(another_seed_makes_another_model),
        cmocka_unit_test(settings_reach_the_model_file),
        cmocka_unit_test(c_c_and_sigterm_leave_a_checkpoint_that_goes_on),
        cmocka_unit_test(a_full_disk_leaves_what_was_saved_before),
        cmocka_unit_test(numbers_that_run_away_end_the_run_and_spare_the_checkpoint),
        cmocka_unit_test(work_that_is_there_is_not_written_over),
        cmocka_unit_test(resuming_with_other_settings_or_data_is_refused),
        cmocka_unit_test(a_damaged_checkpoint_is_refused),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(pictures_without_features_are_refused_before_anything_is_done),
        cmocka_unit_test(memory_that_is_out_ends_the_command_and_leaves_no_half_files),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}
