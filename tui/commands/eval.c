#include "tui/commands/command.h"

#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tui/base/backend_choice.h"
#include "tui/base/option_texts.h"
#include "tui/measure/corpus.h"
#include "tui/base/decoder_choice.h"
#include "tui/base/interrupt.h"
#include "tui/measure/model_scores.h"
#include "tui/measure/report.h"
#include "tui/base/output.h"

enum {
    MODEL,
    DATA,
    FEATURES,
    DENSE,
    FROM_RANKS,
    RANKS,
    DECODER,
    ASSETS,
    LIMIT,
    BATCH,
    THREADS,
    RESAMPLES,
    SEED,
    BACKEND,
    OTHER_IMAGE,
    NO_HISTORY,
    JSON,
    QUIET
};

const vd_option vd_cmd_eval_options[] = {
    {"model", "MODEL", VD_HELP_MODEL},
    {"data", "FILE", VD_HELP_DATA},
    {"features", "FILE", VD_HELP_FEATURES},
    {"dense", "FILE", VD_HELP_DENSE},
    {"from-ranks", "FILE", "evaluate the rankings in FILE (challenge format), not a model"},
    {"ranks", "FILE", "write the rankings to FILE (challenge format)"},
    VD_DECODER_ALL_OPTION,
    {"assets", "DIR", VD_HELP_ASSETS},
    {"limit", "N", VD_HELP_LIMIT},
    {"batch", "N", VD_HELP_BATCH " (8)"},
    {"threads", "N", VD_HELP_THREADS " (default: one per processor)"},
    {"resamples", "N", VD_HELP_RESAMPLES "; 0: no intervals"},
    {"seed", "N", "seed of the bootstrap (0)"},
    VD_BACKEND_OPTION,
    {"other-image", NULL, "give every dialog the picture of the next dialog"},
    {"no-history", NULL, "hide the history and the caption from the model"},
    {"json", NULL, VD_HELP_JSON},
    {"quiet", NULL, VD_HELP_NO_PROGRESS},
    {0},
};

#define LEVEL 0.95

typedef struct evaluation {
    const char *given[QUIET + 1]; // values of the options
    vd_measure_options options;
    vd_bootstrap_options bootstrap;
    bool intervals_wanted;
    int64_t threads;
    vd_decoder_choice decoder;
    vd_corpus corpus;
    vd_model *model;
    vd_dataset *dataset;
    vd_measure_source source;
    vd_ranks *ranks;         // of --from-ranks
    vd_ranks_writer *writer; // of --ranks
    vd_measure measure;
    vd_interval intervals[VD_METRICS];
} evaluation;

// ---- report -------------------------------------------------------------------------------------

static void print_tables(const evaluation *e)
{
    const vd_measure *measure = &e->measure;
    if (e->ranks)
        printf("ranks    %s\n", e->given[FROM_RANKS]);
    else
        printf("model    %s\n", vd_model_path(e->model));
    printf("data     %s, %zu dialogs\n", e->corpus.data, measure->dialogs);
    if (e->options.view.other_image)
        printf("changed  every dialog sees the next dialog's picture\n");
    if (e->options.view.no_history)
        printf("changed  no question sees the history or the caption\n");
    printf("\n");
    vd_measure_print(measure, e->intervals_wanted ? e->intervals : NULL, LEVEL);
    if (e->given[RANKS])
        printf("\nranks    written to %s\n", e->given[RANKS]);
}

static vd_status print_json(const evaluation *e, vd_error *err)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    if (!json)
        return vd_error_memory(err, "JSON");
    yajl_gen_map_open(json);
    vd_output_string(json, e->ranks ? "ranks" : "model");
    vd_output_string(json, e->ranks ? e->given[FROM_RANKS] : vd_model_path(e->model));
    vd_output_string(json, "data");
    vd_output_string(json, e->corpus.data);
    vd_output_string(json, "other_image");
    yajl_gen_bool(json, e->options.view.other_image);
    vd_output_string(json, "no_history");
    yajl_gen_bool(json, e->options.view.no_history);
    vd_measure_json(json, &e->measure, e->intervals_wanted ? e->intervals : NULL, LEVEL);
    yajl_gen_map_close(json);
    vd_output_json(stdout, json);
    return VD_OK;
}

// ---- loading ------------------------------------------------------------------------------------

