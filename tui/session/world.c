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
#include "engine/base/append.h"
#include "engine/base/plugin.h"
#include "tui/base/bundled.h"
#include "tui/session/found.h"
#include "tui/session/own_pictures.h"

enum { MOST_PATH = 4096 };

static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

// directory/nameending; without an allocation, which could fail and hide the file.
static bool has_file(const char *directory, const char *name, const char *ending)
{
    char path[MOST_PATH];
    return (size_t)snprintf(path, sizeof path, "%s/%s%s", directory, name, ending) < sizeof path &&
           is_file(path);
}

static bool has_dialogs(const char *directory)
{
    return has_file(directory, "dialogs", ".json");
}

// Where the program's own files may be: places[0] to [2] ("" none); buffers of theirs.
typedef struct own_places {
    char beside[MOST_PATH + 16];
    const char *place[3];
} own_places;

static void find_places(own_places *out)
{
    char program[MOST_PATH];
    *out = (own_places){.place = {"assets", out->beside, VD_PREFIX "/share/visdial"}};
    vd_program_directory(program, sizeof program);
    const char *slash = strrchr(program, '/');
    if (slash) // of the directory that the program's is in
        snprintf(out->beside, sizeof out->beside, "%.*s/assets", (int)(slash - program), program);
}

vd_status vd_world_directory(const char *directory, char **out, vd_error *err)
{
    const char *chosen = getenv("VISDIAL_ASSETS");
    if (!directory && chosen && *chosen)
        directory = chosen;
    if (directory && !has_dialogs(directory))
        return vd_error_set(err, VD_NOT_FOUND,
                            "%.400s: no dialogs.json in this directory; expected dialogs.json, "
                            "features.safetensors and pictures/%s",
                            directory,
                            directory == chosen ? " (the directory is $VISDIAL_ASSETS)" : "");
    own_places own;
    find_places(&own);
    for (size_t i = 0; !directory && i < sizeof own.place / sizeof *own.place; i++)
        if (*own.place[i] && has_dialogs(own.place[i]))
            directory = own.place[i];
    if (!directory)
        return vd_error_set(err, VD_NOT_FOUND,
                            "no pictures found: looked for dialogs.json in ./assets, %.300s and "
                            "%s; name another directory with --assets or $VISDIAL_ASSETS",
                            own.beside, own.place[2]);
    *out = g_strdup(directory);
    return VD_OK;
}

char *vd_world_file(const char *directory, const char *name)
{
    own_places own;
    find_places(&own);
    const char *chosen = getenv("VISDIAL_ASSETS");
    const char *places[] = {directory, chosen, own.place[0], own.place[1], own.place[2]};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i] || !*places[i])
            continue;
        char *path = g_strdup_printf("%s/%s", places[i], name);
        if (is_file(path))
            return path;
        g_free(path);
    }
    return g_strdup_printf("%s/%s", directory ? directory : "assets", name);
}

enum { MOST_ANSWERS = 1000 }; // of a pool that is counted

// Without a file (NULL: there is none) the answers of the dialogs: the models that others trained
// bring theirs.
static vd_status open_pool(const char *path, vd_world *world, vd_error *err)
{
    bool there = path && is_file(path);
    world->pool_path = g_strdup(there ? path : world->dialogs->path);
    return there ? vd_answer_pool_read(path, &world->pool, err)
                 : vd_answer_pool_count(world->dialogs, MOST_ANSWERS, &world->pool, err);
}

static vd_status open_directory(const char *directory, vd_world *world, vd_error *err)
{
    static const char *const names[] = {"dialogs.json", "features.safetensors", "pool.txt"};
    vd_status status = vd_world_directory(directory, &world->directory, err);
    for (size_t i = 0; i < sizeof names / sizeof *names && status == VD_OK; i++) {
        char *path = g_strdup_printf("%s/%s", world->directory, names[i]);
        if (i == 0)
            status = vd_visdial_read(path, &world->dialogs, err);
        else if (i == 1)
            status = vd_regions_open(path, &world->regions, err);
        else
            status = open_pool(path, world, err);
        g_free(path);
    }
    if (status == VD_OK && world->dialogs->dialog_count == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: no dialogs in it; expected at least one",
                              world->dialogs->path);
    return status;
}

