#include "tui/commands/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/world.h"
#include "engine/base/alloc.h"
#include "tui/base/interrupt.h"
#include "tui/base/option_texts.h"
#include "tui/base/progress.h"
#include "tui/session/session.h"

enum {
    OUT,
    SEED,
    TRAIN,
    VAL,
    TEST,
    PICTURES,
    NO_PICTURES,
    NO_FEATURES,
    EXTRACTOR,
    THREADS,
    SPLIT,
    COUNT,
    INDEX,
    PNG,
    QUIET
};

const vd_option vd_cmd_blocks_options[] = {
    {"out", "DIR", "make, world: directory to write to"},
    {"seed", "N", "seed of pictures and dialogs (1)"},
    {"train", "N",
     "make: pictures in the train split (20000); world: pictures whose answers are "
     "counted for the pool"},
    {"val", "N", "make: pictures in the val split (1000)"},
    {"test", "N", "make: pictures in the test split (1000)"},
    {"pictures", "N", "make: write the first N pictures of each split as PNG (1000)"},
    {"no-pictures", NULL, "make: write no pictures"},
    {"no-features", NULL, "make: write dialogs and scenes, but no region features"},
    {"extractor", "FILE", "detector that finds the regions (default: the bundled one)"},
    {"threads", "N", VD_HELP_THREADS " (2)"},
    {"split", "NAME", "world, show: train, val (default) or test"},
    {"count", "N", "world: number of pictures (48)"},
    {"index", "N", "world: first picture of the split; show: the picture; counted from 0"},
    {"png", "FILE", "show: write the picture to FILE"},
    {"quiet", NULL, VD_HELP_NO_PROGRESS},
    {0},
};

enum { OPTIONS = sizeof vd_cmd_blocks_options / sizeof *vd_cmd_blocks_options - 1 };

typedef struct job {
    const char *given[OPTIONS]; // values of the options; "" for a switch
    int64_t seed, count[BLOCKS_SPLITS], pictures, threads, some, index;
    blocks_split split;
    char *extractor;
    const atomic_int *stop;
    vd_progress progress;
    char path[4096 + 64];
} job;

static const char *path_of(job *j, const char *stem, const char *name)
{
    snprintf(j->path, sizeof j->path, "%.4000s/%s%s", j->given[OUT], stem, name);
    return j->path;
}

// ---- options ----------------------------------------------------------------------------------

static vd_status read_numbers(job *j, vd_error *err)
{
    j->seed = 1;
    j->count[BLOCKS_TRAIN] = 20000;
    j->count[BLOCKS_VAL] = j->count[BLOCKS_TEST] = j->pictures = 1000;
    j->threads = 2;
    j->some = 48;
    const vd_option_range range[] = {
        {SEED, 0, INT64_MAX, &j->seed},
        {TRAIN, 0, 999999, &j->count[BLOCKS_TRAIN]},
        {VAL, 0, 999999, &j->count[BLOCKS_VAL]},
        {TEST, 0, 999999, &j->count[BLOCKS_TEST]},
        {PICTURES, 0, 999999, &j->pictures},
        {THREADS, 1, VD_THREADS, &j->threads},
        {COUNT, 1, 999999, &j->some},
        {INDEX, 0, 999998, &j->index},
    };
    vd_status status =
        vd_options_int(vd_cmd_blocks_options, j->given, range, sizeof range / sizeof *range, err);
    if (j->given[NO_PICTURES])
        j->pictures = 0;
    return status;
}

static vd_status read_split(job *j, vd_error *err)
{
    const char *name = j->given[SPLIT] ? j->given[SPLIT] : "val";
    for (int s = 0; s < BLOCKS_SPLITS; s++) {
        if (strcmp(name, blocks_split_names[s]))
            continue;
        j->split = (blocks_split)s;
        return VD_OK;
    }
    return vd_error_set(err, VD_USAGE, "--split: expected train, val or test, found '%.80s'", name);
}

static vd_status make_directory(const char *path, vd_error *err)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        return vd_error_set(err, errno == ENOENT ? VD_NOT_FOUND : VD_IO,
                            "%.400s cannot be made: %s", path, strerror(errno));
    return VD_OK;
}

// Found before hours of work, not after.
static vd_status find_extractor(job *j, vd_error *err)
{
    char *directory = NULL;
    if (j->given[EXTRACTOR]) {
        j->extractor = vd_strdup(j->given[EXTRACTOR]);
    } else {
        // Without a world there is still the place where `extract --train` writes.
        const char *in = vd_world_directory(NULL, &directory, NULL) ? "assets" : directory;
        size_t size = strlen(in) + sizeof "/extractor.safetensors";
        j->extractor = vd_alloc(size, 1);
        if (j->extractor)
            snprintf(j->extractor, size, "%s/extractor.safetensors", in);
        vd_free(directory);
    }
    if (!j->extractor)
        return vd_error_memory(err, "a path");
    if (access(j->extractor, R_OK))
        return vd_error_set(err, VD_NOT_FOUND,
                            "%.400s: %s; train one with `visdial extract --train`, name another "
                            "with --extractor, or leave the features out with --no-features",
                            j->extractor, strerror(errno));
    return VD_OK;
}

