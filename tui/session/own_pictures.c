#include "tui/session/own_pictures.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "tui/session/found.h"

// One caption of a picture, whose text is its own.
typedef struct vd_own_caption {
    vd_picture_caption caption;
    struct vd_own_caption *before;
} vd_own_caption;

vd_own_pictures *vd_own_pictures_new(const char *extractor, const char *features,
                                     vd_captioning *captioning)
{
    vd_own_pictures *own = g_new0(vd_own_pictures, 1);
    pthread_mutex_init(&own->looking, NULL);
    pthread_mutex_init(&own->adding, NULL);
    own->captioning = captioning;
    own->extractor_path = g_strdup(extractor);
    own->features = g_strdup(features);
    return own;
}

static void picture_free(vd_own_picture *picture)
{
    vd_picture_regions_clear(&picture->regions);
    for (vd_own_caption *one = picture->captions, *before; one; one = before) {
        before = one->before;
        g_free((char *)one->caption.text);
        g_free(one);
    }
    g_free(picture->features);
    g_free(picture->path);
    g_free(picture);
}

void vd_own_pictures_free(vd_own_pictures *own)
{
    if (!own)
        return;
    for (size_t i = 0; i < own->count; i++)
        picture_free(own->picture[i]);
    vd_extractor_free(own->extractor);
    pthread_mutex_destroy(&own->looking);
    pthread_mutex_destroy(&own->adding);
    g_free(own->features);
    g_free(own->extractor_path);
    g_free(own);
}

// ---- opening ------------------------------------------------------------------------------------

// Made of the path, so that a picture that is opened again, by another program too, is the same
// one. Above all ids of data sets, and exact in JSON.
static int64_t id_of(const char *path)
{
    char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, path, -1);
    sum[13] = '\0'; // 52 bits
    int64_t id = (int64_t)(g_ascii_strtoull(sum, NULL, 16) | (uint64_t)1 << 52);
    g_free(sum);
    return id;
}

static bool find(const vd_own_pictures *own, const char *path, size_t *index)
{
    for (*index = 0; *index < own->count; ++*index)
        if (strcmp(own->picture[*index]->path, path) == 0)
            return true;
    return false;
}

// The file of features with the picture's name beside it; NULL: there is none.
static char *find_features(const char *path)
{
    static const char *const suffixes[] = {"npz", "npy", "safetensors", "h5", "hdf5", "tsv"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    int stem = (int)(dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path));
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *features = g_strdup_printf("%.*s.%s", stem, path, suffixes[i]);
        if (g_file_test(features, G_FILE_TEST_IS_REGULAR) && access(features, R_OK) == 0)
            return features;
        g_free(features);
    }
    return NULL;
}

// Behind the last slash; where another picture is called so, with its folder.
static const char *name_of(const vd_own_pictures *own, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < own->count; i++)
        if (slash && strcmp(own->picture[i]->name, name) == 0) {
            while (slash > path && slash[-1] != '/')
                slash--;
            return slash;
        }
    return name;
}

// Takes path, which is none of those that are open, and features.
static vd_status add(vd_own_pictures *own, char *path, char *features, uint64_t seed, size_t *index,
                     vd_error *err)
{
    if (own->count == VD_OWN_MOST) {
        g_free(features);
        g_free(path);
        return vd_error_set(err, VD_USAGE, "%d pictures are open; restart to open more",
                            VD_OWN_MOST);
    }
    vd_own_picture *picture = g_new(vd_own_picture, 1);
    *picture = (vd_own_picture){.path = path,
                                .name = name_of(own, path),
                                .made = *path != '/',
                                .seed = seed,
                                .image_id = id_of(path),
                                .features = features};
    *index = own->count;
    own->picture[*index] = picture;
    own->count++;
    return VD_OK;
}

