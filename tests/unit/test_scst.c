// Self-critical training: draws of several pictures at once are those of each alone and follow the
// network's distribution; the gradient does not depend on how a step is cut; a run goes on exactly
// where it stopped, and its reward rises.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/model/captioner_private.h"
#include "engine/networks/positions.h"
#include "tests/support/caption_cases.h"
#include "tests/support/must.h"
#include "tests/support/step.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"

// ---- draws --------------------------------------------------------------------------------------

enum { MOST = 8000, SIZE = 6, K = 8 };

typedef struct world {
    vd_layout layout;
    vd_real block[MOST], sinusoid[VD_MAX_HISTORY * SIZE];
    vd_parameters w;
    vd_arena arena;
    vd_caption_pass pass;
} world;

static void see(world *w, const caption_case *which, const vd_batch *batch)
{
    vd_rng rng = vd_rng_seed(3, 4);
    vd_error err;
    vd_caption_layout(&which->config, &w->layout);
    assert_true(w->layout.elements <= MOST);
    for (size_t i = 0; i < w->layout.elements; i++)
        w->block[i] = (vd_real)(0.4 * vd_rng_normal(&rng));
    vd_words_sinusoid(w->sinusoid, VD_MAX_HISTORY, SIZE);
    w->w = (vd_parameters){&w->layout, (unsigned char *)w->block, VD_REAL_TYPE, NULL, false};
    vd_arena_reset(&w->arena);
    w->pass = (vd_caption_pass){.tape = {.be = vd_backend_cpu(), .arena = &w->arena, .w = &w->w},
                                .config = &which->config,
                                .sinusoid = w->sinusoid};
    must(vd_caption_encode(&w->pass, batch, &err), &err);
}

static void draw(world *w, uint64_t seed, const uint64_t *stream, vd_generated_caption *out,
                 int *count)
{
    vd_error err;
    const vd_generation how = {.beam = K,
                               .longest = VD_MAX_CAPTION,
                               .temperature = 1,
                               .seed = seed,
                               .drawn = true,
                               .anything = true};
    must(vd_caption_generate(&w->pass, NULL, &how, stream, out, K, count, &err), &err);
}

// Of every captioner; the second picture alone says what it says beside the first.
static void pictures_are_drawn_for_on_their_own(void **state)
{
    static const uint64_t stream[2] = {5, 9};
    static world w;
    (void)state;
    for (int i = 0; i < CAPTION_CASES; i++) {
        vd_generated_caption both[2 * K], one[K];
        int count[2];
        vd_batch batch = caption_batch(), second = batch;
        see(&w, &caption_cases[i], &batch);
        draw(&w, 1, stream, both, count);
        assert_true(count[0] == K && count[1] == K);
        second.dialogs = 1;
        second.image += CAPTION_P * CAPTION_D;
        see(&w, &caption_cases[i], &second);
        draw(&w, 1, stream + 1, one, count);
        for (int k = 0; k < K; k++) {
            assert_int_equal(one[k].length, both[K + k].length);
            assert_int_equal(one[k].ended, both[K + k].ended);
            assert_memory_equal(one[k].word, both[K + k].word,
                                (size_t)one[k].length * sizeof *one[k].word);
            assert_true(fabs(one[k].log_probability - both[K + k].log_probability) < 1e-4);
        }
    }
    vd_arena_free(&w.arena);
}

// First words of many draws, </S>, <PAD> and their like among them.
static void draws_follow_the_network(void **state)
{
    enum { MANY = 300 };
    static world w;
    double found[CAPTION_V] = {0};
    float log[2 * CAPTION_V];
    static const uint64_t stream[2] = {5, 9};
    static const int32_t start[2] = {VD_START, VD_START};
    static const int picture[2] = {0, 1};
    const vd_caption_next next = {2, start, NULL, picture};
    vd_batch batch = caption_batch();
    vd_caption_words words;
    vd_error err;
    (void)state;
    for (uint64_t seed = 0; seed < MANY; seed++) {
        vd_generated_caption said[2 * K];
        int count[2];
        see(&w, &caption_cases[CAPTION_COMPLETE], &batch);
        draw(&w, seed, stream, said, count);
        for (int k = K; k < 2 * K; k++)
            found[said[k].length ? said[k].word[0] : VD_END]++;
    }
    see(&w, &caption_cases[CAPTION_COMPLETE], &batch);
    must(vd_caption_words_step(&w.arena, &w.pass.words, &next, &words, &err), &err);
    must(vd_caption_read(&w.pass, &words, &err), &err);
    must(vd_caption_logs(&w.pass, log, &err), &err);
    for (int i = 0; i < CAPTION_V; i++) {
        double p = exp((double)log[CAPTION_V + i]), n = MANY * K;
        assert_true(fabs(found[i] / n - p) < 4 * sqrt(p * (1 - p) / n) + 1e-9);
    }
    vd_arena_free(&w.arena);
}

