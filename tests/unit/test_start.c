// Where training starts: from random weights, or from a model's, with other gates or decoders.
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
#include "engine/model/model_private.h"
#include "tests/support/must.h"
#include "tests/support/small_trainer.h"
#include "tests/support/one_directory.h"

static vd_model *model_of(const vd_trainer *trainer)
{
    char *path = support_join(directory, "start.safetensors");
    vd_model *model;
    vd_error err;
    must(vd_trainer_save_model(trainer, path, VD_F32, &err), &err);
    must(vd_model_load(path, &model, &err), &err);
    free(path);
    return model;
}

static vd_trainer *trainer_of(vd_config config)
{
    vd_train_options options = small_options(9);
    vd_vocab *vocab = small_vocab();
    vd_trainer *trainer;
    vd_error err;
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    vd_vocab_free(vocab);
    return trainer;
}

static vd_trainer *trainer_with(vd_gate gate, vd_positions positions, int hidden)
{
    vd_config config = small_config();
    config.gate = gate;
    config.positions = positions;
    config.hidden = hidden;
    return trainer_of(config);
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

static vd_trainer *trainer_of_heads(int heads)
{
    vd_config config = small_config();
    config.network = VD_NETWORK_HRE;
    config.text = VD_TEXT_TRANSFORMER;
    config.heads = heads;
    return trainer_of(config);
}

// 0 heads, left to the text encoder, are its 4. Weights of other numbers have the same shapes, but
// would be read otherwise.
static void heads_stay_as_many(void **state)
{
    (void)state;
    vd_error err;
    for (int from = 0; from <= 4; from += 4) {
        vd_trainer *base = trainer_of_heads(from);
        vd_model *model = model_of(base);
        for (int heads = 0; heads <= 4; heads += 2) {
            vd_trainer *to = trainer_of_heads(heads);
            vd_status status = vd_trainer_start_from(to, model, &err);
            if (heads == 2)
                support_refused(status, VD_MISMATCH, &err, "heads 4, expected 2", "--heads 4",
                                NULL);
            else
                must(status, &err);
            vd_trainer_free(to);
        }
        vd_model_free(model);
        vd_trainer_free(base);
    }
}

static void a_model_starts_another_with_its_gates_opened(void **state)
{
    (void)state;
    float largest;
    vd_error err;
    vd_trainer *base = trainer_with(VD_GATE_SIGMOID, VD_POSITIONS_NONE, 8);
    small_steps(base, 5);
    vd_model *model = model_of(base);
    vd_trainer *same = trainer_with(VD_GATE_SIGMOID, VD_POSITIONS_NONE, 8);
    must(vd_trainer_start_from(same, model, &err), &err);
    assert_true(score_difference(base, same, &largest) < 1e-6f);
    vd_trainer *leaky = trainer_with(VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE, 8);
    assert_true(score_difference(base, leaky, &largest) > 0.2f * largest);
    must(vd_trainer_start_from(leaky, model, &err), &err);
    assert_true(score_difference(base, leaky, &largest) < 0.2f * largest);
    vd_trainer *learned = trainer_with(VD_GATE_SIGMOID, VD_POSITIONS_LEARNED, 8);
    must(vd_trainer_start_from(learned, model, &err), &err);
    assert_true(score_difference(base, learned, &largest) < 1e-6f);

    vd_trainer *wide = trainer_with(VD_GATE_SIGMOID, VD_POSITIONS_NONE, 9);
    support_refused(vd_trainer_start_from(wide, model, &err), VD_MISMATCH, &err, "8", "9", NULL);
    // Weights of the same shapes, which would be read otherwise.
    // As many words, but others.
    char word[SMALL_VOCAB][16];
    const char *list[SMALL_VOCAB];
    vd_vocab *others;
    vd_trainer *stranger;
    vd_config config = *vd_trainer_config(base);
    for (int i = 0; i < SMALL_VOCAB; i++) {
        snprintf(word[i], sizeof word[i], "w%d", i == 7 ? 99 : i);
        list[i] = word[i];
    }
    must(vd_vocab_from_words(list, SMALL_VOCAB - VD_FIRST_WORD, &others, &err), &err);
    must(vd_trainer_new(&config, others, vd_trainer_options(base), &stranger, &err), &err);
    support_refused(vd_trainer_start_from(stranger, model, &err), VD_MISMATCH, &err, "w7", "w99",
                    NULL);
    vd_trainer_free(stranger);
    vd_vocab_free(others);
    vd_model *open = model_of(leaky);
    support_refused(vd_trainer_start_from(same, open, &err), VD_MISMATCH, &err, "leaky-relu", NULL);
    vd_model_free(open);
    vd_model_free(model);
    vd_trainer *all[] = {base, same, leaky, learned, wide};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vd_trainer_free(all[i]);
}

// Of a network without gates the setting means nothing; memn2n has no text encoder with heads.
static void a_network_without_gates_starts_from_any(void **state)
{
    (void)state;
    vd_error err;
    vd_config config = small_config();
    config.network = VD_NETWORK_MEMN2N;
    config.gate = VD_GATE_LEAKY_RELU;
    vd_trainer *base = trainer_of(config);
    vd_model *model = model_of(base);
    config.gate = VD_GATE_SIGMOID;
    vd_trainer *to = trainer_of(config);
    must(vd_trainer_start_from(to, model, &err), &err);
    vd_trainer_free(to);
    vd_model_free(model);
    vd_trainer_free(base);
}

static vd_trainer *trainer_of_words(int words, const char *third)
{
    char word[SMALL_VOCAB + 2][16];
    const char *list[SMALL_VOCAB + 2];
    vd_train_options options = small_options(9);
    vd_error err;
    vd_vocab *vocab;
    vd_trainer *trainer;
    for (int i = 0; i < words; i++) {
        snprintf(word[i], sizeof word[i], "%.9s%d", i == 3 ? third : "w", i);
        list[i] = word[i];
    }
    must(vd_vocab_from_words(list, (size_t)words, &vocab, &err), &err);
    vd_config config = small_config();
    config.vocab = vd_vocab_size(vocab);
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    vd_vocab_free(vocab);
    return trainer;
}

// Rows of words that the model lacks start as those of a new trainer do, all others from the model.
static void a_vocabulary_may_go_on_behind_that_of_the_model(void **state)
{
    (void)state;
    int words = SMALL_VOCAB - VD_FIRST_WORD;
    vd_error err;
    vd_trainer *few = trainer_of_words(words, "w"), *more = trainer_of_words(words + 2, "w"),
               *others = trainer_of_words(words + 2, "x");
    small_steps(few, 3);
    vd_model *model = model_of(few);
    float largest;
    must(vd_trainer_start_from(more, model, &err), &err);
    assert_true(score_difference(few, more, &largest) == 0);
    support_refused(vd_trainer_start_from(others, model, &err), VD_MISMATCH, &err, "w3", "x3",
                    NULL);
    vd_model *longer = model_of(more);
    support_refused(vd_trainer_start_from(few, longer, &err), VD_MISMATCH, &err, "words", NULL);
    vd_model_free(longer);
    vd_model_free(model);
    vd_trainer_free(few);
    vd_trainer_free(more);
    vd_trainer_free(others);
}

static void two_decoders_start_from_a_model_with_one(void **state)
{
    (void)state;
    vd_train_options options = small_options(9);
    vd_error err;
    float largest;
    vd_trainer *one = small_trainer_of(VD_DISCRIMINATIVE, &options);
    small_steps(one, 5);
    vd_model *model = model_of(one);
    vd_trainer *both = small_trainer_of(VD_BOTH, &options);
    must(vd_trainer_start_from(both, model, &err), &err);
    vd_model *grown = model_of(both);
    // And back to one decoder again: nothing of it was lost on the way.
    vd_trainer *again = small_trainer_of(VD_DISCRIMINATIVE, &options);
    must(vd_trainer_start_from(again, grown, &err), &err);
    assert_true(score_difference(one, again, &largest) < 1e-6f);
    vd_trainer *said = small_trainer_of(VD_GENERATIVE, &options);
    must(vd_trainer_start_from(said, grown, &err), &err);
    assert_true(isfinite(small_steps(said, 2)));
    vd_model_free(model);
    vd_model_free(grown);
    vd_trainer_free(one);
    vd_trainer_free(both);
    vd_trainer_free(again);
    vd_trainer_free(said);
}

// Gates without an upper bound start as 1/2 + x/4; everything else, and sigmoid gates, as without.
static void gates_start_half_open_when_asked(void **state)
{
    (void)state;
    vd_vocab *vocab = small_vocab();
    for (int gate = VD_GATE_SIGMOID; gate <= VD_GATE_ELU; gate++) {
        vd_config config = small_config();
        vd_train_options plain = small_options(7), open = small_options(7);
        vd_trainer *a, *b;
        vd_error err;
        config.gate = (vd_gate)gate;
        open.open_gates = 1;
        must(vd_trainer_new(&config, vocab, &plain, &a, &err), &err);
        must(vd_trainer_new(&config, vocab, &open, &b, &err), &err);
        vd_model *from = model_of(a), *to = model_of(b);
        for (int k = 0; k < from->layout.count; k++) {
            const vd_parameter *p = &from->layout.parameter[k];
            bool opened = gate != VD_GATE_SIGMOID && strstr(p->name, ".embed_g.0.");
            float add = opened && strstr(p->name, "bias") ? 0.5f : 0, by = opened ? 0.25f : 1;
            const float *x = vd_safetensors_find(from->file, p->name)->data;
            const float *y = vd_safetensors_find(to->file, p->name)->data;
            for (size_t i = 0; i < p->elements; i++)
                assert_true(y[i] == x[i] * by + add);
        }
        vd_model_free(from);
        vd_model_free(to);
        vd_trainer_free(a);
        vd_trainer_free(b);
    }
    vd_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_starts_another_with_its_gates_opened),
        cmocka_unit_test(heads_stay_as_many),
        cmocka_unit_test(a_vocabulary_may_go_on_behind_that_of_the_model),
        cmocka_unit_test(two_decoders_start_from_a_model_with_one),
        cmocka_unit_test(a_network_without_gates_starts_from_any),
        cmocka_unit_test(gates_start_half_open_when_asked),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
