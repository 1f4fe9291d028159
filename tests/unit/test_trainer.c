// The promises of engine/train/trainer.h and engine/model/model.h: a seed reproduces a run bit for
// bit, a resumed run is the run, learning learns, files that do not fit are refused by tensor and
// number.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/model/file.h"
#include "engine/base/safetensors.h"
#include "engine/model/pool.h"
#include "engine/train/trainer_private.h"
#include "tests/support/must.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"
#include "tests/support/one_directory.h"
#include "tests/support/step.h"

static char *saved(const vd_trainer *trainer, const char *name, size_t *size)
{
    vd_error err;
    char *path = support_join(directory, name);
    must(vd_trainer_checkpoint(trainer, path, &err), &err);
    char *bytes = support_read_file(path, size);
    free(path);
    return bytes;
}

static void assert_same_state(const vd_trainer *a, const vd_trainer *b)
{
    size_t first, second;
    char *x = saved(a, "x", &first), *y = saved(b, "y", &second);
    assert_int_equal(first, second);
    assert_memory_equal(x, y, first);
    free(x);
    free(y);
}

static void a_seed_reproduces_a_run_bit_for_bit(void **state)
{
    (void)state;
    vd_train_options one = small_options(7), two = small_options(8);
    vd_trainer *a = small_trainer(&one), *b = small_trainer(&one), *c = small_trainer(&two);
    double x = small_steps(a, 5), y = small_steps(b, 5), z = small_steps(c, 5);
    assert_true(x == y);
    assert_true(x != z);
    assert_same_state(a, b);
    vd_trainer_free(a);
    vd_trainer_free(b);
    vd_trainer_free(c);
}

static void a_resumed_run_is_the_run(void **state)
{
    (void)state;
    for (int optimiser = VD_ADAM; optimiser < VD_OPTIMISERS; optimiser++) {
        vd_train_options options = small_options(7);
        options.optimiser = (vd_optimiser)optimiser;
        vd_trainer *whole = small_trainer(&options), *half = small_trainer(&options), *rest;
        char *path = support_join(directory, "half");
        vd_error err;
        small_steps(whole, 6);
        small_steps(half, 3);
        must(vd_trainer_set_metadata(half, "pool", "pool.txt", &err), &err);
        must(vd_trainer_set_metadata(whole, "pool", "pool.txt", &err), &err);
        must(vd_trainer_checkpoint(half, path, &err), &err);
        must(vd_trainer_resume(path, &rest, &err), &err);
        assert_int_equal(vd_trainer_steps(rest), 3);
        assert_string_equal(vd_trainer_metadata(rest, "pool"), "pool.txt");
        small_steps(rest, 3);
        assert_same_state(whole, rest);
        vd_trainer_free(whole);
        vd_trainer_free(half);
        vd_trainer_free(rest);
        free(path);
    }
}

// The largest difference of two trainers' scores, and the largest score.
static float score_difference(vd_trainer *a, vd_trainer *b, float *largest)
{
    const vd_batch *batch = small_batch();
    size_t n = (size_t)(batch->dialogs * batch->rounds * batch->candidates);
    float *x = vd_alloc(n, sizeof *x), *y = vd_alloc(n, sizeof *y), most = 0;
    vd_error err;
    must(vd_trainer_scores(a, batch, x, &err), &err);
    must(vd_trainer_scores(b, batch, y, &err), &err);
    *largest = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmaxf(most, fabsf(x[i] - y[i]));
        *largest = fmaxf(*largest, fabsf(x[i]));
    }
    vd_free(x);
    vd_free(y);
    return most;
}

// Dialogs first to last of the small batch.
static vd_batch part_of(int first, int last)
{
    vd_batch b = *small_batch();
    size_t questions = (size_t)first * (size_t)b.rounds;
    b.dialogs = last - first + 1;
    b.image += (size_t)first * (size_t)b.regions * SMALL_REGION;
    b.question += questions * (size_t)b.question_width;
    b.question_length += questions;
    b.history += questions * (size_t)b.history_width;
    b.history_length += questions;
    b.option += questions * (size_t)b.candidates;
    b.truth += questions;
    return b;
}

