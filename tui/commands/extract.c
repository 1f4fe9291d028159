#include "tui/commands/command.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/blocks/detector.h"
#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/safetensors.h"
#include "features/extract/extract.h"
#include "features/regions/regions.h"
#include "tui/base/interrupt.h"
#include "tui/base/option_texts.h"
#include "tui/base/output.h"
#include "tui/base/progress.h"
#include "tui/session/session.h"

enum { OUT, MODEL, SHOW, TRAIN, EVALUATE, SPLIT, PICTURES, EPOCHS, RATE, SEED, QUIET };

const vd_option vd_cmd_extract_options[] = {
    {"out", "FILE",
     "write the features to FILE; with --train the extractor "
     "(assets/extractor.safetensors)"},
    {"model", "FILE", "extractor to use (default: the bundled one)"},
    {"show", NULL, "print the regions (this is the default without --out)"},
    {"train", NULL, "train an extractor on pictures made for it"},
    {"evaluate", "N", "evaluate the extractor on N pictures that it was not trained on"},
    {"split", "NAME", "with --evaluate: val (default) or test"},
    {"pictures", "N", "with --train: how many pictures to make (6000)"},
    {"epochs", "N", "with --train: passes over the pictures (7)"},
    {"rate", "X", "with --train: highest learning rate (0.003)"},
    {"seed", "N", "seed of the pictures (1)"},
    {"quiet", NULL, VD_HELP_NO_PROGRESS},
    {0},
};

enum { OPTIONS = sizeof vd_cmd_extract_options / sizeof *vd_cmd_extract_options - 1 };

typedef struct job {
    const char *given[OPTIONS]; // values of the options; "" for a switch
    int64_t seed, evaluate, pictures, epochs;
    double rate;
    blocks_split split;
    char **picture;
    int count;
    char *model;
    vd_extractor *extractor;
} job;

static vd_status read_numbers(job *j, vd_error *err)
{
    blocks_detector_options defaults = blocks_detector_defaults();
    j->seed = (int64_t)defaults.seed;
    j->pictures = defaults.pictures;
    j->epochs = defaults.epochs;
    j->rate = defaults.rate;
    const vd_option_range range[] = {{EVALUATE, 1, 1000000, &j->evaluate},
                                     {PICTURES, 16, 1000000, &j->pictures},
                                     {EPOCHS, 1, 10000, &j->epochs},
                                     {SEED, 0, INT64_MAX, &j->seed}};
    vd_status status =
        vd_options_int(vd_cmd_extract_options, j->given, range, sizeof range / sizeof *range, err);
    if (!status && j->given[RATE])
        status = vd_option_number("rate", j->given[RATE], 1e-6, 1, &j->rate, err);
    return status;
}

static vd_status check_use(const job *j, vd_error *err)
{
    int modes = (j->given[TRAIN] ? 1 : 0) + (j->given[EVALUATE] ? 1 : 0) + (j->count > 0 ? 1 : 0);
    if (modes != 1)
        return vd_error_set(
            err, VD_USAGE,
            modes ? "pictures, --train and --evaluate exclude each other; give one of them"
                  : "no pictures given; see --help");
    return VD_OK;
}

static vd_status read_options(job *j, int argc, char **argv, vd_error *err)
{
    int operands;
    vd_status status =
        vd_options_given(vd_cmd_extract_options, argc, argv, j->given, &operands, err);
    if (status)
        return status;
    j->picture = argv + operands;
    j->count = argc - operands;
    const char *split = j->given[SPLIT] ? j->given[SPLIT] : "val";
    j->split = strcmp(split, "test") == 0 ? BLOCKS_TEST : BLOCKS_VAL;
    if (strcmp(split, "val") != 0 && strcmp(split, "test") != 0)
        return vd_error_set(err, VD_USAGE, "--split: expected val or test, found '%.80s'", split);
    if (!j->given[OUT])
        j->given[SHOW] = ""; // all that is left to do with the regions
    status = read_numbers(j, err);
    return status ? status : check_use(j, err);
}

