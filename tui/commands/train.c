#include "tui/commands/command.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/threads.h"
#include "engine/networks/settings.h"
#include "features/text/glove.h"
#include "features/dialogs/answer_pool.h"
#include "features/dialogs/pack.h"
#include "features/text/vocab_file.h"
#include "tui/base/backend_choice.h"
#include "tui/base/directory_hold.h"
#include "tui/base/interrupt.h"
#include "tui/base/option_texts.h"
#include "tui/screen/screen.h"
#include "tui/train/run_settings.h"
#include "tui/train/together.h"
#include "tui/train/training.h"
#include "tui/train/watch.h"

enum {
    DATA,
    FEATURES,
    VAL,
    VAL_FEATURES,
    VAL_DENSE,
    VAL_LIMIT,
    FROM,
    VOCAB,
    GLOVE,
    OUT,
    RESUME,
    CHECKPOINT_EVERY,
    CHECKPOINT_STEPS,
    STOP_AFTER,
    BACKEND,
    PRECISION,
    QUIET,
    WATCH,
    PRESET,
    SETTINGS // the rest are the rows of engine/networks/settings.h
};

// A row of engine/networks/settings.h as an option; the help ends with the default of a number.
#define OPTION(member, name, kind, least, most, initial, choices, optional, help)                  \
    {name, VALUE_##kind, help SHOWN_##kind(initial)},
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

const vd_option vd_cmd_train_options[] = {
    {"data", "FILE", VD_HELP_DATA},
    {"features", "FILE", VD_HELP_FEATURES},
    {"val", "FILE", "dialogs to evaluate on after every epoch"},
    {"val-features", "FILE", "region features of their pictures"},
    {"val-dense", "FILE", "relevance of their candidates, for NDCG"},
    {"val-limit", "N", "use only the first N of these dialogs"},
    {"from", "FILE", "start from the weights and vocabulary of this model"},
    {"vocab", "FILE", "vocabulary: word counts (from `data vocab`) or a list of words"},
    {"glove", "FILE", "initial word vectors (GloVe text file); sets --embed"},
    {"out", "DIR", "directory for the model, the checkpoint, the pool and the log"},
    {"resume", NULL, "continue from the checkpoint in DIR"},
    {"checkpoint-every", "MINUTES", "minutes between checkpoints (10)"},
    {"checkpoint-steps", "N", "also write a checkpoint every N steps"},
    {"stop-after", "N", "stop with a checkpoint after N steps in total"},
    VD_BACKEND_OPTION,
    {"precision", "NAME", "precision of matrix products on a GPU: fp32 (default), tf32 or bf16"},
    {"quiet", NULL, VD_HELP_NO_PROGRESS},
    {"watch", NULL, VD_HELP_WATCH},
    {"preset", "NAME", "improved (default) or base: sets gate, optimiser, positions and margin"},
    VD_NETWORK_SETTINGS(OPTION) VD_TRAIN_SETTINGS(OPTION){0},
};

enum { OPTIONS = sizeof vd_cmd_train_options / sizeof *vd_cmd_train_options - 1 };

typedef struct job {
    const char *given[OPTIONS]; // values of the options; "" for a switch
    vd_run_settings settings;
    vd_training training;
    vd_visdial *dialogs, *val_dialogs;
    vd_regions *regions, *val_regions;
    vd_dataset *dataset, *val_dataset;
    vd_trainer *trainer;
    int hold; // of the directory of --out, -1 for none
    char path[4096 + 32];
} job;

static const char *path_of(job *j, const char *name)
{
    snprintf(j->path, sizeof j->path, "%.4096s/%s", j->given[OUT], name);
    return j->path;
}

// ---- options ------------------------------------------------------------------------------------

static vd_status check_given(const job *j, vd_error *err)
{
    static const int needed[] = {DATA, FEATURES, OUT};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!j->given[needed[i]])
            return vd_error_set(err, VD_USAGE, "--%s is missing; see --help",
                                vd_cmd_train_options[needed[i]].name);
    }
    if (j->given[GLOVE] && j->given[FROM])
        return vd_error_set(err, VD_USAGE,
                            "--glove and --from: the model's word vectors are learned already; "
                            "leave one out");
    if (j->given[VOCAB] && j->given[FROM])
        return vd_error_set(err, VD_USAGE,
                            "--vocab and --from: the model has words already; leave one out");
    if (!j->given[VAL] != !j->given[VAL_FEATURES])
        return vd_error_set(err, VD_USAGE, "--val and --val-features go together; --%s is missing",
                            j->given[VAL] ? "val-features" : "val");
    if (!j->given[VAL] && (j->given[VAL_DENSE] || j->given[VAL_LIMIT]))
        return vd_error_set(err, VD_USAGE, "--%s needs --val",
                            j->given[VAL_DENSE] ? "val-dense" : "val-limit");
    return VD_OK;
}

