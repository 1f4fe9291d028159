#include "tui/train/run_settings.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tui/base/options.h"

typedef enum kind { WHOLE, NUMBER, SWITCH, GATE, POSITIONS, OPTIMISER, DECODER } kind;

typedef struct field {
    const char *option;
    kind kind;
    size_t offset;
    double low, high;
} field;

#define AT(member) offsetof(vd_run_settings, member)
static const field fields[] = {
    {"gate", GATE, AT(gate), 0, 0},
    {"positions", POSITIONS, AT(positions), 0, 0},
    {"optimiser", OPTIMISER, AT(optimiser), 0, 0},
    {"decoder", DECODER, AT(decoder), 0, 0},
    {"embed", WHOLE, AT(embed), 1, 4096},
    {"hidden", WHOLE, AT(hidden), 1, 8192},
    {"margin", WHOLE, AT(margin), 1, 4},
    {"lambda-start", NUMBER, AT(lambda_start), 0, 1e6},
    {"lambda-decay", NUMBER, AT(lambda_decay), 0, 1},
    {"lambda-floor", NUMBER, AT(lambda_floor), 0, 1e6},
    {"dropout", NUMBER, AT(dropout), 0, 0.95},
    {"lstm-dropout", NUMBER, AT(lstm_dropout), 0, 0.95},
    {"position-dropout", NUMBER, AT(position_dropout), 0, 0.95},
    {"open-gates", SWITCH, AT(open_gates), 0, 1},
    {"rate", NUMBER, AT(rate), 1e-9, 10},
    {"clip", NUMBER, AT(clip), 0, 1e9},
    {"batch", WHOLE, AT(batch), 1, 1024},
    {"micro-batch", WHOLE, AT(micro_batch), 0, 1024},
    {"epochs", WHOLE, AT(epochs), 1, 1000},
    {"seed", WHOLE, AT(seed), 0, 1e15},
    {"min-count", WHOLE, AT(min_count), 1, 1e9},
    {"pool", WHOLE, AT(pool), 1, 1e6},
    {"half", SWITCH, AT(half), 0, 1},
};
#undef AT

static const field *find(const char *option)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(fields[i].option, option) == 0)
            return &fields[i];
    }
    return NULL;
}

static int64_t *whole(const vd_run_settings *settings, const field *f)
{
    return (int64_t *)((char *)settings + f->offset);
}

static double *number(const vd_run_settings *settings, const field *f)
{
    return (double *)((char *)settings + f->offset);
}

bool vd_run_settings_preset(vd_run_settings *settings, const char *preset)
{
    if (strcmp(preset, "base") == 0) {
        settings->gate = VD_GATE_SIGMOID;
        settings->optimiser = VD_RMSPROP;
        settings->positions = VD_POSITIONS_NONE;
        settings->margin = 1;
        return true;
    }
    if (strcmp(preset, "improved") == 0) {
        settings->gate = VD_GATE_LEAKY_RELU;
        settings->optimiser = VD_ADAM;
        settings->positions = VD_POSITIONS_SINUSOIDAL;
        settings->margin = 4;
        return true;
    }
    return false;
}

static void from_options(vd_run_settings *settings, const vd_train_options *options)
{
    settings->optimiser = options->optimiser;
    settings->margin = options->margin;
    settings->lambda_start = options->lambda_start;
    settings->lambda_decay = options->lambda_decay;
    settings->lambda_floor = options->lambda_floor;
    settings->dropout = (double)options->dropout;
    settings->lstm_dropout = (double)options->lstm_dropout;
    settings->position_dropout = (double)options->position_dropout;
    settings->open_gates = options->open_gates;
    settings->rate = options->rate;
    settings->clip = options->clip;
    settings->seed = (int64_t)options->seed;
}

vd_run_settings vd_run_settings_defaults(void)
{
    vd_run_settings settings = {
        .embed = 64, .hidden = 128, .batch = 32, .epochs = 8, .min_count = 5, .pool = 1000};
    vd_train_options options = vd_train_defaults();
    from_options(&settings, &options);
    vd_run_settings_preset(&settings, "improved");
    return settings;
}

bool vd_run_settings_has(const char *option)
{
    return find(option) != NULL;
}