static vd_status check_files(const vd_world_files *files, vd_error *err)
{
    if (files->data && !files->features)
        return vd_error_set(err, VD_USAGE,
                            "--data and --features go together; --features is missing");
    if (!files->data && (files->dense || files->images))
        return vd_error_set(err, VD_USAGE, "%s needs --data and --features",
                            files->dense ? "--dense" : "--images (replay: --pictures)");
    return VD_OK;
}

static vd_status open_files(const vd_world_files *files, vd_world *world, vd_error *err)
{
    world->files = true;
    // Only for models by name; without the bundled world there are none.
    if (vd_world_directory(files->directory, &world->directory, NULL) != VD_OK)
        world->directory = g_strdup(".");
    vd_status status = vd_regions_open(files->features, &world->regions, err);
    if (status == VD_OK)
        status = vd_visdial_read(files->data, &world->dialogs, err);
    if (status == VD_OK && files->dense)
        status = vd_visdial_read_dense(world->dialogs, files->dense, err);
    if (status == VD_OK && files->images)
        status = vd_photos_open(files->images, &world->photos, err);
    if (status == VD_OK)
        vd_regions_use_photos(world->regions, world->photos);
    return status ? status : open_pool(NULL, world, err);
}

// One that is named is loaded at once, so that its errors are seen.
static vd_status open_captioning(const vd_world_files *files, vd_world *world, vd_error *err)
{
    vd_captioner *captioner;
    char *path = files->captioner ? g_strdup(files->captioner)
                                  : vd_world_file(world->directory, "captioner.safetensors");
    world->captioning = vd_captioning_new(path);
    g_free(path);
    if (!files->captioner)
        return VD_OK;
    vd_status status = vd_captioning_take(world->captioning, &captioner, err);
    if (status == VD_OK)
        vd_captioning_give_back(world->captioning);
    return status;
}

vd_status vd_world_open_files(const vd_world_files *files, vd_world **out, vd_error *err)
{
    *out = NULL;
    vd_status status = check_files(files, err);
    if (status != VD_OK)
        return status;
    vd_world *world = g_new0(vd_world, 1);
    world->backend = files->backend;
    world->decoder = files->decoder;
    status =
        files->data ? open_files(files, world, err) : open_directory(files->directory, world, err);
    if (!status)
        status = open_captioning(files, world, err);
    if (status) {
        vd_world_close(world);
        return status;
    }
    char *extractor = vd_world_file(world->directory, "extractor.safetensors");
    world->own =
        vd_own_pictures_new(extractor, files->data ? NULL : files->features, world->captioning);
    g_free(extractor);
    *out = world;
    return VD_OK;
}

vd_status vd_world_read_relevance(vd_world *world, vd_error *err)
{
    if (world->files)
        return VD_OK;
    char *path = g_strdup_printf("%s/dense.json", world->directory);
    vd_status status = is_file(path) ? vd_visdial_read_dense(world->dialogs, path, err) : VD_OK;
    g_free(path);
    return status;
}

void vd_world_close(vd_world *world)
{
    if (!world)
        return;
    vd_own_pictures_free(world->own);
    vd_captioning_free(world->captioning);
    vd_photos_close(world->photos);
    vd_answer_pool_clear(&world->pool);
    g_free(world->pool_path);
    vd_regions_close(world->regions);
    vd_visdial_free(world->dialogs);
    g_free(world->directory);
    g_free(world);
}

// ---- the pictures -------------------------------------------------------------------------------

size_t vd_world_count(const vd_world *world)
{
    return world->dialogs->dialog_count + (world->own ? world->own->count : 0);
}

