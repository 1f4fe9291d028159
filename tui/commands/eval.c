#include "tui/commands/command.h"

#include "engine/backend/open.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/parallel.h"
#include "tui/measure/corpus.h"
#include "tui/base/decoder_choice.h"
#include "tui/commands/eval_caption.h"
#include "tui/base/progress.h"
#include "tui/base/generation.h"
#include "tui/measure/measure.h"

typedef struct evaluation {
    const char *model_name, *from_ranks, *ranks_out;
    vd_corpus_paths paths;
    vd_measure_options options;
    vd_bootstrap_options bootstrap;
    int threads;
    vd_decoder_choice decoder;
    vd_backend_choice backend;
    bool json, quiet, force, intervals_wanted;
    enum { DIALOG, CAPTION } task;
    vd_caption_evaluation captions; // of CAPTION
    vd_corpus corpus;
    vd_model *model;
    vd_dataset *dataset;
    vd_measure_source source;
    vd_ranks *ranks;         // of --from-ranks
    vd_ranks_writer *writer; // of --ranks
    vd_measure measure;
    vd_interval intervals[VD_METRICS];
} evaluation;

static const vd_option options[] = {
    {"model", "MODEL", VD_HELP_MODEL, VD_INTO(evaluation, model_name)},
    {"data", "FILE", VD_HELP_DATA, VD_INTO(evaluation, paths.data)},
    {"features", "FILE", VD_HELP_FEATURES, VD_INTO(evaluation, paths.features)},
    {"dense", "FILE", VD_HELP_DENSE, VD_INTO(evaluation, paths.dense)},
    {"from-ranks", "FILE", "evaluate the rankings in FILE (challenge format), not a model",
     VD_INTO(evaluation, from_ranks)},
    {"ranks", "FILE", "write the rankings to FILE (challenge format)",
     VD_INTO(evaluation, ranks_out)},
    VD_DECODER_OPTION(evaluation, decoder, vd_decoder_read, VD_DECODER_OF_EVALUATIONS),
    {"assets", "DIR", VD_HELP_ASSETS, VD_INTO(evaluation, paths.assets)},
    VD_MISSING_OPTION(evaluation, paths.missing),
    {"limit", "N", VD_HELP_LIMIT, VD_INTO(evaluation, options.limit), 1, 1000000000},
    {"batch", "N", "dialogs per batch (8)", VD_INTO(evaluation, options.batch), 1, 256},
    {"threads", "N", VD_HELP_THREADS " (default: one per processor)", VD_INTO(evaluation, threads),
     1, VD_THREADS},
    {"resamples", "N", VD_HELP_RESAMPLES "; 0: no intervals",
     VD_INTO(evaluation, bootstrap.resamples), 0, 10000000},
    {"seed", "N", "seed of the bootstrap, and of sampled captions (0)",
     VD_INTO(evaluation, bootstrap.seed), 0, INT64_MAX},
    VD_BACKEND_OPTION(evaluation, backend),
    {"other-image", NULL, "give every dialog the picture of the next dialog",
     VD_INTO(evaluation, options.view.other_image)},
    {"no-history", NULL, "hide the history and the caption from the model",
     VD_INTO(evaluation, options.view.no_history)},
    {"task", "NAME", VD_HELP_TASK, VD_INTO(evaluation, task), .choices = "dialog or caption"},
    {"results", "FILE", "caption: the captions to score, [{\"image_id\": 1, \"caption\": \"...\"}]",
     VD_INTO(evaluation, captions.from[0].results)},
    {"other-results", "FILE", "caption: another captioner's results, compared picture by picture",
     VD_INTO(evaluation, captions.from[1].results)},
    {"other-model", "FILE",
     "caption: another captioner, compared picture by picture; differences are it minus the first",
     VD_INTO(evaluation, captions.from[1].model)},
    {"cases", "N", "caption: number of pictures shown on which two captioners differ most (5)",
     VD_INTO(evaluation, captions.cases), 0, 1000},
    {"out", "FILE", "caption: write the captions of --model to FILE (a results file)",
     VD_INTO(evaluation, captions.out)},
    VD_GENERATION_OPTIONS(evaluation, captions.how),
    VD_HARD_OPTION(evaluation, captions.hard),
    {"references", "FILE",
     "caption: reference captions (Karpathy's splits, COCO captions, VisDial dialogs)",
     VD_INTO(evaluation, captions.paths.references)},
    {"split", "NAME", "caption: use only this split of --references, such as test",
     VD_INTO(evaluation, captions.paths.split)},
    {"scenes", "FILE", "caption: scenes of Blocks, to check what captions claim",
     VD_INTO(evaluation, captions.paths.scenes)},
    {"trained-on", "FILE", "caption: captions that the captioner was trained on, to count new ones",
     VD_INTO(evaluation, captions.paths.training)},
    {"tokens-given", NULL,
     "caption: captions are already tokenised, split at spaces; Karpathy's splits: use the file's "
     "tokens",
     VD_INTO(evaluation, captions.paths.tokens_given)},
    {"meteor-jar", "FILE",
     "caption: also METEOR, by its authors' meteor-1.5.jar with its data beside it; needs java",
     VD_INTO(evaluation, captions.paths.meteor_jar)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(evaluation, force)},
    {"json", NULL, VD_HELP_JSON, VD_INTO(evaluation, json)},
    {"quiet", NULL, VD_HELP_NO_PROGRESS, VD_INTO(evaluation, quiet)},
    {0},
};