// Takes a step of `whole` at once, of `parts` in two; both are freed.
static void compare_steps(vd_trainer *whole, vd_trainer *parts)
{
    vd_batch part[] = {part_of(0, 0), part_of(1, 2)};
    vd_totals of = vd_batch_totals(small_batch()), sum = {0};
    double loss, norm, found = 0, found_norm;
    vd_error err;
    float largest;
    must(step_take(whole, small_batch(), 1, &loss, &norm, &err), &err);
    for (int i = 0; i < 2; i++) {
        vd_totals share = vd_batch_totals(&part[i]);
        sum.questions += share.questions;
        sum.words += share.words;
        sum.text += share.text;
    }
    must(step_gradient(parts, part, 2, of, &found, &err), &err);
    must(vd_trainer_update(parts, 1, &found, &found_norm, &err), &err);
    assert_int_equal(sum.questions, of.questions);
    assert_int_equal(sum.words, of.words);
    assert_int_equal(sum.text, of.text);
    assert_true(fabs(loss - found) <= 1e-6 * loss);
    assert_true(fabs(norm - found_norm) <= 1e-5 * norm);
    assert_true(score_difference(whole, parts, &largest) <= 1e-4f * largest);
    vd_trainer_free(whole);
    vd_trainer_free(parts);
}

static vd_train_options without_dropout(void)
{
    vd_train_options options = small_options(7);
    options.dropout = options.lstm_dropout = options.position_dropout = 0;
    options.optimiser = VD_RMSPROP; // its first step is the sign of the gradient, nearly
    return options;
}

static void micro_batches_of_a_step_are_the_step(void **state)
{
    vd_train_options options = without_dropout();
    (void)state;
    for (int decoders = VD_DISCRIMINATIVE; decoders <= VD_BOTH; decoders++)
        compare_steps(small_trainer_of((vd_decoders)decoders, &options),
                      small_trainer_of((vd_decoders)decoders, &options));
}

static vd_trainer *next_word_trainer(vd_network_kind network, double next_word)
{
    vd_config config = small_config();
    vd_train_options options = without_dropout();
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    config.network = network;
    config.positions = VD_POSITIONS_NONE;
    options.next_word = next_word;
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    vd_vocab_free(vocab);
    return trainer;
}

// The loss of the next word is its weight times a mean over the words of the step, and of the
// network that reads dialogs as one text.
static void the_next_word_counts_by_its_weight(void **state)
{
    enum { WEIGHTS = 3 };
    const vd_network_kind network = VD_NETWORK_DIALOG_TRANSFORMER;
    double loss[WEIGHTS], other[WEIGHTS], norm;
    (void)state;
    for (int i = 0; i < WEIGHTS; i++) {
        vd_trainer *one = next_word_trainer(network, 0.1 * i),
                   *lf = next_word_trainer(VD_NETWORK_LF, 0.1 * i);
        vd_error err;
        must(step_take(one, small_batch(), 1, &loss[i], &norm, &err), &err);
        must(step_take(lf, small_batch(), 1, &other[i], &norm, &err), &err);
        vd_trainer_free(one);
        vd_trainer_free(lf);
    }
    double mean = (loss[1] - loss[0]) / 0.1;
    assert_true(mean > 0.5 * log(SMALL_VOCAB) && mean < 4 * log(SMALL_VOCAB));
    assert_true(fabs(loss[2] - loss[0] - 0.2 * mean) <= 1e-6 * loss[2]);
    assert_true(other[1] == other[0] && other[2] == other[0]);
    compare_steps(next_word_trainer(network, 0.1), next_word_trainer(network, 0.1));
}

static void a_failed_micro_batch_changes_no_weight(void **state)
{
    (void)state;
    vd_train_options options = small_options(7);
    vd_trainer *a = small_trainer_of(VD_BOTH, &options), *b = small_trainer_of(VD_BOTH, &options);
    vd_batch bad[] = {*small_batch(), *small_batch()};
    double loss;
    vd_error err;
    bad[1].candidate_in = NULL;
    support_refused(step_gradient(a, bad, 2, vd_batch_totals(small_batch()), &loss, &err), VD_USAGE,
                    &err, "generative", NULL);
    small_steps(a, 2);
    small_steps(b, 2);
    assert_same_state(a, b);
    vd_trainer_free(a);
    vd_trainer_free(b);
}

