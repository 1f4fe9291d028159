#include "tui/commands/command.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "engine/backend/open.h"
#include "engine/base/file.h"
#include "engine/networks/encoder.h"
#include "engine/networks/settings.h"
#include "features/text/glove.h"
#include "features/dialogs/answer_pool.h"
#include "tui/base/progress.h"
#include "tui/measure/corpus.h"
#include "tui/screen/screen.h"
#include "tui/train/curves.h"
#include "tui/train/run_inputs.h"
#include "tui/train/run_judge.h"
#include "tui/train/run_start.h"
#include "tui/train/run_settings.h"
#include "tui/train/training.h"
#include "tui/train/words.h"

typedef struct job {
    vd_run_inputs in;
    vd_json_value *kept; // of a run that goes on: texts of `in`
    const char *from, *vocab, *glove, *preset;
    vd_task task;
    bool new_words, resume, watch;
    double minutes; // between checkpoints
    vd_backend_choice backend;
    vd_precision precision;
    vd_run_settings settings;
    vd_training run;
    vd_arguments given;
    vd_run_judge judge; // of captions
    int hold;           // of the directory of --out, -1 for none
    char path[4096 + 32];
} job;

// Defaults.
#define CHECKPOINT_MINUTES   10
#define PEER_TIMEOUT_SECONDS 1800

// A row of engine/networks/settings.h as an option; the help ends with the default of a number.
#define OPTION(member, name, kind, least, most, initial, choices, optional, help)                  \
    {name, VALUE_##kind, help SHOWN_##kind(initial), VD_INTO(job, settings), READ(choices, most)},
// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses): the arguments become a text
#define BY_TASK(member, name, kind, least, most, initial, of_captions, of_scst, choices, optional, \
                help)                                                                              \
    OPTION(member, name, kind, least, most, initial; captions: of_captions; SCST: of_scst,         \
           choices, optional, help)
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on
#define READ(list, last)    .read = vd_run_settings_set, .names = (list), .most = (last)
#define VALUE_INT           "N"
#define VALUE_SEED          "N"
#define VALUE_REAL          "X"
#define VALUE_CHOICE        "NAME"
#define VALUE_SWITCH        NULL
#define SHOWN_INT(initial)  " (" #initial ")"
#define SHOWN_SEED(initial) " (" #initial ")"
#define SHOWN_REAL(initial) " (" #initial ")"
#define SHOWN_CHOICE(initial)
#define SHOWN_SWITCH(initial)

