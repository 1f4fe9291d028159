#include "tui/train/run_settings.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/networks/encoder.h"
#include "engine/networks/settings.h"

// The settings of presets: name, value in "base", value in "improved".
static const char *const presets[][3] = {{"gate", "sigmoid", "leaky-relu"},
                                         {"positions", "none", "sinusoidal"},
                                         {"optimiser", "rmsprop", "adam"},
                                         {"margin", "1", "4"}};
enum { OF_PRESETS = sizeof presets / sizeof *presets };

// The parts of the settings, and what their rows are.
enum { NETWORK, CAPTION, TRAINING, PARTS };
static const struct {
    const vd_setting *rows;
    size_t offset;
} parts[PARTS] = {
    [NETWORK] = {vd_config_settings, offsetof(vd_run_settings, network)},
    [CAPTION] = {vd_caption_settings, offsetof(vd_run_settings, network.caption)},
    [TRAINING] = {vd_train_settings, offsetof(vd_run_settings, training)},
};

static const vd_setting *find_in(int part, vd_run_settings *settings, const char *option,
                                 void **values)
{
    *values = (char *)settings + parts[part].offset;
    return vd_settings_find(parts[part].rows, option);
}

// The row of an option, and the part of the settings that has its value.
static const vd_setting *find(vd_run_settings *settings, const char *option, void **values)
{
    bool captions = settings->network.task == VD_TASK_CAPTION;
    const int order[] = {captions ? CAPTION : NETWORK, captions ? NETWORK : CAPTION, TRAINING};
    const vd_setting *row = NULL;
    for (int i = 0; i < PARTS && !row; i++)
        row = find_in(order[i], settings, option, values);
    return row;
}

vd_run_settings vd_run_settings_defaults(void)
{
    vd_run_settings settings = {.training = vd_train_defaults()};
    vd_settings_start(vd_config_settings, &settings.network);
    vd_settings_start(vd_caption_settings, &settings.network.caption);
    return settings;
}

#define SAME(...)
#define OF_CAPTIONS(member, name, kind, least, most, initial, captions, ...)                       \
    settings.training.member = captions;
#define OF_SCST(member, name, kind, least, most, initial, captions, scst, ...)                     \
    settings.training.member = scst;

vd_run_settings vd_run_settings_captions(void)
{
    vd_run_settings settings = vd_run_settings_defaults();
    settings.network.task = VD_TASK_CAPTION;
    VD_TRAIN_SETTINGS(SAME, OF_CAPTIONS)
    return settings;
}

vd_run_settings vd_run_settings_scst(void)
{
    vd_run_settings settings = vd_run_settings_captions();
    VD_TRAIN_SETTINGS(SAME, OF_SCST)
    return settings;
}

void vd_run_settings_of_captioner(vd_caption_config *settings, const vd_caption_config *other,
                                  const vd_arguments *given)
{
    for (const vd_setting *row = vd_caption_settings; row->name; row++) {
        char text[64];
        vd_setting_text(row, other, text, sizeof text);
        if (!vd_arguments_have(given, row->name))
            vd_setting_parse(row, text, settings, row->name, VD_USAGE, NULL);
    }
}

// Settings of a training that only dialogs have, or captions.
static const char of_dialogs[] = "margin lambda-start lambda-decay lambda-floor lstm-dropout "
                                 "position-dropout own-masks text-dropout coverage next-word "
                                 "random-time linear-start open-gates pool";
static const char of_captions[] =
    "scst sample sample-size baseline eos reward-most variety ce-weight best-by";

void vd_run_settings_foreign(vd_task task, char *out, size_t size)
{
    bool captions = task == VD_TASK_CAPTION;
    const vd_setting *rows = parts[captions ? NETWORK : CAPTION].rows;
    snprintf(out, size, "%s", captions ? of_dialogs : of_captions);
    for (; rows->name; rows++)
        if (!vd_settings_find(parts[captions ? CAPTION : NETWORK].rows, rows->name))
            vd_append(out, size, " %s", rows->name);
}

bool vd_run_settings_preset(vd_run_settings *settings, const char *preset)
{
    int which = strcmp(preset, "base") == 0 ? 1 : strcmp(preset, "improved") == 0 ? 2 : 0;
    for (int i = 0; which && i < OF_PRESETS; i++)
        vd_run_settings_set(settings, presets[i][0], presets[i][which], NULL);
    return which;
}

bool vd_run_settings_of_preset(const char *option)
{
    for (int i = 0; i < OF_PRESETS; i++)
        if (strcmp(presets[i][0], option) == 0)
            return true;
    return false;
}

