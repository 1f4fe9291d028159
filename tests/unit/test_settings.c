// The rows of engine/networks/settings.h: the command line, the checkpoint and the trainer accept
// the least and the most of each, and refuse what is one beyond.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/encoder.h"
#include "tests/support/small_trainer.h"
#include "tests/support/support.h"
#include "tui/commands/command.h"
#include "tui/train/run_settings.h"

static char *directory;

static int make_directory(void **state)
{
    (void)state;
    directory = support_temp_dir();
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    return 0;
}

// ---- values -------------------------------------------------------------------------------------

enum { LEAST, MOST, BELOW, ABOVE, VALUES };

static double value_of(const vd_setting *row, int which)
{
    double bound = which == LEAST || which == BELOW ? row->least : row->most;
    if (which == LEAST || which == MOST)
        return bound;
    if (row->kind == VD_SETTING_REAL)
        return nextafter(bound, which == BELOW ? -INFINITY : INFINITY);
    return which == BELOW ? bound - 1 : bound + 1;
}

static void text_of(const vd_setting *row, int which, char *out, size_t room)
{
    double value = value_of(row, which);
    if (row->kind == VD_SETTING_CHOICE)
        snprintf(out, room, "%s", which <= MOST ? row->choices[(int)value] : "x");
    else
        snprintf(out, room, "%.17g", value);
}

static void put(const vd_setting *row, int which, void *settings)
{
    void *at = (char *)settings + row->offset;
    double value = value_of(row, which);
    if (row->kind == VD_SETTING_REAL)
        *(double *)at = value;
    else if (row->kind == VD_SETTING_SEED)
        *(uint64_t *)at = (uint64_t)(int64_t)value;
    else
        *(int *)at = (int)value;
}

// What a row is a setting of.
enum { TRAINING, NETWORK, CAPTIONER, PARTS };

static const vd_setting *rows_of(int part)
{
    return part == TRAINING  ? vd_train_settings
           : part == NETWORK ? vd_config_settings
                             : vd_caption_settings;
}

static void *part_of(int part, vd_run_settings *settings)
{
    return part == TRAINING  ? (void *)&settings->training
           : part == NETWORK ? (void *)&settings->network
                             : (void *)&settings->network.caption;
}

static void assert_same(const vd_setting *rows, const void *found, const void *expected)
{
    char one[64], other[64];
    for (; rows->name; rows++) {
        vd_setting_text(rows, found, one, sizeof one);
        vd_setting_text(rows, expected, other, sizeof other);
        if (strcmp(one, other) != 0)
            fail_msg("%s is %s, expected %s", rows->name, one, other);
    }
}