// NULL: it is a picture of the dialogs.
static vd_own_picture *own_at(const vd_world *world, size_t index)
{
    size_t dialogs = world->dialogs->dialog_count;
    return index < dialogs ? NULL : world->own->picture[index - dialogs];
}

const vd_visdial_dialog *vd_world_dialog(const vd_world *world, size_t index)
{
    return own_at(world, index) ? NULL : &world->dialogs->dialogs[index];
}

int64_t vd_world_image_id(const vd_world *world, size_t index)
{
    const vd_own_picture *own = own_at(world, index);
    return own ? own->image_id : world->dialogs->dialogs[index].image_id;
}

const char *const vd_caption_by_names[] = {"people", "captioner", "scene", "found", "typed"};

vd_picture_caption vd_world_captioned(const vd_world *world, size_t index)
{
    const vd_own_picture *own = own_at(world, index);
    const vd_picture_caption *caption = own ? atomic_load(&own->caption) : NULL;
    if (own)
        return caption ? *caption : (vd_picture_caption){.text = "", .by = VD_CAPTION_FOUND};
    return (vd_picture_caption){.text = world->dialogs->dialogs[index].caption};
}

const char *vd_world_caption(const vd_world *world, size_t index)
{
    return vd_world_captioned(world, index).text;
}

const char *vd_caption_by_text(vd_caption_by by)
{
    static const char *const texts[] = {"", "by the captioner", "by the scene",
                                        "made from the detected objects", "typed"};
    return texts[by];
}

void vd_caption_mark(const vd_picture_caption *caption, char *out, size_t size)
{
    const char *by = vd_caption_by_text(caption->by);
    if (caption->by == VD_CAPTION_CAPTIONER && caption->of > 1)
        snprintf(out, size, "%s, %d of %d", by, caption->place, caption->of);
    else
        snprintf(out, size, "%s", *caption->text ? by : "");
}

static vd_status refuse_caption(const vd_world *world, size_t index, vd_error *err)
{
    return vd_error_set(err, VD_USAGE,
                        "picture %" PRId64
                        " has a caption in the data, which stays; /caption is for your own "
                        "pictures",
                        vd_world_image_id(world, index));
}

vd_status vd_world_set_caption(const vd_world *world, size_t index, const char *text,
                               vd_caption_by by, vd_error *err)
{
    vd_own_picture *own = own_at(world, index);
    return own ? vd_own_pictures_caption(world->own, own, text, by, err)
               : refuse_caption(world, index, err);
}

vd_status vd_world_next_caption(const vd_world *world, size_t index, vd_error *err)
{
    vd_own_picture *own = own_at(world, index);
    return own ? vd_own_pictures_next_caption(own, err) : refuse_caption(world, index, err);
}

void vd_world_name(const vd_world *world, size_t index, char *out, size_t size)
{
    const vd_own_picture *own = own_at(world, index);
    if (own)
        snprintf(out, size, "%s", own->name);
    else
        snprintf(out, size, "%" PRId64, vd_world_image_id(world, index));
}

const char *vd_world_own_path(const vd_world *world, size_t index)
{
    const vd_own_picture *own = own_at(world, index);
    return own ? own->path : NULL;
}

const char *vd_world_doubt(const vd_world *world, size_t index)
{
    const vd_own_picture *own = own_at(world, index);
    return own && own->ready && own->doubted
               ? "This does not look like a Blocks picture, so answers mean nothing; photographs "
                 "need other features and another model (features/README.md)."
               : NULL;
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
    for (size_t i = 0; i < count && i < 5; i++)
        vd_append(some, sizeof some, "%s%" PRId64, i ? ", " : "", vd_world_image_id(world, i));
    return vd_error_set(err, VD_NOT_FOUND,
                        "no picture %" PRId64 " in %.300s; it has %zu, among them %s%s", image_id,
                        source_of(world), count, some, count > 5 ? ", ..." : "");
}

// ---- regions ------------------------------------------------------------------------------------