static void every_choice_of_decoders_learns_saves_and_resumes(void **state)
{
    (void)state;
    const vd_batch *batch = small_batch();
    size_t n = (size_t)(batch->dialogs * batch->rounds * batch->candidates);
    float *a = vd_alloc(n, sizeof *a), *b = vd_alloc(n, sizeof *b), *sum = vd_alloc(n, sizeof *sum);
    for (int decoders = VD_DISCRIMINATIVE; decoders <= VD_BOTH; decoders++) {
        vd_train_options options = small_options(3);
        options.dropout = options.lstm_dropout = options.position_dropout = 0;
        options.margin = 1;
        options.clip = 5;
        vd_trainer *trainer = small_trainer_of((vd_decoders)decoders, &options), *resumed;
        double before = small_steps(trainer, 1), after = small_steps(trainer, 80);
        assert_true(after < 0.7 * before);
        char *path = support_join(directory, "decoders.safetensors");
        vd_error err;
        vd_model *model;
        vd_arena arena = {0};
        must(vd_trainer_checkpoint(trainer, path, &err), &err);
        must(vd_trainer_resume(path, &resumed, &err), &err);
        assert_int_equal(vd_trainer_config(resumed)->decoders, decoders);
        small_steps(trainer, 2);
        small_steps(resumed, 2);
        assert_same_state(trainer, resumed);
        must(vd_trainer_save_model(trainer, path, VD_F32, &err), &err);
        must(vd_model_load(path, &model, &err), &err);
        must(vd_trainer_scores(trainer, batch, a, &err), &err);
        must(vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, batch, b, &err),
             &err);
        for (size_t i = 0; i < n; i++)
            assert_true(fabsf(a[i] - b[i]) <= 1e-6f * fmaxf(1, fabsf(a[i])));
        memset(sum, 0, n * sizeof *sum);
        for (int by = VD_DISCRIMINATIVE; by <= VD_GENERATIVE; by++) {
            vd_status status =
                vd_model_scores(model, (vd_decoders)by, &arena, NULL, batch, b, &err);
            if (decoders != VD_BOTH && by != decoders)
                support_refused(status, VD_USAGE, &err, vd_decoders_name((vd_decoders)by), NULL);
            else
                must(status, &err);
            for (size_t i = 0; i < n && status == VD_OK; i++)
                sum[i] += b[i] / (decoders == VD_BOTH ? 2 : 1);
        }
        for (size_t i = 0; i < n; i++)
            assert_true(fabsf(a[i] - sum[i]) <= 1e-5f * fmaxf(1, fabsf(a[i])));
        vd_arena_free(&arena);
        vd_model_free(model);
        vd_trainer_free(trainer);
        vd_trainer_free(resumed);
        free(path);
    }
    vd_free(a);
    vd_free(b);
    vd_free(sum);
}

static void training_learns_its_batch(void **state)
{
    (void)state;
    vd_train_options options = small_options(3);
    options.dropout = options.lstm_dropout = options.position_dropout = 0;
    options.margin = 1;
    options.clip = 5;
    vd_trainer *trainer = small_trainer(&options);
    double before = small_steps(trainer, 1), after = small_steps(trainer, 150);
    assert_true(before > 1.5);
    assert_true(after < 0.3);
    vd_trainer_free(trainer);
}

// A parameter of a network as AdamW's authors and PyTorch have it (torch.optim.AdamW), in double
// precision.
typedef struct followed {
    const vd_parameter *p;
    bool decays;
    double *w, *m, *v; // (elements)
} followed;