// The numbers that people and files rely on, so that none changes by accident.
static void bounds_and_defaults_are_these(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double least, most, initial;
    } expected[] = {
        {"vocab", 5, 10000000, 5},
        {"region", 1, 65536, 1},
        {"network", 0, VD_NETWORKS - 1, VD_NETWORK_MVAN},
        {"embed", 1, 65536, 64},
        {"hidden", 1, 65536, 128},
        {"heads", 0, 64, 0},
        {"gate", 0, 2, VD_GATE_LEAKY_RELU},
        {"positions", 0, 3, VD_POSITIONS_SINUSOIDAL},
        {"decoder", 0, 2, VD_DISCRIMINATIVE},
        {"text", 0, VD_TEXT_ENCODERS - 1, VD_TEXT_OWN},
        {"score-rounds", 0, 7, VD_SCORE_OWN},
        {"score-regions", 0, 6, VD_SCORE_OWN},
        {"hops", 0, 16, 0},
        {"tying", 0, 1, VD_TYING_ADJACENT},
        {"image", 0, 2, VD_IMAGE_CHANNELS},
        {"boundaries", 0, 1, VD_BOUNDARIES_BOTH},
        {"answer", 0, 3, VD_ANSWER_LSTM},
        {"score-words", 0, 5, VD_SCORE_OWN},
        {"copy", 0, 2, VD_COPY_NONE},
        {"optimiser", 0, 3, VD_ADAM},
        {"rate", 1e-9, 1000, 0.001},
        {"schedule", 0, 3, VD_SCHEDULE_STEPS},
        {"warm-up", 1, 1000000000, 10000},
        {"beta-1", 0, 0.999999, 0.9},
        {"beta-2", 0, 0.999999, 0.999},
        {"epsilon", 1e-30, 1, 1e-8},
        {"weight-decay", 0, 1, 0.01},
        {"clip", 0, 1e9, 0},
        {"margin", 1, 4, 4},
        {"lambda-start", 0, 1e9, 1000},
        {"lambda-decay", 0, 1, 0.999},
        {"lambda-floor", 0, 1e9, 5},
        {"dropout", 0, 0.99, 0.25},
        {"lstm-dropout", 0, 0.99, 0.4},
        {"position-dropout", 0, 0.99, 0.1},
        {"own-masks", 0, 1, 0},
        {"text-dropout", -1, 0.99, -1},
        {"random-time", 0, 1, 0.1},
        {"linear-start", 0, 1, 0},
        {"coverage", 0, 1e9, 0},
        {"next-word", 0, 1e9, 0},
        {"open-gates", 0, 1, 0},
        {"scst", 0, 2, VD_SCST_NONE},
        {"sample", 0, 1, VD_SAMPLE_BEAM},
        {"sample-size", 2, 32, 5},
        {"baseline", 0, 2, VD_BASELINE_MEAN},
        {"eos", 0, 1, VD_EOS_IN},
        {"reward-most", 0, 1e9, 0},
        {"variety", 0, 1e9, 0},
        {"ce-weight", 0, 1e9, 0},
        {"seed", 0, 1e15, 1},
        {"batch", 1, 1024, 32},
        {"micro-batch", 0, 1024, 0},
        {"epochs", 1, 1000, 8},
        {"patience", 0, 1000, 0},
        {"best-by", 0, 6, VD_BEST_OWN},
        {"min-count", 1, 1000000000, 5},
        {"pool", 1, 1000000, 1000},
        {"half", 0, 1, 0},
        {"vocab", 5, 10000000, 5},
        {"region", 1, 65536, 1},
        {"embed", 1, 65536, 64},
        {"hidden", 1, 65536, 128},
        {"heads", 0, 64, 0},
        {"captioner", 0, VD_CAPTIONERS - 1, VD_CAPTIONER_TRANSFORMER},
        {"layers", 1, 8, 2},
        {"inner", 1, 65536, 256},
        {"history", 0, VD_HISTORY_NONE, VD_HISTORY_OWN},
        {"shared", 0, 1, 1},
        {"history-norm", 0, 1, 0},
        {"awc", 0, VD_AWC_LEARNT, VD_AWC_NONE},
        {"awc-level", -1e9, 1e9, 0.5},
        {"awc-weight", 0, 1e9, 0.5},
        {"seen-weight", 0, 1e9, 1},
        {"seen-target", 0, 1e9, 1},
        {"reward-weight", 0, 1e9, 6.4},
        {"entropy-weight", 0, 1e9, 0.128},
        {"soft-share", 0, 1, 0.5},
        {"smoothing", 0, 0.99, 0},
        {"ce", 0, VD_CES - 1, VD_CE_MEAN},
    };
    static const int order[] = {NETWORK, TRAINING, CAPTIONER};
    size_t i = 0;
    for (int p = 0; p < PARTS; p++)
        for (const vd_setting *row = rows_of(order[p]); row->name; row++, i++) {
            assert_true(i < sizeof expected / sizeof *expected);
            assert_string_equal(row->name, expected[i].name);
            assert_true(row->least == expected[i].least);
            assert_true(row->most == expected[i].most);
            assert_true(row->initial == expected[i].initial);
        }
    assert_int_equal(i, sizeof expected / sizeof *expected);
}

// ---- the command line ---------------------------------------------------------------------------