// ---- work with progress -----------------------------------------------------------------------

static void report(void *user, size_t done)
{
    job *j = user;
    vd_progress_update(&j->progress, (int64_t)done, NULL);
}

static vd_status fill_one(void *context, int worker, size_t index, vd_error *err)
{
    (void)worker;
    (void)err;
    blocks_world_fill(context, index, 1);
    return VD_OK;
}

static void begin(job *j, const char *what, size_t total)
{
    vd_progress_start(&j->progress, what, (int64_t)total, 0, j->given[QUIET] != NULL);
}

static void end(job *j, size_t total, vd_status status)
{
    if (status)
        vd_progress_clear(&j->progress);
    else
        vd_progress_finish(&j->progress, (int64_t)total, NULL);
}

static vd_status make_scenes(job *j, blocks_split split, size_t count, blocks_world *world,
                             vd_error *err)
{
    char what[32];
    vd_status status = blocks_world_new((uint64_t)j->seed, split, count, world, err);
    if (status)
        return status;
    snprintf(what, sizeof what, "%s scenes", blocks_split_names[split]);
    begin(j, what, count);
    status = vd_parallel(count, (int)j->threads, fill_one, world, report, j, j->stop, err);
    end(j, count, status);
    if (status)
        blocks_world_clear(world);
    return status;
}

// Renders, extracts and writes `to`; the first `pictures` as PNG under `directory` on the way.
static vd_status write_features(job *j, const blocks_world *world, const char *directory,
                                size_t pictures, const char *to, vd_error *err)
{
    char what[32], source[128];
    vd_region_set set = {0};
    blocks_survey_options options = {.extractor = j->extractor,
                                     .threads = (int)j->threads,
                                     .pictures = directory,
                                     .picture_count = pictures,
                                     .stop = j->stop,
                                     .report = report,
                                     .user = j};
    snprintf(what, sizeof what, "%s pictures", blocks_split_names[world->split]);
    begin(j, what, world->count);
    vd_status status = blocks_survey(world, &options, &set, err);
    end(j, world->count, status);
    if (!status) {
        snprintf(source, sizeof source, "visdial blocks, seed %" PRId64 ", split %s", j->seed,
                 blocks_split_names[world->split]);
        status = vd_region_set_write(&set, to, source, err);
    }
    vd_region_set_clear(&set);
    return status;
}

typedef struct drawing {
    job *job;
    const blocks_world *world;
    const char *directory;
} drawing;

static vd_status draw_one(void *context, int worker, size_t index, vd_error *err)
{
    const drawing *d = context;
    (void)worker;
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/%" PRId64 ".png", d->directory,
             d->world->scene[index].image_id);
    return blocks_world_write_picture(&d->world->scene[index], path, err);
}

static vd_status draw_pictures(job *j, const blocks_world *world, const char *directory,
                               size_t pictures, vd_error *err)
{
    drawing d = {j, world, directory};
    begin(j, "pictures", pictures);
    vd_status status =
        vd_parallel(pictures, (int)j->threads, draw_one, &d, report, j, j->stop, err);
    end(j, pictures, status);
    return status;
}

// ---- make -------------------------------------------------------------------------------------

static vd_status write_split(job *j, const blocks_world *world, const char *pictures, vd_error *err)
{
    const char *split = blocks_split_names[world->split];
    size_t drawn = (size_t)j->pictures < world->count ? (size_t)j->pictures : world->count;
    vd_status status = blocks_world_write_dialogs(world, path_of(j, split, ".json"), err);
    if (!status)
        status = blocks_world_write_dense(world, path_of(j, split, "_dense.json"), err);
    if (!status)
        status = blocks_world_write_scenes(world, path_of(j, split, "_scenes.json"), err);
    if (!status && world->split == BLOCKS_TRAIN)
        status = blocks_world_write_pool(world, path_of(j, "pool", ".txt"), err);
    if (!status && !j->given[NO_FEATURES])
        status = write_features(j, world, drawn ? pictures : NULL, drawn,
                                path_of(j, split, "_features.safetensors"), err);
    else if (!status && drawn)
        status = draw_pictures(j, world, pictures, drawn, err);
    return status;
}

static vd_status make(job *j, vd_error *err)
{
    char pictures[4096];
    vd_status status = j->given[NO_FEATURES] ? VD_OK : find_extractor(j, err);
    if (!status)
        status = make_directory(j->given[OUT], err);
    snprintf(pictures, sizeof pictures, "%.4000s/pictures", j->given[OUT]);
    if (!status && j->pictures > 0)
        status = make_directory(pictures, err);
    for (int s = 0; s < BLOCKS_SPLITS && !status; s++) {
        if (j->count[s] == 0)
            continue;
        blocks_world world;
        status = make_scenes(j, (blocks_split)s, (size_t)j->count[s], &world, err);
        if (status)
            break;
        status = write_split(j, &world, pictures, err);
        blocks_world_clear(&world);
    }
    return status;
}

