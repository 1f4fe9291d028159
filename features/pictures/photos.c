#include "features/pictures/photos.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "engine/base/alloc.h"
#include "features/pictures/image.h"

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

int vd_image_id_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int vd_image_at_order(const void *a, const void *b)
{
    const vd_image_at *x = a, *y = b;
    int order = vd_image_id_order(a, b);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

const vd_image_at *vd_image_at_sort(vd_image_at *index, size_t count)
{
    qsort(index, count, sizeof *index, vd_image_at_order);
    for (size_t i = 1; i < count; i++)
        if (index[i].image_id == index[i - 1].image_id)
            return &index[i];
    return NULL;
}

size_t vd_image_id_index(const void *array, size_t count, size_t size, int64_t image_id)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const int64_t *)((const char *)array + middle * size) < image_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- files of a directory -----------------------------------------------------------------------

static bool ends_with_one(const char *name, const char *const *suffixes)
{
    const char *dot = strrchr(name, '.');
    for (; dot && *suffixes; suffixes++)
        if (strcasecmp(dot, *suffixes) == 0)
            return true;
    return false;
}

static vd_status add(vd_numbered_files *files, const char *path, bool all, vd_error *err)
{
    int64_t id;
    if (!vd_image_id_of(strrchr(path, '/') + 1, &id))
        return all ? vd_error_set(err, VD_FORMAT,
                                  "%s: the name does not end with the image's number", path)
                   : VD_OK;
    char *copy = vd_make_room(&files->list, &files->room, files->count + 1, sizeof *files->list)
                     ? vd_strdup(path)
                     : NULL;
    if (!copy)
        return vd_error_memory(err, "a list of files");
    files->list[files->count++] = (vd_numbered_file){id, copy};
    return VD_OK;
}

static vd_status scan(vd_numbered_files *files, const char *path, const char *const *suffixes,
                      bool all, bool below, vd_error *err)
{
    DIR *directory = opendir(path);
    if (!directory)
        return vd_error_set(err, errno == ENOENT || errno == ENOTDIR ? VD_NOT_FOUND : VD_IO,
                            "%s: cannot be listed: %s", path, strerror(errno));
    vd_status status = VD_OK;
    for (struct dirent *entry; status == VD_OK && (entry = readdir(directory));) {
        char inner[4400];
        struct stat about;
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (*entry->d_name == '.' || (size_t)length >= sizeof inner)
            continue;
        if (ends_with_one(entry->d_name, suffixes))
            status = add(files, inner, all, err);
        else if (below && stat(inner, &about) == 0 && S_ISDIR(about.st_mode))
            status = scan(files, inner, suffixes, all, false, err);
    }
    closedir(directory);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const vd_numbered_file *x = a, *y = b;
    int order = vd_image_id_order(a, b);
    return order ? order : strcmp(x->path, y->path);
}

vd_status vd_numbered_files_list(vd_numbered_files *files, const char *directory,
                                 const char *const *suffixes, bool all, bool below, vd_error *err)
{
    *files = (vd_numbered_files){0};
    vd_status status = scan(files, directory, suffixes, all, below, err);
    if (status != VD_OK)
        vd_numbered_files_clear(files);
    if (files->count > 0)
        qsort(files->list, files->count, sizeof *files->list, by_id);
    return status;
}

void vd_numbered_files_clear(vd_numbered_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        vd_free(files->list[i].path);
    vd_free(files->list);
    *files = (vd_numbered_files){0};
}

// ---- photos -------------------------------------------------------------------------------------

vd_status vd_photos_open(const char *directory, vd_photos **out, vd_error *err)
{
    vd_photos *photos = *out = vd_alloc(1, sizeof *photos);
    vd_status status =
        photos && (photos->directory = vd_strdup(directory))
            ? vd_numbered_files_list(&photos->files, directory, vd_image_suffixes, false, true, err)
            : vd_error_memory(err, "a list of photos");
    if (status != VD_OK) {
        vd_photos_close(photos);
        *out = NULL;
    }
    return status;
}

void vd_photos_close(vd_photos *photos)
{
    if (!photos)
        return;
    vd_numbered_files_clear(&photos->files);
    vd_free(photos->directory);
    vd_free(photos);
}

const char *vd_photos_find(const vd_photos *photos, int64_t image_id)
{
    const vd_numbered_files *f = &photos->files;
    size_t at = vd_image_id_index(f->list, f->count, sizeof *f->list, image_id);
    return at < f->count && f->list[at].image_id == image_id ? f->list[at].path : NULL;
}