// ---- report -------------------------------------------------------------------------------------

static void print_tables(const evaluation *e)
{
    const vd_measure *measure = &e->measure;
    if (e->ranks)
        printf("ranks    %s\n", e->from_ranks);
    else
        printf("model    %s, decoder %s\n", vd_model_path(e->model),
               vd_decoders_name(e->decoder.by));
    printf("data     %s, %zu dialog%s\n", e->corpus.data, measure->dialogs,
           measure->dialogs == 1 ? "" : "s");
    if (e->corpus.dense)
        printf("dense    %s\n", e->corpus.dense);
    if (e->options.view.other_image)
        printf("changed  every dialog sees the next dialog's picture\n");
    if (e->options.view.no_history)
        printf("changed  no question sees the history or the caption\n");
    printf("\n");
    vd_measure_print(measure, e->intervals_wanted ? e->intervals : NULL, e->bootstrap.level);
    if (e->ranks_out)
        printf("\nranks    written to %s\n", e->ranks_out);
}

static void print_json(const evaluation *e)
{
    yajl_gen json = vd_output_object();
    if (e->ranks)
        vd_json_put(json, "ranks: %s", e->from_ranks);
    else
        vd_json_put(json, "model: %s, decoder: %s", vd_model_path(e->model),
                    vd_decoders_name(e->decoder.by));
    vd_json_put(json, "data: %s, other_image: %hhd, no_history: %hhd", e->corpus.data,
                e->options.view.other_image, e->options.view.no_history);
    if (e->corpus.dense)
        vd_json_put(json, "dense: %s", e->corpus.dense);
    vd_measure_json(json, &e->measure, e->intervals_wanted ? e->intervals : NULL,
                    e->bootstrap.level);
    vd_output_object_end(json);
}

// ---- loading ------------------------------------------------------------------------------------

static vd_status load_model(evaluation *e, vd_error *err)
{
    const vd_backend *backend;
    vd_status status = vd_backend_choose(e->backend, 0, &backend, err);
    if (status == VD_OK)
        status = vd_corpus_model(&e->corpus, e->model_name, &e->model, err);
    if (status == VD_OK)
        status = vd_model_use(e->model, backend, err);
    return status ? status : vd_decoder_of(e->model, &e->decoder, &e->decoder.by, err);
}

static vd_status keep_inputs(const evaluation *e, vd_error *err)
{
    const char *in[] = {vd_model_path(e->model), e->corpus.data, e->corpus.features,
                        e->corpus.dense};
    return vd_output_check(&e->ranks_out, 1, in, sizeof in / sizeof *in, e->force, err);
}