static vd_status load_model(evaluation *e, vd_error *err)
{
    vd_chosen_backend chosen;
    vd_status status = vd_choose_backend(e->given[BACKEND], 0, &chosen, err);
    if (status == VD_OK)
        status = vd_corpus_model(&e->corpus, e->given[MODEL], &e->model, err);
    if (status == VD_OK)
        status = vd_model_use(e->model, chosen.backend, err);
    return status ? status : vd_decoder_of(e->model, &e->decoder, &e->decoder.by, err);
}

static vd_status keep_inputs(const evaluation *e, vd_error *err)
{
    const char *in[] = {vd_model_path(e->model), e->corpus.data, e->corpus.features,
                        e->corpus.dense};
    return vd_output_apart(&e->given[RANKS], 1, in, sizeof in / sizeof *in, err);
}

static vd_status load(evaluation *e, vd_error *err)
{
    const vd_corpus_paths paths = {.data = e->given[DATA],
                                   .features = e->given[FEATURES],
                                   .dense = e->given[DENSE],
                                   .assets = e->given[ASSETS],
                                   .ranked = e->given[FROM_RANKS]};
    vd_status status = vd_corpus_open(&paths, &e->corpus, err);
    if (status == VD_OK && e->given[FROM_RANKS])
        return vd_ranks_read(e->given[FROM_RANKS], e->corpus.dialogs, &e->ranks, err);
    if (status == VD_OK)
        status = load_model(e, err);
    if (status == VD_OK)
        status = vd_dataset_new(e->corpus.dialogs, e->corpus.regions, vd_model_vocab(e->model),
                                &e->dataset, err);
    if (status == VD_OK)
        status = keep_inputs(e, err);
    if (status == VD_OK && e->given[RANKS])
        status = vd_ranks_create(e->given[RANKS], &e->writer, err);
    return status;
}

// ---- measuring ----------------------------------------------------------------------------------

static vd_status write_round(void *user, const vd_visdial_dialog *dialog, int32_t round,
                             const float *scores, vd_error *err)
{
    return vd_ranks_add(user, dialog->image_id, round + 1, scores,
                        dialog->rounds[round].option_count, err);
}

static vd_status run_model(evaluation *e, vd_error *err)
{
    vd_status status =
        vd_measure_model_open(e->model, e->decoder.by, (int)e->threads, &e->source, err);
    if (status == VD_OK)
        status = vd_measure_run(e->dataset, &e->source, &e->options, &e->measure, err);
    return status;
}

static vd_status score(evaluation *e, vd_error *err)
{
    size_t count = vd_dataset_count(e->dataset);
    if (e->options.limit && e->options.limit < count)
        count = e->options.limit;
    vd_progress progress;
    vd_progress_start(&progress, "dialogs", (int64_t)count, 0, e->given[QUIET]);
    e->options.progress = &progress;
    e->options.stop = vd_interrupt_watch();
    if (e->writer) {
        e->options.report = write_round;
        e->options.user = e->writer;
    }
    vd_error why = {0};
    vd_status status = run_model(e, &why);
    if (vd_backend_gave_up(vd_model_backend(e->model), status) && !e->writer) {
        fprintf(stderr, "visdial eval: %s; starting over on the CPU\n", why.text);
        vd_measure_model_close(&e->source);
        e->source = (vd_measure_source){0};
        vd_measure_clear(&e->measure);
        status = vd_model_use(e->model, vd_backend_cpu(), &why);
        if (status == VD_OK)
            status = run_model(e, &why);
    }
    if (status)
        vd_error_set(err, status, "%s", why.text);
    vd_interrupt_release();
    if (status == VD_OK)
        vd_progress_finish(&progress, (int64_t)count, NULL);
    else
        vd_progress_clear(&progress);
    return status;
}

// The bootstrap over dialogs.
static vd_status find_intervals(evaluation *e, vd_error *err)
{
    vd_sample sample;
    vd_status status = vd_sample_new(e->measure.dialog, e->measure.dialogs, &sample, err);
    if (status == VD_OK)
        status = vd_bootstrap(&sample, 1, &e->bootstrap, e->intervals, err);
    vd_sample_clear(&sample);
    return status;
}

// The file of --ranks, before anything else that takes time: it is whole then, whatever becomes of
// the command.
static vd_status keep_ranks(evaluation *e, vd_error *err)
{
    vd_ranks_writer *writer = e->writer;
    e->writer = NULL;
    return writer ? vd_ranks_commit(writer, err) : VD_OK;
}

