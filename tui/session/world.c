#include "tui/session/session.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "features/extract/extract.h"

enum { MOST_PATH = 4096 };

static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

static bool has_dialogs(const char *directory)
{
    char path[MOST_PATH];
    return (size_t)snprintf(path, sizeof path, "%s/dialogs.json", directory) < sizeof path &&
           is_file(path);
}

// <executable's directory>/../assets; false when /proc does not say where the program is.
static bool beside_program(char *out, size_t size)
{
    char program[MOST_PATH];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return false;
    *slash = '\0';
    int written = snprintf(out, size, "%s/../assets", program);
    return written > 0 && (size_t)written < size;
}

vd_status vd_world_directory(const char *directory, char **out, vd_error *err)
{
    const char *chosen = getenv("VISDIAL_ASSETS");
    if (!directory && chosen && *chosen)
        directory = chosen;
    if (directory) {
        if (!has_dialogs(directory))
            return vd_error_set(err, VD_NOT_FOUND,
                                "%.400s: no dialogs.json in this directory; expected dialogs.json, "
                                "features.safetensors, pool.txt and pictures/%s",
                                directory,
                                directory == chosen ? " (the directory is $VISDIAL_ASSETS)" : "");
        *out = vd_strdup(directory);
        return *out ? VD_OK : vd_error_memory(err, "a path");
    }
    char beside[MOST_PATH + 16] = "";
    const char *places[] = {"assets", "", VD_PREFIX "/share/visdial"};
    if (beside_program(beside, sizeof beside))
        places[1] = beside;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (*places[i] && has_dialogs(places[i])) {
            *out = vd_strdup(places[i]);
            return *out ? VD_OK : vd_error_memory(err, "a path");
        }
    }
    return vd_error_set(
        err, VD_NOT_FOUND,
        "no pictures to talk about: looked for dialogs.json in ./assets, %.300s and "
        "%s; name another directory with --assets or $VISDIAL_ASSETS",
        beside, places[2]);
}

static vd_status open_directory(const char *directory, vd_world *world, vd_error *err)
{
    static const char *const names[] = {"dialogs.json", "features.safetensors", "pool.txt"};
    vd_status status = vd_world_directory(directory, &world->directory, err);
    for (size_t i = 0; i < sizeof names / sizeof *names && status == VD_OK; i++) {
        char *path = vd_format("%s/%s", world->directory, names[i]);
        if (!path)
            status = vd_error_memory(err, "a path");
        else if (i == 0)
            status = vd_visdial_read(path, &world->dialogs, err);
        else if (i == 1)
            status = vd_regions_open(path, &world->regions, err);
        else
            status = vd_answer_pool_read(path, &world->pool, err);
        vd_free(path);
    }
    if (status == VD_OK && world->dialogs->dialog_count == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: no dialogs in it; expected at least one",
                              world->dialogs->path);
    return status;
}

vd_status vd_world_open(const char *directory, vd_world **out, vd_error *err)
{
    return vd_world_open_files(&(vd_world_files){.directory = directory}, out, err);
}

static vd_status check_files(const vd_world_files *files, vd_error *err)
{
    if (!files->data != !files->features)
        return vd_error_set(err, VD_USAGE, "--data and --features go together; --%s is missing",
                            files->data ? "features" : "data");
    if (!files->data && (files->dense || files->images))
        return vd_error_set(err, VD_USAGE, "--%s needs --data and --features",
                            files->dense ? "dense" : "images");
    return VD_OK;
}

static vd_status open_files(const vd_world_files *files, vd_world *world, vd_error *err)
{
    enum { MOST_ANSWERS = 1000 };
    world->files = true;
    // Only for models by name; without the bundled world there are none.
    if (vd_world_directory(files->directory, &world->directory, NULL) != VD_OK &&
        !(world->directory = vd_strdup(".")))
        return vd_error_memory(err, "a path");
    vd_status status = vd_regions_open(files->features, &world->regions, err);
    if (status == VD_OK)
        status = vd_visdial_read(files->data, &world->dialogs, err);
    if (status == VD_OK && files->dense)
        status = vd_visdial_read_dense(world->dialogs, files->dense, err);
    if (status == VD_OK && files->images)
        status = vd_photos_open(files->images, &world->photos, err);
    if (status == VD_OK)
        vd_regions_use_photos(world->regions, world->photos);
    return status ? status : vd_answer_pool_count(world->dialogs, MOST_ANSWERS, &world->pool, err);
}