// What is no matrix of a layer, by its name.
static bool is_spared(const char *name)
{
    static const char *const parts[] = {"bias", "norm", "word_embed", "place", "kind"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static void follow(followed *f, const vd_trainer *t, double rate, int step, double scale)
{
    const vd_train_options *o = &t->options;
    const float *g = t->gradient + f->p->offset;
    for (size_t i = 0; i < f->p->elements; i++) {
        double d = scale * (double)g[i];
        if (f->decays)
            f->w[i] *= 1 - rate * o->weight_decay;
        f->m[i] = o->beta_1 * f->m[i] + (1 - o->beta_1) * d;
        f->v[i] = o->beta_2 * f->v[i] + (1 - o->beta_2) * d * d;
        double m = f->m[i] / (1 - pow(o->beta_1, step)), v = f->v[i] / (1 - pow(o->beta_2, step));
        f->w[i] -= rate * m / (sqrt(v) + o->epsilon);
    }
}

static void start_following(followed *f, const vd_trainer *t, const vd_parameter *p)
{
    *f = (followed){.p = p, .decays = !is_spared(p->name)};
    f->w = vd_alloc(p->elements, sizeof *f->w);
    f->m = vd_alloc(p->elements, sizeof *f->m);
    f->v = vd_alloc(p->elements, sizeof *f->v);
    for (size_t i = 0; i < p->elements; i++)
        f->w[i] = (double)t->block[p->offset + i];
}

static void compare_followed(followed *f, const vd_trainer *t)
{
    for (size_t i = 0; i < f->p->elements; i++)
        if (!(fabs(f->w[i] - (double)t->block[f->p->offset + i]) <= 2e-6))
            fail_msg("%s %zu is %.9g, expected %.9g", f->p->name, i,
                     (double)t->block[f->p->offset + i], f->w[i]);
    vd_free(f->w);
    vd_free(f->m);
    vd_free(f->v);
}

static void adamw_steps_are_the_formula(void **state)
{
    enum { STEPS = 4 };
    static followed list[VD_MAX_PARAMETERS];
    vd_train_options options = small_options(5);
    vd_config config = small_config();
    vd_vocab *vocab = small_vocab();
    vd_trainer *t;
    vd_error err;
    int decaying = 0;
    (void)state;
    config.network = VD_NETWORK_DIALOG_TRANSFORMER;
    options.optimiser = VD_ADAMW;
    options.beta_2 = 0.98;
    options.weight_decay = 0.7; // large enough to see
    options.clip = 0.5;
    must(vd_trainer_new(&config, vocab, &options, &t, &err), &err);
    for (int k = 0; k < t->layout.count; k++)
        start_following(&list[k], t, &t->layout.parameter[k]);
    for (int step = 1; step <= STEPS; step++) {
        double multiplier = 1. / step, loss, norm;
        must(step_gradient(t, small_batch(), 1, vd_batch_totals(small_batch()), &loss, &err), &err);
        must(vd_trainer_update(t, multiplier, &loss, &norm, &err), &err);
        for (int k = 0; k < t->layout.count; k++)
            follow(&list[k], t, options.rate * multiplier, step, norm > 0.5 ? 0.5 / norm : 1);
    }
    for (int k = 0; k < t->layout.count; k++) {
        decaying += list[k].decays;
        compare_followed(&list[k], t);
    }
    assert_true(decaying > 10 && decaying < t->layout.count / 2);
    vd_trainer_free(t);
    vd_vocab_free(vocab);
}

// Length of Adam's mean gradient after the first step, which is a tenth of the gradient.
static double first_moment(double clip, double *gradient)
{
    vd_train_options options = small_options(3);
    options.clip = clip;
    vd_trainer *trainer = small_trainer(&options);
    vd_safetensors *file;
    vd_error err;
    double loss, square = 0;
    char *path = support_join(directory, "clipped");
    must(step_take(trainer, small_batch(), 1, &loss, gradient, &err), &err);
    must(vd_trainer_checkpoint(trainer, path, &err), &err);
    must(vd_safetensors_open(path, &file, &err), &err);
    const vd_tensor *first = vd_safetensors_find(file, "optimiser.first");
    assert_non_null(first);
    float *moment = vd_alloc(first->elements, sizeof *moment);
    must(vd_tensor_floats(first, 0, first->elements, moment, &err), &err);
    for (size_t i = 0; i < first->elements; i++)
        square += (double)moment[i] * (double)moment[i];
    vd_free(moment);
    vd_safetensors_close(file);
    vd_trainer_free(trainer);
    free(path);
    return sqrt(square);
}

static void a_longer_gradient_is_cut_to_clip(void **state)
{
    (void)state;
    double whole, length = 10 * first_moment(0, &whole), same;
    assert_true(fabs(length - whole) < 1e-4 * whole);
    assert_true(fabs(10 * first_moment(2 * whole, &same) - whole) < 1e-4 * whole);
    assert_true(fabs(10 * first_moment(whole / 4, &same) - whole / 4) < 1e-4 * whole);
    assert_true(same == whole);
}

static void a_saved_model_scores_as_its_trainer(void **state)
{
    (void)state;
    vd_train_options options = small_options(3);
    vd_trainer *trainer = small_trainer(&options);
    char *path = support_join(directory, "model.safetensors");
    const vd_batch *batch = small_batch();
    size_t n = (size_t)(batch->dialogs * batch->rounds * batch->candidates);
    float *a = vd_alloc(n, sizeof *a), *b = vd_alloc(n, sizeof *b);
    vd_model *model;
    vd_arena arena = {0};
    vd_error err;
    small_steps(trainer, 3);
    must(vd_trainer_scores(trainer, batch, a, &err), &err);
    for (int half = 0; half < 2; half++) {
        must(vd_trainer_save_model(trainer, path, half ? VD_F16 : VD_F32, &err), &err);
        must(vd_model_load(path, &model, &err), &err);
        must(vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, batch, b, &err),
             &err);
        for (size_t i = 0; i < n; i++)
            assert_true(fabsf(a[i] - b[i]) <= (half ? 2e-2f : 1e-6f));
        vd_arena_free(&arena);
        vd_model_free(model);
    }
    vd_free(a);
    vd_free(b);
    free(path);
    vd_trainer_free(trainer);
}

static void a_run_that_goes_wrong_says_so_and_keeps_its_weights(void **state)
{
    (void)state;
    vd_train_options options = small_options(3);
    vd_trainer *trainer = small_trainer(&options);
    float image[SMALL_DIALOGS * 4 * SMALL_REGION];
    vd_batch batch = *small_batch();
    double loss;
    vd_error err;
    memcpy(image, batch.image, sizeof image);
    image[5] = NAN;
    batch.image = image;
    support_refused(step_take(trainer, &batch, 1, &loss, NULL, &err), VD_FORMAT, &err, "step 1",
                    "--rate", NULL);
    assert_int_equal(vd_trainer_steps(trainer), 0);
    assert_true(isfinite(small_steps(trainer, 1)));
    vd_trainer_free(trainer);
}

// ---- files that do not fit ----------------------------------------------------------------------

typedef struct change {
    const char *config, *vocab, *without, *extra; // NULL = as it should be
    int wrong_shape;                              // of tensor number n - 1
} change;

static char *written(const change *c)
{
    static const char good[] = "{\"vocab\":30,\"embed\":6,\"hidden\":8,\"region\":10,"
                               "\"gate\":\"sigmoid\",\"positions\":\"none\"}";
    vd_safetensors_writer *writer;
    vd_error err;
    vd_config config = small_config();
    vd_layout layout;
    vd_vocab *vocab = small_vocab();
    char *words = vd_vocab_to_json(vocab), *path = support_join(directory, "changed");
    size_t most = 0;
    config.positions = VD_POSITIONS_NONE;
    vd_weights_layout(&config, &layout, NULL, NULL);
    must(vd_safetensors_create(path, &writer, &err), &err);
    if (!c->config || *c->config)
        must(vd_safetensors_put_metadata(writer, "config", c->config ? c->config : good, &err),
             &err);
    if (!c->vocab || *c->vocab)
        must(vd_safetensors_put_metadata(writer, "vocab", c->vocab ? c->vocab : words, &err), &err);
    for (int k = 0; k < layout.count; k++) {
        vd_parameter *p = &layout.parameter[k];
        if (c->wrong_shape == k + 1)
            p->elements += p->shape[0] == p->elements ? 1 : p->elements / p->shape[0];
        if (c->wrong_shape == k + 1)
            p->shape[0]++;
        if (c->without && strcmp(p->name, c->without) == 0)
            p->elements = 0;
        else
            must(vd_safetensors_declare(writer, p->name, VD_F32, p->dims, p->shape, &err), &err);
        most = p->elements > most ? p->elements : most;
    }
    if (c->extra)
        must(vd_safetensors_declare(writer, c->extra, VD_F32, 1, (size_t[]){1}, &err), &err);
    float *zero = vd_alloc(most, sizeof *zero);
    for (int k = 0; k < layout.count; k++)
        if (layout.parameter[k].elements)
            must(vd_safetensors_append(writer, zero, layout.parameter[k].elements, &err), &err);
    if (c->extra)
        must(vd_safetensors_append(writer, zero, 1, &err), &err);
    must(vd_safetensors_commit(writer, &err), &err);
    vd_free(zero);
    vd_free(words);
    vd_vocab_free(vocab);
    return path;
}

static void refused(const change *c, vd_status expected, const char *what)
{
    vd_model *model;
    vd_error err;
    char *path = written(c);
    vd_status status = vd_model_load(path, &model, &err);
    support_refused(status, expected, &err, path, what, NULL);
    assert_null(model);
    free(path);
}

static void models_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    vd_model *model;
    vd_error err;
    char *path = written(&(change){0});
    must(vd_model_load(path, &model, &err), &err);
    vd_model_free(model);
    free(path);
    refused(&(change){.config = ""}, VD_FORMAT, "config");
    refused(&(change){.vocab = ""}, VD_FORMAT, "vocab");
    refused(&(change){.vocab = "[\"<PAD>\",\"<S>\",\"</S>\",\"<UNK>\",\"a\"]"}, VD_MISMATCH, "30");
    refused(&(change){.vocab = "{}"}, VD_FORMAT, "");
    refused(&(change){.config = "{\"vocab\":30}"}, VD_FORMAT, "missing");
    refused(&(change){.config = "[1]"}, VD_FORMAT, "array");
    refused(&(change){.config = "{\"vocab\":\"30\"}"}, VD_FORMAT, "string");
    refused(&(change){.config = "{\"vocab\":30.5}"}, VD_FORMAT, "whole number");
    refused(&(change){.config = "{\"vocab\":-1}"}, VD_FORMAT, "whole number");
    refused(&(change){.config = "{\"vocab\":1e300}"}, VD_FORMAT, "whole number");
    refused(&(change){.config = "{\"gate\":\"tanh\"}"}, VD_FORMAT, "tanh");
    refused(&(change){.config = "{\"layers\":3}"}, VD_FORMAT, "does not know");
    refused(&(change){.config = "{\"gate\":{}}"}, VD_FORMAT, "object");
    refused(&(change){.config = "{\"vocab\""}, VD_FORMAT, "");
    refused(&(change){.without = "encoder.fusion.1.bias"}, VD_MISMATCH, "encoder.fusion.1.bias");
    refused(&(change){.extra = "encoder.fusion.2.bias"}, VD_MISMATCH, "encoder.fusion.2.bias");
    refused(&(change){.wrong_shape = 1}, VD_MISMATCH, "encoder.word_embed.weight");
    refused(&(change){.wrong_shape = 20}, VD_MISMATCH, "encoder.");
    // Sizes that would take hundreds of gigabytes are compared with the file first.
    refused(&(change){.config = "{\"vocab\":30,\"embed\":65536,\"hidden\":65536,\"region\":65536,"
                                "\"gate\":\"sigmoid\",\"positions\":\"none\"}"},
            VD_MISMATCH, "encoder.word_embed.weight");
    refused(&(change){.config = "{\"vocab\":30,\"embed\":6,\"hidden\":8,\"region\":65536,"
                                "\"gate\":\"sigmoid\",\"positions\":\"none\"}"},
            VD_MISMATCH, "img_nonlinear_emb");
}

