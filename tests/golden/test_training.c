// Ten training runs of the public implementation: losses of six steps, the first gradient's norm,
// scores before and after, for combinations of gate, optimiser, positions, margin and lambda; and
// its tables of positions, psi and the learning-rate schedule.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "engine/base/alloc.h"
#include "engine/model/file.h"
#include "engine/networks/positions.h"
#include "engine/train/trainer.h"
#include "tests/support/backend.h"
#include "tests/support/golden.h"
#include "tests/support/must.h"
#include "tests/support/small_trainer.h"
#include "tests/support/step.h"
#include "tests/support/support.h"

static yajl_val document;

static int load_document(void **state)
{
    (void)state;
    char *text = support_read_file("tests/golden/data/training.json", NULL), problem[256];
    document = yajl_tree_parse(text, problem, sizeof problem);
    free(text);
    return document ? 0 : -1;
}

static int free_document(void **state)
{
    (void)state;
    yajl_tree_free(document);
    return 0;
}

static yajl_val at(yajl_val object, const char *key)
{
    yajl_val value = yajl_tree_get(object, (const char *[]){key, NULL}, yajl_t_any);
    if (!value)
        fail_msg("training.json has no %s", key);
    return value;
}

static double number(yajl_val object, const char *key)
{
    yajl_val value = at(object, key);
    assert_true(YAJL_IS_NUMBER(value));
    return YAJL_GET_DOUBLE(value);
}

static const char *text(yajl_val object, const char *key)
{
    yajl_val value = at(object, key);
    assert_true(YAJL_IS_STRING(value));
    return YAJL_GET_STRING(value);
}

static void assert_close(const char *what, double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: found %.9g, expected %.9g (tolerance %g)", what, found, expected, tolerance);
}

static vd_vocab *numbered_words(int count)
{
    char word[64][8];
    const char *list[64];
    vd_vocab *vocab;
    vd_error err;
    int words = count - VD_FIRST_WORD;
    assert_true(words <= 64);
    for (int i = 0; i < words; i++) {
        snprintf(word[i], sizeof word[i], "w%d", i);
        list[i] = word[i];
    }
    must(vd_vocab_from_words(list, (size_t)words, &vocab, &err), &err);
    return vocab;
}

// A trainer that starts from the golden weights, by way of a checkpoint of step 0.
static vd_trainer *trainer_from(golden *g, const vd_train_options *options)
{
    vd_safetensors_writer *writer;
    vd_trainer *trainer;
    vd_error err;
    vd_metadata extra = {0};
    char *json, *directory = support_temp_dir(), *path = support_join(directory, "start");
    size_t n = g->layout.numbers;
    vd_real *zero = vd_alloc(n, sizeof *zero);
    vd_vocab *vocab = numbered_words(g->config.vocab);
    must(vd_settings_write(vd_train_settings, options, "training options", &json, &err), &err);
    must(vd_metadata_set(&extra, "options", json, &err), &err);
    must(vd_metadata_set(&extra, "steps", "0", &err), &err);
    must(vd_model_file_create(path, &g->config, vocab, &extra, &g->layout, VD_F32, &writer, &err),
         &err);
    must(vd_safetensors_declare(writer, "optimiser.first", VD_F32, 1, &n, &err), &err);
    must(vd_safetensors_declare(writer, "optimiser.second", VD_F32, 1, &n, &err), &err);
    vd_model_file_append(writer, &g->layout, g->block, &err);
    must(vd_safetensors_append_floats(writer, zero, n, &err), &err);
    must(vd_safetensors_append_floats(writer, zero, n, &err), &err);
    must(vd_safetensors_commit(writer, &err), &err);
    must(vd_trainer_resume(path, &trainer, &err), &err);
    must(vd_trainer_use(trainer, support_backend(), &err), &err);
    support_remove_tree(directory);
    vd_vocab_free(vocab);
    vd_metadata_clear(&extra);
    vd_free(json);
    vd_free(zero);
    free(path);
    free(directory);
    return trainer;
}

