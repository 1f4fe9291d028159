#include "tui/measure/corpus.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/session/session.h"

// ---- paths --------------------------------------------------------------------------------------

// The path given, or the bundled file of that name.
static char *choose(const vd_corpus *corpus, const char *given, const char *bundled)
{
    return given ? g_strdup(given) : g_build_filename(corpus->directory, bundled, NULL);
}

// "pictures" beside the data, unless another directory is given, which must be there.
static vd_status find_pictures(vd_corpus *corpus, const char *given, vd_error *err)
{
    const char *slash = strrchr(corpus->data, '/');
    int length = slash ? (int)(slash - corpus->data) + 1 : 0;
    corpus->pictures =
        given ? g_strdup(given) : g_strdup_printf("%.*spictures", length, corpus->data);
    struct stat about;
    bool there = stat(corpus->pictures, &about) == 0;
    if (there && S_ISDIR(about.st_mode) && access(corpus->pictures, X_OK) == 0)
        return VD_OK;
    if (there ? S_ISDIR(about.st_mode) : errno != ENOENT && errno != ENOTDIR)
        return vd_error_set(err, VD_IO, "%.400s: its pictures cannot be read: %s", corpus->pictures,
                            strerror(errno));
    g_clear_pointer(&corpus->pictures, g_free);
    if (!given)
        return VD_OK;
    size_t dialogs = corpus->dialogs->dialog_count;
    return vd_error_set(err, VD_NOT_FOUND,
                        "--pictures %.400s: no such directory; expected files such as %" PRId64
                        ".png in it",
                        given, dialogs ? corpus->dialogs->dialogs[0].image_id : (int64_t)1);
}

static vd_status find_files(vd_corpus *corpus, const vd_corpus_paths *paths, vd_error *err)
{
    if (!paths->ranked && !paths->data != !paths->features)
        return vd_error_set(err, VD_USAGE, "--data and --features go together; %s is missing",
                            paths->data ? "--features" : "--data");
    // With --data the bundled models may be missing.
    vd_error fault = {0};
    vd_status status = vd_world_directory(paths->assets, &corpus->directory, &fault);
    if (status && (!paths->data || paths->assets))
        return vd_error_set(err, status, "%s", fault.text);
    corpus->data = choose(corpus, paths->data, "dialogs.json");
    if (!paths->ranked || paths->features)
        corpus->features = choose(corpus, paths->features, "features.safetensors");
    if (paths->dense || !paths->data)
        corpus->dense = choose(corpus, paths->dense, "dense.json");
    if (!paths->dense && corpus->dense && access(corpus->dense, F_OK) != 0)
        g_clear_pointer(&corpus->dense, g_free); // the bundled dialogs may come without relevance
    return VD_OK;
}

// ---- opening ------------------------------------------------------------------------------------

vd_status vd_corpus_open(const vd_corpus_paths *paths, vd_corpus *out, vd_error *err)
{
    *out = (vd_corpus){0};
    vd_status status = find_files(out, paths, err);
    if (status == VD_OK && out->features)
        status = vd_regions_open(out->features, &out->regions, err);
    if (status == VD_OK)
        status = vd_visdial_read(out->data, &out->dialogs, err);
    if (status == VD_OK && out->dense)
        status = vd_visdial_read_dense(out->dialogs, out->dense, err);
    if (status == VD_OK && !paths->without_pictures)
        status = find_pictures(out, paths->pictures, err);
    if (status == VD_OK && out->regions)
        status = vd_corpus_match(out->dialogs, out->regions, paths->missing, true, err);
    if (status)
        vd_corpus_close(out);
    return status;
}

static void say_skipped(const char *path, size_t skipped, size_t left, const vd_regions *regions)
{
    fprintf(stderr,
            "%s: %zu of %zu pictures have no features in %s and are left out; --missing refuse "
            "stops instead\n",
            path, skipped, skipped + left, regions->path);
}

vd_status vd_corpus_match(vd_visdial *dialogs, const vd_regions *regions, vd_missing missing,
                          bool say, vd_error *err)
{
    size_t skipped;
    vd_status status = vd_visdial_match(dialogs, regions, missing, &skipped, err);
    if (status == VD_OK && skipped && say)
        say_skipped(dialogs->path, skipped, dialogs->dialog_count, regions);
    return status;
}

vd_status vd_corpus_match_captions(vd_captions *captions, const vd_regions *regions,
                                   vd_missing missing, bool say, vd_error *err)
{
    size_t skipped;
    vd_status status = vd_captions_match(captions, regions, missing, &skipped, err);
    if (status == VD_OK && skipped && say)
        say_skipped(captions->path, skipped, captions->count, regions);
    return status;
}

void vd_corpus_close(vd_corpus *corpus)
{
    vd_visdial_free(corpus->dialogs);
    vd_regions_close(corpus->regions);
    g_free(corpus->pictures);
    g_free(corpus->dense);
    g_free(corpus->features);
    g_free(corpus->data);
    g_free(corpus->directory);
    *corpus = (vd_corpus){0};
}

vd_status vd_corpus_model(const vd_corpus *corpus, const char *name, vd_model **out, vd_error *err)
{
    *out = NULL;
    char *path = vd_world_model_path(corpus->directory, name, err);
    if (!path)
        return err->status;
    vd_status status = vd_model_load(path, out, err);
    if (status == VD_OK && corpus->regions) {
        int expected = vd_model_config(*out)->region;
        if (expected != corpus->regions->size)
            status = vd_regions_mismatch(corpus->regions, path, expected,
                                         "choose the features that the model was trained on", err);
    }
    if (status) {
        vd_model_free(*out);
        *out = NULL;
    }
    g_free(path);
    return status;
}

char *vd_corpus_picture(const vd_corpus *corpus, int64_t image_id)
{
    // The prefix, whether the number has twelve digits, the suffix.
    static const struct {
        const char *prefix;
        int digits;
        const char *suffix;
    } names[] = {
        {"", 1, "png"},
        {"", 1, "jpg"},
        {"VisualDialog_val2018_", 12, "jpg"},
        {"VisualDialog_test2018_", 12, "jpg"},
        {"COCO_val2014_", 12, "jpg"},
        {"COCO_train2014_", 12, "jpg"},
    };
    for (size_t i = 0; corpus->pictures && i < sizeof names / sizeof *names; i++) {
        char *path = g_strdup_printf("%s/%s%0*" PRId64 ".%s", corpus->pictures, names[i].prefix,
                                     names[i].digits, image_id, names[i].suffix);
        if (access(path, R_OK) == 0)
            return path;
        g_free(path);
    }
    return NULL;
}
