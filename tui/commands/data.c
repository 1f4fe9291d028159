// visdial data info|pack|vocab FILE: what a file of dialogs holds, packed for training, its words.
#include "tui/commands/command.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/file.h"
#include "engine/model/model.h"
#include "features/dialogs/pack.h"
#include "features/text/vocab_file.h"
#include "tui/commands/data_info.h"
#include "tui/base/output.h"
#include "tui/base/progress.h"

typedef struct request {
    const char *verb, *file, *out, *model, *vocab;
    int64_t minimum, top;
} request;

static const vd_option options[] = {
    {"out", "FILE", "pack, vocab: the file to write", VD_INTO(request, out)},
    {"model", "FILE", "info: list the words that this model does not know",
     VD_INTO(request, model)},
    {"vocab", "FILE",
     "info: list the words that are not in this vocabulary; pack: use this "
     "vocabulary (a list of words, or {\"word\": count})",
     VD_INTO(request, vocab)},
    {"min-count", "N", VD_HELP_MIN_COUNT, VD_INTO(request, minimum), 1, 1000000000},
    {"top", "N", "info: how many unknown words to list (20)", VD_INTO(request, top), 0, 1000000000},
    {0},
};

static vd_status check(const request *r, vd_error *err)
{
    bool info = strcmp(r->verb, "info") == 0;
    if (!info && strcmp(r->verb, "pack") != 0 && strcmp(r->verb, "vocab") != 0)
        return vd_error_set(err, VD_USAGE, "'%.40s': expected info, pack or vocab; see --help",
                            r->verb);
    if (info && r->out)
        return vd_error_set(err, VD_USAGE, "--out goes with pack and vocab; info prints");
    if (!info && !r->out)
        return vd_error_set(err, VD_USAGE, "--out is missing: which file shall %s write?", r->verb);
    if (!info && (r->model || (r->vocab && strcmp(r->verb, "vocab") == 0)))
        return vd_error_set(err, VD_USAGE, "--%s goes with info%s; %s takes all words there are",
                            r->model ? "model" : "vocab", r->model ? "" : " and pack", r->verb);
    if (r->model && r->vocab)
        return vd_error_set(err, VD_USAGE, "--model and --vocab are two vocabularies; give one");
    return vd_output_apart(&r->out, 1, (const char *const[]){r->file, r->vocab}, 2, err);
}

static vd_status read_options(request *r, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, r, &given, err);
    if (status)
        return status;
    if (given.count != 2)
        return vd_error_set(err, VD_USAGE,
                            "expected: visdial data info FILE (or pack, vocab); see --help");
    r->verb = given.operand[0];
    r->file = given.operand[1];
    return check(r, err);
}

static vd_status info(const request *r, vd_error *err)
{
    vd_visdial *data = NULL;
    vd_model *model = NULL;
    vd_vocab *vocab = NULL;
    vd_status status = VD_OK;
    if (r->model)
        status = vd_model_load(r->model, &model, err);
    else if (r->vocab)
        status = vd_vocab_read(r->vocab, r->minimum, &vocab, err);
    if (status == VD_OK)
        status = vd_visdial_read(r->file, &data, err);
    if (status == VD_OK)
        status = vd_data_info(data, model ? vd_model_vocab(model) : vocab, r->top, err);
    vd_visdial_free(data);
    vd_vocab_free(vocab);
    vd_model_free(model);
    return status;
}

static void print_written(const char *path, const char *what, size_t count, double began)
{
    struct stat about = {0};
    vd_output_text(stdout, path);
    // Without --out nothing is written. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
    double bytes = stat(path, &about) == 0 ? (double)about.st_size : 0;
    printf(": %zu %s, %.1f MB, %.1f s\n", count, what, bytes / 1e6, vd_progress_clock() - began);
}

static vd_status pack(const request *r, vd_error *err)
{
    double began = vd_progress_clock();
    vd_visdial *data = NULL;
    vd_word_counts *counts = NULL;
    const char *slash = strrchr(r->file, '/');
    vd_status status = r->vocab ? vd_word_counts_read(r->vocab, &counts, err) : VD_OK;
    if (status == VD_OK)
        status = vd_visdial_read(r->file, &data, err);
    if (status == VD_OK)
        status = vd_visdial_pack(data, counts, slash ? slash + 1 : r->file, r->out, err);
    if (status == VD_OK)
        print_written(r->out, "dialogs", data->dialog_count, began);
    vd_word_counts_free(counts);
    vd_visdial_free(data);
    return status;
}

static vd_status vocab(const request *r, vd_error *err)
{
    double began = vd_progress_clock();
    size_t written = 0;
    vd_visdial *data = NULL;
    vd_word_counts *counts = NULL;
    vd_status status = vd_visdial_read(r->file, &data, err);
    if (status == VD_OK)
        status = vd_visdial_count_words(data, false, &counts, err);
    if (status == VD_OK)
        status = vd_word_counts_write(counts, r->out, &written, err);
    if (status == VD_OK)
        print_written(r->out, "words", written, began);
    vd_word_counts_free(counts);
    vd_visdial_free(data);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    request r = {.minimum = 5, .top = 20};
    vd_status status = read_options(&r, argc, argv, err);
    if (status == VD_OK)
        status = strcmp(r.verb, "info") == 0   ? info(&r, err)
                 : strcmp(r.verb, "pack") == 0 ? pack(&r, err)
                                               : vocab(&r, err);
    return status;
}

const vd_command vd_cmd_data = {
    "data",
    run,
    "describe a file of dialogs, pack it, count its words",
    "info|pack|vocab FILE [options]",
    "info: the number of dialogs and rounds, lengths and tables; with --model or --vocab also "
    "the words of the dialogs that these do not know.\n"
    "pack: one file of tokens that is mapped into memory, so that it opens at once; all "
    "commands take it in place of the JSON.\n"
    "vocab: how often each word occurs, as {\"word\": count}.",
    "  visdial data info val.json --model assets/improved.safetensors\n"
    "  visdial data pack visdial_1.0_train.json --out train.packed\n"
    "  visdial data vocab visdial_1.0_train.json --out word_counts.json\n",
    options,
    "info pack vocab"};
