#include "tui/commands/command.h"

#include "engine/base/file.h"
#include "engine/base/safetensors.h"
#include "engine/model/import.h"
#include "engine/networks/encoder.h"
#include "features/text/vocab_file.h"

typedef struct importing {
    const char *words, *out;
    vd_import_options to;
    int64_t minimum;
    bool force;
} importing;

static const vd_option options[] = {
    {"words", "FILE", "word counts of the training data (JSON), or a list of all words",
     VD_INTO(importing, words)},
    {"out", "FILE", "the model file to write", VD_INTO(importing, out)},
    {"gate", "NAME",
     "activation of the gates: sigmoid, leaky-relu or elu (default: leaky-relu, as in the public "
     "code)",
     VD_INTO(importing, to.gate), .choices = "leaky-relu, sigmoid or elu"},
    {"positions", "NAME",
     "positions added to word vectors: none, sinusoidal, learned or as-printed; as-printed: "
     "sinusoidal, of the sequence's index in the batch, as in the thesis' printed code (default: "
     "none, as in the public code)",
     VD_INTO(importing, to.positions), .choices = "none, sinusoidal, learned or as-printed"},
    {"min-count", "N", VD_HELP_MIN_COUNT, VD_INTO(importing, minimum), 1, VD_MOST_COUNT},
    {"pool", "NAME", "file beside the model with the answers to rank (pool.txt)",
     VD_INTO(importing, to.pool)},
    {"half", NULL, "write the model in half precision", VD_INTO(importing, to.half)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(importing, force)},
    {0},
};

// The gate and positions of a model would be lost.
static vd_status refuse_model(const char *weights, vd_error *err)
{
    vd_safetensors *file;
    vd_status status = vd_safetensors_open(weights, &file, err);
    if (status == VD_OK && vd_safetensors_metadata(file, "config"))
        status = vd_error_set(err, VD_FORMAT,
                              "%.300s: a model already, or a checkpoint of `visdial train`; "
                              "expected the weights of the public PyTorch code",
                              weights);
    vd_safetensors_close(file);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    importing i = {.to = {VD_GATE_LEAKY_RELU, VD_POSITIONS_NONE, "pool.txt", false},
                   .minimum = VD_MIN_COUNT};
    vd_arguments given;
    vd_vocab *vocab = NULL;
    vd_status status = vd_arguments_read(options, argc, argv, &i, &given, err);
    if (status == VD_OK && given.count != 1)
        status = vd_error_set(err, VD_USAGE, "expected one file of weights, found %d", given.count);
    if (status == VD_OK)
        status = vd_arguments_need(&given, "words out", err);
    if (status)
        return status;
    const char *weights = given.operand[0], *const in[] = {weights, i.words};
    status = vd_output_check(&i.out, 1, in, 2, i.force, err);
    if (status == VD_OK)
        status = vd_vocab_read(i.words, i.minimum, &vocab, err);
    if (status == VD_OK)
        status = refuse_model(weights, err);
    if (status == VD_OK)
        status = vd_model_import(weights, vocab, &i.to, i.out, err);
    if (status == VD_OK)
        printf("%s was written: %d words\n", i.out, vd_vocab_size(vocab) - VD_FIRST_WORD);
    vd_vocab_free(vocab);
    return status;
}

const vd_command vd_cmd_import = {
    "import",
    run,
    "make a model from weights trained with the public PyTorch code",
    "--words FILE --out MODEL [options] WEIGHTS",
    "WEIGHTS is a state_dict of " VD_PUBLIC_NETWORKS
    ", as safetensors, with one decoder or both. checkpoint.py converts a .pth file to it, with or "
    "without an optimizer's state (and, if PyTorch is installed, a model to a .pth file). Every "
    "name and shape is checked. The weights do not tell which gates and positions the model was "
    "trained with: give --gate and --positions if they differ from the public code.",
    "  python3 engine/model/checkpoint.py mvan.pth weights.safetensors\n"
    "  visdial import weights.safetensors --out mvan.safetensors \\\n"
    "      --words visdial_1.0_word_counts_train.json\n",
    .options = options};