vd_status vd_world_open_files(const vd_world_files *files, vd_world **out, vd_error *err)
{
    *out = NULL;
    vd_status status = check_files(files, err);
    if (status != VD_OK)
        return status;
    vd_world *world = vd_alloc(1, sizeof *world);
    if (!world)
        return vd_error_memory(err, "the pictures");
    world->backend = files->backend;
    world->decoder = files->decoder;
    status =
        files->data ? open_files(files, world, err) : open_directory(files->directory, world, err);
    if (status == VD_OK)
        *out = world;
    else
        vd_world_close(world);
    return status;
}

vd_status vd_world_read_relevance(vd_world *world, vd_error *err)
{
    if (world->files)
        return VD_OK;
    char *path = vd_format("%s/dense.json", world->directory);
    vd_status status = !path           ? vd_error_memory(err, "a path")
                       : is_file(path) ? vd_visdial_read_dense(world->dialogs, path, err)
                                       : VD_OK;
    vd_free(path);
    return status;
}

vd_status vd_world_match(vd_world *world, vd_missing missing, size_t *skipped, vd_error *err)
{
    return vd_visdial_match(world->dialogs, world->regions, missing, skipped, err);
}

void vd_world_close(vd_world *world)
{
    if (!world)
        return;
    vd_photos_close(world->photos);
    vd_answer_pool_clear(&world->pool);
    vd_regions_close(world->regions);
    vd_visdial_free(world->dialogs);
    vd_free(world->directory);
    vd_free(world);
}

size_t vd_world_count(const vd_world *world)
{
    return world->dialogs->dialog_count;
}

int64_t vd_world_image_id(const vd_world *world, size_t index)
{
    return world->dialogs->dialogs[index].image_id;
}

const char *vd_world_caption(const vd_world *world, size_t index)
{
    return world->dialogs->dialogs[index].caption;
}

static const char *source_of(const vd_world *world)
{
    return world->files ? world->dialogs->path : world->directory;
}

vd_status vd_world_find(const vd_world *world, int64_t image_id, size_t *index, vd_error *err)
{
    size_t count = vd_world_count(world);
    for (size_t i = 0; i < count; i++) {
        if (vd_world_image_id(world, i) == image_id) {
            *index = i;
            return VD_OK;
        }
    }
    char some[160] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && i < 5; i++)
        length += (size_t)snprintf(some + length, sizeof some - length, "%s%" PRId64, i ? ", " : "",
                                   vd_world_image_id(world, i));
    return vd_error_set(err, VD_NOT_FOUND,
                        "no picture %" PRId64 " in %.300s; it has %zu, among them %s%s", image_id,
                        source_of(world), count, some, count > 5 ? ", ..." : "");
}

// ---- regions ------------------------------------------------------------------------------------

const char *const vd_attribute_names[] = {
    "red",  "green", "blue",     "yellow", "purple", "orange", "white", "black",
    "cube", "ball",  "cylinder", "cone",   "rubber", "metal",  "small", "large"};

enum { COLOR, SHAPE, MATERIAL, SIZE };

static const char *best_name(const float *features, int kind)
{
    int first = vd_attribute_first[kind], best = first;
    for (int i = first; i < first + vd_attribute_count[kind]; i++)
        if (features[VD_FEATURE_ATTRIBUTES + i] > features[VD_FEATURE_ATTRIBUTES + best])
            best = i;
    return vd_attribute_names[best];
}

// Every region of this extractor has a 1 in one channel; a confidence of 0.5 is enough.
static bool is_known(const float *one)
{
    return one[VD_FEATURE_ONE] >= 0.99f && one[VD_FEATURE_CONFIDENCE] >= 0.5f;
}