// ---- world ------------------------------------------------------------------------------------

static vd_status write_pool(job *j, vd_error *err)
{
    blocks_world train;
    vd_status status = make_scenes(j, BLOCKS_TRAIN, (size_t)j->count[BLOCKS_TRAIN], &train, err);
    if (status)
        return status;
    status = blocks_world_write_pool(&train, path_of(j, "pool", ".txt"), err);
    blocks_world_clear(&train);
    return status;
}

// A directory as the chat opens it (tui/session/session.h), without models.
static vd_status make_world(job *j, vd_error *err)
{
    char pictures[4096];
    blocks_world all, world;
    size_t first = (size_t)j->index, count = (size_t)j->some;
    vd_status status = find_extractor(j, err);
    if (!status)
        status = make_directory(j->given[OUT], err);
    snprintf(pictures, sizeof pictures, "%.4000s/pictures", j->given[OUT]);
    if (!status)
        status = make_directory(pictures, err);
    if (!status)
        status = make_scenes(j, j->split, first + count, &all, err);
    if (status)
        return status;
    world = all; // borrows the scenes from `first` on
    world.scene += first;
    world.count = count;
    status = blocks_world_write_dialogs(&world, path_of(j, "dialogs", ".json"), err);
    if (!status)
        status = blocks_world_write_dense(&world, path_of(j, "dense", ".json"), err);
    if (!status)
        status = blocks_world_write_scenes(&world, path_of(j, "scenes", ".json"), err);
    if (!status)
        status =
            write_features(j, &world, pictures, count, path_of(j, "features", ".safetensors"), err);
    blocks_world_clear(&all);
    return status ? status : write_pool(j, err);
}

// ---- show -------------------------------------------------------------------------------------

static vd_status show(const job *j, vd_error *err)
{
    blocks_scene scene;
    blocks_dialog dialog;
    blocks_scene_make((uint64_t)j->seed, j->split, (int)j->index, &scene);
    blocks_dialog_make(&scene, &dialog);
    if (j->given[PNG]) {
        vd_status status = blocks_world_write_picture(&scene, j->given[PNG], err);
        if (status)
            return status;
    }
    printf("image %" PRId64 "\n%s\n\n", scene.image_id, dialog.caption);
    for (int r = 0; r < BLOCKS_ROUNDS; r++) {
        const blocks_round *round = &dialog.round[r];
        char kind[40] = "";
        if (round->coreference)
            snprintf(kind, sizeof kind, "%s, %d back", round->family, round->coreference);
        printf("%2d  %s?\n    %s", r + 1, round->question, blocks_answer_text(round->answer));
        printf("  (%s)\n", kind[0] ? kind : round->family);
    }
    printf("\n");
    for (int i = 0; i < scene.count; i++) {
        const blocks_object *o = &scene.object[i];
        printf("%s %s %s %s at %.0f,%.0f\n", blocks_size_names[o->size],
               blocks_color_names[o->color], blocks_material_names[o->material],
               blocks_shape_names[o->shape], (o->box[0] + o->box[2]) / 2,
               (o->box[1] + o->box[3]) / 2);
    }
    return VD_OK;
}

// ---- command ----------------------------------------------------------------------------------

static vd_status run(job *j, int argc, char **argv, vd_error *err)
{
    int operands;
    vd_status status =
        vd_options_given(vd_cmd_blocks_options, argc, argv, j->given, &operands, err);
    if (status)
        return status;
    if (operands == argc)
        return vd_error_set(err, VD_USAGE,
                            "expected: visdial blocks make, world or show; see --help");
    const char *what = operands + 1 == argc ? argv[operands] : "";
    bool files = !strcmp(what, "make") || !strcmp(what, "world");
    if (!files && strcmp(what, "show"))
        return vd_error_set(err, VD_USAGE,
                            "say what to do: make, world or show, found '%.80s'; see --help", what);
    if (files && !j->given[OUT])
        return vd_error_set(err, VD_USAGE, "--out is missing; see --help");
    status = read_numbers(j, err);
    if (!status)
        status = read_split(j, err);
    if (status)
        return status;
    return !strcmp(what, "make")    ? make(j, err)
           : !strcmp(what, "world") ? make_world(j, err)
                                    : show(j, err);
}

int vd_cmd_blocks(int argc, char **argv)
{
    job j = {.stop = vd_interrupt_watch()};
    vd_error err = {0};
    vd_status status = run(&j, argc, argv, &err);
    vd_interrupt_release();
    vd_free(j.extractor);
    return status ? vd_command_fail("blocks", &err) : 0;
}
