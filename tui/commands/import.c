#include "tui/commands/command.h"

#include <stdbool.h>

#include "engine/base/file.h"
#include "engine/model/import.h"
#include "features/text/vocab_file.h"
#include "tui/base/option_texts.h"

enum { WORDS, OUT, GATE, POSITIONS, MIN_COUNT, POOL, HALF };

const vd_option vd_cmd_import_options[] = {
    {"words", "FILE", "word counts it was trained with (JSON), or a list of all words"},
    {"out", "FILE", "the model file to write"},
    {"gate", "NAME", VD_HELP_GATE " (default: leaky-relu, as in the public code)"},
    {"positions", "NAME", VD_HELP_POSITIONS " (default: none, as in the public code)"},
    {"min-count", "N", VD_HELP_MIN_COUNT},
    {"pool", "NAME", "file beside the model with the answers to rank (pool.txt)"},
    {"half", NULL, VD_HELP_HALF},
    {0},
};

static vd_status read_options(int argc, char **argv, const char *given[HALF + 1],
                              vd_import_options *options, int64_t *minimum, const char **weights,
                              vd_error *err)
{
    int operands;
    if (vd_options_given(vd_cmd_import_options, argc, argv, given, &operands, err))
        return VD_USAGE;
    if (operands != argc - 1)
        return vd_error_set(err, VD_USAGE, "expected one file of weights, found %d",
                            argc - operands);
    for (int i = WORDS; i <= OUT; i++)
        if (!given[i])
            return vd_error_set(err, VD_USAGE, "--%s is missing; see --help",
                                vd_cmd_import_options[i].name);
    vd_config config = {.gate = options->gate, .positions = options->positions};
    for (int i = GATE; i <= POSITIONS; i++) {
        const char *name = vd_cmd_import_options[i].name;
        char where[32];
        snprintf(where, sizeof where, "--%s", name);
        if (given[i] && vd_setting_parse(vd_settings_find(vd_config_settings, name), given[i],
                                         &config, where, VD_USAGE, err))
            return VD_USAGE;
    }
    options->gate = config.gate;
    options->positions = config.positions;
    *weights = argv[operands];
    options->pool = given[POOL] ? given[POOL] : "pool.txt";
    options->half = given[HALF];
    return given[MIN_COUNT]
               ? vd_option_int("min-count", given[MIN_COUNT], 1, 1000000000, minimum, err)
               : VD_OK;
}

int vd_cmd_import(int argc, char **argv)
{
    const char *given[HALF + 1] = {0}, *weights = NULL;
    vd_import_options options = {.gate = VD_GATE_LEAKY_RELU, .positions = VD_POSITIONS_NONE};
    int64_t minimum = 5;
    vd_vocab *vocab = NULL;
    vd_error err = {0};
    vd_status status = read_options(argc, argv, given, &options, &minimum, &weights, &err);
    if (status == VD_OK)
        status =
            vd_output_apart(&given[OUT], 1, (const char *const[]){weights, given[WORDS]}, 2, &err);
    if (status == VD_OK)
        status = vd_vocab_read(given[WORDS], minimum, &vocab, &err);
    if (status == VD_OK)
        status = vd_model_import(weights, vocab, &options, given[OUT], &err);
    vd_vocab_free(vocab);
    return status ? vd_command_fail("import", &err) : 0;
}
