#include "tui/commands/command.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/world.h"
#include "engine/base/file.h"
#include "tui/base/progress.h"

typedef struct job {
    const char *out, *extractor_given, *png;
    int64_t seed, dialog_seed; // -1: the same
    size_t count[BLOCKS_SPLITS], pictures, some, index;
    int threads, captions;
    bool no_pictures, no_features, force, quiet;
    blocks_split split;
    char *extractor;
    const atomic_int *stop;
    vd_progress progress;
    char drawn[4096]; // directory of the pictures
    char path[4096 + 64];
} job;

static const vd_option options[] = {
    {"out", "DIR", "make, world: directory to write to", VD_INTO(job, out)},
    {"seed", "N", "seed of pictures and dialogs (1)", VD_INTO(job, seed), 0, INT64_MAX},
    {"dialog-seed", "N", "seed of other dialogs about the same pictures (default: --seed)",
     VD_INTO(job, dialog_seed), 0, INT64_MAX},
    {"train", "N",
     "make: pictures in the train split (20000); world: pictures whose answers make its pool "
     "(default: none; the model's pool is used)",
     VD_INTO(job, count[BLOCKS_TRAIN]), 0, 999999},
    {"val", "N", "make: pictures in the val split (1000)", VD_INTO(job, count[BLOCKS_VAL]), 0,
     999999},
    {"test", "N", "make: pictures in the test split (1000)", VD_INTO(job, count[BLOCKS_TEST]), 0,
     999999},
    {"captions", "K",
     "make: also write K captions of each picture, in the layout of Karpathy's splits; the first "
     "is the dialog's",
     VD_INTO(job, captions), 1, BLOCKS_MOST_CAPTIONS},
    {"pictures", "N", "make: write the first N pictures of each split as PNG (1000)",
     VD_INTO(job, pictures), 0, 999999},
    {"no-pictures", NULL, "make: write no pictures", VD_INTO(job, no_pictures)},
    {"no-features", NULL, "make: write dialogs and scenes, but no region features",
     VD_INTO(job, no_features)},
    {"extractor", "FILE",
     "extractor (detector and classifier) of the regions (default: the bundled one)",
     VD_INTO(job, extractor_given)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(job, force)},
    {"threads", "N", VD_HELP_THREADS " (2)", VD_INTO(job, threads), 1, VD_THREADS},
    {"split", "NAME", "world, show: train, val (default) or test", VD_INTO(job, split),
     .choices = "train, val or test"},
    {"count", "N", "world: number of pictures (48)", VD_INTO(job, some), 1, 999999},
    {"index", "N", "world: first picture of the split; show: the picture; counted from 0",
     VD_INTO(job, index), 0, 999998},
    {"png", "FILE", "show: write the picture to FILE", VD_INTO(job, png)},
    {"quiet", NULL, VD_HELP_NO_PROGRESS, VD_INTO(job, quiet)},
    {0},
};

// A file of a split ("val_dense.json"), or with split "" of a world ("dense.json").
static const char *path_of(job *j, const char *split, const char *name)
{
    snprintf(j->path, sizeof j->path, "%.4000s/%s%s", j->out, split, name + (*split ? 0 : 1));
    return j->path;
}

// ---- options ----------------------------------------------------------------------------------

// Before the work, which may take hours.
static vd_status find_extractor(job *j, vd_error *err)
{
    j->extractor = vd_extractor_path(j->extractor_given);
    if (access(j->extractor, R_OK))
        return vd_error_set(err, VD_NOT_FOUND,
                            "%.400s: %s; train one with `visdial extract --train`, name another "
                            "with --extractor, or leave the features out with --no-features",
                            j->extractor, strerror(errno));
    return VD_OK;
}

// ---- work with progress -----------------------------------------------------------------------

static vd_status fill_one(void *context, int worker, size_t index, vd_error *err)
{
    (void)worker;
    (void)err;
    blocks_world_fill(context, index, 1);
    return VD_OK;
}