static vd_status read_course_options(job *j, vd_error *err)
{
    vd_training *t = &j->training;
    int64_t limit = 0;
    double minutes = 10;
    const vd_option_range range[] = {{VAL_LIMIT, 1, 1000000000, &limit},
                                     {CHECKPOINT_STEPS, 1, 1000000000, &t->checkpoint_steps},
                                     {STOP_AFTER, 1, 1000000000000, &t->stop_after}};
    vd_status status =
        vd_options_int(vd_cmd_train_options, j->given, range, sizeof range / sizeof *range, err);
    if (status == VD_OK && j->given[CHECKPOINT_EVERY])
        status = vd_option_number("checkpoint-every", j->given[CHECKPOINT_EVERY], 0.001, 1e6,
                                  &minutes, err);
    t->validation_limit = (size_t)limit;
    t->checkpoint_seconds = 60 * minutes;
    t->quiet = j->given[QUIET];
    t->directory = j->given[OUT];
    return status;
}

static vd_status read_options(job *j, int argc, char **argv, vd_error *err)
{
    int operands;
    vd_status status = vd_options_given(vd_cmd_train_options, argc, argv, j->given, &operands, err);
    if (status)
        return status;
    if (operands < argc)
        return vd_error_set(err, VD_USAGE, "unexpected '%.80s'; see --help", argv[operands]);
    j->settings = vd_run_settings_defaults();
    if (j->given[PRESET] && !vd_run_settings_preset(&j->settings, j->given[PRESET]))
        return vd_error_set(err, VD_USAGE, "--preset: expected base or improved, found '%.80s'",
                            j->given[PRESET]);
    for (int i = SETTINGS; i < OPTIONS; i++) {
        if (!j->given[i])
            continue;
        status = vd_run_settings_set(&j->settings, vd_cmd_train_options[i].name, j->given[i], err);
        if (status)
            return status;
    }
    status = check_given(j, err);
    return status ? status : read_course_options(j, err);
}

// ---- data ---------------------------------------------------------------------------------------

static vd_status read_data(const job *j, int data, int features, vd_visdial **dialogs,
                           vd_regions **regions, vd_error *err)
{
    vd_status status = vd_regions_open(j->given[features], regions, err);
    if (status == VD_OK)
        status = vd_visdial_open(j->given[data], dialogs, err);
    if (status)
        return status;
    for (size_t i = 0; i < (*dialogs)->dialog_count; i++) {
        for (int32_t r = 0; r < (*dialogs)->dialogs[i].round_count; r++) {
            if ((*dialogs)->dialogs[i].rounds[r].truth >= 0)
                return VD_OK;
        }
    }
    return vd_error_set(err, VD_FORMAT,
                        "%.300s: no round has a human answer among its candidates, so there is "
                        "nothing to learn or measure",
                        j->given[data]);
}

static vd_status load_validation(job *j, vd_error *err)
{
    if (!j->given[VAL])
        return VD_OK;
    vd_status status = read_data(j, VAL, VAL_FEATURES, &j->val_dialogs, &j->val_regions, err);
    if (status)
        return status;
    int expected = vd_regions_size(j->regions), found = vd_regions_size(j->val_regions);
    if (expected != found)
        return vd_error_set(err, VD_MISMATCH,
                            "%.300s has regions of %d numbers, %.300s of %d; both must come from "
                            "one extractor",
                            j->given[FEATURES], expected, j->given[VAL_FEATURES], found);
    if (j->given[VAL_DENSE])
        status = vd_visdial_read_dense(j->val_dialogs, j->given[VAL_DENSE], err);
    if (status == VD_OK)
        status = vd_dataset_new(j->val_dialogs, j->val_regions, vd_trainer_vocab(j->trainer),
                                &j->val_dataset, err);
    return status;
}

// Tells one set of dialogs from another: a checkpoint goes on only with what it began with.
static void describe_data(const job *j, char *out, size_t size)
{
    snprintf(out, size, "dialogs=%zu hash=%016" PRIx64, j->dialogs->dialog_count,
             vd_visdial_hash(j->dialogs));
}

// ---- starting -----------------------------------------------------------------------------------