static void settings_out_of_range_are_refused_by_name(void **state)
{
    (void)state;
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    static const struct {
        const char *name;
        size_t at;
        double value;
    } floats[] = {
        {"dropout", offsetof(vd_train_options, dropout), 1},
        {"dropout", offsetof(vd_train_options, dropout), -0.1f},
        {"lstm-dropout", offsetof(vd_train_options, lstm_dropout), NAN},
        {"position-dropout", offsetof(vd_train_options, position_dropout), 2},
    };
    static const struct {
        const char *name;
        size_t at;
        double value;
    } reals[] = {
        {"rate", offsetof(vd_train_options, rate), -1},
        {"rate", offsetof(vd_train_options, rate), NAN},
        {"clip", offsetof(vd_train_options, clip), -1},
        {"lambda-decay", offsetof(vd_train_options, lambda_decay), 1.5},
        {"lambda-start", offsetof(vd_train_options, lambda_start), INFINITY},
    };
    static const struct {
        const char *name;
        size_t at;
        int value;
    } sizes[] = {
        {"embed", offsetof(vd_config, embed), 0},
        {"hidden", offsetof(vd_config, hidden), -1},
        {"region", offsetof(vd_config, region), 1 << 20},
        {"gate", offsetof(vd_config, gate), 3},
        {"positions", offsetof(vd_config, positions), -1},
    };
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        vd_config config = small_config();
        vd_train_options options = small_options(3);
        memcpy((char *)&options + floats[i].at, &floats[i].value, sizeof floats[i].value);
        support_refused(vd_trainer_new(&config, vocab, &options, &trainer, &err), VD_USAGE, &err,
                        floats[i].name, NULL);
        assert_null(trainer);
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        vd_config config = small_config();
        vd_train_options options = small_options(3);
        memcpy((char *)&options + reals[i].at, &reals[i].value, sizeof reals[i].value);
        support_refused(vd_trainer_new(&config, vocab, &options, &trainer, &err), VD_USAGE, &err,
                        reals[i].name, NULL);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vd_config config = small_config();
        vd_train_options options = small_options(3);
        memcpy((char *)&config + sizes[i].at, &sizes[i].value, sizeof sizes[i].value);
        support_refused(vd_trainer_new(&config, vocab, &options, &trainer, &err), VD_USAGE, &err,
                        sizes[i].name, NULL);
    }
    vd_vocab_free(vocab);
}