static void check_scores(const char *what, vd_trainer *trainer, const golden *g, yajl_val expected,
                         double tolerance)
{
    vd_error err;
    size_t n = (size_t)(g->batch.dialogs * g->batch.rounds * g->batch.candidates);
    float *scores = vd_alloc(n, sizeof *scores);
    must(vd_trainer_scores(trainer, &g->batch, scores, &err), &err);
    assert_int_equal(YAJL_GET_ARRAY(expected)->len, n);
    for (size_t i = 0; i < n; i++)
        assert_close(what, (double)scores[i], YAJL_GET_DOUBLE(YAJL_GET_ARRAY(expected)->values[i]),
                     tolerance);
    vd_free(scores);
}

static vd_gate gate_of(const char *name)
{
    return !strcmp(name, "sigmoid") ? VD_GATE_SIGMOID
           : !strcmp(name, "elu")   ? VD_GATE_ELU
                                    : VD_GATE_LEAKY_RELU;
}

static vd_status set(const vd_setting *rows, yajl_val run, const char *name, void *settings,
                     vd_error *err)
{
    return vd_setting_parse(vd_settings_find(rows, name), text(run, name), settings, name,
                            VD_FORMAT, err);
}

static void check_run(golden *g, yajl_val run)
{
    char what[160];
    vd_error err;
    double lambda = number(run, "lam"), loss, norm;
    vd_train_options options = vd_train_defaults();
    snprintf(what, sizeof what, "%s, %s, positions %s, margin %g, lambda %g", text(run, "gate"),
             text(run, "optimiser"), text(run, "positions"), number(run, "margin"), lambda);
    must(set(vd_train_settings, run, "optimiser", &options, &err), &err);
    must(set(vd_config_settings, run, "positions", &g->config, &err), &err);
    g->config.gate = gate_of(text(run, "gate"));
    options.rate = number(run, "lr");
    options.margin = (int)number(run, "margin");
    options.lambda_start = options.lambda_floor = lambda;
    options.lambda_decay = 1;
    options.dropout = options.lstm_dropout = options.position_dropout = 0;

    vd_trainer *trainer = trainer_from(g, &options);
    check_scores(what, trainer, g, at(run, "scores_before"), 1e-5);
    yajl_val losses = at(run, "losses");
    for (size_t i = 0; i < YAJL_GET_ARRAY(losses)->len; i++) {
        must(step_take(trainer, &g->batch, 1, &loss, &norm, &err), &err);
        double expected = YAJL_GET_DOUBLE(YAJL_GET_ARRAY(losses)->values[i]);
        assert_close(what, loss, expected, 1e-5);
        if (i == 0)
            assert_close(what, norm, number(run, "grad_norm"), 1e-4 * number(run, "grad_norm"));
    }
    check_scores(what, trainer, g, at(run, "scores_after"), 1e-4);
    vd_trainer_free(trainer);
}

static void runs_match_the_public_code(void **state)
{
    (void)state;
    golden g;
    golden_open(&g, "mvan_tiny.safetensors", VD_DISCRIMINATIVE);
    yajl_val runs = at(document, "runs");
    assert_true(YAJL_GET_ARRAY(runs)->len > 0);
    for (size_t i = 0; i < YAJL_GET_ARRAY(runs)->len; i++)
        check_run(&g, YAJL_GET_ARRAY(runs)->values[i]);
    golden_close(&g);
}

static void positions_match(void **state)
{
    (void)state;
    yajl_val rows = at(document, "positions_40x12");
    vd_real table[40 * 12];
    vd_words_sinusoid(table, 40, 12);
    assert_int_equal(YAJL_GET_ARRAY(rows)->len, 40);
    for (size_t r = 0; r < 40; r++)
        for (size_t i = 0; i < 12; i++)
            assert_close(
                "position", (double)table[r * 12 + i],
                YAJL_GET_DOUBLE(YAJL_GET_ARRAY(YAJL_GET_ARRAY(rows)->values[r])->values[i]), 1e-5);
}