vd_status vd_picture_regions_read(const vd_regions *file, int64_t image_id, vd_picture_regions *out,
                                  vd_error *err)
{
    size_t row, most = (size_t)file->max;
    *out = (vd_picture_regions){0};
    vd_status status = vd_regions_find(file, image_id, &row, err);
    if (status)
        return status;
    out->count = file->used[row];
    out->size = file->size;
    out->features = vd_alloc(most, sizeof *out->features * (size_t)file->size);
    if (!file->no_boxes)
        out->boxes = vd_alloc(most, 4 * sizeof *out->boxes);
    if (!out->features || (!out->boxes && !file->no_boxes))
        status = vd_error_memory(err, "a picture's regions");
    else
        status = vd_regions_read(file, row, out->features, out->boxes, err);
    if (status)
        vd_picture_regions_clear(out);
    else
        vd_found_names(out);
    return status;
}

void vd_picture_regions_clear(vd_picture_regions *regions)
{
    vd_free(regions->features);
    vd_free(regions->boxes);
    g_free(regions->names);
    *regions = (vd_picture_regions){0};
}

void vd_picture_regions_forget_features(vd_picture_regions *regions)
{
    vd_free(regions->features);
    regions->features = NULL;
}

// Of NULL NULL.
static float *copy_numbers(const float *numbers, int rows, int columns)
{
    size_t count = (size_t)rows * (size_t)columns;
    float *copy = numbers ? vd_alloc(count, sizeof *copy) : NULL;
    return copy ? memcpy(copy, numbers, count * sizeof *copy) : NULL;
}

vd_status vd_picture_regions_copy(const vd_picture_regions *from, vd_picture_regions *to,
                                  vd_error *err)
{
    *to = (vd_picture_regions){
        .count = from->count,
        .size = from->size,
        .features = copy_numbers(from->features, from->count, from->size),
        .boxes = copy_numbers(from->boxes, from->count, 4),
        .names = g_memdup2(from->names, (gsize)from->count * sizeof *from->names)};
    if ((to->features || !from->features) && (to->boxes || !from->boxes))
        return VD_OK;
    vd_picture_regions_clear(to);
    return vd_error_memory(err, "a picture's regions");
}

vd_status vd_world_regions(const vd_world *world, size_t index, vd_picture_regions *out,
                           vd_error *err)
{
    vd_own_picture *own = own_at(world, index);
    *out = (vd_picture_regions){0};
    if (!own)
        return vd_picture_regions_read(world->regions, vd_world_image_id(world, index), out, err);
    vd_status status = vd_own_pictures_look(world->own, own, err);
    if (!status)
        status = vd_picture_regions_copy(&own->regions, out, err);
    // What is believed of a picture of another world has no names; a features file has them
    // already.
    if (!status && !own->doubted && !out->names)
        vd_found_names(out);
    return status;
}

vd_status vd_world_features_fingerprint(const vd_world *world, size_t index, vd_fingerprint *out,
                                        vd_error *err)
{
    vd_picture_regions regions;
    vd_status status = vd_world_regions(world, index, &regions, err);
    *out = (vd_fingerprint){0};
    if (status)
        return status;
    gssize numbers = (gssize)sizeof(float) * regions.count;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)regions.features, numbers * regions.size);
    if (regions.boxes)
        g_checksum_update(sum, (const guchar *)regions.boxes, numbers * 4);
    g_strlcpy(out->text, g_checksum_get_string(sum), sizeof out->text);
    g_checksum_free(sum);
    vd_picture_regions_clear(&regions);
    return VD_OK;
}

vd_region_name *vd_world_contents(const vd_world *world, size_t index, int *count)
{
    vd_picture_regions regions = {0};
    vd_region_name *things = NULL;
    const vd_own_picture *own = own_at(world, index);
    *count = 0;
    if (own ? !own->ready || own->doubted : world->regions->size != VD_FEATURE_SIZE)
        return NULL;
    if (vd_world_regions(world, index, &regions, NULL) == VD_OK)
        things = vd_found_contents(&regions, count);
    vd_picture_regions_clear(&regions);
    return things;
}