// full: from the root on.
static vd_status add_file(vd_own_pictures *own, const char *full, size_t *index, vd_error *err)
{
    char *features = own->features ? own->features : find_features(full);
    own->features = NULL; // of the first one
    return add(own, g_strdup(full), features, 0, index, err);
}

// Only by how it begins: a damaged picture is found out when it is looked at.
static vd_status check_picture(const char *path, vd_error *err)
{
    unsigned char start[64];
    size_t got, whole;
    vd_status status = vd_file_read_start(path, start, sizeof start, &got, &whole, err);
    return status ? status : vd_image_check(path, start, got, err);
}

vd_status vd_own_pictures_open(vd_own_pictures *own, const char *path, size_t *index, vd_error *err)
{
    vd_status status = check_picture(path, err);
    char *full = status ? NULL : realpath(path, NULL);
    if (!status && !full)
        return vd_error_set(err, VD_IO, "%.400s: %s", path, strerror(errno));
    if (!status && !find(own, full, index))
        status = add_file(own, full, index, err);
    free(full);
    return status;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

vd_status vd_own_pictures_open_folder(vd_own_pictures *own, const char *path, size_t *index,
                                      vd_error *err)
{
    GError *why = NULL;
    GDir *folder = g_dir_open(path, 0, &why);
    if (!folder) {
        vd_status status = vd_error_set(err, VD_IO, "%.400s", why->message);
        g_error_free(why);
        return status;
    }
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(folder));) {
        char *file = g_build_filename(path, name, NULL);
        if (*name != '.' && g_file_test(file, G_FILE_TEST_IS_REGULAR) && !check_picture(file, NULL))
            g_ptr_array_add(files, file);
        else
            g_free(file);
    }
    g_dir_close(folder);
    g_ptr_array_sort(files, by_name);
    vd_status status = VD_OK;
    for (guint i = 0; i < files->len && !status; i++) {
        size_t at = 0;
        status = vd_own_pictures_open(own, files->pdata[i], &at, err);
        if (i == 0)
            *index = at;
    }
    if (files->len == 0)
        status = vd_error_set(err, VD_NOT_FOUND,
                              "%.400s: there is no picture in this folder; expected PNG, JPEG, BMP "
                              "or PNM files",
                              path);
    g_ptr_array_free(files, TRUE);
    return status;
}

vd_status vd_own_pictures_make(vd_own_pictures *own, uint64_t seed, size_t *index, vd_error *err)
{
    char *name = g_strdup_printf("blocks:%" PRIu64, seed);
    if (!find(own, name, index))
        return add(own, name, NULL, seed, index, err);
    g_free(name);
    return VD_OK;
}

// ---- looking ------------------------------------------------------------------------------------

static void make_scene(const vd_own_picture *picture, blocks_scene *scene)
{
    blocks_scene_make(picture->seed, BLOCKS_TEST, 0, scene);
}

vd_status vd_own_pictures_image(const vd_own_picture *picture, vd_image *out, vd_error *err)
{
    if (!picture->made)
        return vd_image_read(picture->path, out, err);
    blocks_scene scene;
    vd_status status = vd_image_new(BLOCKS_WIDTH, BLOCKS_HEIGHT, out, err);
    if (status)
        return status;
    make_scene(picture, &scene);
    blocks_render(&scene, out->rgb);
    return VD_OK;
}

static vd_status read_features(vd_own_picture *picture, vd_error *err)
{
    vd_regions *file;
    vd_error why = {0};
    vd_status status = vd_regions_open(picture->features, &file, &why);
    if (status)
        return vd_error_set(err, status,
                            "%.700s (taken for the region features of %.200s: rename it if it is "
                            "something else)",
                            why.text, picture->name);
    size_t rows = file->count;
    if (rows == 1)
        status = vd_picture_regions_read(file, file->image_id[0], &picture->regions, err);
    else
        status = vd_error_set(err, VD_MISMATCH,
                              "%.300s: holds the regions of %zu pictures; expected those of %.300s "
                              "alone",
                              picture->features, rows, picture->path);
    vd_regions_close(file);
    return status;
}