static vd_status load_extractor(job *j, vd_error *err)
{
    char *directory = NULL;
    if (j->given[MODEL]) {
        j->model = vd_strdup(j->given[MODEL]);
    } else {
        // Without a world there is still the place where --train writes.
        const char *in = vd_world_directory(NULL, &directory, NULL) ? "assets" : directory;
        size_t size = strlen(in) + sizeof "/extractor.safetensors";
        j->model = vd_alloc(size, 1);
        if (j->model)
            snprintf(j->model, size, "%s/extractor.safetensors", in);
        vd_free(directory);
    }
    if (!j->model)
        return vd_error_memory(err, "a path");
    return vd_extractor_load(j->model, &j->extractor, err);
}

// ---- train --------------------------------------------------------------------------------------

typedef struct shown {
    vd_progress progress;
    const char *stage;
    bool quiet;
} shown;

static void show_progress(void *user, const blocks_detector_progress *now)
{
    shown *s = user;
    if (s->stage != now->stage) {
        if (s->stage)
            vd_progress_finish(&s->progress, s->progress.total, NULL);
        vd_progress_start(&s->progress, now->stage, now->total, 0, s->quiet);
        s->stage = now->stage;
    }
    char losses[96] = "";
    if (now->heat > 0)
        snprintf(losses, sizeof losses, "heat %.3f box %.3f place %.3f attributes %.3f", now->heat,
                 now->box, now->place, now->attributes);
    vd_progress_update(&s->progress, now->done, losses);
}

static vd_status train(const job *j, vd_error *err)
{
    blocks_detector_options options = blocks_detector_defaults();
    options.seed = (uint64_t)j->seed;
    options.pictures = (int)j->pictures;
    options.epochs = (int)j->epochs;
    options.rate = j->rate;
    options.stop = vd_interrupt_watch();
    if (j->given[OUT])
        options.out = j->given[OUT];
    shown s = {.quiet = j->given[QUIET]};
    vd_status status = blocks_detector_train(&options, show_progress, &s, err);
    if (s.stage && !status)
        vd_progress_finish(&s.progress, s.progress.total, NULL);
    else if (s.stage)
        vd_progress_clear(&s.progress);
    vd_interrupt_release();
    if (!status)
        printf("%s\n", options.out);
    return status;
}

// ---- evaluate -----------------------------------------------------------------------------------

static vd_status evaluate(const job *j, vd_error *err)
{
    blocks_detector_scores s;
    vd_status status = blocks_detector_evaluate(j->extractor, (uint64_t)j->seed, j->split, 0,
                                                (int)j->evaluate, &s, err);
    if (status)
        return status;
    printf("pictures    %d, objects %d\n", s.pictures, s.objects);
    printf("recall      %.4f (IoU 0.5, mean IoU of the found %.3f)\n",
           s.objects ? (double)s.found / s.objects : 0.0, s.overlap);
    printf("spurious    %.4f a picture\n", (double)s.spurious / s.pictures);
    printf("color       %.4f\nshape       %.4f\nmaterial    %.4f\nsize        %.4f\n", s.color,
           s.shape, s.material, s.size);
    printf("relations   %.4f\n", s.relations);
    printf("time        %.2f ms a picture\n", 1e3 * s.seconds / s.pictures);
    return VD_OK;
}

// ---- pictures -----------------------------------------------------------------------------------

// The last run of digits in the file's name ("VisDial_val2018_000000123456.jpg" is 123456); where
// there is none, the picture's position, from 1.
static int64_t image_id_of(const char *path, int position)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    const char *end = strrchr(name, '.');
    end = end && end > name ? end : name + strlen(name);
    while (end > name && !isdigit((unsigned char)end[-1]))
        end--;
    const char *from = end;
    while (from > name && isdigit((unsigned char)from[-1]))
        from--;
    if (from == end)
        return position;
    errno = 0;
    long long id = strtoll(from, NULL, 10);
    return errno ? position : (int64_t)id;
}

static void show_regions(const char *path, const vd_extraction *found)
{
    vd_output_text(stdout, path);
    printf(": %d region%s\n", found->count, found->count == 1 ? "" : "s");
    for (int r = 0; r < found->count; r++) {
        const float *box = found->box[r];
        printf("  %.2f  %-5s %-6s %-6s %-8s  %3.0f %3.0f %3.0f %3.0f %%\n", found->confidence[r],
               blocks_size_names[found->size[r]], blocks_color_names[found->color[r]],
               blocks_material_names[found->material[r]], blocks_shape_names[found->shape[r]],
               100 * box[0], 100 * box[1], 100 * box[2], 100 * box[3]);
    }
}