static vd_status load(evaluation *e, vd_error *err)
{
    e->paths.ranked = e->from_ranks;
    e->paths.without_pictures = true;
    vd_status status = vd_corpus_open(&e->paths, &e->corpus, err);
    if (status == VD_OK && e->from_ranks)
        return vd_ranks_read(e->from_ranks, e->corpus.dialogs, &e->ranks, err);
    if (status == VD_OK)
        status = load_model(e, err);
    if (status == VD_OK)
        status = vd_dataset_new(e->corpus.dialogs, e->corpus.regions, vd_model_vocab(e->model),
                                &e->dataset, err);
    if (status == VD_OK)
        status = keep_inputs(e, err);
    if (status == VD_OK && e->ranks_out)
        status = vd_ranks_create(e->ranks_out, &e->writer, err);
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
    e->source = vd_measure_model_open(e->model, e->decoder.by, e->threads);
    return vd_measure_run(e->dataset, &e->source, &e->options, &e->measure, err);
}

static vd_status score(evaluation *e, vd_error *err)
{
    size_t count = vd_dataset_data(e->dataset)->dialog_count;
    if (e->options.limit && e->options.limit < count)
        count = e->options.limit;
    vd_progress progress;
    vd_progress_start(&progress, "dialogs", (int64_t)count, 0, e->quiet);
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
    vd_progress_end(&progress, (int64_t)count, status == VD_OK);
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

// Writes the file of --ranks before the bootstrap, which takes time and may be interrupted.
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
    if (status == VD_OK && !any && !e->ranks_out)
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

// ---- options ------------------------------------------------------------------------------------

// Captions are read, or said by a captioner; so are those that they are compared with.
static vd_status check_sources(const evaluation *e, const vd_arguments *given, vd_error *err)
{
    const vd_captions_from *other = &e->captions.from[1];
    if (!e->captions.from[0].results == !e->model_name)
        return vd_error_set(err, VD_USAGE,
                            "which captions? name them with --results, or a captioner with "
                            "--model, one of the two");
    if (other->results && other->model)
        return vd_error_set(
            err, VD_USAGE,
            "--other-results and --other-model exclude each other; give one of them");
    vd_status status = VD_OK;
    if (!other->results && !other->model)
        status = vd_arguments_refuse(given, "cases", "needs --other-model or --other-results", err);
    if (status == VD_OK && !e->model_name)
        status = vd_arguments_refuse(given, "out", "needs --model", err);
    if (status == VD_OK && !e->model_name && !other->model)
        return vd_arguments_refuse(given, "features missing backend threads " VD_GENERATION_NAMES,
                                   "needs --model or --other-model", err);
    return status ? status : vd_arguments_need(given, "features", err);
}

static vd_status check_caption(const evaluation *e, const vd_arguments *given, vd_error *err)
{
    vd_status status = vd_arguments_refuse(
        given, "data dense from-ranks ranks decoder limit batch other-image no-history",
        "is about dialogs; --task caption measures captions", err);
    if (status == VD_OK)
        status = check_sources(e, given, err);
    if (status == VD_OK && !e->captions.paths.references && !e->captions.out)
        status = vd_error_set(err, VD_USAGE,
                              "no references: name them with --references, or name a file for the "
                              "captions with --out");
    if (status == VD_OK && !e->captions.paths.references)
        status = vd_arguments_refuse(given,
                                     "other-results other-model cases split scenes trained-on "
                                     "tokens-given meteor-jar missing",
                                     "needs --references", err);
    return status;
}

static vd_status run_caption(evaluation *e, vd_error *err)
{
    e->captions.bootstrap = e->bootstrap;
    e->captions.json = e->json;
    e->captions.from[0].model = e->model_name;
    e->captions.features = e->paths.features;
    e->captions.paths.missing = e->paths.missing;
    e->captions.how.seed = e->bootstrap.seed;
    e->captions.threads = e->threads;
    e->captions.backend = e->backend;
    e->captions.quiet = e->quiet;
    e->captions.force = e->force;
    return vd_evaluate_captions(&e->captions, err);
}

static vd_status read_options(evaluation *e, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, e, &given, err);
    if (status == VD_OK)
        status = vd_arguments_most(&given, 0, err);
    if (status == VD_OK && e->task == CAPTION) {
        status = check_caption(e, &given, err);
        if (!vd_arguments_have(&given, "missing"))
            e->paths.missing = VD_MISSING_REFUSE;
        vd_generation_draws(&e->captions.how, e->captions.hard, &given);
        return status ? status : vd_generation_check(&e->captions.how, &given, err);
    }
    if (status == VD_OK)
        status =
            vd_arguments_refuse(&given,
                                "results other-results other-model cases out references split "
                                "scenes trained-on tokens-given meteor-jar " VD_GENERATION_NAMES,
                                "is about captions; --task caption measures them", err);
    if (status)
        return status;
    if (e->from_ranks && !e->paths.features)
        status = vd_arguments_refuse(&given, "missing", "needs --features", err);
    if (status)
        return status;
    if (e->from_ranks)
        return vd_arguments_refuse(
            &given, "model ranks decoder batch threads backend other-image no-history",
            "is about a model; --from-ranks measures rankings without one", err);
    return e->model_name ? VD_OK
                         : vd_error_set(err, VD_USAGE,
                                        "which model? name one with --model, or rankings with "
                                        "--from-ranks");
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    evaluation e = {.threads = vd_parallel_threads(),
                    .bootstrap = {.resamples = 10000, .level = 0.95},
                    .captions.how = vd_generation_usual(),
                    .captions.cases = 5};
    vd_status status = read_options(&e, argc, argv, err);
    if (status == VD_OK && e.task == CAPTION)
        return run_caption(&e, err);
    if (status == VD_OK)
        status = load(&e, err);
    if (status == VD_OK)
        status = measure(&e, err);
    if (status == VD_OK && e.json)
        print_json(&e);
    else if (status == VD_OK)
        print_tables(&e);
    vd_ranks_abort(e.writer);
    vd_ranks_free(e.ranks);
    vd_measure_clear(&e.measure);
    vd_measure_model_close(&e.source);
    vd_dataset_free(e.dataset);
    vd_model_free(e.model);
    vd_corpus_close(&e.corpus);
    return status;
}