static vd_status keep_found(vd_own_picture *picture, const vd_extraction *found, float *features,
                            vd_error *err)
{
    vd_picture_regions *regions = &picture->regions;
    *regions =
        (vd_picture_regions){.count = found->count, .size = VD_FEATURE_SIZE, .features = features};
    regions->boxes = vd_alloc((size_t)found->count, sizeof *found->box);
    if (!regions->boxes)
        return vd_error_memory(err, "the regions' boxes");
    memcpy(regions->boxes, found->box, (size_t)found->count * sizeof *found->box);
    picture->doubted = !picture->made && found->distance > 1;
    return VD_OK;
}

static vd_status find_regions(vd_own_pictures *own, vd_own_picture *picture, vd_error *err)
{
    vd_image image = {0};
    vd_extraction found;
    vd_status status = VD_OK;
    if (!own->extractor)
        status = vd_extractor_load(own->extractor_path, &own->extractor, err);
    if (!status)
        status = vd_own_pictures_image(picture, &image, err);
    float *features = status ? NULL : vd_alloc(VD_EXTRACT_MAX, VD_FEATURE_SIZE * sizeof *features);
    if (!status && !features)
        status = vd_error_memory(err, "a picture's features");
    if (!status)
        status = vd_extractor_run(own->extractor, &image, &found, features, err);
    vd_image_clear(&image);
    if (!status)
        return keep_found(picture, &found, features, err);
    vd_free(features);
    return status;
}

// ---- captions -----------------------------------------------------------------------------------

// Copies its text.
static const vd_picture_caption *add_caption(vd_own_pictures *own, vd_own_picture *picture,
                                             vd_picture_caption caption)
{
    vd_own_caption *one = g_new(vd_own_caption, 1);
    caption.text = g_strdup(caption.text);
    one->caption = caption;
    pthread_mutex_lock(&own->adding);
    one->before = picture->captions;
    picture->captions = one;
    pthread_mutex_unlock(&own->adding);
    return &one->caption;
}

static void offer(vd_own_pictures *own, vd_own_picture *picture, vd_picture_caption caption)
{
    picture->offer[picture->offers++] = add_caption(own, picture, caption);
}

static void offer_scene(vd_own_pictures *own, vd_own_picture *picture)
{
    blocks_scene scene;
    blocks_dialog dialog;
    make_scene(picture, &scene);
    blocks_dialog_make(&scene, &dialog);
    offer(own, picture, (vd_picture_caption){.text = dialog.caption, .by = VD_CAPTION_SCENE});
}

static vd_status offer_generated(vd_own_pictures *own, vd_own_picture *picture,
                                 vd_captioner *captioner, vd_error *err)
{
    vd_generated_caption generated[VD_HYPOTHESES];
    int count;
    const vd_vocab *vocab = vd_model_vocab(captioner->model);
    vd_status status = vd_hypotheses(captioner, &picture->regions, generated, &count, err);
    for (int i = 0; i < count && status == VD_OK; i++) {
        g_autofree char *text = vd_generated_caption_text(vocab, &generated[i]);
        offer(own, picture,
              (vd_picture_caption){.text = text,
                                   .by = VD_CAPTION_CAPTIONER,
                                   .place = i + 1,
                                   .of = count,
                                   .log_probability = generated[i].log_probability});
    }
    return status;
}

// What the captioner says, where there is one for such regions.
static vd_status offer_hypotheses(vd_own_pictures *own, vd_own_picture *picture, vd_error *err)
{
    vd_captioner *captioner;
    vd_error why = {0};
    vd_status status =
        own->captioning ? vd_captioning_take(own->captioning, &captioner, &why) : VD_NOT_FOUND;
    if (status == VD_OK) {
        status = offer_generated(own, picture, captioner, &why);
        vd_captioning_give_back(own->captioning);
    }
    return status == VD_NO_MEMORY ? vd_error_set(err, status, "%s", why.text) : VD_OK;
}