static const vd_option *option_of(const char *name)
{
    for (const vd_option *option = vd_cmd_train.options; option->name; option++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

// These follow from the data; --vocab is another thing, a file.
static bool of_data(const vd_setting *row)
{
    return strcmp(row->name, "vocab") == 0 || strcmp(row->name, "region") == 0;
}

static void set_on_the_command_line(const vd_setting *row, int part)
{
    for (int which = 0; which < VALUES; which++) {
        vd_run_settings expected =
            part == CAPTIONER ? vd_run_settings_captions() : vd_run_settings_defaults();
        vd_run_settings found = expected;
        char text[64];
        vd_error err;
        text_of(row, which, text, sizeof text);
        if (row->kind == VD_SETTING_SWITCH && which != MOST)
            continue; // it takes no value
        vd_status status = vd_run_settings_set(&found, row->name, text, &err);
        if (which <= MOST) {
            assert_int_equal(status, VD_OK);
            put(row, which, part_of(part, &expected));
        } else {
            support_refused(status, VD_USAGE, &err, "--", row->name, "expected", text, NULL);
        }
        assert_same(rows_of(part), part_of(part, &found), part_of(part, &expected));
        if (part == CAPTIONER)
            continue; // names that networks have, too, are set of both
        assert_same(vd_config_settings, &found.network, &expected.network);
        assert_same(vd_train_settings, &found.training, &expected.training);
    }
}

static void the_command_line_keeps_the_bounds(void **state)
{
    (void)state;
    for (int part = 0; part < PARTS; part++)
        for (const vd_setting *row = rows_of(part); row->name; row++) {
            if (of_data(row))
                continue;
            assert_non_null(option_of(row->name));
            set_on_the_command_line(row, part);
        }
}

// The default where it is a number; every choice there is.
static void the_help_says_the_default_and_the_choices(void **state)
{
    (void)state;
    for (int part = 0; part < PARTS; part++)
        for (const vd_setting *row = rows_of(part); row->name; row++) {
            const vd_option *option = option_of(row->name);
            char text[64];
            if (of_data(row))
                continue;
            assert_int_equal(!option->argument, row->kind == VD_SETTING_SWITCH);
            assert_true(row->initial >= row->least && row->initial <= row->most);
            for (int i = 0; row->kind == VD_SETTING_CHOICE && i <= (int)row->most; i++)
                assert_non_null(strstr(option->help, row->choices[i]));
            snprintf(text, sizeof text, "(%g", row->initial);
            if (row->kind == VD_SETTING_INT || row->kind == VD_SETTING_REAL)
                assert_non_null(strstr(option->help, text));
        }
}

static bool names(const char *text, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length)
        if ((at == text || !strchr(letters, at[-1])) &&
            (!at[length] || !strchr(letters, at[length])))
            return true;
    return false;
}

// With a text encoder of its own or another.
static bool reads(bool captions, int kind, const char *option)
{
    vd_config own = {.network = captions ? VD_NETWORK_MVAN : (vd_network_kind)kind}, gru;
    if (captions) {
        own.task = VD_TASK_CAPTION;
        own.caption.captioner = (vd_captioner_kind)kind;
    }
    gru = own;
    gru.text = VD_TEXT_GRU;
    return vd_encoder_reads(&own, option) || vd_encoder_reads(&gru, option);
}

static void check_readers(bool captions, const char *option)
{
    const char *help = option_of(option)->help;
    int count = captions ? VD_CAPTIONERS : VD_NETWORKS, readers = 0, named = 0, both = 0;
    for (int k = 0; k < count; k++) {
        bool named_here = names(help, captions ? vd_captioner_names[k] : vd_network_names[k]);
        readers += reads(captions, k, option);
        named += named_here;
        both += named_here && reads(captions, k, option);
    }
    if (readers < count && named > 0 && (both != readers || both != named))
        fail_msg("--%s: read by %d, named are %d, both %d", option, readers, named, both);
}

static void the_help_names_the_networks_that_read_an_option(void **state)
{
    (void)state;
    for (const vd_setting *row = vd_config_settings; row->name; row++)
        if (!of_data(row))
            check_readers(false, row->name);
    check_readers(false, "next-word");
    for (const vd_setting *row = vd_caption_settings; row->name; row++)
        if (!vd_settings_find(vd_config_settings, row->name))
            check_readers(true, row->name);
    for (int n = 0; n < VD_NETWORKS; n++) {
        const vd_encoder *encoder = vd_encoder_of(&(vd_config){.network = (vd_network_kind)n});
        assert_int_equal(names(VD_PUBLIC_NETWORKS, encoder->name), encoder->published.mark != NULL);
    }
}

static void options_are_read_by_some_networks_only(void **state)
{
    (void)state;
    vd_config mvan = {0}, gru = {.text = VD_TEXT_GRU}, qanet = {.text = VD_TEXT_QANET},
              memn2n = {.network = VD_NETWORK_MEMN2N, .heads = 3}, lf = {.network = VD_NETWORK_LF};
    assert_false(vd_encoder_reads(&mvan, "image")); // its fused stages divide by channels' norms
    assert_true(vd_encoder_reads(&gru, "image"));
    assert_false(vd_encoder_reads(&lf, "image")); // the mean of the regions as they are
    assert_true(vd_encoder_reads(&lf, "embed"));
    assert_false(vd_encoder_reads(&gru, "heads"));
    assert_true(vd_encoder_reads(&qanet, "heads"));
    assert_true(vd_encoder_reads(&qanet, "text-dropout"));
    assert_false(vd_encoder_reads(&memn2n, "text-dropout"));
    assert_false(vd_encoder_reads(&memn2n, "heads"));
    assert_false(vd_encoder_reads(&memn2n, "next-word"));
    assert_false(vd_encoder_reads(&memn2n, "dropout"));
    assert_true(vd_encoder_reads(&lf, "dropout") && vd_encoder_reads(&mvan, "dropout"));
    memn2n.answer = VD_ANSWER_CONV; // the decoder reads it
    assert_true(vd_encoder_reads(&memn2n, "dropout"));
    vd_config transformer = {.network = VD_NETWORK_DIALOG_TRANSFORMER}; // has positions of its own
    mvan.positions = VD_POSITIONS_NONE;
    transformer.positions = VD_POSITIONS_NONE;
    assert_false(vd_encoder_reads(&mvan, "position-dropout"));
    assert_true(vd_encoder_reads(&transformer, "position-dropout"));
    mvan.positions = VD_POSITIONS_LEARNED;
    assert_true(vd_encoder_reads(&mvan, "position-dropout"));
    assert_int_equal(vd_encoder_heads(&memn2n), 3);
    vd_caption_config captioner = {.captioner = VD_CAPTIONER_TRANSFORMER};
    assert_false(vd_caption_reads(&captioner, "embed"));
    captioner.captioner = VD_CAPTIONER_SAT_SOFT;
    assert_true(vd_caption_reads(&captioner, "embed"));
}

// The help says what is different for captioners, and for SCST.
static void the_help_says_the_defaults_of_captioners(void **state)
{
    (void)state;
    const vd_run_settings all[] = {vd_run_settings_defaults(), vd_run_settings_captions(),
                                   vd_run_settings_scst()};
    int differ = 0;
    for (const vd_setting *row = vd_train_settings; row->name; row++) {
        char value[3][32], text[128];
        for (int i = 0; i < 3; i++)
            vd_run_settings_text(&all[i], row->name, value[i], sizeof value[i]);
        if (strcmp(value[0], value[1]) == 0 && strcmp(value[1], value[2]) == 0)
            continue;
        differ++;
        if (row->kind == VD_SETTING_CHOICE)
            snprintf(text, sizeof text, "%s (captions: default; ", value[1]);
        else
            snprintf(text, sizeof text, "(%s; captions: %s; SCST: %s)", value[0], value[1],
                     value[2]);
        assert_non_null(strstr(option_of(row->name)->help, text));
        snprintf(text, sizeof text, "%s (SCST: default)", value[2]);
        if (row->kind == VD_SETTING_CHOICE)
            assert_non_null(strstr(option_of(row->name)->help, text));
    }
    assert_int_equal(differ, 6);
}

// ---- the trainer and its checkpoint -------------------------------------------------------------

static vd_status new_trainer(const vd_config *config, const vd_train_options *options,
                             vd_trainer **out, vd_error *err)
{
    vd_vocab *vocab = small_vocab();
    vd_status status = vd_trainer_new(config, vocab, options, out, err);
    vd_vocab_free(vocab);
    return status;
}

static void the_trainer_keeps_the_bounds(void **state)
{
    (void)state;
    for (const vd_setting *row = vd_train_settings; row->name; row++)
        for (int which = 0; which < VALUES; which++) {
            vd_train_options options = vd_train_defaults();
            vd_config config = small_config();
            vd_trainer *trainer, *resumed;
            vd_error err;
            put(row, which, &options);
            vd_status status = new_trainer(&config, &options, &trainer, &err);
            if (which > MOST) {
                support_refused(status, VD_USAGE, &err, row->name, "expected", NULL);
                continue;
            }
            assert_int_equal(status, VD_OK);
            char *path = support_join(directory, "checkpoint");
            assert_int_equal(vd_trainer_checkpoint(trainer, path, &err), VD_OK);
            assert_int_equal(vd_trainer_resume(path, &resumed, &err), VD_OK);
            assert_same(vd_train_settings, vd_trainer_options(resumed), &options);
            vd_trainer_free(resumed);
            vd_trainer_free(trainer);
            free(path);
        }
    for (const vd_setting *row = vd_config_settings; row->name; row++)
        for (int which = 0; which < VALUES; which++) {
            vd_train_options options = vd_train_defaults();
            vd_config config = small_config();
            vd_trainer *trainer;
            vd_error err;
            put(row, which, &config);
            if (which <= MOST) // a network of the most would fill the memory
                assert_int_equal(vd_settings_check(vd_config_settings, &config, &err), VD_OK);
            else
                support_refused(new_trainer(&config, &options, &trainer, &err), VD_USAGE, &err,
                                row->name, "expected", NULL);
        }
    for (const vd_setting *row = vd_caption_settings; row->name; row++)
        for (int which = BELOW; which <= ABOVE; which++) {
            vd_run_settings settings = vd_run_settings_captions();
            vd_trainer *trainer;
            vd_error err;
            put(row, which, &settings.network.caption);
            const vd_config config = vd_config_of_captioner(&settings.network.caption);
            support_refused(new_trainer(&config, &settings.training, &trainer, &err), VD_USAGE,
                            &err, row->name, "expected", NULL);
        }
}

// The JSON with another value of a row, free().
static char *with_value(const char *json, const vd_setting *row, const char *value)
{
    size_t room = strlen(json) + strlen(value) + 1;
    char key[64], *made = malloc(room);
    snprintf(key, sizeof key, "\"%s\":", row->name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    const char *at = strstr(json, key);
    assert_non_null(at);
    at += strlen(key);
    snprintf(made, room, "%.*s%s%s", (int)(at - json), json, value, at + strcspn(at, ",}"));
    return made;
}

static void keeps_the_bounds(int part, const vd_setting *row, const char *json,
                             const vd_run_settings *settings)
{
    char text[64], value[80];
    vd_error err;
    for (int which = 0; which < VALUES; which++) {
        vd_run_settings read = {0}, expected = *settings;
        bool string = row->kind == VD_SETTING_CHOICE || row->kind == VD_SETTING_SEED;
        text_of(row, which, text, sizeof text);
        snprintf(value, sizeof value, string ? "\"%s\"" : "%s", text);
        char *changed = with_value(json, row, value);
        vd_status status =
            vd_settings_read(rows_of(part), changed, "file", part_of(part, &read), &err);
        free(changed);
        if (which > MOST) {
            support_refused(status, VD_FORMAT, &err, "file: ", "expected", text, NULL);
            continue;
        }
        assert_int_equal(status, VD_OK);
        put(row, which, part_of(part, &expected));
        assert_same(rows_of(part), part_of(part, &read), part_of(part, &expected));
    }
}

static void the_files_keep_the_bounds(void **state)
{
    (void)state;
    vd_run_settings settings = vd_run_settings_defaults();
    char *json;
    vd_error err;
    for (int part = 0; part < PARTS; part++) {
        assert_int_equal(
            vd_settings_write(rows_of(part), part_of(part, &settings), "settings", &json, &err),
            VD_OK);
        for (const vd_setting *row = rows_of(part); row->name; row++)
            keeps_the_bounds(part, row, json, &settings);
        vd_free(json);
    }
}

static void what_is_no_object_of_settings_is_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"[]", "expected an object of settings, found an array"},
        {"{\"rate\": \"1\"}", "rate: expected a number, found a string"},
        {"{\"rate\": {}}", "rate: expected a number, found an object"},
        {"{\"rate\": 1e-999}", "rate: expected a number from 1e-09 to 1000, found '1e-999'"},
        {"{\"seed\": 1}", "seed: expected a string, found a number"},
        {"{\"seed\": \"\"}", "seed: expected a whole number"},
        {"{\"margin\": 2.5}", "margin: expected a whole number from 1 to 4, found '2.5'"},
        {"{\"rate\": 1, \"rate\": 1}", "rate: given twice"},
        {"{\"depth\": 1}", "depth: a setting that this version does not know"},
        {"{\"rate\": 1}", "\"optimiser\" is missing"},
    };
    vd_train_options options;
    vd_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        support_refused(vd_settings_read(vd_train_settings, bad[i][0], "file", &options, &err),
                        VD_FORMAT, &err, "file: ", bad[i][1], NULL);
}