static vd_status make_scenes(job *j, blocks_split split, size_t count, blocks_world *world,
                             vd_error *err)
{
    char what[32];
    vd_status status = blocks_world_new((uint64_t)j->seed, split, count, world, err);
    if (status)
        return status;
    if (j->dialog_seed >= 0)
        world->dialog_seed = (uint64_t)j->dialog_seed;
    snprintf(what, sizeof what, "%s scenes", blocks_split_names[split]);
    vd_progress_start(&j->progress, what, (int64_t)count, 0, j->quiet);
    status = vd_parallel(count, j->threads, fill_one, world, vd_progress_report, &j->progress,
                         j->stop, err);
    vd_progress_end(&j->progress, (int64_t)count, status == VD_OK);
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
    blocks_extract_options how = {.extractor = j->extractor,
                                  .threads = j->threads,
                                  .pictures = directory,
                                  .picture_count = pictures,
                                  .stop = j->stop,
                                  .report = vd_progress_report,
                                  .user = &j->progress};
    snprintf(what, sizeof what, "%s pictures", blocks_split_names[world->split]);
    vd_progress_start(&j->progress, what, (int64_t)world->count, 0, j->quiet);
    vd_status status = blocks_extract_regions(world, &how, &set, err);
    vd_progress_end(&j->progress, (int64_t)world->count, status == VD_OK);
    if (!status) {
        snprintf(source, sizeof source, "visdial blocks, seed %" PRId64 ", split %s", j->seed,
                 blocks_split_names[world->split]);
        status = vd_region_set_write(&set, to, source, err);
    }
    vd_region_set_clear(&set);
    return status;
}

typedef struct drawing {
    const blocks_world *world;
    const char *directory;
} drawing;

static void picture_path(const char *directory, const blocks_scene *scene, char out[4096])
{
    snprintf(out, 4096, "%.4000s/%" PRId64 ".png", directory, scene->image_id);
}

static vd_status draw_one(void *context, int worker, size_t index, vd_error *err)
{
    const drawing *d = context;
    (void)worker;
    char path[4096];
    picture_path(d->directory, &d->world->scene[index], path);
    return blocks_world_write_picture(&d->world->scene[index], path, err);
}

static vd_status draw_pictures(job *j, const blocks_world *world, size_t pictures, vd_error *err)
{
    drawing d = {world, j->drawn};
    vd_progress_start(&j->progress, "pictures", (int64_t)pictures, 0, j->quiet);
    vd_status status = vd_parallel(pictures, j->threads, draw_one, &d, vd_progress_report,
                                   &j->progress, j->stop, err);
    vd_progress_end(&j->progress, (int64_t)pictures, status == VD_OK);
    return status;
}

// ---- make -------------------------------------------------------------------------------------

// What was drawn is no obstacle for the next time; with --force some may have been there before.
static void remove_pictures(const job *j, const blocks_world *world, size_t pictures)
{
    char path[4096];
    for (size_t i = 0; i < pictures && !j->force; i++) {
        picture_path(j->drawn, &world->scene[i], path);
        unlink(path);
    }
}

// The features of a world, and its first j->pictures pictures: all of them or none.
static vd_status write_pictures(job *j, const blocks_world *world, const char *split, vd_error *err)
{
    size_t drawn = j->pictures < world->count ? j->pictures : world->count;
    vd_status status = VD_OK;
    if (!j->no_features)
        status = write_features(j, world, drawn ? j->drawn : NULL, drawn,
                                path_of(j, split, "_features.safetensors"), err);
    else if (drawn)
        status = draw_pictures(j, world, drawn, err);
    if (status)
        remove_pictures(j, world, drawn);
    return status;
}

