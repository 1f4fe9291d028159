// The setting `text`: which network takes which text encoder, what is said of the others, and that
// a network's own one by its name is the same network.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model/model.h"
#include "engine/networks/text/text.h"
#include "engine/train/trainer.h"
#include "tests/support/must.h"
#include "tests/support/one_directory.h"
#include "tests/support/random_model.h"
#include "tests/support/readings.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"
#include "tests/support/step.h"
#include "tests/support/support.h"

static vd_config config_of(vd_network_kind network, vd_text_choice text)
{
    vd_config config = small_config();
    config.network = network;
    config.text = text;
    return config;
}

static vd_status train(const vd_config *config, vd_trainer **out, vd_error *err)
{
    vd_vocab *vocab = small_vocab();
    vd_train_options options = small_options(3);
    vd_status status = vd_trainer_new(config, vocab, &options, out, err);
    vd_vocab_free(vocab);
    return status;
}

static void refused(const vd_config *config, const char *why, const char *what)
{
    vd_trainer *trainer;
    vd_error err;
    const char *text = config->text == VD_TEXT_OWN ? why : vd_text_names[config->text];
    support_refused(train(config, &trainer, &err), VD_USAGE, &err, text, why, what, NULL);
    assert_null(trainer);
}

static void a_dialog_read_as_one_sequence_takes_none(void **state)
{
    (void)state;
    for (int text = VD_TEXT_OWN + 1; text < VD_TEXT_ENCODERS; text++) {
        vd_config config = config_of(VD_NETWORK_DIALOG_TRANSFORMER, (vd_text_choice)text);
        refused(&config, "dialog-transformer", "as one sequence of tokens");
    }
}

// A step of training, which goes through it and back.
static void every_other_network_takes_all(void **state)
{
    (void)state;
    for (int network = VD_NETWORK_MVAN; network < VD_NETWORKS; network++)
        for (int text = VD_TEXT_OWN; text < VD_TEXT_ENCODERS; text++) {
            vd_config config = config_of((vd_network_kind)network, (vd_text_choice)text);
            vd_trainer *trainer;
            double loss = 0;
            vd_error err;
            if (network == VD_NETWORK_DIALOG_TRANSFORMER)
                continue;
            must(train(&config, &trainer, &err), &err);
            must(step_take(trainer, small_batch(), 1, &loss, NULL, &err), &err);
            assert_true(loss > 0 && loss < 100);
            vd_trainer_free(trainer);
        }
}

static void sizes_that_do_not_divide_are_refused(void **state)
{
    vd_config config = config_of(VD_NETWORK_MN, VD_TEXT_BILSTM);
    (void)state;
    config.hidden = 7;
    refused(&config, "among 2 directions", "found 7");
    config = config_of(VD_NETWORK_HRE, VD_TEXT_TRANSFORMER);
    config.heads = 3;
    refused(&config, "among 3 heads", "found 8");
    config.heads = 0;
    config.hidden = 6;
    refused(&config, "among 4 heads", "found 6");
    config = config_of(VD_NETWORK_MN, VD_TEXT_OWN);
    config.score_rounds = VD_SCORE_MULTI_HEAD;
    config.hidden = 6;
    refused(&config, "score multi-head", "among 4 heads");
    config = config_of(VD_NETWORK_MVAN, VD_TEXT_QANET);
    config.hidden = 5;
    refused(&config, "among 4 heads", "(hidden, doubled), found 10");
}

// A file with such a configuration is refused like a damaged one, with its name.
static void a_file_is_held_to_it_too(void **state)
{
    static const char own[] = "\\\"own\\\"", gru[] = "\\\"gru\\\"";
    char *path = support_join(directory, "model.safetensors");
    vd_config config = config_of(VD_NETWORK_DIALOG_TRANSFORMER, VD_TEXT_OWN);
    size_t size;
    vd_model *model;
    vd_error err;
    (void)state;
    support_write_random_model(&config, path);
    char *bytes = support_read_file(path, &size), *at = bytes;
    while (at < bytes + size && strncmp(at, own, strlen(own)) != 0)
        at++;
    assert_true(at < bytes + size);
    memcpy(at, gru, strlen(gru));
    support_write_file(path, bytes, size);
    support_refused(vd_model_load(path, &model, &err), VD_FORMAT, &err, path,
                    "text gru: the network dialog-transformer reads picture and dialog as one",
                    NULL);
    free(bytes);
    free(path);
}

