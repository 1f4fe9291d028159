#include "tui/commands/command.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "assets/blocks/detector.h"
#include "engine/base/file.h"
#include "features/extract/extract.h"
#include "tui/base/progress.h"
#include "tui/session/session.h"

typedef struct job {
    const char *out, *model_given;
    bool show, train, train_classifier, calibrate, force, quiet;
    int evaluate; // pictures; 0: do not
    blocks_detector_options training;
    unsigned split; // val, test
    char **picture;
    int count;
    char *model;
    vd_extractor *extractor;
} job;

static const vd_option options[] = {
    {"out", "FILE",
     "write the features to FILE (.safetensors); with --train or --calibrate the extractor "
     "(assets/extractor.safetensors)",
     VD_INTO(job, out)},
    {"force", NULL, VD_HELP_FORCE, VD_INTO(job, force)},
    {"model", "FILE", "extractor to use (default: the bundled one)", VD_INTO(job, model_given)},
    {"show", NULL, "print the regions (this is the default without --out)", VD_INTO(job, show)},
    {"train", NULL, "train an extractor on generated pictures", VD_INTO(job, train)},
    {"train-classifier", NULL,
     "train only the region classifier, for the detector of --model: the last two steps of --train",
     VD_INTO(job, train_classifier)},
    {"calibrate", NULL,
     "refit the test for pictures unlike Blocks, on generated ones: the last step of --train",
     VD_INTO(job, calibrate)},
    {"evaluate", "N", "evaluate the extractor on N pictures that it was not trained on",
     VD_INTO(job, evaluate), 1, 1000000},
    {"split", "NAME", "with --evaluate: val (default) or test", VD_INTO(job, split),
     .choices = "val or test"},
    {"pictures", "N", "with --train: number of generated pictures (6000)",
     VD_INTO(job, training.pictures), 16, 1000000},
    {"epochs", "N", "with --train: passes over the pictures (7)", VD_INTO(job, training.epochs), 1,
     10000},
    {"rate", "X", "with --train: highest learning rate (0.003)", VD_INTO(job, training.rate),
     .least = 1e-6, .most = 1},
    {"seed", "N", "seed of the pictures (1)", VD_INTO(job, training.seed), 0, INT64_MAX},
    {"quiet", NULL, VD_HELP_NO_PROGRESS, VD_INTO(job, quiet)},
    {0},
};

static vd_status read_options(job *j, int argc, char **argv, vd_error *err)
{
    vd_arguments given;
    vd_status status = vd_arguments_read(options, argc, argv, j, &given, err);
    if (status)
        return status;
    j->picture = given.operand;
    j->count = given.count;
    j->show = j->show || !j->out; // all that is left to do with the regions
    int modes = j->train + j->train_classifier + j->calibrate + (j->evaluate > 0) + (j->count > 0);
    if (modes != 1)
        return vd_error_set(err, VD_USAGE,
                            modes ? "pictures, --train, --train-classifier, --calibrate and "
                                    "--evaluate exclude each other; give one"
                                  : "no pictures given; see --help");
    return VD_OK;
}

char *vd_extractor_path(const char *given)
{
    return given ? g_strdup(given) : vd_world_file(NULL, "extractor.safetensors");
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
            vd_progress_end(&s->progress, s->progress.total, true);
        vd_progress_start(&s->progress, now->stage, now->total, 0, s->quiet);
        s->stage = now->stage;
    }
    char losses[96] = "";
    if (now->heat > 0)
        snprintf(losses, sizeof losses, "heat %.3f box %.3f place %.3f attributes %.3f", now->heat,
                 now->box, now->place, now->attributes);
    else if (now->attributes > 0)
        snprintf(losses, sizeof losses, "attributes %.3f", now->attributes);
    vd_progress_update(&s->progress, now->done, losses);
}

static vd_status train(const job *j, vd_error *err)
{
    blocks_detector_options how = j->training;
    how.stop = vd_interrupt_watch();
    if (j->out)
        how.out = j->out;
    shown s = {.quiet = j->quiet};
    vd_status status =
        j->calibrate
            ? blocks_detector_fit_outlier(&how, j->model, show_progress, &s, err)
            : blocks_detector_train(&how, j->train ? NULL : j->model, show_progress, &s, err);
    if (s.stage)
        vd_progress_end(&s.progress, s.progress.total, status == VD_OK);
    vd_interrupt_release();
    if (!status)
        printf("%s\n", how.out);
    return status;
}

// ---- evaluate -----------------------------------------------------------------------------------