static char *photo_path(const vd_world *world, int64_t image_id, vd_error *err)
{
    const char *photo = world->photos ? vd_photos_find(world->photos, image_id) : NULL;
    if (!world->photos)
        vd_error_set(err, VD_NOT_FOUND,
                     "image %" PRId64 ": name the directory of the photos with --images", image_id);
    else if (!photo)
        vd_error_set(err, VD_NOT_FOUND,
                     "%.300s: no photo of image %" PRId64 " among its %zu; expected a name that "
                     "ends with %012" PRId64 ".jpg",
                     world->photos->directory, image_id, world->photos->files.count, image_id);
    return g_strdup(photo);
}

char *vd_world_picture_path(const vd_world *world, size_t index, vd_error *err)
{
    const vd_own_picture *own = own_at(world, index);
    if (own)
        return g_strdup(own->path);
    if (world->files)
        return photo_path(world, vd_world_image_id(world, index), err);
    static const char *const suffixes[] = {"png", "jpg"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *path = g_strdup_printf("%s/pictures/%" PRId64 ".%s", world->directory,
                                     vd_world_image_id(world, index), suffixes[i]);
        if (is_file(path))
            return path;
        g_free(path);
    }
    vd_error_set(err, VD_NOT_FOUND, "%.400s/pictures/%" PRId64 ".png: there is no such file",
                 world->directory, vd_world_image_id(world, index));
    return NULL;
}

vd_status vd_world_image(const vd_world *world, size_t index, vd_image *out, vd_error *err)
{
    const vd_own_picture *own = own_at(world, index);
    *out = (vd_image){0};
    if (own)
        return vd_own_pictures_image(own, out, err);
    vd_error why = {0};
    char *path = vd_world_picture_path(world, index, &why);
    vd_status status =
        path ? vd_image_read(path, out, err) : vd_error_set(err, why.status, "%s", why.text);
    g_free(path);
    return status;
}

// ---- finding and opening them -------------------------------------------------------------------

// The picture of the dialogs that the file is, by its own name: its digits say which one to
// compare.
static bool is_world_file(const vd_world *world, const char *path, size_t *index)
{
    struct stat file, other;
    char *full = realpath(path, NULL), *theirs = NULL;
    const char *slash = full ? strrchr(full, '/') : NULL;
    int64_t id;
    bool same = slash && vd_image_id_of(slash + 1, &id) && !vd_world_find(world, id, index, NULL) &&
                (theirs = vd_world_picture_path(world, *index, NULL)) && stat(full, &file) == 0 &&
                stat(theirs, &other) == 0 && file.st_dev == other.st_dev &&
                file.st_ino == other.st_ino;
    g_free(theirs);
    free(full);
    return same;
}

// "blocks:7".
static bool is_made(const char *text, uint64_t *seed)
{
    return g_str_has_prefix(text, "blocks:") &&
           g_ascii_string_to_unsigned(text + strlen("blocks:"), 10, 0, INT64_MAX, seed, NULL);
}

bool vd_names_picture(const char *text)
{
    uint64_t seed;
    return access(text, F_OK) == 0 || is_made(text, &seed);
}

static vd_status open_own(const vd_world *world, const char *path, bool folders, size_t *index,
                          vd_error *err)
{
    struct stat about;
    uint64_t seed;
    vd_status status;
    if (is_world_file(world, path, index))
        return VD_OK;
    if (stat(path, &about) != 0 && is_made(path, &seed))
        status = vd_own_pictures_make(world->own, seed, index, err);
    else if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        status = folders ? vd_own_pictures_open_folder(world->own, path, index, err)
                         : vd_error_set(err, VD_USAGE,
                                        "%.400s is a folder; name one of the pictures in it", path);
    else
        status = vd_own_pictures_open(world->own, path, index, err);
    *index += status ? 0 : world->dialogs->dialog_count;
    return status;
}