// All files about the pictures of a world, and the pool of answers of `train` unless that is NULL.
// What takes long is done first, and the dialogs come last: where they are, all is.
static vd_status write_world(job *j, const blocks_world *world, const char *split,
                             const blocks_world *train, vd_error *err)
{
    vd_status status = write_pictures(j, world, split, err);
    if (!status)
        status = blocks_world_write_dense(world, path_of(j, split, "_dense.json"), err);
    if (!status)
        status = blocks_world_write_scenes(world, path_of(j, split, "_scenes.json"), err);
    if (!status && j->captions)
        status = blocks_world_write_captions(world, j->captions,
                                             path_of(j, split, "_captions.json"), err);
    if (!status && train)
        status = blocks_world_write_pool(train, path_of(j, "", "_pool.txt"), err);
    return status ? status
                  : blocks_world_write_dialogs(
                        world, path_of(j, split, *split ? ".json" : "_dialogs.json"), err);
}

// Before anything is written: what is there stays, unless --force is given.
static vd_status check_file(job *j, const char *split, const char *name, vd_error *err)
{
    const char *path = path_of(j, split, name);
    return vd_output_check(&path, 1, NULL, 0, j->force, err);
}

static vd_status check_split(job *j, const char *split, vd_error *err)
{
    const char *const files[] = {*split ? ".json" : "_dialogs.json", "_dense.json", "_scenes.json",
                                 "_features.safetensors", "_captions.json"};
    const size_t count = sizeof files / sizeof *files - !j->captions;
    vd_status status = VD_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = check_file(j, split, files[i], err);
    return status;
}

// Those of another data set may have the same numbers.
static vd_status check_pictures(job *j, blocks_split split, size_t from, size_t count,
                                vd_error *err)
{
    char name[48];
    vd_status status = VD_OK;
    for (size_t i = from; i < from + count && i < from + j->pictures && !status; i++) {
        snprintf(name, sizeof name, "_pictures/%" PRId64 ".png", blocks_image_id(split, i));
        status = check_file(j, "", name, err);
    }
    return status;
}

static vd_status check_fresh(job *j, bool world, vd_error *err)
{
    vd_status status = world ? check_split(j, "", err) : VD_OK;
    for (int s = 0; s < BLOCKS_SPLITS && !world && !status; s++)
        if (j->count[s] > 0)
            status = check_split(j, blocks_split_names[s], err);
    if (!status && (world || j->count[BLOCKS_TRAIN] > 0))
        status = check_file(j, "", "_pool.txt", err);
    if (world && !status)
        status = check_pictures(j, j->split, j->index, j->some, err);
    for (int s = 0; s < BLOCKS_SPLITS && !world && !status; s++)
        status = check_pictures(j, (blocks_split)s, 0, j->count[s], err);
    return status;
}

static vd_status make_directories(job *j, bool world, vd_error *err)
{
    vd_status status = check_fresh(j, world, err);
    if (!status && !j->no_features)
        status = find_extractor(j, err);
    if (!status)
        status = vd_directory_make(j->out, err);
    snprintf(j->drawn, sizeof j->drawn, "%.4000s/pictures", j->out);
    return status || j->pictures == 0 ? status : vd_directory_make(j->drawn, err);
}

static vd_status make(job *j, vd_error *err)
{
    size_t all = j->count[BLOCKS_TRAIN] + j->count[BLOCKS_VAL] + j->count[BLOCKS_TEST];
    vd_status status =
        all ? make_directories(j, false, err)
            : vd_error_set(err, VD_USAGE,
                           "--train, --val and --test are 0; expected dialogs in one of them");
    for (int s = 0; s < BLOCKS_SPLITS && !status; s++) {
        blocks_world world;
        if (j->count[s] == 0)
            continue;
        status = make_scenes(j, (blocks_split)s, j->count[s], &world, err);
        if (status)
            break;
        status =
            write_world(j, &world, blocks_split_names[s], s == BLOCKS_TRAIN ? &world : NULL, err);
        if (!status && !j->quiet)
            fprintf(stderr, "%s was written: %zu dialog%s\n",
                    path_of(j, blocks_split_names[s], ".json"), j->count[s],
                    j->count[s] == 1 ? "" : "s");
        blocks_world_clear(&world);
    }
    return status;
}