static vd_status make_directory(job *j, vd_error *err)
{
    const char *out = j->given[OUT];
    if (mkdir(out, 0777) != 0 && errno != EEXIST)
        return vd_error_set(err, errno == ENOENT ? VD_NOT_FOUND : VD_IO,
                            "--out: %.400s cannot be made: %s", out, strerror(errno));
    vd_status status = vd_directory_hold(out, &j->hold, err);
    if (status)
        return status;
    static const char *const files[] = {"checkpoint.safetensors", "model.safetensors"};
    for (size_t i = 0; i < 2; i++) {
        if (access(path_of(j, files[i]), F_OK) == 0)
            return vd_error_set(err, VD_USAGE,
                                "%.300s is there already; continue it with --resume, or choose "
                                "another --out",
                                j->path);
    }
    return VD_OK;
}

// The answers people gave in the training data, most frequent first.
static vd_status write_pool(job *j, vd_error *err)
{
    vd_answer_pool pool;
    vd_status status =
        vd_answer_pool_count(j->dialogs, (size_t)j->settings.training.pool, &pool, err);
    if (status == VD_OK)
        status = vd_answer_pool_write(&pool, path_of(j, "pool.txt"), err);
    vd_answer_pool_clear(&pool);
    return status;
}

static bool given_setting(const job *j, const char *name)
{
    for (int i = SETTINGS; i < OPTIONS; i++)
        if (j->given[i] && strcmp(vd_cmd_train_options[i].name, name) == 0)
            return true;
    return false;
}

// Word vectors are as wide as the file's.
static vd_status glove_width(job *j, vd_error *err)
{
    int width;
    if (!j->given[GLOVE])
        return VD_OK;
    vd_status status = vd_glove_width(j->given[GLOVE], &width, err);
    if (status == VD_OK && given_setting(j, "embed") && j->settings.network.embed != width)
        status =
            vd_error_set(err, VD_MISMATCH, "--embed is %d, but %.300s has vectors of %d numbers",
                         j->settings.network.embed, j->given[GLOVE], width);
    j->settings.network.embed = width;
    return status;
}

// The sizes of the model that --from names, and where nobody says others its decoders.
static vd_status take_sizes(job *j, const vd_model *from, vd_error *err)
{
    const vd_config *config = vd_model_config(from);
    struct {
        const char *name;
        int *setting, of_model;
    } size[] = {{"embed", &j->settings.network.embed, config->embed},
                {"hidden", &j->settings.network.hidden, config->hidden}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        if (given_setting(j, size[i].name) && *size[i].setting != size[i].of_model)
            return vd_error_set(err, VD_MISMATCH,
                                "--%s is %d, but %.300s has %d; leave it out to start from that "
                                "model",
                                size[i].name, *size[i].setting, j->given[FROM], size[i].of_model);
        *size[i].setting = size[i].of_model;
    }
    if (!given_setting(j, "decoder"))
        j->settings.network.decoders = config->decoders;
    return VD_OK;
}

static vd_status start_words(job *j, vd_error *err)
{
    const vd_vocab *vocab = vd_trainer_vocab(j->trainer);
    int width = j->settings.network.embed, found;
    float *rows = vd_alloc((size_t)vd_vocab_size(vocab) * (size_t)width, sizeof *rows);
    vd_status status = rows ? vd_glove_read(j->given[GLOVE], vocab, width, rows, &found, err)
                            : vd_error_memory(err, "word vectors");
    if (status == VD_OK)
        status = vd_trainer_set_words(j->trainer, rows, err);
    if (status == VD_OK && !j->given[QUIET])
        fprintf(stderr, "%d of %d words start from %s\n", found,
                vd_vocab_size(vocab) - VD_FIRST_WORD, j->given[GLOVE]);
    vd_free(rows);
    return status;
}

// Those of --vocab, else the data's, that occur so often.
static vd_status read_words(const job *j, int64_t minimum, vd_vocab **out, vd_error *err)
{
    return j->given[VOCAB] ? vd_vocab_read(j->given[VOCAB], minimum, out, err)
                           : vd_dataset_vocab(j->dialogs, minimum, out, err);
}