static vd_status evaluate(const job *j, vd_error *err)
{
    blocks_detector_scores s;
    vd_status status =
        blocks_detector_evaluate(j->extractor, j->training.seed,
                                 j->split ? BLOCKS_TEST : BLOCKS_VAL, 0, j->evaluate, &s, err);
    if (status)
        return status;
    printf("pictures    %d, objects %d\n", s.pictures, s.objects);
    printf("recall      %.4f (IoU 0.5, mean IoU of the found %.3f)\n",
           s.objects ? (double)s.found / s.objects : 0.0, s.overlap);
    printf("spurious    %.4f a picture\n", (double)s.spurious / s.pictures);
    printf("color       %.4f\nshape       %.4f\nmaterial    %.4f\nsize        %.4f\n", s.color,
           s.shape, s.material, s.size);
    printf("relations   %.4f\n", s.relations);
    printf("outliers    %.4f of the pictures look unlike Blocks\n", (double)s.doubted / s.pictures);
    printf("time        %.2f ms a picture\n", 1e3 * s.seconds / s.pictures);
    return VD_OK;
}

// ---- pictures -----------------------------------------------------------------------------------

static void show_regions(const char *path, const vd_extraction *found)
{
    printf("%s: %d region%s\n", path, found->count, found->count == 1 ? "" : "s");
    printf("      confidence                           x1  y1  x2  y2\n");
    for (int r = 0; r < found->count; r++) {
        const float *box = found->box[r];
        printf("  %2d  %.2f  %-5s %-6s %-6s %-8s  %3.0f %3.0f %3.0f %3.0f %%\n", r + 1,
               found->confidence[r], blocks_size_names[found->size[r]],
               blocks_color_names[found->color[r]], blocks_material_names[found->material[r]],
               blocks_shape_names[found->shape[r]], 100 * box[0], 100 * box[1], 100 * box[2],
               100 * box[3]);
    }
    if (found->distance > 1)
        printf("  This does not look like a Blocks picture: distance %.2f, above 1.\n",
               (double)found->distance);
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
    if (!vd_image_id_of(j->picture[row], &set->image_id[row]))
        set->image_id[row] = row + 1;
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
    if (j->show)
        show_regions(j->picture[row], &found);
    return VD_OK;
}

static vd_status try_output(const job *j, vd_error *err)
{
    const char *const *pictures = (const char *const *)j->picture, *model = j->model;
    if (g_str_has_suffix(j->out, ".npz") || g_str_has_suffix(j->out, ".npy"))
        return vd_error_set(err, VD_USAGE,
                            "--out %.300s: features are written as safetensors; name a file that "
                            "ends in .safetensors",
                            j->out);
    vd_status status = vd_output_check(&j->out, 1, pictures, (size_t)j->count, true, err);
    if (!status)
        status = vd_output_check(&j->out, 1, &model, 1, j->force, err);
    return status ? status : vd_output_try(j->out, err);
}

static vd_status extract(const job *j, vd_error *err)
{
    vd_region_set set = {0};
    float *features = g_new0(float, VD_EXTRACT_MAX *(size_t)VD_FEATURE_SIZE);
    vd_status status = j->out ? try_output(j, err) : VD_OK;
    if (!status)
        status = vd_region_set_new((size_t)j->count, VD_EXTRACT_MAX, VD_FEATURE_SIZE, &set, err);
    const atomic_int *stop = vd_interrupt_watch();
    vd_progress progress;
    vd_progress_start(&progress, "pictures", j->count, 0, j->quiet || j->show);
    for (int i = 0; i < j->count && !status; i++) {
        status = extract_one(j, i, features, &set, err);
        vd_progress_update(&progress, i + 1, NULL);
        if (!status && atomic_load(stop))
            status = vd_error_set(err, VD_INTERRUPTED, "interrupted; nothing was written");
    }
    vd_progress_end(&progress, j->count, status == VD_OK);
    vd_interrupt_release();
    if (!status && j->out)
        status = vd_region_set_write(&set, j->out, "visdial extract", err);
    vd_region_set_clear(&set);
    g_free(features);
    return status;
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    job j = {.training = blocks_detector_defaults()};
    vd_status status = read_options(&j, argc, argv, err);
    j.model = vd_extractor_path(j.model_given);
    if (!status && (j.train || j.train_classifier || j.calibrate)) {
        status = train(&j, err);
    } else if (!status) {
        status = vd_extractor_load(j.model, &j.extractor, err);
        if (!status)
            status = j.evaluate ? evaluate(&j, err) : extract(&j, err);
    }
    vd_extractor_free(j.extractor);
    g_free(j.model);
    return status;
}

const vd_command vd_cmd_extract = {
    "extract",
    run,
    "find the regions in pictures and write their features",
    "[options] PICTURE...",
    "Detects the objects in Blocks pictures, and reports pictures that do not look like Blocks. "
    "--train trains a new extractor, --evaluate evaluates one on pictures that it was "
    "not trained on.",
    "  visdial extract --out features.safetensors assets/pictures/1000003.png\n"
    "  visdial extract assets/pictures/1000003.png\n",
    .options = options};