vd_status vd_world_open_path(const vd_world *world, const char *path, size_t *index, vd_error *err)
{
    return open_own(world, path, true, index, err);
}

vd_status vd_world_make_picture(const vd_world *world, uint64_t seed, size_t *index, vd_error *err)
{
    vd_status status = vd_own_pictures_make(world->own, seed, index, err);
    *index += status ? 0 : world->dialogs->dialog_count;
    return status;
}

static vd_status find_named(const vd_world *world, const char *text, size_t *index, vd_error *err)
{
    enum { MOST_DIGITS = 18 }; // an int64_t holds them
    struct stat file;
    uint64_t seed;
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && digits <= MOST_DIGITS && !text[digits])
        return vd_world_find(world, strtoll(text, NULL, 10), index, err);
    if (stat(text, &file) != 0 && !is_made(text, &seed))
        return vd_error_set(err, VD_NOT_FOUND,
                            "--image: '%.300s': no such file; expected an image id, such as "
                            "%" PRId64 ", a picture file, or blocks:NUMBER for a new picture",
                            text, vd_world_image_id(world, 0));
    return open_own(world, text, false, index, err);
}

vd_status vd_world_named(const vd_world *world, const char *text, size_t *index, vd_error *err)
{
    vd_status status = find_named(world, text, index, err);
    if (status == VD_OK && world->own->features) // no picture took them
        status = vd_error_set(err, VD_USAGE,
                              "--features without --data belong to a picture file of your own, "
                              "which %.300s is not",
                              text);
    return status;
}

// The bundled model that a file is; `name`: it is none.
static const char *bundled_name(const vd_world *world, const char *name, const vd_fingerprint *file)
{
    for (int i = 0; i < VD_BUNDLED_MODELS && file && file->text[0] && !vd_is_bundled(name); i++) {
        vd_fingerprint own = {0};
        char *path = vd_world_model_path(world->directory, vd_bundled_models[i], NULL);
        if (path && vd_fingerprint_file(path, &own, NULL) == VD_OK &&
            strcmp(own.text, file->text) == 0)
            name = vd_bundled_models[i];
        g_free(path);
    }
    return name;
}

const char *vd_world_next_model(const vd_world *world, const char *name, const vd_fingerprint *file)
{
    name = name ? bundled_name(world, name, file) : NULL;
    const char *first = name ? vd_next_bundled(name) : vd_bundled_models[0], *model = first;
    for (int i = 0; i < VD_BUNDLED_MODELS; i++, model = vd_next_bundled(model))
        if (world->directory && has_file(world->directory, model, ".safetensors"))
            return model;
    return first;
}

char *vd_world_model_path(const char *directory, const char *name, vd_error *err)
{
    bool bundled = vd_is_bundled(name);
    g_autofree char *found = NULL;
    if (bundled && !directory && vd_world_directory(NULL, &found, err))
        return NULL;
    char file[64];
    snprintf(file, sizeof file, "%.32s.safetensors", name);
    char *path = bundled ? vd_world_file(directory ? directory : found, file) : g_strdup(name);
    struct stat about;
    if (stat(path, &about) == 0) {
        if (!S_ISDIR(about.st_mode))
            return path;
        vd_error_set(
            err, VD_NOT_FOUND,
            "%.400s is a directory; expected a model file in it, such as model.safetensors", path);
    } else if (bundled) {
        vd_error_set(err, VD_NOT_FOUND,
                     "model '%s': there is no %.400s; train it with `visdial train`, or name a "
                     "model file",
                     name, path);
    } else {
        const char *reason = strerror(errno), *meant = vd_nearest_bundled(name);
        vd_error_set(
            err, VD_NOT_FOUND,
            "model '%.400s': %s; %s%s%sexpected " VD_MODEL_NAMES " or the path of a model file",
            name, reason, meant ? "did you mean " : "", meant ? meant : "", meant ? "? " : "");
    }
    g_free(path);
    return NULL;
}
