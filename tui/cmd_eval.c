#include "tui/command.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "engine/alloc.h"
#include "engine/trainer.h"
#include "tui/interrupt.h"
#include "tui/measure.h"
#include "tui/output.h"
#include "tui/session.h"

enum { MODEL, DATA, FEATURES, DENSE, ASSETS, LIMIT, BATCH, OTHER_IMAGE, NO_HISTORY, JSON, QUIET };

const vd_option vd_cmd_eval_options[] = {
    {"model", "MODEL", "base, improved or a model file"},
    {"data", "FILE", "dialogs (VisDial JSON, or packed); the bundled ones when left out"},
    {"features", "FILE", "region features of their pictures (safetensors)"},
    {"dense", "FILE", "relevance of the candidates (VisDial dense annotations), for NDCG"},
    {"assets", "DIR", "where base, improved and the bundled dialogs are"},
    {"limit", "N", "only the first N dialogs"},
    {"batch", "N", "dialogs at a time (16)"},
    {"other-image", NULL, "show every dialog the next dialog's picture"},
    {"no-history", NULL, "hide the history, the caption too"},
    {"json", NULL, "the same as one JSON object"},
    {"quiet", NULL, "no progress"},
    {0},
};

typedef struct evaluation {
    const char *given[QUIET + 1]; // values of the options
    vd_measure_options options;
    char *directory; // of the bundled files, when one of them is used
    char *data, *features, *dense, *model_path;
    vd_visdial *dialogs;
    vd_regions *regions;
    vd_model *model;
    vd_dataset *dataset;
    vd_scorer *scorer;
    vd_measure measure;
} evaluation;

// ---- report -------------------------------------------------------------------------------------

static void print_row(const char *name, const vd_metrics *metrics)
{
    vd_metrics_means mean = vd_metrics_mean(metrics);
    printf("%-18.18s %8zu", name, metrics->rounds);
    if (metrics->rounds)
        printf("  %6.4f  %6.4f  %6.4f  %7.3f  %6.4f", mean.recall[0], mean.recall[1],
               mean.recall[2], mean.mean_rank, mean.mrr);
    else
        printf("  %6s  %6s  %6s  %7s  %6s", "-", "-", "-", "-", "-");
    if (metrics->dense_rounds)
        printf("  %8zu  %6.4f  %9.4f\n", metrics->dense_rounds, mean.ndcg, mean.correct);
    else
        printf("  %8s  %6s  %9s\n", "-", "-", "-");
}

static void print_head(const char *what)
{
    printf("%-18s %8s  %6s  %6s  %6s  %7s  %6s  %8s  %6s  %9s\n", what, "rounds", "R@1", "R@5",
           "R@10", "mean", "MRR", "relevant", "NDCG", "correct@1");
}

static const char *distance_name(int distance, char *out, size_t size)
{
    if (distance == 0)
        snprintf(out, size, "none");
    else
        snprintf(out, size, "%d%s", distance, distance == VD_MEASURE_FAR ? "+" : "");
    return out;
}

static void print_tables(const evaluation *e)
{
    const vd_measure *measure = &e->measure;
    char name[16];
    printf("model    %s\ndata     %s, %zu dialogs\n", e->model_path, e->data, measure->dialogs);
    if (e->options.view.other_image)
        printf("changed  every dialog sees the next dialog's picture\n");
    if (e->options.view.no_history)
        printf("changed  no question sees the history or the caption\n");
    printf("\n");
    print_head("");
    print_row("all", &measure->all);
    if (measure->family_count) {
        printf("\n");
        print_head("question family");
        for (size_t i = 0; i < measure->family_count; i++)
            print_row(measure->family[i].name, &measure->family[i].metrics);
    }
    bool any = false;
    for (int i = 0; i <= VD_MEASURE_FAR; i++) {
        const vd_metrics *metrics = &measure->coreference[i];
        if (metrics->rounds == 0 && metrics->dense_rounds == 0)
            continue;
        if (!any) {
            printf("\n");
            print_head("rounds back");
        }
        any = true;
        print_row(distance_name(i, name, sizeof name), metrics);
    }
}