static void psi_matches(void **state)
{
    (void)state;
    yajl_val all = at(document, "psi_theta_k_pi_over_32");
    for (int m = 1; m <= 4; m++) {
        char key[2] = {(char)('0' + m), 0};
        yajl_val row = at(all, key);
        for (size_t k = 0; k < YAJL_GET_ARRAY(row)->len; k++)
            assert_close("psi",
                         vd_margin_psi(m, cos((double)k * 3.14159265358979323846 / 32), NULL),
                         YAJL_GET_DOUBLE(YAJL_GET_ARRAY(row)->values[k]), 1e-5);
    }
}

static void schedule_matches(void **state)
{
    (void)state;
    yajl_val rows = at(document, "lr_multiplier_by_epoch");
    assert_true(YAJL_GET_ARRAY(rows)->len > 0);
    for (size_t k = 0; k < YAJL_GET_ARRAY(rows)->len; k++) {
        yajl_val *pair = YAJL_GET_ARRAY(YAJL_GET_ARRAY(rows)->values[k])->values;
        assert_close("schedule",
                     vd_schedule_multiplier(VD_SCHEDULE_STEPS, YAJL_GET_DOUBLE(pair[0]) / 8),
                     YAJL_GET_DOUBLE(pair[1]), 1e-9);
    }
}

static void cosine_rises_and_falls(void **state)
{
    (void)state;
    const double rise = 1.0 / 32, middle = (1 + rise) / 2;
    assert_close("at first", vd_schedule_multiplier(VD_SCHEDULE_COSINE, 0), 0.01, 1e-9);
    assert_close("risen", vd_schedule_multiplier(VD_SCHEDULE_COSINE, rise), 1, 1e-9);
    assert_close("half way", vd_schedule_multiplier(VD_SCHEDULE_COSINE, middle), 0.51, 1e-9);
    assert_close("at the end", vd_schedule_multiplier(VD_SCHEDULE_COSINE, 1), 0.02, 1e-9);
    assert_close("constant", vd_schedule_multiplier(VD_SCHEDULE_CONSTANT, 0.7), 1, 1e-9);
    // Vaswani's peak at d 512 and 10,000 steps: 4.4e-4; half of it half the way there.
    assert_close("warm", vd_warm_up(512, 10000, 10000), 4.4194174e-4, 1e-10);
    assert_close("warming", vd_warm_up(512, 5000, 10000), 2.2097087e-4, 1e-10);
    assert_close("cooling", vd_warm_up(512, 40000, 10000), 2.2097087e-4, 1e-10);
}

// Every dropout on: the masks, and what candidates share of them, are functions of the step alone,
// so that a run does not depend on what it is computed on.
static void dropout_is_the_same_on_every_backend(void **state)
{
    (void)state;
    static const vd_decoders decoders[] = {VD_DISCRIMINATIVE, VD_BOTH};
    vd_error err;
    vd_train_options options = small_options(7);
    options.dropout = options.lstm_dropout = options.position_dropout = 0.3f;
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        vd_trainer *cpu = small_trainer_of(decoders[i], &options);
        vd_trainer *other = small_trainer_of(decoders[i], &options);
        must(vd_trainer_use(other, support_backend(), &err), &err);
        for (int step = 0; step < 3; step++) {
            double expected = small_steps(cpu, 1), found = small_steps(other, 1);
            if (!(fabs(found - expected) <= 1e-4 * fabs(expected)))
                fail_msg("step %d: loss %.9g on the CPU, %.9g on %s", step, expected, found,
                         support_backend()->name);
        }
        vd_trainer_free(cpu);
        vd_trainer_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_match_the_public_code),
        cmocka_unit_test(dropout_is_the_same_on_every_backend),
        cmocka_unit_test(positions_match),
        cmocka_unit_test(psi_matches),
        cmocka_unit_test(schedule_matches),
        cmocka_unit_test(cosine_rises_and_falls),
    };
    return cmocka_run_group_tests(tests, load_document, free_document);
}