static void a_model_is_not_a_checkpoint(void **state)
{
    (void)state;
    vd_train_options options = small_options(3);
    vd_trainer *trainer = small_trainer(&options), *other;
    char *path = support_join(directory, "model.safetensors");
    vd_error err;
    must(vd_trainer_save_model(trainer, path, VD_F32, &err), &err);
    support_refused(vd_trainer_resume(path, &other, &err), VD_FORMAT, &err, path, "checkpoint",
                    NULL);
    assert_null(other);
    vd_trainer_free(trainer);
    free(path);
}

static vd_status whole_run(void *context, vd_error *err)
{
    vd_trainer *trainer = NULL;
    vd_train_options options = small_options(3);
    vd_config config = small_config();
    double loss;
    vd_status status = vd_trainer_new(&config, context, &options, &trainer, err);
    if (status == VD_OK)
        status = step_take(trainer, small_batch(), 1, &loss, NULL, err);
    vd_trainer_free(trainer);
    return status;
}

static vd_status save_and_resume(void *context, vd_error *err)
{
    vd_trainer *trainer = context, *other = NULL;
    char *path = support_join(directory, "again");
    vd_status status = vd_trainer_checkpoint(trainer, path, err);
    if (status == VD_OK)
        status = vd_trainer_resume(path, &other, err);
    vd_trainer_free(other);
    free(path);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    vd_vocab *vocab = small_vocab();
    vd_train_options options = small_options(3);
    vd_trainer *trainer = small_trainer(&options);
    assert_true(support_fail_each_allocation(whole_run, vocab) > 10);
    assert_true(support_fail_each_allocation(save_and_resume, trainer) > 10);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_reproduces_a_run_bit_for_bit),
        cmocka_unit_test(a_resumed_run_is_the_run),
        cmocka_unit_test(micro_batches_of_a_step_are_the_step),
        cmocka_unit_test(the_next_word_counts_by_its_weight),
        cmocka_unit_test(a_failed_micro_batch_changes_no_weight),
        cmocka_unit_test(every_choice_of_decoders_learns_saves_and_resumes),
        cmocka_unit_test(training_learns_its_batch),
        cmocka_unit_test(adamw_steps_are_the_formula),
        cmocka_unit_test(a_longer_gradient_is_cut_to_clip),
        cmocka_unit_test(a_saved_model_scores_as_its_trainer),
        cmocka_unit_test(a_run_that_goes_wrong_says_so_and_keeps_its_weights),
        cmocka_unit_test(models_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(settings_out_of_range_are_refused_by_name),
        cmocka_unit_test(a_model_is_not_a_checkpoint),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
