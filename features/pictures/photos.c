#include "features/pictures/photos.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "engine/base/alloc.h"

bool vd_image_id_of(const char *name, int64_t *out)
{
    const char *dot = strrchr(name, '.'), *end = dot && dot > name ? dot : name + strlen(name);
    const char *start = end;
    while (start > name && start[-1] >= '0' && start[-1] <= '9')
        start--;
    while (start < end && *start == '0')
        start++;
    size_t digits = (size_t)(end - start);
    if (end == name || end[-1] < '0' || end[-1] > '9' || digits > 18)
        return false;
    *out = 0;
    for (; start < end; start++)
        *out = 10 * *out + (*start - '0');
    return true;
}

typedef struct photo {
    int64_t image_id;
    char *path;
} photo;

struct vd_photos {
    char *directory;
    photo *list;
    size_t count, room;
};

static bool is_picture(const char *name)
{
    static const char *const suffixes[] = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(dot, suffixes[i]) == 0)
            return true;
    return false;
}

static vd_status add(vd_photos *photos, const char *directory, const char *name, vd_error *err)
{
    int64_t id;
    if (!is_picture(name) || !vd_image_id_of(name, &id))
        return VD_OK;
    if (photos->count == photos->room) {
        size_t room = photos->room ? 2 * photos->room : 256;
        photo *grown = vd_grow(photos->list, photos->room, room, sizeof *grown);
        if (!grown)
            return vd_error_memory(err, "a list of photos");
        photos->list = grown;
        photos->room = room;
    }
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = vd_alloc(size, 1);
    if (!path)
        return vd_error_memory(err, "a list of photos");
    snprintf(path, size, "%s/%s", directory, name);
    photos->list[photos->count++] = (photo){id, path};
    return VD_OK;
}

// below: directories in it are listed, too.
static vd_status list(vd_photos *photos, const char *path, bool below, vd_error *err)
{
    DIR *directory = opendir(path);
    if (!directory)
        return vd_error_set(err, errno == ENOENT || errno == ENOTDIR ? VD_NOT_FOUND : VD_IO,
                            "%s: photos cannot be looked for: %s", path, strerror(errno));
    vd_status status = VD_OK;
    for (struct dirent *entry; status == VD_OK && (entry = readdir(directory));) {
        char inner[4096];
        struct stat about;
        if (*entry->d_name == '.')
            continue;
        status = add(photos, path, entry->d_name, err);
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (status == VD_OK && below && !is_picture(entry->d_name) && length > 0 &&
            (size_t)length < sizeof inner && stat(inner, &about) == 0 && S_ISDIR(about.st_mode))
            status = list(photos, inner, false, err);
    }
    closedir(directory);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const photo *x = a, *y = b;
    if (x->image_id != y->image_id)
        return x->image_id < y->image_id ? -1 : 1;
    return strcmp(x->path, y->path);
}

vd_status vd_photos_open(const char *directory, vd_photos **out, vd_error *err)
{
    *out = NULL;
    vd_photos *photos = vd_alloc(1, sizeof *photos);
    vd_status status = VD_OK;
    if (!photos || !(photos->directory = vd_strdup(directory)))
        status = vd_error_memory(err, "a list of photos");
    if (status == VD_OK)
        status = list(photos, directory, true, err);
    if (status != VD_OK) {
        vd_photos_close(photos);
        return status;
    }
    if (photos->count > 0)
        qsort(photos->list, photos->count, sizeof *photos->list, by_id);
    *out = photos;
    return VD_OK;
}

void vd_photos_close(vd_photos *photos)
{
    if (!photos)
        return;
    for (size_t i = 0; i < photos->count; i++)
        vd_free(photos->list[i].path);
    vd_free(photos->list);
    vd_free(photos->directory);
    vd_free(photos);
}

size_t vd_photos_count(const vd_photos *photos)
{
    return photos->count;
}

const char *vd_photos_directory(const vd_photos *photos)
{
    return photos->directory;
}

const char *vd_photos_find(const vd_photos *photos, int64_t image_id)
{
    size_t low = 0, high = photos->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (photos->list[middle].image_id < image_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < photos->count && photos->list[low].image_id == image_id ? photos->list[low].path
                                                                         : NULL;
}