static vd_status name_regions(vd_picture_regions *regions, int size, vd_error *err)
{
    if (size != VD_FEATURE_SIZE || regions->count == 0)
        return VD_OK;
    regions->names = vd_alloc((size_t)regions->count, sizeof *regions->names);
    if (!regions->names)
        return vd_error_memory(err, "the regions' names");
    for (int r = 0; r < regions->count; r++) {
        const float *one = regions->features + (size_t)r * VD_FEATURE_SIZE;
        if (is_known(one))
            snprintf(regions->names[r].text, sizeof regions->names[r].text, "%s %s %s",
                     best_name(one, COLOR), best_name(one, MATERIAL), best_name(one, SHAPE));
    }
    return VD_OK;
}

void vd_region_label(const vd_region_name *names, int row, char out[VD_REGION_LABEL])
{
    const char *name = names ? names[row].text : "";
    snprintf(out, VD_REGION_LABEL, "%d%s%s", row + 1, *name ? " " : "", name);
}

vd_region_name *vd_region_names_copy(const vd_region_name *names, int count)
{
    vd_region_name *copy = names ? vd_alloc((size_t)count, sizeof *copy) : NULL;
    if (copy)
        memcpy(copy, names, (size_t)count * sizeof *copy);
    return copy;
}

vd_status vd_picture_regions_read(const vd_regions *file, int64_t image_id, vd_picture_regions *out,
                                  vd_error *err)
{
    size_t row, most = (size_t)vd_regions_max(file);
    *out = (vd_picture_regions){0};
    vd_status status = vd_regions_find(file, image_id, &row, err);
    if (status)
        return status;
    out->count = vd_regions_used(file, row);
    out->features = vd_alloc(most, sizeof *out->features * (size_t)vd_regions_size(file));
    if (vd_regions_has_boxes(file))
        out->boxes = vd_alloc(most, 4 * sizeof *out->boxes);
    if (!out->features || (!out->boxes && vd_regions_has_boxes(file)))
        status = vd_error_memory(err, "a picture's regions");
    else
        status = vd_regions_read(file, row, out->features, out->boxes, err);
    if (status == VD_OK)
        status = name_regions(out, vd_regions_size(file), err);
    if (status)
        vd_picture_regions_clear(out);
    return status;
}

void vd_picture_regions_clear(vd_picture_regions *regions)
{
    vd_free(regions->features);
    vd_free(regions->boxes);
    vd_free(regions->names);
    *regions = (vd_picture_regions){0};
}

vd_status vd_world_features_fingerprint(const vd_world *world, size_t index, vd_fingerprint *out,
                                        vd_error *err)
{
    vd_picture_regions regions;
    vd_status status =
        vd_picture_regions_read(world->regions, vd_world_image_id(world, index), &regions, err);
    *out = (vd_fingerprint){0};
    if (status)
        return status;
    gssize numbers = (gssize)sizeof(float) * regions.count;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)regions.features,
                      numbers * vd_regions_size(world->regions));
    if (regions.boxes)
        g_checksum_update(sum, (const guchar *)regions.boxes, numbers * 4);
    g_strlcpy(out->text, g_checksum_get_string(sum), sizeof out->text);
    g_checksum_free(sum);
    vd_picture_regions_clear(&regions);
    return VD_OK;
}