static void a_networks_own_by_its_name_is_the_same(void **state)
{
    static const vd_config named[] = {
        {.network = VD_NETWORK_LF_BU, .text = VD_TEXT_LSTM},
        {.network = VD_NETWORK_MAC, .text = VD_TEXT_BILSTM},
        {.network = VD_NETWORK_DCN, .text = VD_TEXT_BILSTM},
        {.network = VD_NETWORK_MVAN, .text = VD_TEXT_BILSTM},
    };
    (void)state;
    for (size_t n = 0; n < sizeof named / sizeof *named; n++) {
        double loss[2];
        vd_error err;
        for (int i = 0; i < 2; i++) {
            vd_config config = config_of(named[n].network, i ? named[n].text : VD_TEXT_OWN);
            vd_trainer *trainer;
            must(train(&config, &trainer, &err), &err);
            must(step_take(trainer, small_batch(), 1, &loss[i], NULL, &err), &err);
            vd_trainer_free(trainer);
        }
        assert_true(loss[0] == loss[1]);
    }
}

// The loss of the first step, with this rate of dropout inside the text encoder and no other.
static double first_loss(const vd_config *config, double rate)
{
    vd_vocab *vocab = small_vocab();
    vd_train_options options = small_options(3);
    vd_trainer *trainer;
    double loss;
    vd_error err;
    options.dropout = options.lstm_dropout = options.position_dropout = 0;
    options.text_dropout = rate;
    must(vd_trainer_new(config, vocab, &options, &trainer, &err), &err);
    must(step_take(trainer, small_batch(), 1, &loss, NULL, &err), &err);
    vd_trainer_free(trainer);
    vd_vocab_free(vocab);
    return loss;
}

static void encoders_have_a_rate_of_dropout_of_their_own(void **state)
{
    (void)state;
    for (int text = VD_TEXT_GRU + 1; text < VD_TEXT_ENCODERS; text++) {
        vd_config config = config_of(VD_NETWORK_MN, (vd_text_choice)text);
        double own = first_loss(&config, -1);
        assert_true(own == first_loss(&config, text == VD_TEXT_GLDR ? 0.2 : 0.1));
        assert_true(own != first_loss(&config, 0));
    }
}

// A model goes on learning only with the text encoder that it has.
static void a_start_from_a_model_keeps_its_encoder(void **state)
{
    vd_config config = config_of(VD_NETWORK_MN, VD_TEXT_GRU),
              other = config_of(VD_NETWORK_MN, VD_TEXT_BILSTM);
    vd_model *model = support_random_model(&config);
    vd_trainer *trainer;
    vd_error err;
    (void)state;
    must(train(&config, &trainer, &err), &err);
    must(vd_trainer_start_from(trainer, model, &err), &err);
    vd_trainer_free(trainer);
    must(train(&other, &trainer, &err), &err);
    support_refused(vd_trainer_start_from(trainer, model, &err), VD_MISMATCH, &err,
                    "its text encoder is gru, expected bilstm", NULL);
    vd_trainer_free(trainer);
    vd_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dialog_read_as_one_sequence_takes_none),
        cmocka_unit_test(every_other_network_takes_all),
        cmocka_unit_test(sizes_that_do_not_divide_are_refused),
        cmocka_unit_test(a_file_is_held_to_it_too),
        cmocka_unit_test(a_networks_own_by_its_name_is_the_same),
        cmocka_unit_test(encoders_have_a_rate_of_dropout_of_their_own),
        cmocka_unit_test(a_start_from_a_model_keeps_its_encoder),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