// Models from before there was a choice have no decoder.
static void what_came_later_may_be_missing(void **state)
{
    (void)state;
    vd_config config;
    vd_error err;
    assert_int_equal(vd_settings_read(vd_config_settings,
                                      "{\"vocab\": 9, \"embed\": 2, \"hidden\": 3, \"region\": 4, "
                                      "\"gate\": \"elu\", \"positions\": \"none\"}",
                                      "file", &config, &err),
                     VD_OK);
    assert_int_equal(config.decoders, VD_DISCRIMINATIVE);
    assert_int_equal(config.gate, VD_GATE_ELU);
    assert_int_equal(config.text, VD_TEXT_OWN);
}

static void settings_compare_to_seven_digits(void **state)
{
    (void)state;
    vd_run_settings a = vd_run_settings_defaults(), b = a;
    b.training.lstm_dropout = (double)0.4f;
    assert_true(vd_run_settings_same(&a, &b, "lstm-dropout"));
    b.training.lstm_dropout = 0.4001;
    assert_false(vd_run_settings_same(&a, &b, "lstm-dropout"));
    b.network.gate = VD_GATE_ELU;
    assert_false(vd_run_settings_same(&a, &b, "gate"));
    assert_true(vd_run_settings_same(&a, &b, "seed"));
}