const vd_command vd_cmd_eval = {
    "eval",
    run,
    "evaluate a model on dialogs with human answers, or on captions",
    "--model MODEL [options]",
    "Ranks the candidates of every round and prints R@1, R@5, R@10, mean rank and MRR, and NDCG "
    "and correct@1 where relevance is known. Tied candidates get their mean rank. The 95 % "
    "intervals come from a bootstrap over dialogs. --ranks writes the rankings in the format of "
    "the VisDial challenge server (val or test); --from-ranks evaluates such a file, from any "
    "program. Without --data and --features the bundled dialogs are used.\n"
    "--task caption scores captions: BLEU, ROUGE-L and CIDEr-D as coco-caption computes them, "
    "times 100, and METEOR-es, METEOR's formula with exact matches and stems only (--meteor-jar: "
    "METEOR itself). With the scenes of Blocks pictures: how many captions can be parsed (read) "
    "and are true (faithful), how much they tell (true bits), and how many kinds (CHAIR_i) and "
    "attributes they name that are not there. The captions are those of --results, or the "
    "captioner of --model generates them for every picture of --references (with --split: of that "
    "split), or of --features without --references; --out writes them in the format of the "
    "challenge server.",
    "  visdial eval --model improved --data val.json \\\n"
    "      --features val_features.safetensors --dense val_dense.json \\\n"
    "      --ranks val_ranks.json\n"
    "  visdial eval --from-ranks val_ranks.json --data val.json \\\n"
    "      --dense val_dense.json\n"
    "  visdial eval --task caption --results mine.json \\\n"
    "      --references val_captions.json --scenes val_scenes.json\n"
    "  visdial eval --task caption --model run/best.safetensors \\\n"
    "      --features coco.safetensors --references dataset_coco.json \\\n"
    "      --split test --out results.json\n",
    .options = options};