static void json_metrics(yajl_gen json, const vd_metrics *metrics)
{
    static const char *const recall[] = {"r@1", "r@5", "r@10"};
    vd_metrics_means mean = vd_metrics_mean(metrics);
    yajl_gen_map_open(json);
    vd_output_string(json, "rounds");
    yajl_gen_integer(json, (long long)metrics->rounds);
    if (metrics->rounds) {
        for (int i = 0; i < 3; i++) {
            vd_output_string(json, recall[i]);
            vd_output_number(json, mean.recall[i]);
        }
        vd_output_string(json, "mean");
        vd_output_number(json, mean.mean_rank);
        vd_output_string(json, "mrr");
        vd_output_number(json, mean.mrr);
    }
    vd_output_string(json, "dense_rounds");
    yajl_gen_integer(json, (long long)metrics->dense_rounds);
    if (metrics->dense_rounds) {
        vd_output_string(json, "ndcg");
        vd_output_number(json, mean.ndcg);
        vd_output_string(json, "correct@1");
        vd_output_number(json, mean.correct);
    }
    yajl_gen_map_close(json);
}

static vd_status print_json(const evaluation *e, vd_error *err)
{
    const vd_measure *measure = &e->measure;
    char name[16];
    yajl_gen json = yajl_gen_alloc(NULL);
    if (!json)
        return vd_error_memory(err, "JSON");
    yajl_gen_map_open(json);
    vd_output_string(json, "model");
    vd_output_string(json, e->model_path);
    vd_output_string(json, "data");
    vd_output_string(json, e->data);
    vd_output_string(json, "dialogs");
    yajl_gen_integer(json, (long long)measure->dialogs);
    vd_output_string(json, "other_image");
    yajl_gen_bool(json, e->options.view.other_image);
    vd_output_string(json, "no_history");
    yajl_gen_bool(json, e->options.view.no_history);
    vd_output_string(json, "all");
    json_metrics(json, &measure->all);
    vd_output_string(json, "family");
    yajl_gen_map_open(json);
    for (size_t i = 0; i < measure->family_count; i++) {
        vd_output_string(json, measure->family[i].name);
        json_metrics(json, &measure->family[i].metrics);
    }
    yajl_gen_map_close(json);
    vd_output_string(json, "rounds_back");
    yajl_gen_map_open(json);
    for (int i = 0; i <= VD_MEASURE_FAR; i++) {
        const vd_metrics *metrics = &measure->coreference[i];
        if (metrics->rounds == 0 && metrics->dense_rounds == 0)
            continue;
        vd_output_string(json, distance_name(i, name, sizeof name));
        json_metrics(json, metrics);
    }
    yajl_gen_map_close(json);
    yajl_gen_map_close(json);
    vd_output_json(stdout, json);
    return VD_OK;
}

// ---- loading ------------------------------------------------------------------------------------

// A path given, or the bundled file of that name.
static vd_status choose(evaluation *e, const char *given, const char *bundled, char **out,
                        vd_error *err)
{
    size_t size = strlen(e->directory ? e->directory : "") + strlen(bundled) + 2;
    *out = given ? vd_strdup(given) : vd_alloc(size, 1);
    if (!*out)
        return vd_error_memory(err, "a path");
    if (!given)
        snprintf(*out, size, "%s/%s", e->directory, bundled);
    return VD_OK;
}

static vd_status find_files(evaluation *e, vd_error *err)
{
    const char *model = e->given[MODEL];
    bool bundled = strcmp(model, "base") == 0 || strcmp(model, "improved") == 0;
    vd_status status = VD_OK;
    if (bundled || !e->given[DATA])
        status = vd_world_directory(e->given[ASSETS], &e->directory, err);
    if (status)
        return status;
    const vd_world place = {.directory = e->directory};
    e->model_path = vd_world_model_path(&place, model, err);
    if (!e->model_path)
        return err->status;
    status = choose(e, e->given[DATA], "dialogs.json", &e->data, err);
    if (status == VD_OK)
        status = choose(e, e->given[FEATURES], "features.safetensors", &e->features, err);
    if (status == VD_OK && (e->given[DENSE] || !e->given[DATA]))
        status = choose(e, e->given[DENSE], "dense.json", &e->dense, err);
    if (status == VD_OK && !e->given[DENSE] && e->dense && access(e->dense, F_OK) != 0) {
        vd_free(e->dense); // the bundled dialogs may come without relevance
        e->dense = NULL;
    }
    return status;
}