static vd_status check_ids(const job *j, const vd_region_set *set, int row, vd_error *err)
{
    for (int i = 0; i < row; i++)
        if (set->image_id[i] == set->image_id[row])
            return vd_error_set(err, VD_USAGE,
                                "%.200s and %.200s both give the image id %" PRId64
                                "; ids are the last digits of a file's name: rename one",
                                j->picture[i], j->picture[row], set->image_id[row]);
    return VD_OK;
}

static vd_status extract_one(const job *j, int row, float *features, vd_region_set *set,
                             vd_error *err)
{
    vd_image image = {0};
    vd_extraction found;
    set->image_id[row] = image_id_of(j->picture[row], row + 1);
    vd_status status = check_ids(j, set, row, err);
    if (!status)
        status = vd_image_read(j->picture[row], &image, err);
    if (!status)
        status = vd_extractor_run(j->extractor, &image, &found, features, err);
    vd_image_clear(&image);
    if (status)
        return status;
    size_t numbers = (size_t)set->max * (size_t)set->size;
    set->used[row] = found.count;
    for (size_t i = 0; i < numbers; i++)
        set->features[(size_t)row * numbers + i] = vd_half_from_float(features[i]);
    for (int r = 0; r < found.count; r++)
        memcpy(set->boxes + ((size_t)row * (size_t)set->max + (size_t)r) * 4, found.box[r],
               sizeof found.box[r]);
    if (j->given[SHOW])
        show_regions(j->picture[row], &found);
    return VD_OK;
}

static vd_status try_output(const job *j, vd_error *err)
{
    const char *const *pictures = (const char *const *)j->picture, *model = j->model;
    vd_status status = vd_output_apart(&j->given[OUT], 1, pictures, (size_t)j->count, err);
    if (!status)
        status = vd_output_apart(&j->given[OUT], 1, &model, 1, err);
    return status ? status : vd_output_try(j->given[OUT], err);
}

static vd_status extract(const job *j, vd_error *err)
{
    vd_region_set set = {0};
    int size = vd_extractor_size(j->extractor);
    float *features = vd_alloc((size_t)VD_EXTRACT_MAX * (size_t)size, sizeof *features);
    vd_status status = features ? VD_OK : vd_error_memory(err, "a picture's features");
    if (!status && j->given[OUT])
        status = try_output(j, err);
    if (!status)
        status = vd_region_set_new((size_t)j->count, VD_EXTRACT_MAX, size, &set, err);
    const atomic_int *stop = vd_interrupt_watch();
    vd_progress progress;
    vd_progress_start(&progress, "pictures", j->count, 0, j->given[QUIET] || j->given[SHOW]);
    for (int i = 0; i < j->count && !status; i++) {
        status = extract_one(j, i, features, &set, err);
        vd_progress_update(&progress, i + 1, NULL);
        if (!status && atomic_load(stop))
            status = vd_error_set(err, VD_INTERRUPTED, "interrupted; nothing was written");
    }
    if (status)
        vd_progress_clear(&progress);
    else
        vd_progress_finish(&progress, j->count, NULL);
    vd_interrupt_release();
    if (!status && j->given[OUT])
        status = vd_region_set_write(&set, j->given[OUT], "visdial extract", err);
    vd_region_set_clear(&set);
    vd_free(features);
    return status;
}

int vd_cmd_extract(int argc, char **argv)
{
    job j = {0};
    vd_error err = {0};
    vd_status status = read_options(&j, argc, argv, &err);
    if (!status && j.given[TRAIN]) {
        status = train(&j, &err);
    } else if (!status) {
        status = load_extractor(&j, &err);
        if (!status)
            status = j.given[EVALUATE] ? evaluate(&j, &err) : extract(&j, &err);
    }
    vd_extractor_free(j.extractor);
    vd_free(j.model);
    return status ? vd_command_fail("extract", &err) : 0;
}