static void heads_left_to_the_network_are_the_same_as_so_many(void **state)
{
    (void)state;
    static const struct {
        vd_network_kind network;
        vd_text_choice text;
        int embed, heads;
    } at[] = {{VD_NETWORK_DIALOG_TRANSFORMER, VD_TEXT_OWN, 64, 4},
              {VD_NETWORK_DIALOG_TRANSFORMER, VD_TEXT_OWN, 6, 3},
              {VD_NETWORK_HRE, VD_TEXT_TRANSFORMER, 6, 4},
              {VD_NETWORK_LF, VD_TEXT_OWN, 64, 0}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (int heads = 0; heads < 6; heads++) {
            vd_run_settings a = vd_run_settings_defaults(), b = a;
            b.network.network = at[i].network;
            b.network.text = at[i].text;
            b.network.embed = at[i].embed;
            a.network.heads = heads;
            assert_int_equal(vd_run_settings_same(&a, &b, "heads"), !heads || heads == at[i].heads);
            a.network.heads = at[i].heads;
            b.network.heads = heads;
            assert_int_equal(vd_run_settings_same(&a, &b, "heads"), !heads || heads == at[i].heads);
        }
}

static vd_status write_and_read(void *context, vd_error *err)
{
    vd_train_options options = vd_train_defaults();
    char *json = NULL;
    (void)context;
    vd_status status =
        vd_settings_write(vd_train_settings, &options, "training options", &json, err);
    if (status == VD_OK)
        status = vd_settings_read(vd_train_settings, json, "file", &options, err);
    vd_free(json);
    return status;
}

static void memory_that_is_out_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(write_and_read, NULL) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_and_defaults_are_these),
        cmocka_unit_test(the_command_line_keeps_the_bounds),
        cmocka_unit_test(the_help_says_the_default_and_the_choices),
        cmocka_unit_test(the_help_names_the_networks_that_read_an_option),
        cmocka_unit_test(options_are_read_by_some_networks_only),
        cmocka_unit_test(the_help_says_the_defaults_of_captioners),
        cmocka_unit_test(the_trainer_keeps_the_bounds),
        cmocka_unit_test(the_files_keep_the_bounds),
        cmocka_unit_test(what_is_no_object_of_settings_is_refused),
        cmocka_unit_test(what_came_later_may_be_missing),
        cmocka_unit_test(settings_compare_to_seven_digits),
        cmocka_unit_test(heads_left_to_the_network_are_the_same_as_so_many),
        cmocka_unit_test(memory_that_is_out_is_reported),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