// There are none, or none that occurs so often.
static vd_status refuse_no_words(const job *j, vd_error *err)
{
    const char *path = j->given[j->given[VOCAB] ? VOCAB : DATA];
    vd_vocab *all;
    vd_status status = read_words(j, 1, &all, err);
    if (status)
        return status;
    bool any = vd_vocab_size(all) > VD_FIRST_WORD;
    vd_vocab_free(all);
    if (any)
        return vd_error_set(err, VD_FORMAT, "no word occurs %d times in %.300s; lower --min-count",
                            j->settings.training.min_count, path);
    return vd_error_set(err, VD_FORMAT, "%.300s: there are no words in it%s", path,
                        j->given[VOCAB] ? "; leave --vocab out to take the data's own" : "");
}

static vd_status choose_words(const job *j, vd_vocab **out, vd_error *err)
{
    vd_status status = read_words(j, j->settings.training.min_count, out, err);
    if (status || vd_vocab_size(*out) > VD_FIRST_WORD)
        return status;
    vd_vocab_free(*out);
    *out = NULL;
    return refuse_no_words(j, err);
}

// Random weights and the data's words, or those of the model that --from names.
static vd_status new_trainer(job *j, vd_error *err)
{
    vd_model *from = NULL;
    vd_vocab *words = NULL;
    vd_status status =
        j->given[FROM] ? vd_model_load(j->given[FROM], &from, err) : choose_words(j, &words, err);
    if (status)
        return status;
    const vd_vocab *vocab = from ? vd_model_vocab(from) : words;
    status = from ? take_sizes(j, from, err) : glove_width(j, err);
    j->settings.network.vocab = vd_vocab_size(vocab);
    j->settings.network.region = vd_regions_size(j->regions);
    if (status == VD_OK)
        status =
            vd_trainer_new(&j->settings.network, vocab, &j->settings.training, &j->trainer, err);
    if (status == VD_OK && from)
        status = vd_trainer_start_from(j->trainer, from, err);
    if (status == VD_OK && j->given[GLOVE])
        status = start_words(j, err);
    vd_vocab_free(words);
    vd_model_free(from);
    return status;
}

// Of processes that train together the first writes.
static bool is_first(const job *j)
{
    return !j->training.group || j->training.group->rank == 0;
}

static vd_status start_anew(job *j, vd_error *err)
{
    vd_status status = is_first(j) ? make_directory(j, err) : VD_OK;
    if (status == VD_OK)
        status = new_trainer(j, err);
    if (status)
        return status;
    char data[80], source[400];
    const char *slash = strrchr(j->given[DATA], '/');
    const char *from = j->given[FROM]    ? j->given[FROM]
                       : j->given[GLOVE] ? j->given[GLOVE]
                                         : "random weights";
    const char *from_slash = strrchr(from, '/');
    describe_data(j, data, sizeof data);
    snprintf(source, sizeof source, "%.200s (%.40s %.40s)", slash ? slash + 1 : j->given[DATA],
             j->dialogs->version ? j->dialogs->version : "",
             j->dialogs->split ? j->dialogs->split : "");
    // In the order of the keys, as a checkpoint gives them back: resumed or not, the model file
    // comes out the same.
    const char *pairs[][2] = {{"data", data},
                              {"pool", "pool.txt"},
                              {VD_TRAINING_STATE, ""},
                              {"started_from", from_slash ? from_slash + 1 : from},
                              {"trained_on", source}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && status == VD_OK; i++)
        status = vd_trainer_set_metadata(j->trainer, pairs[i][0], pairs[i][1], err);
    return status || !is_first(j) ? status : write_pool(j, err);
}

