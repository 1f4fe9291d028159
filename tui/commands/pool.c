// visdial pool build: the answers of a split as a pool, and their vectors beside a model.
#include "tui/commands/command.h"

#include <glib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/model/pool.h"
#include "features/dialogs/answer_pool.h"
#include "features/dialogs/visdial.h"
#include "tui/base/progress.h"
#include "tui/session/session.h"

typedef struct building {
    const char *data, *model_path, *out_path; // as given
    size_t top;
    bool quiet, force;
    vd_visdial *dialogs;
    vd_answer_pool answers;
    vd_model *model;
    char *out, *vectors; // paths
    vd_progress progress;
} building;

static const vd_option options[] = {
    {"data", "FILE", VD_HELP_DATA, VD_INTO(building, data)},
    {"top", "N", "only the N most frequent answers (default: all)", VD_INTO(building, top), 1,
     1000000000},
    {"model", "FILE", "also encode the answers with this model", VD_INTO(building, model_path)},
    {"out", "FILE", "the pool to write (default with --model: the pool that the model names)",
     VD_INTO(building, out_path)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(building, force)},
    {"quiet", NULL, VD_HELP_NO_PROGRESS, VD_INTO(building, quiet)},
    {0},
};

static void find_paths(building *b)
{
    const char *name = b->model ? vd_model_metadata(b->model, "pool") : NULL;
    name = name && *name && !strchr(name, '/') ? name : "pool.txt";
    char *directory = b->model ? g_path_get_dirname(vd_model_path(b->model)) : NULL;
    b->out = b->out_path ? g_strdup(b->out_path) : g_build_filename(directory, name, NULL);
    g_free(directory);
    b->vectors = b->model ? vd_session_vectors_path(b->model) : NULL;
}

static vd_status keep_inputs(const building *b, vd_error *err)
{
    const char *out[] = {b->out, b->vectors}, *in[] = {b->data, b->model_path};
    vd_status status = vd_output_check(out, 2, in, 2, true, err);
    return status ? status : vd_output_check(&b->out_path, 1, NULL, 0, b->force, err);
}

static vd_status write_pool(building *b, vd_error *err)
{
    vd_status status = vd_visdial_open(b->data, &b->dialogs, err);
    if (status == VD_OK)
        status = vd_answer_pool_count(b->dialogs, b->top, &b->answers, err);
    if (status == VD_OK && b->answers.count > INT32_MAX / VD_MAX_CANDIDATE)
        status = vd_error_set(err, VD_FORMAT, "%.300s: %zu answers are too many for a pool",
                              b->data, b->answers.count);
    if (status == VD_OK)
        status = vd_answer_pool_write(&b->answers, b->out, err);
    if (status == VD_OK)
        printf("%s: %zu answers, given %lld to %lld times\n", b->out, b->answers.count,
               (long long)b->answers.times[b->answers.count - 1], (long long)b->answers.times[0]);
    return status;
}

static vd_status write_vectors(building *b, vd_error *err)
{
    int32_t *tokens, *lengths;
    int count = (int)b->answers.count;
    vd_pool *pool = NULL;
    vd_status status =
        vd_answer_pool_tokens(&b->answers, vd_model_vocab(b->model), &tokens, &lengths, err);
    if (status)
        return status;
    vd_progress_start(&b->progress, "answers", count, 0, b->quiet);
    const vd_watch watch = {vd_progress_report, &b->progress, vd_interrupt_watch()};
    status = vd_pool_new(b->model, tokens, lengths, count, VD_MAX_CANDIDATE, &watch, &pool, err);
    vd_interrupt_release();
    vd_progress_end(&b->progress, count, status == VD_OK);
    if (status == VD_OK && count >= VD_LARGE_POOL)
        vd_pool_halve(pool);
    if (status == VD_OK)
        status = vd_pool_save(pool, b->vectors, err);
    if (status == VD_OK)
        printf("%s: their vectors under %s\n", b->vectors, vd_model_name(b->model));
    vd_pool_free(pool);
    vd_free(tokens);
    vd_free(lengths);
    return status;
}

static vd_status read_options(building *b, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    int verb;
    vd_status status = vd_arguments_read(options, argc, argv, b, &given, err);
    if (status == VD_OK)
        status = vd_arguments_verb(&given, "build", 0, &verb, err);
    if (status == VD_OK)
        status = vd_arguments_need(&given, "data", err);
    if (status == VD_OK && !b->model_path && !b->out_path)
        status = vd_error_set(err, VD_USAGE,
                              "name the file to write with --out, or a model with --model");
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    building b = {0};
    vd_status status = read_options(&b, argc, argv, err);
    if (status == VD_OK && b.model_path)
        status = vd_model_load(b.model_path, &b.model, err);
    if (status == VD_OK) {
        find_paths(&b);
        status = keep_inputs(&b, err);
    }
    if (status == VD_OK)
        status = write_pool(&b, err);
    bool encodes = b.model && vd_has_discriminative(vd_model_config(b.model)->decoders);
    if (status == VD_OK && b.model && !encodes)
        printf("%s has only a generative decoder: there are no vectors to write\n",
               vd_model_path(b.model));
    if (status == VD_OK && encodes)
        status = write_vectors(&b, err);
    g_free(b.out);
    g_free(b.vectors);
    vd_answer_pool_clear(&b.answers);
    vd_visdial_free(b.dialogs);
    vd_model_free(b.model);
    return status;
}

const vd_command vd_cmd_pool = {
    "pool",
    run,
    "build the pool of candidate answers",
    "build --data FILE [options]",
    "Takes the answers that people gave in a data set, with their counts. With --model the pool "
    "is written beside the model, together with the vectors of its answers; chat and ask then "
    "map these into memory instead of computing them. The pool and the vectors that belong to the "
    "model are replaced.",
    "  visdial pool build --data visdial_1.0_train.json \\\n"
    "      --model run1/model.safetensors\n"
    "  visdial pool build --data train.packed --top 10000 --out pool.txt\n",
    options,
    "build"};