static const vd_option options[] = {
    {"task", "NAME", VD_HELP_TASK, VD_INTO(job, task), .choices = "dialog or caption"},
    {"data", "FILE",
     VD_HELP_DATA "; caption: also Karpathy's splits (dataset_coco.json) or COCO captions",
     VD_INTO(job, in.data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(job, in.features)},
    {"train-dense", "FILE",
     "relevance of the candidates of --data (VisDial dense annotations): where a round has it, the "
     "target of each candidate is its relevance divided by the sum, instead of the human answer "
     "alone; needs --margin 1 and a discriminative decoder",
     VD_INTO(job, in.train_dense)},
    {"val", "FILE", "dialogs, or captions, to evaluate on after every epoch", VD_INTO(job, in.val)},
    {"val-features", "FILE", "region features of the pictures of --val",
     VD_INTO(job, in.val_features)},
    {"val-dense", "FILE", "relevance of the candidates of --val, for NDCG",
     VD_INTO(job, in.val_dense)},
    {"scenes", "FILE",
     "caption: scenes of Blocks, to check what captions claim; for scst bits, those of --data "
     "(default: train_scenes.json beside train.json)",
     VD_INTO(job, in.scenes)},
    {"val-scenes", "FILE",
     "caption: scenes of --val, to check its captions (default: val_scenes.json beside val.json)",
     VD_INTO(job, in.val_scenes)},
    VD_MISSING_OPTION(job, in.missing),
    {"split", "NAME",
     "caption: use only this split of --data (default: train and restval, where it has several)",
     VD_INTO(job, in.split)},
    {"val-split", "NAME",
     "caption: use only this split of --val (default: val, where it has several)",
     VD_INTO(job, in.val_split)},
    {"val-limit", "N", "use only the first N dialogs of --val", VD_INTO(job, in.val_limit), 1,
     1000000000},
    {"from", "FILE", "start from the weights and vocabulary of this model", VD_INTO(job, from)},
    {"new-words", NULL, "with --from: also learn the words of --data that the model lacks",
     VD_INTO(job, new_words)},
    {"vocab", "FILE",
     "vocabulary: word counts (from `data vocab`), or a JSON list of words that begins "
     "with <PAD>, <S>, </S>, <UNK>",
     VD_INTO(job, vocab)},
    {"glove", "FILE", "initial word vectors (GloVe text file); sets --embed", VD_INTO(job, glove)},
    {"out", "DIR", "directory for the model, the checkpoint, the pool and the log",
     VD_INTO(job, run.directory)},
    {"resume", NULL,
     "continue from the checkpoint in DIR, with the same files; give the options of files that "
     "have moved",
     VD_INTO(job, resume)},
    {"checkpoint-every", "MINUTES",
     "minutes between checkpoints (" VD_TEXT_OF(CHECKPOINT_MINUTES) ")", VD_INTO(job, minutes),
     .least = 0.001, .most = 1e6},
    {"checkpoint-steps", "N", "also write a checkpoint every N steps",
     VD_INTO(job, run.checkpoint_steps), 1, 1000000000},
    {"stop-after", "N", "stop with a checkpoint after N steps in total",
     VD_INTO(job, run.stop_after), 1, 1000000000000},
    {"peer-timeout", "SECONDS",
     "how long to wait for another process, such as the one that validates "
     "(" VD_TEXT_OF(PEER_TIMEOUT_SECONDS) ")",
     VD_INTO(job, run.wait.seconds), .least = 0.001, .most = 1e9},
    VD_BACKEND_OPTION(job, backend),
    {"precision", "NAME", "precision of matrix products on a GPU: fp32 (default), tf32 or bf16",
     VD_INTO(job, precision), .choices = "fp32, tf32 or bf16"},
    {"quiet", NULL, VD_HELP_NO_PROGRESS, VD_INTO(job, run.quiet)},
    {"watch", NULL, "show the curves in full screen; q stops with a checkpoint",
     VD_INTO(job, watch)},
    {"preset", "NAME", "improved (default) or base: sets gate, optimiser, positions and margin",
     VD_INTO(job, preset), .names = (const char *const[]){"improved", "base"}, .most = 1},
    VD_NETWORK_SETTINGS(OPTION) VD_CAPTION_SETTINGS(OPTION) VD_TRAIN_SETTINGS(OPTION, BY_TASK){0},
};

static const char *path_of(job *j, const char *name)
{
    snprintf(j->path, sizeof j->path, "%.4096s/%s", j->run.directory, name);
    return j->path;
}

// Of processes that train together only the first writes.
static bool is_first(const job *j)
{
    return !j->run.group || j->run.group->rank == 0;
}

// ---- options ------------------------------------------------------------------------------------

static vd_status check_dense(const job *j, vd_error *err)
{
    int margin = j->settings.training.margin;
    if (!j->in.train_dense)
        return VD_OK;
    if (!vd_has_discriminative(j->settings.network.decoders))
        return vd_error_set(err, VD_USAGE,
                            "--train-dense needs a discriminative decoder: a generative one learns "
                            "the human answer");
    return margin == 1 ? VD_OK
                       : vd_error_set(err, VD_USAGE,
                                      "--train-dense needs --margin 1, found %d: a large margin "
                                      "assumes one right answer",
                                      margin);
}

// What captions of its own are learned with, and what not.
static vd_status check_scst(const job *j, vd_error *err)
{
    vd_scst scst = j->settings.training.scst;
    vd_status status = VD_OK;
    if (scst != VD_SCST_BITS)
        status = vd_arguments_refuse(&j->given, "scenes variety", "needs --scst bits", err);
    if (status == VD_OK && scst != VD_SCST_CIDER_D)
        status = vd_arguments_refuse(&j->given, "eos", "needs --scst cider-d", err);
    if (status == VD_OK && scst == VD_SCST_NONE && vd_arguments_have(&j->given, "best-by") &&
        j->settings.training.best_by == VD_BEST_REWARD)
        status = vd_error_set(err, VD_USAGE, "--best-by reward needs --scst");
    if (scst == VD_SCST_NONE)
        return status ? status
                      : vd_arguments_refuse(&j->given,
                                            "sample sample-size baseline reward-most ce-weight",
                                            "needs --scst", err);
    if (status == VD_OK)
        status = vd_arguments_refuse(&j->given, "dropout smoothing awc-weight",
                                     "is not used by --scst", err);
    if (status == VD_OK && !j->resume && !j->from)
        status = vd_error_set(err, VD_USAGE, "--scst starts from a captioner; name it with --from");
    return status;
}

// What is not of the task would be without effect.
static vd_status check_task(const job *j, vd_error *err)
{
    char names[1024];
    bool captions = j->task == VD_TASK_CAPTION;
    vd_run_settings_foreign(j->task, names, sizeof names);
    vd_status status = vd_arguments_refuse(
        &j->given, names, captions ? "does not apply to captioners" : "needs --task caption", err);
    if (status == VD_OK && captions)
        status = vd_arguments_refuse(&j->given, "train-dense val-dense glove preset",
                                     "does not apply to captioners", err);
    if (status == VD_OK && !captions)
        status = vd_arguments_refuse(&j->given, "split val-split", "needs --task caption", err);
    return status;
}

static vd_status check_given(const job *j, vd_error *err)
{
    vd_status status = vd_arguments_need(&j->given, j->resume ? "out" : "data features out", err);
    if (status)
        return status;
    if (j->glove && j->from)
        return vd_error_set(err, VD_USAGE,
                            "--glove and --from: the model's word vectors are learned already; "
                            "leave one out");
    if (j->vocab && j->from)
        return vd_error_set(err, VD_USAGE,
                            "--vocab and --from: the model has words already; leave one out");
    if (j->new_words && !j->from && !j->resume)
        return vd_error_set(err, VD_USAGE,
                            "--new-words adds to the words of a model; name it with --from");
    if (!j->in.val != !j->in.val_features)
        return vd_error_set(err, VD_USAGE, "--val and --val-features go together; --%s is missing",
                            j->in.val ? "val-features" : "val");
    if (!j->in.val && (status = vd_arguments_refuse(
                           &j->given, "val-dense val-limit val-split val-scenes patience best-by",
                           "needs --val", err)))
        return status;
    if (!j->resume && !j->from && (status = vd_encoder_check(&j->settings.network, err)))
        return status;
    if (j->resume) // the margin and the task of a resumed run: its checkpoint's
        return VD_OK;
    status = check_task(j, err);
    if (status == VD_OK)
        status = check_scst(j, err);
    if (status == VD_OK)
        status = vd_run_settings_check(&j->settings, err);
    return status ? status : check_dense(j, err);
}

// Options override these, wherever they stand.
static vd_status start_settings(job *j, vd_error *err)
{
    bool scst = j->settings.training.scst != VD_SCST_NONE,
         warm = j->settings.training.schedule == VD_SCHEDULE_WARM_UP;
    j->settings = j->task != VD_TASK_CAPTION ? vd_run_settings_defaults()
                  : scst                     ? vd_run_settings_scst()
                                             : vd_run_settings_captions();
    if (warm)
        j->settings.training.rate = VD_WARM_UP_RATE;
    return !j->preset || vd_run_settings_preset(&j->settings, j->preset)
               ? VD_OK
               : vd_error_set(err, VD_USAGE, "--preset: expected base or improved, found '%.80s'",
                              j->preset);
}

static vd_status read_options(job *j, int argc, char **argv, vd_error *err)
{
    j->minutes = CHECKPOINT_MINUTES;
    j->run.wait.seconds = PEER_TIMEOUT_SECONDS;
    j->settings = vd_run_settings_defaults();
    vd_status status = vd_arguments_read(options, argc, argv, j, &j->given, err);
    if (status == VD_OK && (j->preset || j->task != VD_TASK_DIALOG ||
                            j->settings.training.schedule == VD_SCHEDULE_WARM_UP)) {
        status = start_settings(j, err);
        if (status == VD_OK)
            status = vd_arguments_read(options, argc, argv, j, &j->given, err);
    }
    if (status == VD_OK)
        status = vd_arguments_most(&j->given, 0, err);
    j->run.checkpoint_seconds = 60 * j->minutes;
    if (j->task == VD_TASK_CAPTION && !vd_arguments_have(&j->given, "missing"))
        j->in.missing = VD_MISSING_REFUSE;
    if (status == VD_OK && j->resume && j->run.directory && access(j->run.directory, F_OK) != 0)
        status = vd_error_set(err, VD_NOT_FOUND,
                              "--resume: there is no directory %.400s; expected the --out of the "
                              "run to continue",
                              j->run.directory);
    if (status == VD_OK && j->resume && j->run.directory)
        status = vd_run_inputs_read(&j->in, &j->given, path_of(j, VD_RUN_INPUTS), &j->kept, err);
    j->run.validation_limit = j->in.val_limit;
    return status ? status : check_given(j, err);
}

// ---- data ---------------------------------------------------------------------------------------

static vd_status read_data(job *j, vd_error *err)
{
    const vd_run_files files = {j->in.data, j->in.features, j->in.train_dense, j->in.split,
                                "train",    j->in.missing,  is_first(j)};
    return vd_run_data_open(&files, j->task, &j->run.data, err);
}

static vd_status read_validation(job *j, vd_error *err)
{
    const vd_run_files files = {j->in.val, j->in.val_features, j->in.val_dense, j->in.val_split,
                                "val",     j->in.missing,      is_first(j)};
    if (!j->in.val)
        return VD_OK;
    vd_status status = vd_run_data_open(&files, j->task, &j->run.validation, err);
    if (status)
        return status;
    int expected = j->run.data.regions->size, found = j->run.validation.regions->size;
    if (expected != found)
        return vd_error_set(err, VD_MISMATCH,
                            "%.300s has regions of %d numbers, %.300s of %d; both must come from "
                            "one extractor",
                            j->in.features, expected, j->in.val_features, found);
    return vd_run_data_number(&j->run.validation, vd_trainer_vocab(j->run.trainer), err);
}

// ---- starting -----------------------------------------------------------------------------------

// The human answers of the training data, most frequent first.
static vd_status write_pool(job *j, vd_error *err)
{
    vd_answer_pool pool;
    vd_status status =
        vd_answer_pool_count(j->run.data.dialogs, (size_t)j->settings.training.pool, &pool, err);
    if (status == VD_OK)
        status = vd_answer_pool_write(&pool, path_of(j, "pool.txt"), err);
    vd_answer_pool_clear(&pool);
    return status;
}

// Takes the size of word vectors from the file of --glove.
static vd_status glove_width(job *j, vd_error *err)
{
    int width;
    if (!j->glove)
        return VD_OK;
    vd_status status = vd_glove_width(j->glove, &width, err);
    if (status == VD_OK && vd_arguments_have(&j->given, "embed") &&
        j->settings.network.embed != width)
        status =
            vd_error_set(err, VD_MISMATCH, "--embed is %d, but %.300s has vectors of %d numbers",
                         j->settings.network.embed, j->glove, width);
    j->settings.network.embed = width;
    return status;
}

// Takes the sizes of the model of --from, a captioner's other settings, and its decoders unless
// --decoder is given.
static vd_status take_sizes(job *j, const vd_model *from, vd_error *err)
{
    const vd_config *config = vd_model_config(from);
    vd_caption_config *caption = &j->settings.network.caption;
    struct {
        const char *name;
        int *setting, of_model;
    } size[] = {{"embed", &j->settings.network.embed, config->embed},
                {"hidden", &j->settings.network.hidden, config->hidden},
                {"embed", &caption->embed, config->caption.embed},
                {"hidden", &caption->hidden, config->caption.hidden},
                {"heads", &caption->heads, config->caption.heads},
                {"layers", &caption->layers, config->caption.layers},
                {"inner", &caption->inner, config->caption.inner}};
    bool captions = config->task == VD_TASK_CAPTION;
    size_t first = captions ? 2 : 0, end = captions ? sizeof size / sizeof *size : 2;
    for (size_t i = first; i < end; i++) {
        if (vd_arguments_have(&j->given, size[i].name) && *size[i].setting != size[i].of_model)
            return vd_error_set(err, VD_MISMATCH,
                                "--%s is %d, but %.300s has %d; leave it out to start from that "
                                "model",
                                size[i].name, *size[i].setting, j->from, size[i].of_model);
        *size[i].setting = size[i].of_model;
    }
    if (captions)
        vd_run_settings_of_captioner(caption, &config->caption, &j->given);
    if (!vd_arguments_have(&j->given, "decoder"))
        j->settings.network.decoders = config->decoders;
    return check_dense(j, err);
}

static vd_status start_words(job *j, vd_error *err)
{
    const vd_vocab *vocab = vd_trainer_vocab(j->run.trainer);
    int width = j->settings.network.embed, found;
    float *rows = g_new0(float, (size_t)vd_vocab_size(vocab) * (size_t)width);
    vd_status status = vd_glove_read(j->glove, vocab, width, rows, &found, err);
    if (status == VD_OK)
        status = vd_trainer_set_words(j->run.trainer, rows, err);
    if (status == VD_OK && !j->run.quiet)
        fprintf(stderr, "%d of %d words start from %s\n", found,
                vd_vocab_size(vocab) - VD_FIRST_WORD, j->glove);
    g_free(rows);
    return status;
}

// With random weights and the words of the data, or with those of the model of --from.
static vd_status new_trainer(job *j, vd_error *err)
{
    int64_t least = j->settings.training.min_count;
    vd_model *from = NULL;
    vd_vocab *words = NULL;
    vd_status status = j->from ? vd_model_load_any(j->from, &from, err) : VD_OK;
    if (status == VD_OK && (!from || j->new_words))
        status = from ? vd_run_more_words(vd_model_vocab(from), &j->run.data, least, &words, err)
                      : vd_run_words(j->vocab, &j->run.data, least, &words, err);
    const vd_vocab *vocab = words ? words : from ? vd_model_vocab(from) : NULL;
    if (status == VD_OK)
        status = from ? take_sizes(j, from, err) : glove_width(j, err);
    if (status == VD_OK) {
        j->settings.network.vocab = vd_vocab_size(vocab);
        j->settings.network.region = j->run.data.regions->size;
        if (j->task == VD_TASK_CAPTION) {
            j->settings.network.caption.vocab = j->settings.network.vocab;
            j->settings.network.caption.region = j->settings.network.region;
            j->settings.network = vd_config_of_captioner(&j->settings.network.caption);
        }
        status = vd_trainer_new(&j->settings.network, vocab, &j->settings.training, &j->run.trainer,
                                err);
    }
    if (status == VD_OK && from)
        status = vd_trainer_start_from(j->run.trainer, from, err);
    if (status == VD_OK && j->glove)
        status = start_words(j, err);
    vd_vocab_free(words);
    vd_model_free(from);
    return status;
}

// Of captions a step has about fifty, however many there are of a picture.
static void choose_batch(job *j)
{
    size_t total = j->run.data.captions ? vd_captions_total(j->run.data.captions) : 0;
    double each = (double)total / (double)vd_run_data_items(&j->run.data);
    bool of_captions = total && j->settings.training.scst == VD_SCST_NONE;
    if (of_captions && !vd_arguments_have(&j->given, "batch"))
        j->settings.training.batch = (int)fmax(1, round(j->settings.training.batch / each));
}

static vd_status start_anew(job *j, vd_error *err)
{
    choose_batch(j);
    vd_status status = is_first(j) ? vd_run_directory_make(j->run.directory, &j->hold, err) : VD_OK;
    if (status == VD_OK)
        status = new_trainer(j, err);
    if (status)
        return status;
    if (is_first(j))
        vd_run_settings_note(j->run.trainer, &j->given);
    char data[80], features[80], source[400];
    const char *from = j->from ? j->from : j->glove ? j->glove : "random weights";
    vd_run_data_describe(&j->run.data, data, sizeof data);
    vd_run_data_source(&j->run.data, source, sizeof source);
    status = vd_run_data_features(&j->run.data, features, sizeof features, err);
    char signature[VD_SIGNATURE];
    bool pool = j->task == VD_TASK_DIALOG;
    vd_train_signature(&j->settings.network.caption, &j->settings.training, signature);
    // Sorted by key, as in a checkpoint, so that a resumed run makes the same model file.
    const char *pairs[][2] = {{"data", data},
                              {"dense", vd_run_base(j->in.train_dense)},
                              {"features", features},
                              {"pool", pool ? "pool.txt" : NULL},
                              {VD_TRAINING_STATE, ""},
                              {"signature", pool ? NULL : signature},
                              {"started_from", vd_run_base(from)},
                              {"trained_on", source}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && status == VD_OK; i++)
        if (pairs[i][1])
            status = vd_trainer_set_metadata(j->run.trainer, pairs[i][0], pairs[i][1], err);
    return status || !pool || !is_first(j) ? status : write_pool(j, err);
}

// Options of the command line must be those that the run was started with.
static vd_status check_settings(const job *j, const vd_run_settings *kept, vd_error *err)
{
    for (const vd_option *option = options; option->name; option++) {
        const char *name = option->name;
        bool said =
            vd_arguments_have(&j->given, name) || (j->preset && vd_run_settings_of_preset(name));
        if (option->read != vd_run_settings_set || !said ||
            vd_run_settings_same(&j->settings, kept, name))
            continue;
        char found[64], expected[64];
        vd_run_settings_text(&j->settings, name, found, sizeof found);
        vd_run_settings_text(kept, name, expected, sizeof expected);
        return vd_error_set(err, VD_MISMATCH,
                            "--%s: the run was started with %s, found %s; leave it out to "
                            "continue, or start over in another --out",
                            name, expected, found);
    }
    return VD_OK;
}

// Continues the checkpoint: its settings, its task.
static vd_status resume(job *j, vd_error *err)
{
    vd_status status = is_first(j) ? vd_run_directory_hold(j->run.directory, &j->hold, err) : VD_OK;
    if (status)
        return status;
    if (access(path_of(j, "checkpoint.safetensors"), F_OK) != 0)
        return vd_error_set(err, VD_NOT_FOUND,
                            "--resume: there is no %.300s; start without --resume", j->path);
    static const char *const files[] = {"checkpoint.safetensors", "model.safetensors",
                                        "best.safetensors", "log.tsv"};
    for (size_t i = 0; i < sizeof files / sizeof *files && is_first(j); i++)
        vd_output_sweep(path_of(j, files[i]));
    status = vd_trainer_resume(path_of(j, "checkpoint.safetensors"), &j->run.trainer, err);
    if (status)
        return status;
    const vd_run_settings kept = {*vd_trainer_config(j->run.trainer),
                                  *vd_trainer_options(j->run.trainer)};
    if (vd_arguments_have(&j->given, "task") && j->task != kept.network.task)
        status = vd_error_set(err, VD_MISMATCH,
                              "--task: the run was started with %s, found %s; leave it out to "
                              "continue, or start over in another --out",
                              vd_task_names[kept.network.task], vd_task_names[j->task]);
    if (status == VD_OK)
        status = check_settings(j, &kept, err);
    if (status)
        return status;
    j->settings = kept;
    j->task = kept.network.task;
    status = check_task(j, err);
    if (status == VD_OK)
        status = check_scst(j, err);
    return status ? status : check_dense(j, err);
}

// The data must be what the run was started with.
static vd_status check_data(job *j, vd_error *err)
{
    vd_status status;
    int expected = vd_trainer_config(j->run.trainer)->region;
    path_of(j, "checkpoint.safetensors");
    if (expected != j->run.data.regions->size)
        return vd_regions_mismatch(j->run.data.regions, j->path, expected,
                                   "name the features it was started with", err);
    if (j->vocab && (status = vd_run_words_check(j->vocab, j->settings.training.min_count,
                                                 vd_trainer_vocab(j->run.trainer), err)))
        return status;
    const vd_run_origin origin = {&j->run.data, &j->in, j->from, j->glove};
    return vd_run_origin_check(&origin, j->run.trainer, j->path, err);
}

static void say_where(job *j)
{
    fprintf(stderr, "the model is in %s", path_of(j, "model.safetensors"));
    if (j->run.has_best)
        fprintf(stderr, ", its best epoch in %s", path_of(j, "best.safetensors"));
    fputc('\n', stderr);
}

static vd_status run_training(job *j, vd_error *err)
{
    vd_training *t = &j->run;
    if (j->watch && is_first(j))
        return vd_training_run_watched(t, err);
    t->stop = vd_interrupt_watch();
    vd_status status = vd_training_run(t, err);
    vd_interrupt_release();
    if ((status == VD_OK || status == VD_INTERRUPTED) && t->group) // all stop together
        t->group->leave();
    return status;
}

// The other processes, if there are any, and what this one computes with.
static vd_status join_group(job *j, const vd_backend **backend, vd_error *err)
{
    vd_training *t = &j->run;
    vd_status status = vd_group_join(NULL, &t->group, err);
    if (status == VD_OK && t->group && j->settings.training.patience)
        status = vd_error_set(err, VD_USAGE, "--patience works with one process only");
    if (status == VD_OK && j->watch && is_first(j)) // before anything is made
        status = vd_screen_usable("leave --watch out", err);
    vd_group_use_wait(t->group, NULL, &t->wait);
    if (status == VD_OK)
        status = vd_run_share_processors(t->group, err);
    if (status == VD_OK)
        status = vd_backend_choose(j->backend, t->group ? t->group->local : 0, backend, err);
    if (status)
        return status;
    (*backend)->precision(j->precision);
    if (j->precision != VD_PRECISION_FP32 && *backend == vd_backend_cpu() && is_first(j))
        fprintf(stderr, "--precision changes nothing with cpu\n");
    return VD_OK;
}

// The trainer, new or of the checkpoint, and the data.
static vd_status open_run(job *j, const vd_backend *backend, vd_error *err)
{
    vd_status status = j->resume ? resume(j, err) : VD_OK;
    if (status == VD_OK)
        status = read_data(j, err);
    if (status == VD_OK)
        status = j->resume ? check_data(j, err) : start_anew(j, err);
    if (status == VD_OK)
        status = vd_trainer_use(j->run.trainer, backend, err);
    if (status == VD_OK)
        status = read_validation(j, err);
    if (status == VD_OK)
        status = vd_run_data_number(&j->run.data, vd_trainer_vocab(j->run.trainer), err);
    if (status == VD_OK && j->task == VD_TASK_CAPTION)
        status = vd_run_judge_open(&j->judge, &j->run, &j->in, is_first(j), err);
    if (status == VD_OK)
        status = vd_run_agree(j->run.group, j->run.trainer, err);
    if (status == VD_OK)
        status = vd_trainer_join(j->run.trainer, j->run.group, err);
    return status || !is_first(j) ? status
                                  : vd_run_inputs_write(&j->in, path_of(j, VD_RUN_INPUTS), err);
}

static void say_what(const job *j)
{
    const vd_train_options *settings = &j->settings.training;
    size_t items = vd_run_data_items(&j->run.data);
    int64_t steps = vd_training_epoch_steps(items, settings->batch);
    fprintf(stderr, "%zu %s, %d epoch%s of %" PRId64 " steps, %d words, from step %" PRId64 "\n",
            items, j->run.data.captions ? "pictures with captions" : "dialogs", settings->epochs,
            settings->epochs == 1 ? "" : "s", steps, vd_trainer_config(j->run.trainer)->vocab,
            vd_trainer_steps(j->run.trainer));
    if (j->run.group)
        fprintf(stderr, "%d processes; gradients are summed %s\n", j->run.group->size,
                vd_trainer_sums(j->run.trainer));
    if (vd_trainer_steps(j->run.trainer) >= settings->epochs * steps)
        fprintf(stderr, "all epochs are done: nothing is left to train\n");
}

static vd_status train(job *j, vd_error *err)
{
    const vd_backend *backend;
    vd_training *t = &j->run;
    vd_status status = join_group(j, &backend, err);
    if (status == VD_OK)
        status = open_run(j, backend, err);
    if (status)
        return status;
    t->quiet = t->quiet || !is_first(j);
    t->settings = j->settings.training;
    t->best_by = j->in.train_dense && j->in.val_dense ? VD_NDCG : VD_MRR; // what is learned
    if (!t->quiet)
        say_what(j);
    status = run_training(j, err);
    if (status == VD_OK && !t->quiet)
        say_where(j);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    job *j = g_new0(job, 1);
    j->hold = -1;
    vd_status status = read_options(j, argc, argv, err);
    if (status == VD_OK)
        status = train(j, err);
    // --stop-after was reached: not a failure.
    bool asked = status == VD_INTERRUPTED && j->run.stop_after && j->run.trainer &&
                 vd_trainer_steps(j->run.trainer) >= j->run.stop_after;
    bool first =
        is_first(j); // which alone says where a stopped run is kept, and ends with its code
    vd_run_judge_close(&j->judge);
    vd_run_data_clear(&j->run.validation);
    vd_run_data_clear(&j->run.data);
    vd_trainer_free(j->run.trainer);
    if (j->hold >= 0)
        close(j->hold);
    vd_json_value_free(j->kept);
    g_free(j);
    // mpirun ends all processes when one fails: only the first one reports the stop.
    if (status == VD_INTERRUPTED && !first)
        return VD_OK;
    if (asked)
        vd_command_complain("train", err);
    return asked ? VD_OK : status;
}

const vd_command vd_cmd_train = {
    "train",
    run,
    "train a model from dialogs and region features",
    "--data FILE --features FILE --out DIR [options]",
    "--task caption trains a captioner (see `visdial caption`). Writes to DIR: model.safetensors "
    "after every epoch; best.safetensors after the best epoch on "
    "--val (by MRR; with --train-dense and --val-dense by NDCG; captioners by --best-by); "
    "checkpoint.safetensors every few minutes and when interrupted; pool.txt; log.tsv; and an "
    "event file that TensorBoard and `visdial curves` read. --watch "
    "shows the curves during training; q then stops it with a checkpoint. --resume continues "
    "from the checkpoint, also after kill -9, and gives the same model as an uninterrupted run. "
    "--preset sets several options at once; other options override those, in any order.",
    "  visdial train --data train.json --features train_features.safetensors \\\n"
    "      --val val.json --val-features val_features.safetensors --out run1\n"
    "  visdial train --out run1 --resume\n",
    .options = options};