static void describe_regions(const float *features, int regions, char *out, size_t size)
{
    size_t used = 0;
    for (int r = 0; r < regions && used < size; r++) {
        const float *one = features + (size_t)r * VD_FEATURE_SIZE;
        if (!is_known(one))
            continue;
        int wrote = snprintf(out + used, size - used, "%s%s %s %s %s", used ? "; " : "",
                             best_name(one, SIZE), best_name(one, COLOR), best_name(one, MATERIAL),
                             best_name(one, SHAPE));
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

void vd_world_contents(const vd_world *world, size_t index, char *out, size_t size)
{
    vd_picture_regions regions = {0};
    out[0] = '\0';
    if (vd_regions_size(world->regions) == VD_FEATURE_SIZE &&
        vd_picture_regions_read(world->regions, vd_world_image_id(world, index), &regions, NULL) ==
            VD_OK)
        describe_regions(regions.features, regions.count, out, size);
    vd_picture_regions_clear(&regions);
}

static char *photo_path(const vd_world *world, int64_t image_id, vd_error *err)
{
    const char *photo = world->photos ? vd_photos_find(world->photos, image_id) : NULL;
    char *path = photo ? vd_strdup(photo) : NULL;
    if (photo && !path)
        vd_error_memory(err, "a path");
    else if (!photo && world->photos)
        vd_error_set(err, VD_NOT_FOUND,
                     "%.300s: no photo of image %" PRId64 " among its %zu; expected a name that "
                     "ends with %012" PRId64 ".jpg",
                     vd_photos_directory(world->photos), image_id, vd_photos_count(world->photos),
                     image_id);
    else if (!photo)
        vd_error_set(err, VD_NOT_FOUND,
                     "image %" PRId64 ": name the directory of the photos with --images", image_id);
    return path;
}

char *vd_world_picture_path(const vd_world *world, size_t index, vd_error *err)
{
    if (world->files)
        return photo_path(world, vd_world_image_id(world, index), err);
    static const char *const suffixes[] = {"png", "jpg"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *path = vd_format("%s/pictures/%" PRId64 ".%s", world->directory,
                               vd_world_image_id(world, index), suffixes[i]);
        if (!path) {
            vd_error_memory(err, "a path");
            return NULL;
        }
        if (is_file(path))
            return path;
        vd_free(path);
    }
    vd_error_set(err, VD_NOT_FOUND, "%.400s/pictures/%" PRId64 ".png: there is no such file",
                 world->directory, vd_world_image_id(world, index));
    return NULL;
}

static bool is_own_file(const vd_world *world, size_t index, const struct stat *file)
{
    struct stat own;
    char *path = vd_world_picture_path(world, index, NULL);
    bool same =
        path && stat(path, &own) == 0 && own.st_dev == file->st_dev && own.st_ino == file->st_ino;
    vd_free(path);
    return same;
}

vd_status vd_world_named(const vd_world *world, const char *text, size_t *index, vd_error *err)
{
    enum { MOST_DIGITS = 18 }; // an int64_t holds them
    struct stat file;
    size_t digits = strspn(text, "0123456789"), count = vd_world_count(world);
    if (digits > 0 && digits <= MOST_DIGITS && !text[digits])
        return vd_world_find(world, strtoll(text, NULL, 10), index, err);
    if (stat(text, &file) != 0)
        return vd_error_set(err, VD_NOT_FOUND,
                            "--image: '%.300s': no such file; expected a picture's number, such as "
                            "%" PRId64 ", or its own file",
                            text, vd_world_image_id(world, 0));
    for (size_t i = 0; i < count; i++) {
        if (is_own_file(world, i, &file)) {
            *index = i;
            return VD_OK;
        }
    }
    return vd_error_set(err, VD_NOT_FOUND,
                        "--image: %.300s: this file is none of the %zu pictures of %.300s; "
                        "expected a picture's number, such as %" PRId64 ", or its own file",
                        text, count, source_of(world), vd_world_image_id(world, 0));
}

char *vd_world_model_path(const vd_world *world, const char *name, vd_error *err)
{
    bool bundled = strcmp(name, "base") == 0 || strcmp(name, "improved") == 0;
    char *path = bundled ? vd_format("%s/%s.safetensors", world->directory, name) : vd_strdup(name);
    if (!path) {
        vd_error_memory(err, "a path");
        return NULL;
    }
    struct stat about;
    if (stat(path, &about) == 0) {
        if (!S_ISDIR(about.st_mode))
            return path;
        vd_error_set(err, VD_NOT_FOUND,
                     "%.400s is a directory; expected a model file in it, such "
                     "as model.safetensors",
                     path);
    } else if (bundled) {
        vd_error_set(err, VD_NOT_FOUND,
                     "model '%s': there is no %.400s; train it with `visdial train`, or name a "
                     "model file",
                     name, path);
    } else {
        vd_error_set(err, VD_NOT_FOUND,
                     "model '%.400s': %s; expected base, improved or the path of a model file",
                     name, strerror(errno));
    }
    vd_free(path);
    return NULL;
}