// What the command line says must be what the run was started with.
static vd_status check_settings(const job *j, const vd_run_settings *kept, vd_error *err)
{
    for (int i = SETTINGS; i < OPTIONS; i++) {
        const char *name = vd_cmd_train_options[i].name;
        bool said = j->given[i] || (j->given[PRESET] && vd_run_settings_of_preset(name));
        if (!said || vd_run_settings_same(&j->settings, kept, name))
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

// The first place where they differ, or the end of the shorter.
static int32_t first_other_word(const vd_vocab *a, const vd_vocab *b)
{
    int32_t id = 0;
    while (id < vd_vocab_size(a) && id < vd_vocab_size(b) &&
           strcmp(vd_vocab_word(a, id), vd_vocab_word(b, id)) == 0)
        id++;
    return id;
}

// --vocab again: the words must be those that the checkpoint has.
static vd_status check_words(job *j, vd_error *err)
{
    vd_vocab *given;
    const vd_vocab *kept = vd_trainer_vocab(j->trainer);
    vd_status status = vd_vocab_read(j->given[VOCAB], j->settings.training.min_count, &given, err);
    if (status)
        return status;
    int32_t words = vd_vocab_size(kept), id = first_other_word(given, kept);
    if (vd_vocab_size(given) != words)
        status = vd_error_set(err, VD_MISMATCH,
                              "--vocab %.300s: %d words, not the %d the run was started with; "
                              "leave it out to continue",
                              j->given[VOCAB], vd_vocab_size(given) - VD_FIRST_WORD,
                              words - VD_FIRST_WORD);
    else if (id < words)
        status = vd_error_set(err, VD_MISMATCH,
                              "--vocab %.300s: word %d is \"%.40s\", the run was started with "
                              "\"%.40s\" there; leave it out to continue",
                              j->given[VOCAB], id - VD_FIRST_WORD + 1, vd_vocab_word(given, id),
                              vd_vocab_word(kept, id));
    vd_vocab_free(given);
    return status;
}

static vd_status resume(job *j, vd_error *err)
{
    vd_status status = is_first(j) ? vd_directory_hold(j->given[OUT], &j->hold, err) : VD_OK;
    if (status)
        return status;
    if (access(path_of(j, "checkpoint.safetensors"), F_OK) != 0)
        return vd_error_set(err, VD_NOT_FOUND,
                            "--resume: there is no %.300s; start without --resume", j->path);
    static const char *const files[] = {"checkpoint.safetensors", "model.safetensors",
                                        "best.safetensors", "log.tsv"};
    for (size_t i = 0; i < sizeof files / sizeof *files && is_first(j); i++)
        vd_output_sweep(path_of(j, files[i]));
    status = vd_trainer_resume(path_of(j, "checkpoint.safetensors"), &j->trainer, err);
    if (status)
        return status;
    vd_run_settings kept;
    status = vd_run_settings_resume(j->trainer, j->path, &kept, err);
    if (status == VD_OK)
        status = check_settings(j, &kept, err);
    if (status)
        return status;
    j->settings = kept;
    int expected = vd_trainer_config(j->trainer)->region, found = vd_regions_size(j->regions);
    if (expected != found)
        return vd_error_set(err, VD_MISMATCH,
                            "%.300s expects regions of %d numbers, %.300s has %d; name the "
                            "features it was started with",
                            j->path, expected, j->given[FEATURES], found);
    if (j->given[VOCAB] && (status = check_words(j, err)))
        return status;
    char data[80];
    const char *begun = vd_trainer_metadata(j->trainer, "data");
    describe_data(j, data, sizeof data);
    if (!begun || strcmp(begun, data) != 0)
        return vd_error_set(err, VD_MISMATCH,
                            "%.300s was started with other dialogs (%.80s) than %.300s (%s)",
                            j->path, begun ? begun : "unknown", j->given[DATA], data);
    return VD_OK;
}

// ---- command ------------------------------------------------------------------------------------

// ---- with its curves on the screen --------------------------------------------------------------

typedef struct run_thread {
    vd_training *training;
    atomic_int stop, done;
    vd_status status;
    vd_error err;
} run_thread;

static void *run_in_thread(void *context)
{
    run_thread *run = context;
    run->status = vd_training_run(run->training, &run->err);
    atomic_store(&run->done, 1);
    return NULL;
}

// The run on a thread of its own; this one owns the terminal.
static vd_status train_watched(job *j, vd_error *err)
{
    run_thread run = {.training = &j->training};
    vd_curves *curves = NULL;
    pthread_t thread;
    vd_error shown;
    vd_status status = vd_curves_new(&j->given[OUT], 1, NULL, &curves, err);
    if (status)
        return status;
    j->training.quiet = j->training.silent = true;
    j->training.stop = &run.stop;
    if (pthread_create(&thread, NULL, run_in_thread, &run) != 0) {
        vd_curves_free(curves);
        return vd_error_set(err, VD_UNAVAILABLE, "no thread for the run could be started");
    }
    vd_status watched = vd_watch(curves, &run.done, &run.stop, &shown);
    if (watched != VD_OK) // nobody could stop it now
        atomic_store(&run.stop, SIGTERM);
    pthread_join(thread, NULL);
    vd_curves_free(curves);
    if (watched != VD_OK)
        return vd_error_set(err, watched, "--watch: %s", shown.text);
    if (run.status != VD_OK)
        vd_error_set(err, run.status, "%s", run.err.text);
    return run.status;
}

static vd_status choose_precision(const job *j, const vd_backend *backend, vd_error *err)
{
    static const char *const names[] = {"fp32", "tf32", "bf16"};
    const char *name = j->given[PRECISION] ? j->given[PRECISION] : names[0];
    for (int i = 0; i <= VD_PRECISION_BF16; i++)
        if (strcmp(name, names[i]) == 0) {
            backend->precision((vd_precision)i);
            return VD_OK;
        }
    return vd_error_set(err, VD_USAGE, "--precision: expected fp32, tf32 or bf16, found '%.80s'",
                        name);
}

static vd_status share_processors(const vd_group *group, vd_error *err)
{
    int threads;
    vd_status status = vd_group_threads(group, &threads, err);
    if (status == VD_OK && group)
        vd_threads_processors(threads);
    return status;
}

static vd_status train(job *j, vd_error *err)
{
    vd_chosen_backend chosen;
    vd_training *t = &j->training;
    vd_status status = vd_group_join(NULL, &t->group, err);
    if (status == VD_OK && j->given[WATCH] && is_first(j)) // before anything is made
        status = vd_screen_usable("leave --watch out", err);
    if (status == VD_OK)
        status = share_processors(t->group, err);
    if (status == VD_OK)
        status = vd_choose_backend(j->given[BACKEND], t->group ? t->group->local : 0, &chosen, err);
    if (status == VD_OK)
        status = choose_precision(j, chosen.backend, err);
    if (status == VD_OK)
        status = read_data(j, DATA, FEATURES, &j->dialogs, &j->regions, err);
    if (status == VD_OK)
        status = j->given[RESUME] ? resume(j, err) : start_anew(j, err);
    if (status == VD_OK)
        status = vd_trainer_use(j->trainer, chosen.backend, err);
    if (status == VD_OK)
        status = load_validation(j, err);
    if (status == VD_OK)
        status =
            vd_dataset_new(j->dialogs, j->regions, vd_trainer_vocab(j->trainer), &j->dataset, err);
    if (status)
        return status;
    if ((status = vd_together_agree(t->group, j->trainer, err)))
        return status;
    if ((status = vd_trainer_join(j->trainer, t->group, err)))
        return status;
    t->quiet = t->quiet || !is_first(j);
    t->trainer = j->trainer;
    t->data = j->dataset;
    t->validation = j->val_dataset;
    t->settings = j->settings.training;
    const vd_config *config = vd_trainer_config(j->trainer);
    if (!t->quiet)
        fprintf(stderr,
                "%zu dialogs, %" PRId64 " steps an epoch, %d epoch%s, %d words, from "
                "step %" PRId64 "\n",
                vd_dataset_count(j->dataset),
                vd_training_epoch_steps(vd_dataset_count(j->dataset), j->settings.training.batch),
                j->settings.training.epochs, j->settings.training.epochs == 1 ? "" : "s",
                config->vocab, vd_trainer_steps(j->trainer));
    if (t->group && !t->quiet)
        fprintf(stderr, "%d processes; gradients are summed %s\n", t->group->size,
                vd_trainer_sums(j->trainer));
    if (j->given[WATCH] && is_first(j))
        return train_watched(j, err);
    t->stop = vd_interrupt_watch();
    status = vd_training_run(t, err);
    vd_interrupt_release();
    if ((status == VD_OK || status == VD_INTERRUPTED) && t->group) // all stop together
        t->group->leave();
    return status;
}

int vd_cmd_train(int argc, char **argv)
{
    vd_error err = {0};
    job *j = vd_alloc(1, sizeof *j);
    if (!j) {
        vd_error_memory(&err, "the command");
        return vd_command_fail("train", &err);
    }
    j->hold = -1;
    vd_status status = read_options(j, argc, argv, &err);
    if (status == VD_OK)
        status = train(j, &err);
    // Asked for, so no failure.
    bool asked = status == VD_INTERRUPTED && j->training.stop_after && j->trainer &&
                 vd_trainer_steps(j->trainer) >= j->training.stop_after;
    bool first =
        is_first(j); // which alone says where a stopped run is kept, and ends with its code
    vd_dataset_free(j->val_dataset);
    vd_dataset_free(j->dataset);
    vd_trainer_free(j->trainer);
    vd_visdial_free(j->val_dialogs);
    vd_visdial_free(j->dialogs);
    vd_regions_close(j->val_regions);
    vd_regions_close(j->regions);
    vd_directory_release(j->hold);
    vd_free(j);
    // mpirun ends all processes when one fails: the others wait for the first to have spoken.
    bool silent = status == VD_OK || (status == VD_INTERRUPTED && !first);
    int code = silent ? 0 : vd_command_fail("train", &err);
    return asked ? 0 : code;
}