// What the scene of a made picture is said to show is what models were trained on. Of others the
// captioner says the caption, and what the extractor found is another; nothing is said of what is
// not of its world.
static vd_status offer_captions(vd_own_pictures *own, vd_own_picture *picture, vd_error *err)
{
    vd_status status = VD_OK;
    char text[VD_FOUND_CAPTION];
    if (picture->made)
        offer_scene(own, picture);
    if (!picture->doubted)
        status = offer_hypotheses(own, picture, err);
    bool found = picture->offers == 0 || picture->regions.size == VD_FEATURE_SIZE;
    if (!picture->made && found && status == VD_OK) {
        vd_found_caption(picture->doubted ? NULL : &picture->regions, text);
        offer(own, picture, (vd_picture_caption){.text = text, .by = VD_CAPTION_FOUND});
    }
    return status;
}

static bool same_caption(const vd_picture_caption *a, const char *text, vd_caption_by by)
{
    return a && a->by == by && strcmp(a->text, text) == 0;
}

// The caption with this text that there was before; NULL: none.
static const vd_picture_caption *find_caption(vd_own_pictures *own, const vd_own_picture *picture,
                                              const char *text, vd_caption_by by)
{
    pthread_mutex_lock(&own->adding);
    const vd_own_caption *one = picture->captions;
    while (one && !same_caption(&one->caption, text, by))
        one = one->before;
    pthread_mutex_unlock(&own->adding);
    return one ? &one->caption : NULL;
}

vd_status vd_own_pictures_caption(vd_own_pictures *own, vd_own_picture *picture, const char *text,
                                  vd_caption_by by, vd_error *err)
{
    const vd_picture_caption *one = find_caption(own, picture, text, by);
    if (!*text)
        return vd_error_set(err, VD_USAGE, "a caption is empty; expected some words");
    if (!one)
        one = add_caption(own, picture, (vd_picture_caption){.text = text, .by = by});
    atomic_store(&picture->caption, one);
    return VD_OK;
}

vd_status vd_own_pictures_next_caption(vd_own_picture *picture, vd_error *err)
{
    const vd_picture_caption *now = atomic_load(&picture->caption);
    if (!picture->ready)
        return vd_error_set(err, VD_UNAVAILABLE, "the picture's regions are still being found");
    int at = 0;
    while (at < picture->offers &&
           !same_caption(now, picture->offer[at]->text, picture->offer[at]->by))
        at++;
    int next = at < picture->offers ? (at + 1) % picture->offers : 0;
    if (next == at)
        return vd_error_set(err, VD_UNAVAILABLE,
                            "there is no other caption; /caption TEXT sets your own");
    atomic_store(&picture->caption, picture->offer[next]);
    return VD_OK;
}

// ---- all of it ----------------------------------------------------------------------------------

static vd_status look(vd_own_pictures *own, vd_own_picture *picture, vd_error *err)
{
    const vd_picture_caption *none = NULL;
    vd_status status =
        picture->features ? read_features(picture, err) : find_regions(own, picture, err);
    picture->offers = 0;
    if (!status)
        status = offer_captions(own, picture, err);
    if (status)
        vd_picture_regions_clear(&picture->regions);
    else // unless somebody has given it one
        atomic_compare_exchange_strong(&picture->caption, &none, picture->offer[0]);
    picture->ready = status == VD_OK;
    return status;
}

vd_status vd_own_pictures_look(vd_own_pictures *own, vd_own_picture *picture, vd_error *err)
{
    vd_status status = VD_OK;
    if (picture->ready)
        return VD_OK;
    pthread_mutex_lock(&own->looking);
    if (!picture->ready)
        status = look(own, picture, err);
    pthread_mutex_unlock(&own->looking);
    return status;
}