vd_status vd_run_settings_set(void *settings, const char *option, const char *text, vd_error *err)
{
    char where[64];
    void *values;
    vd_decoders brief;
    vd_status status = VD_OK;
    const vd_setting *row = find(settings, option, &values);
    if (row->kind == VD_SETTING_SWITCH)
        text = "1";
    if (row->choices == vd_decoders_names && vd_decoders_parse(text, &brief))
        text = vd_decoders_name(brief);
    snprintf(where, sizeof where, "--%s", option);
    for (int i = 0; i < PARTS && status == VD_OK; i++)
        if ((row = find_in(i, settings, option, &values)))
            status = vd_setting_parse(row, text, values, where, VD_USAGE, err);
    return status;
}

// With what an option changes nothing; NULL: it may change something.
static const char *idle_with(const vd_config *network, const vd_train_options *training,
                             const char *option)
{
    if (!vd_encoder_reads(network, option) && network->task == VD_TASK_DIALOG &&
        strcmp(option, "position-dropout") == 0)
        return "positions none";
    if (!vd_encoder_reads(network, option))
        return network->task == VD_TASK_CAPTION ? vd_captioner_names[network->caption.captioner]
                                                : vd_network_names[network->network];
    if (strncmp(option, "awc-", 4) == 0 && network->caption.awc == VD_AWC_NONE)
        return "awc none";
    if (strcmp(option, "warm-up") == 0 && training->schedule != VD_SCHEDULE_WARM_UP)
        return "this schedule";
    if ((strncmp(option, "beta-", 5) == 0 || strcmp(option, "epsilon") == 0) &&
        training->optimiser == VD_RMSPROP)
        return "rmsprop";
    if (strcmp(option, "weight-decay") == 0 && training->optimiser != VD_ADAMW)
        return vd_optimiser_names[training->optimiser];
    if (strcmp(option, "score-words") == 0 && network->answer != VD_ANSWER_ATTENTION)
        return network->answer == VD_ANSWER_CONV       ? "answer conv"
               : network->answer == VD_ANSWER_SEQUENCE ? "answer sequence"
                                                       : "answer lstm";
    if (strcmp(option, "open-gates") == 0 && network->gate == VD_GATE_SIGMOID)
        return "gate sigmoid";
    bool of_margin = strncmp(option, "lambda-", 7) == 0;
    if (!vd_has_discriminative(network->decoders) &&
        (of_margin || strcmp(option, "margin") == 0 || strcmp(option, "own-masks") == 0))
        return "a generative decoder";
    return of_margin && training->margin == 1 ? "margin 1" : NULL;
}

void vd_run_settings_note(const vd_trainer *trainer, const vd_arguments *given)
{
    const vd_config *config = vd_trainer_config(trainer);
    const vd_setting *const lists[] = {
        parts[config->task == VD_TASK_CAPTION ? CAPTION : NETWORK].rows, vd_train_settings};
    for (int i = 0; i < 2; i++)
        for (const vd_setting *row = lists[i]; row->name; row++) {
            const char *with = idle_with(config, vd_trainer_options(trainer), row->name);
            if (with && vd_arguments_have(given, row->name))
                fprintf(stderr, "--%s changes nothing with %s\n", row->name, with);
        }
}

void vd_run_settings_text(const vd_run_settings *settings, const char *option, char *out,
                          size_t size)
{
    vd_run_settings copy = *settings;
    void *part;
    const vd_setting *row = find(&copy, option, &part);
    if (row->kind == VD_SETTING_REAL)
        snprintf(out, size, "%.7g", *(double *)(void *)((char *)part + row->offset));
    else
        vd_setting_text(row, part, out, size);
}

bool vd_run_settings_same(const vd_run_settings *a, const vd_run_settings *b, const char *option)
{
    if (strcmp(option, "heads") == 0 && b->network.task == VD_TASK_DIALOG) {
        vd_config other = b->network;
        other.heads = a->network.heads;
        return vd_encoder_heads(&other) == vd_encoder_heads(&b->network);
    }
    char one[64], other[64];
    vd_run_settings_text(a, option, one, sizeof one);
    vd_run_settings_text(b, option, other, sizeof other);
    return strcmp(one, other) == 0;
}

vd_status vd_run_settings_check(const vd_run_settings *settings, vd_error *err)
{
    const vd_config *network = &settings->network;
    return settings->training.coverage == 0 || network->copy == VD_COPY_POINTER
               ? VD_OK
               : vd_error_set(err, VD_USAGE, "--coverage needs --copy pointer, found %s",
                              vd_copy_names[network->copy]);
}