vd_status vd_run_settings_set(vd_run_settings *settings, const char *option, const char *text,
                              vd_error *err)
{
    const field *f = find(option);
    vd_gate gate;
    vd_positions positions;
    vd_optimiser optimiser;
    vd_decoders decoder;
    switch (f->kind) {
    case WHOLE:
        return vd_option_int(option, text, (int64_t)f->low, (int64_t)f->high, whole(settings, f),
                             err);
    case NUMBER:
        return vd_option_number(option, text, f->low, f->high, number(settings, f), err);
    case SWITCH:
        *whole(settings, f) = 1;
        return VD_OK;
    case GATE:
        if (!vd_gate_parse(text, &gate))
            return vd_error_set(err, VD_USAGE,
                                "--gate: expected sigmoid, leaky-relu or elu, found '%.80s'", text);
        settings->gate = gate;
        return VD_OK;
    case POSITIONS:
        if (!vd_positions_parse(text, &positions))
            return vd_error_set(err, VD_USAGE,
                                "--positions: expected none, sinusoidal, learned or as-printed, "
                                "found '%.80s'",
                                text);
        settings->positions = positions;
        return VD_OK;
    case OPTIMISER:
        if (!vd_optimiser_parse(text, &optimiser))
            return vd_error_set(err, VD_USAGE, "--optimiser: expected %s or %s, found '%.80s'",
                                vd_optimiser_name(VD_ADAM), vd_optimiser_name(VD_RMSPROP), text);
        settings->optimiser = optimiser;
        return VD_OK;
    case DECODER:
        if (!vd_decoders_parse(text, &decoder))
            return vd_error_set(err, VD_USAGE,
                                "--decoder: expected discriminative, generative or both, found "
                                "'%.80s'",
                                text);
        settings->decoder = decoder;
        return VD_OK;
    }
    return VD_OK;
}

void vd_run_settings_text(const vd_run_settings *settings, const char *option, char *out,
                          size_t size)
{
    const field *f = find(option);
    int64_t value = f->kind == NUMBER ? 0 : *whole(settings, f);
    switch (f->kind) {
    case WHOLE:
    case SWITCH:
        snprintf(out, size, "%" PRId64, value);
        break;
    case NUMBER:
        snprintf(out, size, "%.7g", *number(settings, f));
        break;
    case GATE:
        snprintf(out, size, "%s", vd_gate_name((vd_gate)value));
        break;
    case POSITIONS:
        snprintf(out, size, "%s", vd_positions_name((vd_positions)value));
        break;
    case OPTIMISER:
        snprintf(out, size, "%s", vd_optimiser_name((vd_optimiser)value));
        break;
    case DECODER:
        snprintf(out, size, "%s", vd_decoders_name((vd_decoders)value));
        break;
    }
}

bool vd_run_settings_same(const vd_run_settings *a, const vd_run_settings *b, const char *option)
{
    const field *f = find(option);
    if (f->kind == NUMBER) // the trainer keeps some of these as floats
        return (float)*number(a, f) == (float)*number(b, f);
    return *whole(a, f) == *whole(b, f);
}

void vd_run_settings_options(const vd_run_settings *settings, vd_train_options *options)
{
    *options = vd_train_defaults();
    options->optimiser = (vd_optimiser)settings->optimiser;
    options->margin = (int)settings->margin;
    options->lambda_start = settings->lambda_start;
    options->lambda_decay = settings->lambda_decay;
    options->lambda_floor = settings->lambda_floor;
    options->dropout = (float)settings->dropout;
    options->lstm_dropout = (float)settings->lstm_dropout;
    options->position_dropout = (float)settings->position_dropout;
    options->open_gates = (int)settings->open_gates;
    options->rate = settings->rate;
    options->clip = settings->clip;
    options->seed = (uint64_t)settings->seed;
}

static const char FORMAT[] = "epochs=%" PRId64 " batch=%" PRId64 " min-count=%" PRId64
                             " pool=%" PRId64 " half=%" PRId64 " micro-batch=%" PRId64;

void vd_run_settings_write(const vd_run_settings *settings, char *out, size_t size)
{
    snprintf(out, size, FORMAT, settings->epochs, settings->batch, settings->min_count,
             settings->pool, settings->half, settings->micro_batch);
}

vd_status vd_run_settings_read(vd_run_settings *settings, const vd_trainer *trainer,
                               const char *text, const char *path, vd_error *err)
{
    static const char *const own[] = {"epochs", "batch", "min-count",
                                      "pool",   "half",  "micro-batch"};
    vd_run_settings found = {0};
    bool good = text && sscanf(text,
                               "epochs=%" SCNd64 " batch=%" SCNd64 " min-count=%" SCNd64
                               " pool=%" SCNd64 " half=%" SCNd64 " micro-batch=%" SCNd64,
                               &found.epochs, &found.batch, &found.min_count, &found.pool,
                               &found.half, &found.micro_batch) >= 5; // earlier runs have no sixth
    for (size_t i = 0; good && i < sizeof own / sizeof *own; i++) {
        const field *f = find(own[i]);
        int64_t value = *whole(&found, f);
        good = (double)value >= f->low && (double)value <= f->high;
    }
    if (!good)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s: its run settings are '%.100s'; expected what `visdial train` "
                            "writes",
                            path, text ? text : "missing");
    const vd_config *config = vd_trainer_config(trainer);
    found.gate = config->gate;
    found.positions = config->positions;
    found.decoder = config->decoders;
    found.embed = config->embed;
    found.hidden = config->hidden;
    from_options(&found, vd_trainer_options(trainer));
    *settings = found;
    return VD_OK;
}