// ---- a step -------------------------------------------------------------------------------------

static double worth(const void *context, size_t item, const int32_t *id, int count)
{
    double sum = (double)item;
    (void)context;
    for (int t = 0; t < count; t++)
        sum += (7 * id[t] + 3 * t) % 11;
    return sum;
}

static double always_one(const void *context, size_t item, const int32_t *id, int count)
{
    (void)context, (void)item, (void)id;
    return count >= 0;
}

// By the first word, or all alike.
static int form_of_word(const void *context, const int32_t *id, int count)
{
    (void)context;
    return count && id[0] != VD_END ? id[0] % 3 : -1;
}

static int form_of_none(const void *context, const int32_t *id, int count)
{
    (void)context, (void)id;
    return count ? 0 : -1;
}

static vd_train_options draws(void)
{
    vd_train_options options = vd_train_defaults();
    options.scst = VD_SCST_CIDER_D;
    options.sample = VD_SAMPLE_DRAW;
    options.dropout = 0;
    options.seed = 7;
    return options;
}

typedef struct step_result {
    double loss, norm, rewarded;
} step_result;

// A step over two pictures, cut into so many micro-batches.
static step_result take_step(const vd_train_options *options, const vd_rewards *rewards,
                             size_t parts)
{
    static const char *const words[] = {"a", "b", "c", "d", "e", "f", "g"};
    static const size_t item[2] = {4, 2};
    const vd_config config = vd_config_of_captioner(&caption_cases[CAPTION_TRANSFORMER].config);
    vd_batch batch[2] = {caption_batch(), caption_batch()};
    vd_totals of = vd_captions_totals(batch[0].captions);
    vd_trainer *trainer;
    vd_vocab *vocab;
    vd_error err;
    step_result r;
    batch[0].item = item;
    if (parts == 2) { // without the data's captions
        batch[1].item = item + 1;
        batch[1].image += CAPTION_P * CAPTION_D;
        batch[0].dialogs = batch[1].dialogs = 1;
        batch[0].captions = batch[1].captions = NULL;
    }
    of.questions = options->scst == VD_SCST_NONE ? of.questions : 2;
    must(vd_vocab_from_words(words, 7, &vocab, &err), &err);
    must(vd_trainer_new(&config, vocab, options, &trainer, &err), &err);
    vd_trainer_reward(trainer, rewards);
    must(step_gradient(trainer, batch, parts, of, &r.loss, &err), &err);
    must(vd_trainer_update(trainer, 1, &r.loss, &r.norm, &err), &err);
    r.rewarded = vd_trainer_rewarded(trainer);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    return r;
}

static void a_step_may_be_cut(void **state)
{
    static const vd_rewards rewards = {.of = worth};
    vd_train_options options = draws();
    (void)state;
    step_result whole = take_step(&options, &rewards, 1), cut = take_step(&options, &rewards, 2);
    assert_true(whole.norm > 0);
    assert_true(fabs(whole.norm - cut.norm) < 1e-5 * whole.norm);
    assert_true(whole.rewarded > 3 && fabs(whole.rewarded - cut.rewarded) < 1e-9);
}

// Where all captions are worth the same only the data's captions teach.
static void the_cross_entropy_may_be_mixed_in(void **state)
{
    static const vd_rewards one = {.of = always_one}, many = {.of = worth};
    vd_train_options options = draws(), plain = options;
    (void)state;
    plain.scst = VD_SCST_NONE;
    step_result none = take_step(&options, &one, 1), ce = take_step(&plain, NULL, 1);
    assert_true(none.norm == 0 && none.rewarded == 1);
    options.ce_weight = 1;
    step_result mixed = take_step(&options, &one, 1);
    assert_true(fabs(mixed.norm - ce.norm) < 1e-5 * ce.norm);
    assert_true(fabs(mixed.loss - ce.loss) < 1e-5);
    options.reward_most = 1e-3; // all are worth more
    mixed = take_step(&options, &many, 1);
    assert_true(fabs(mixed.norm - ce.norm) < 1e-5 * ce.norm && mixed.rewarded > 3);
}

// What few captions are like counts for more; where all have one form it changes nothing.
static void forms_that_are_rare_count_for_more(void **state)
{
    static const vd_rewards none = {.of = always_one, .form = form_of_none},
                            first = {.of = always_one, .form = form_of_word};
    vd_train_options options = draws();
    (void)state;
    assert_true(take_step(&options, &first, 1).norm == 0);
    options.variety = 1;
    step_result once = take_step(&options, &first, 1);
    assert_true(take_step(&options, &none, 1).norm == 0);
    assert_true(once.norm > 0 && once.rewarded == 1);
    // Rare forms are improbable: with more for them the loss, -(worth - mean) log p, is positive.
    assert_true(once.loss > 0);
    options.variety = 2;
    assert_true(fabs(take_step(&options, &first, 1).norm - 2 * once.norm) < 1e-5 * once.norm);
}