static vd_status measure(evaluation *e, vd_error *err)
{
    vd_status status =
        e->ranks ? vd_measure_ranks(e->corpus.dialogs, e->ranks, &e->options, &e->measure, err)
                 : score(e, err);
    if (status == VD_OK)
        status = keep_ranks(e, err);
    bool any = e->measure.all.rounds || e->measure.all.dense_rounds;
    if (status == VD_OK && !any && !e->given[RANKS])
        status = vd_error_set(err, VD_FORMAT,
                              "%.300s: no round has a human answer among its candidates, so there "
                              "is nothing to measure%s",
                              e->corpus.data,
                              e->ranks ? "" : "; --ranks writes rankings of such rounds");
    e->intervals_wanted = any && e->bootstrap.resamples > 0;
    if (status == VD_OK && e->intervals_wanted)
        status = find_intervals(e, err);
    return status;
}

static vd_status report(evaluation *e, vd_error *err)
{
    if (e->given[JSON])
        return print_json(e, err);
    print_tables(e);
    return VD_OK;
}

// ---- options ------------------------------------------------------------------------------------

static vd_status read_value(evaluation *e, int option, const char *value, vd_error *err)
{
    static const struct {
        int option;
        int64_t low, high;
    } range[] = {
        {LIMIT, 1, 1000000000},   {BATCH, 1, 256},      {THREADS, 1, VD_THREADS},
        {RESAMPLES, 0, 10000000}, {SEED, 0, INT64_MAX},
    };
    int64_t number = 0;
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (range[i].option == option) {
            vd_status status = vd_option_int(vd_cmd_eval_options[option].name, value, range[i].low,
                                             range[i].high, &number, err);
            if (status)
                return status;
        }
    if (option == LIMIT)
        e->options.limit = (size_t)number;
    else if (option == BATCH)
        e->options.batch = (size_t)number;
    else if (option == THREADS)
        e->threads = number;
    else if (option == RESAMPLES)
        e->bootstrap.resamples = (int)number;
    else if (option == SEED)
        e->bootstrap.seed = (uint64_t)number;
    else if (option == DECODER)
        return vd_choose_decoder(value, &e->decoder, err);
    return VD_OK;
}

static vd_status check_options(const evaluation *e, vd_error *err)
{
    static const int of_models[] = {MODEL, FEATURES, RANKS,       DECODER,
                                    BATCH, THREADS,  OTHER_IMAGE, NO_HISTORY};
    if (!e->given[FROM_RANKS]) {
        if (!e->given[MODEL])
            return vd_error_set(err, VD_USAGE,
                                "which model? name one with --model, or rankings with "
                                "--from-ranks");
        if (!e->given[DATA] != !e->given[FEATURES])
            return vd_error_set(err, VD_USAGE, "--data and --features go together; %s is missing",
                                e->given[DATA] ? "--features" : "--data");
        return VD_OK;
    }
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++)
        if (e->given[of_models[i]])
            return vd_error_set(err, VD_USAGE,
                                "--%s is about a model; --from-ranks measures rankings without one",
                                vd_cmd_eval_options[of_models[i]].name);
    return VD_OK;
}

static vd_status read_options(evaluation *e, int argc, char **argv, vd_error *err)
{
    vd_option_walk walk = {.options = vd_cmd_eval_options, .argc = argc, .argv = argv};
    const char *value;
    int option;
    e->threads = vd_parallel_threads();
    e->bootstrap = (vd_bootstrap_options){.resamples = 10000, .level = LEVEL};
    while ((option = vd_option_next(&walk, &value, err)) >= 0) {
        e->given[option] = value ? value : "";
        vd_status status = read_value(e, option, value, err);
        if (status)
            return status;
    }
    if (option == VD_OPTION_ERROR)
        return VD_USAGE;
    e->options.view.other_image = e->given[OTHER_IMAGE];
    e->options.view.no_history = e->given[NO_HISTORY];
    if (walk.operands < argc)
        return vd_error_set(err, VD_USAGE, "unexpected '%.80s'; see --help", argv[walk.operands]);
    return check_options(e, err);
}

int vd_cmd_eval(int argc, char **argv)
{
    evaluation e = {0};
    vd_error err = {0};
    vd_status status = read_options(&e, argc, argv, &err);
    if (status == VD_OK)
        status = load(&e, &err);
    if (status == VD_OK)
        status = measure(&e, &err);
    if (status == VD_OK)
        status = report(&e, &err);
    vd_ranks_abort(e.writer);
    vd_ranks_free(e.ranks);
    vd_measure_clear(&e.measure);
    vd_measure_model_close(&e.source);
    vd_dataset_free(e.dataset);
    vd_model_free(e.model);
    vd_corpus_close(&e.corpus);
    return status ? vd_command_fail("eval", &err) : 0;
}