// ---- world ------------------------------------------------------------------------------------

// A directory as the chat opens it (tui/session/session.h), without models.
static vd_status make_world(job *j, vd_error *err)
{
    blocks_world all = {0}, world, train = {0};
    size_t answered = j->count[BLOCKS_TRAIN]; // pictures whose answers make the pool
    j->pictures = j->some;
    j->no_features = false;
    vd_status status = make_directories(j, true, err);
    if (!status)
        status = make_scenes(j, j->split, j->index + j->some, &all, err);
    if (!status && answered)
        status = make_scenes(j, BLOCKS_TRAIN, answered, &train, err);
    if (!status) {
        world = all; // borrows the scenes from the first one on
        world.scene += j->index;
        world.count = j->some;
        status = write_world(j, &world, "", answered ? &train : NULL, err);
    }
    blocks_world_clear(&all);
    blocks_world_clear(&train);
    return status;
}

// ---- show -------------------------------------------------------------------------------------

static vd_status show(const job *j, vd_error *err)
{
    blocks_scene scene;
    blocks_dialog dialog;
    blocks_scene_make((uint64_t)j->seed, j->split, (int)j->index, &scene);
    if (j->dialog_seed >= 0)
        scene.dialog_seed = (uint64_t)j->dialog_seed;
    blocks_dialog_make(&scene, &dialog);
    vd_status status = vd_output_check(&j->png, 1, NULL, 0, j->force, err);
    if (!status && j->png)
        status = blocks_world_write_picture(&scene, j->png, err);
    if (status)
        return status;
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

static vd_status work(job *j, int argc, char **argv, vd_error *err)
{
    enum { MAKE, WORLD, SHOW };
    int verb;
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, j, &given, err);
    if (status == VD_OK)
        status = vd_arguments_verb(&given, "make, world or show", 0, &verb, err);
    if (status)
        return status;
    static const char *const others[] = {
        [MAKE] = "split count index png",
        [WORLD] = "val test captions pictures no-pictures no-features png",
        [SHOW] = "out train val test captions pictures no-pictures no-features extractor count"};
    char why[64];
    snprintf(why, sizeof why, "does not belong to blocks %s", given.operand[0]);
    status = vd_arguments_refuse(&given, others[verb], why, err);
    if (status == VD_OK && j->no_pictures)
        status = vd_arguments_refuse(&given, "pictures", "contradicts --no-pictures", err);
    if (status)
        return status;
    j->pictures = j->no_pictures ? 0 : j->pictures;
    if (verb == SHOW)
        return show(j, err);
    status = vd_arguments_need(&given, "out", err);
    if (status)
        return status;
    if (verb == WORLD && !vd_arguments_have(&given, "train"))
        j->count[BLOCKS_TRAIN] = 0;
    return verb == MAKE ? make(j, err) : make_world(j, err);
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    job j = {.seed = 1,
             .dialog_seed = -1,
             .count = {20000, 1000, 1000},
             .pictures = 1000,
             .threads = 2,
             .some = 48,
             .split = BLOCKS_VAL,
             .stop = vd_interrupt_watch()};
    vd_status status = work(&j, argc, argv, err);
    vd_interrupt_release();
    g_free(j.extractor);
    return status;
}

const vd_command vd_cmd_blocks = {
    "blocks",
    run,
    "make Blocks pictures, dialogs about them and their features",
    "make|world|show [options]",
    "A seed and an index determine a picture completely.\n"
    "make: write train, val and test splits to DIR, for training and evaluation.\n"
    "world: write a few pictures with all files that `visdial --assets DIR` needs, except models.\n"
    "show: print one picture and its dialog as text.\n"
    "Some questions have made-up words (\"gavuzeko\"): models learn to skip words that\n"
    "they do not know.",
    "  visdial blocks make --out blocks --train 20000 --val 1000 --test 1000\n"
    "  visdial blocks world --out world --count 48\n"
    "  visdial blocks show --split val --index 7 --png picture.png\n",
    options,
    "make world show"};