static void without_rewards_nothing_is_learned(void **state)
{
    static const char *const words[] = {"a", "b", "c", "d", "e", "f", "g"};
    const vd_config config = vd_config_of_captioner(&caption_cases[CAPTION_TRANSFORMER].config);
    const vd_train_options options = draws();
    const vd_batch batch = caption_batch();
    vd_trainer *trainer;
    vd_vocab *vocab;
    vd_error err;
    double loss;
    (void)state;
    must(vd_vocab_from_words(words, 7, &vocab, &err), &err);
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    support_refused(
        step_gradient(trainer, &batch, 1, (vd_totals){.questions = 2, .words = 9}, &loss, &err),
        VD_USAGE, &err, "needs rewards", NULL);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
}

// ---- runs ---------------------------------------------------------------------------------------

static char *captions, *model; // dialogs whose captions are Blocks', a captioner that read them

// "a red cube and a blue ball" -> "a red cube among some other things"
static void write_captions(void)
{
    char *text = support_read_file(tiny.train, NULL), *at;
    captions = support_join(tiny.directory, "blocks.json");
    while ((at = strstr(text, " and a "))) {
        char *end = strchr(at, '"');
        memmove(at + 24, end, strlen(end) + 1); // into room that support_read_file leaves
        memcpy(at, " among some other things", 24);
    }
    support_write_text(captions, text);
    free(text);
}