static vd_status load(evaluation *e, vd_error *err)
{
    vd_status status = find_files(e, err);
    if (status == VD_OK)
        status = vd_model_load(e->model_path, &e->model, err);
    if (status == VD_OK)
        status = vd_regions_open(e->features, &e->regions, err);
    if (status)
        return status;
    int expected = vd_model_config(e->model)->region, found = vd_regions_size(e->regions);
    if (expected != found)
        return vd_error_set(err, VD_MISMATCH,
                            "%.300s expects regions of %d numbers, %.300s has %d; choose the "
                            "features that the model was trained on",
                            e->model_path, expected, e->features, found);
    status = vd_visdial_open(e->data, &e->dialogs, err);
    if (status == VD_OK && e->dense)
        status = vd_visdial_read_dense(e->dialogs, e->dense, err);
    if (status == VD_OK)
        status = vd_dataset_new(e->dialogs, e->regions, vd_model_vocab(e->model), &e->dataset, err);
    if (status == VD_OK)
        status = vd_scorer_new(e->model, &e->scorer, err);
    return status;
}

static vd_status score(void *context, const vd_batch *batch, float *scores, vd_error *err)
{
    return vd_scorer_run(context, batch, scores, err);
}

static vd_status measure(evaluation *e, vd_error *err)
{
    size_t count = vd_dataset_count(e->dataset);
    if (e->options.limit && e->options.limit < count)
        count = e->options.limit;
    vd_progress progress;
    vd_progress_start(&progress, "dialogs", (int64_t)count, 0, e->given[QUIET]);
    e->options.progress = &progress;
    e->options.stop = vd_interrupt_watch();
    vd_status status = vd_measure_run(e->dataset, score, e->scorer, &e->options, &e->measure, err);
    vd_interrupt_release();
    if (status == VD_OK)
        vd_progress_finish(&progress, (int64_t)count, NULL);
    else
        vd_progress_clear(&progress);
    if (status == VD_OK && e->measure.all.rounds == 0 && e->measure.all.dense_rounds == 0)
        status = vd_error_set(err, VD_FORMAT,
                              "%.300s: no round has a human answer among its candidates, so there "
                              "is nothing to measure",
                              e->data);
    return status;
}

static vd_status read_options(evaluation *e, int argc, char **argv, vd_error *err)
{
    vd_option_walk walk = {.options = vd_cmd_eval_options, .argc = argc, .argv = argv};
    const char *value;
    int option;
    int64_t number;
    while ((option = vd_option_next(&walk, &value, err)) >= 0) {
        e->given[option] = value ? value : "";
        if (option != LIMIT && option != BATCH)
            continue;
        vd_status status = vd_option_int(vd_cmd_eval_options[option].name, value, 1,
                                         option == LIMIT ? 1000000000 : 256, &number, err);
        if (status)
            return status;
        *(option == LIMIT ? &e->options.limit : &e->options.batch) = (size_t)number;
    }
    if (option == VD_OPTION_ERROR)
        return VD_USAGE;
    e->options.view.other_image = e->given[OTHER_IMAGE];
    e->options.view.no_history = e->given[NO_HISTORY];
    if (walk.operands < argc)
        return vd_error_set(err, VD_USAGE, "unexpected '%.80s'; see --help", argv[walk.operands]);
    if (!e->given[MODEL])
        return vd_error_set(err, VD_USAGE, "which model? name one with --model");
    if (!e->given[DATA] != !e->given[FEATURES])
        return vd_error_set(err, VD_USAGE, "--data and --features go together; %s is missing",
                            e->given[DATA] ? "--features" : "--data");
    return VD_OK;
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
    if (status == VD_OK && e.given[JSON])
        status = print_json(&e, &err);
    else if (status == VD_OK)
        print_tables(&e);
    vd_measure_clear(&e.measure);
    vd_scorer_free(e.scorer);
    vd_dataset_free(e.dataset);
    vd_visdial_free(e.dialogs);
    vd_regions_close(e.regions);
    vd_model_free(e.model);
    vd_free(e.model_path);
    vd_free(e.dense);
    vd_free(e.features);
    vd_free(e.data);
    vd_free(e.directory);
    return status ? vd_command_fail("eval", &err) : 0;
}