static void write_scenes(const char *name)
{
    char *path = support_join(tiny.directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (int i = 1; i <= TINY_PICTURES; i++)
        fprintf(out,
                "%s{\"image_id\": %d, \"objects\": [{\"color\": \"%s\", \"shape\": \"cube\", "
                "\"material\": \"metal\", \"size\": \"large\", \"position\": [0, 1], \"radius\": "
                "0.5}]}",
                i > 1 ? "," : "[", i, i % 2 ? "red" : "blue");
    fprintf(out, "]");
    fclose(out);
    free(path);
}

static int make_runs(void **state)
{
    train_run_world(state);
    write_captions();
    write_scenes("blocks_scenes.json");
    train_run_expect("ce", 0, "",
                     MORE("--task", "caption", "--heads", "2", "--layers", "1", "--inner", "8",
                          "--data", captions, "--rate", "0.03", "--dropout", "0", "--epochs",
                          "40"));
    model = train_run_file("ce", "model.safetensors");
    return 0;
}

static int remove_runs(void **state)
{
    free(captions);
    free(model);
    return train_run_end(state);
}

#define SCST                                                                                       \
    "--task", "caption", "--data", captions, "--val", captions, "--val-features", tiny.features,   \
        "--from", model, "--scst"

static void a_resumed_run_is_the_same(void **state)
{
    (void)state;
    static const char *const ways[][6] = {
        {"bits", "draw", "others"}, {"cider-d", "beam", "mean"}, {"cider-d", "draw", "greedy"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char whole[16], parts[16];
        snprintf(whole, sizeof whole, "whole%zu", i);
        snprintf(parts, sizeof parts, "parts%zu", i);
        train_run_expect(whole, 0, "",
                         MORE(SCST, ways[i][0], "--sample", ways[i][1], "--baseline", ways[i][2],
                              "--rate", "0.01"));
        train_run_expect(parts, 0, "--resume continues it",
                         MORE(SCST, ways[i][0], "--sample", ways[i][1], "--baseline", ways[i][2],
                              "--rate", "0.01", "--stop-after", "4"));
        train_run_expect(parts, 0, "", MORE("--data", captions, "--resume"));
        train_run_same(whole, parts);
    }
}

// Means over epochs FROM to TO of a run's log: of the rewards of drawn captions, of those of --val.
static void mean_rewards(const char *log, int from, int to, double *drawn, double *val)
{
    *drawn = *val = 0;
    for (int epoch = from; epoch <= to; epoch++) {
        char line[16];
        double row[2];
        snprintf(line, sizeof line, "\n%d\t", epoch);
        const char *at = strstr(log, line);
        assert_non_null(at);
        assert_int_equal(sscanf(at, "%*d %*d %*f %lf %*f %*f %lf", &row[0], &row[1]), 2);
        *drawn += row[0] / (to - from + 1);
        *val += row[1] / (to - from + 1);
    }
}

// The rewards of drawn captions rise by a tenth; those of greedy ones (of two pictures) keep four
// fifths. Which captions a single epoch draws depends on how the processor rounds: ten decide.
static void the_reward_rises(void **state)
{
    (void)state;
    static const char *const ways[] = {"bits", "cider-d"};
    for (size_t i = 0; i < 2; i++) {
        double first[2], last[2];
        train_run_expect(
            ways[i], 0, "",
            MORE(SCST, ways[i], "--sample", "draw", "--rate", "0.01", "--epochs", "30"));
        char *path = train_run_file(ways[i], "log.tsv"), *log = support_read_file(path, NULL);
        assert_non_null(
            strstr(log, "loss\treward\tcross-entropy\tperplexity\tval-reward\tcider-d\t"));
        mean_rewards(log, 1, 10, &first[0], &first[1]);
        mean_rewards(log, 21, 30, &last[0], &last[1]);
        assert_true(last[0] > 1.1 * first[0]);
        assert_true(first[1] > 0.1 && last[1] > 0.8 * first[1]);
        free(log);
        free(path);
    }
}

// The third epoch says no better captions than the first two.
static void a_run_ends_when_it_gets_no_better(void **state)
{
    static const char *const more[] = {"--epochs", "20", "--rate", "1e-9", "--patience", "2"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const out[] = {"patient", "resumed"};
        if (i == 1)
            train_run_expect(out[i], 0, "--resume continues it",
                             MORE(SCST, "bits", "--best-by", "faithful", more[0], more[1], more[2],
                                  more[3], more[4], more[5], "--stop-after", "7"));
        train_run_expect(out[i], 0, "",
                         i == 0 ? MORE(SCST, "bits", "--best-by", "faithful", more[0], more[1],
                                       more[2], more[3], more[4], more[5])
                                : MORE("--data", captions, "--epochs", "20", "--resume"));
        char *path = train_run_file(out[i], "log.tsv"), *log = support_read_file(path, NULL);
        assert_non_null(strstr(log, "\n3\t9\t"));
        assert_null(strstr(log, "\n4\t"));
        assert_non_null(strstr(log, "\tfaithful\ttrue-bits\tchair-i\tbleu-1\t"));
        free(log);
        free(path);
    }
    train_run_same("patient", "resumed");
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    train_run_expect("none", 2, "--scst starts from a captioner",
                     MORE("--task", "caption", "--scst", "bits"));
    train_run_expect("none", 2, "--scst needs --task caption", MORE("--scst", "bits"));
    train_run_expect("none", 2, "--baseline needs --scst",
                     MORE("--task", "caption", "--baseline", "mean"));
    train_run_expect("none", 2, "--best-by reward needs --scst",
                     MORE("--task", "caption", "--val", captions, "--val-features", tiny.features,
                          "--best-by", "reward"));
    static const char *const of_scenes[] = {"faithful", "bits"};
    for (size_t i = 0; i < 2; i++) // before anything is learned
        train_run_expect("blind", 2, "needs the scenes of --val; name them with --val-scenes",
                         MORE("--task", "caption", "--heads", "2", "--val", tiny.val,
                              "--val-features", tiny.features, "--best-by", of_scenes[i]));
    train_run_expect("none", 2, "--scenes needs --scst bits",
                     MORE(SCST, "cider-d", "--scenes", "x"));
    train_run_expect("none", 2, "--eos needs --scst cider-d", MORE(SCST, "bits", "--eos", "out"));
    train_run_expect("none", 2, "--dropout is not used by --scst",
                     MORE(SCST, "bits", "--dropout", "0.1"));
    train_run_expect("none", 3, "train_scenes.json", MORE(SCST, "bits", "--data", tiny.train));
    char *few = support_join(tiny.directory, "few.json");
    support_write_text(few, "[{\"image_id\": 2, \"objects\": [{\"color\": \"red\", \"shape\": "
                            "\"cube\", \"material\": \"metal\", \"size\": \"large\", "
                            "\"position\": [0, 1], \"radius\": 0.5}]}]");
    train_run_expect("none2", 5, "no scenes of 7 of the training pictures, the first is 1",
                     MORE(SCST, "bits", "--scenes", few));
    free(few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_drawn_for_on_their_own),
        cmocka_unit_test(draws_follow_the_network),
        cmocka_unit_test(a_step_may_be_cut),
        cmocka_unit_test(the_cross_entropy_may_be_mixed_in),
        cmocka_unit_test(forms_that_are_rare_count_for_more),
        cmocka_unit_test(without_rewards_nothing_is_learned),
        cmocka_unit_test(a_resumed_run_is_the_same),
        cmocka_unit_test(the_reward_rises),
        cmocka_unit_test(a_run_ends_when_it_gets_no_better),
        cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
