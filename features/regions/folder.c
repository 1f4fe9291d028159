// Region features in a folder of one file a picture, whose name ends with the image's id:
//   npz (bottom-up-attention.pytorch): x (n, D), bbox (n, 4) in pixels, image_w, image_h
//   npy: (n, D), no boxes
// A folder that has npz is read as npz. Opening reads the header of every file.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "features/regions/npy.h"
#include "features/regions/source.h"
#include "features/regions/zip.h"

typedef struct picture {
    char *name;
    int64_t id;
} picture;

typedef struct folder {
    char *path;
    bool npz;
    picture *pictures;
    size_t count, room;
    size_t size; // D
} folder;

// A call's own memory for the array it reads, so that several threads may read.
typedef struct scratch {
    unsigned char *bytes;
    size_t room;
} scratch;

// ---- the list of files
// ----------------------------------------------------------------------------

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static vd_status add_picture(folder *f, const char *name, vd_error *err)
{
    int64_t id;
    if (!vd_image_id_of(name, &id))
        return vd_error_set(err, VD_FORMAT,
                            "%s/%.200s: the name does not end with the image's number", f->path,
                            name);
    if (f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 256;
        picture *grown = vd_grow(f->pictures, f->room, room, sizeof *grown);
        if (!grown)
            return vd_error_memory(err, "a list of files");
        f->pictures = grown;
        f->room = room;
    }
    char *copy = vd_strdup(name);
    if (!copy)
        return vd_error_memory(err, "a list of files");
    f->pictures[f->count++] = (picture){copy, id};
    return VD_OK;
}

static int by_id(const void *a, const void *b)
{
    const picture *x = a, *y = b;
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : strcmp(x->name, y->name);
}

static void forget_pictures(folder *f)
{
    for (size_t i = 0; i < f->count; i++)
        vd_free(f->pictures[i].name);
    f->count = 0;
}

static vd_status list(folder *f, vd_error *err)
{
    DIR *directory = opendir(f->path);
    if (!directory)
        return vd_error_set(err, VD_IO, "%s: cannot be listed: %s", f->path, strerror(errno));
    vd_status status = VD_OK;
    for (struct dirent *entry; status == VD_OK && (entry = readdir(directory));) {
        bool npz = ends_with(entry->d_name, ".npz");
        if (*entry->d_name == '.' || (!npz && (f->npz || !ends_with(entry->d_name, ".npy"))))
            continue;
        if (npz && !f->npz)
            forget_pictures(f);
        f->npz = f->npz || npz;
        status = add_picture(f, entry->d_name, err);
    }
    closedir(directory);
    if (status == VD_OK && f->count == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: no npz or npy files in this directory", f->path);
    if (status == VD_OK)
        qsort(f->pictures, f->count, sizeof *f->pictures, by_id);
    return status;
}

// ---- one file
// -------------------------------------------------------------------------------------

static vd_status make_room(scratch *s, size_t wanted, vd_error *err)
{
    if (wanted <= s->room)
        return VD_OK;
    vd_free(s->bytes);
    s->room = 0;
    s->bytes = vd_alloc_raw(wanted);
    if (!s->bytes)
        return vd_error_memory(err, "a file of region features");
    s->room = wanted;
    return VD_OK;
}

static void path_of(const folder *f, size_t row, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", f->path, f->pictures[row].name);
}

static vd_status read_plain(const char *path, unsigned char *out, size_t size, size_t *got,
                            size_t *whole, vd_error *err)
{
    int file;
    vd_status status = vd_file_open(path, &file, whole, err);
    if (status != VD_OK)
        return status;
    status = vd_file_read_at(file, path, out, size, 0, got, err);
    close(file);
    return status;
}

// An array's start, or all of it, in s->bytes. name: NULL for an npy file.
static vd_status read_array(scratch *s, const char *path, const char *name, bool all, vd_npy *out,
                            vd_error *err)
{
    size_t got = 0, whole = VD_NPY_HEADER;
    char where[4400], entry[32];
    snprintf(where, sizeof where, "%s%s%s", path, name ? ": " : "", name ? name : "");
    snprintf(entry, sizeof entry, "%s.npy", name ? name : "");
    vd_status status = VD_OK;
    for (int pass = 0; status == VD_OK && pass <= all; pass++) {
        status = make_room(s, whole, err);
        if (status == VD_OK)
            status =
                name ? vd_zip_read(path, entry, s->bytes, pass ? whole : VD_NPY_HEADER, &got,
                                   &whole, err)
                     : read_plain(path, s->bytes, pass ? whole : VD_NPY_HEADER, &got, &whole, err);
        if (status == VD_NOT_FOUND && name)
            return vd_error_set(err, VD_FORMAT, "%s: there is no array \"%s\" in it", path, name);
        if (status == VD_OK)
            status = vd_npy_header(where, s->bytes, got, whole, out, err);
        if (got == whole)
            break;
    }
    if (status == VD_OK && all && got != whole)
        status =
            vd_error_set(err, VD_FORMAT, "%s: %zu of %zu bytes could be read", where, got, whole);
    return status;
}

static vd_status expect_rows(const char *path, const char *name, const vd_npy *npy, size_t rows,
                             size_t columns, vd_error *err)
{
    if (npy->dims == 2 && (!rows || npy->shape[0] == rows) &&
        (!columns || npy->shape[1] == columns))
        return VD_OK;
    char expected[64] = "(regions, numbers)";
    if (rows)
        snprintf(expected, sizeof expected, "(%zu, %zu)", rows, columns);
    return vd_error_set(err, VD_FORMAT, "%s: %s has %d dimensions (%zu, %zu); %s is expected", path,
                        name, npy->dims, npy->shape[0], npy->shape[1], expected);
}

static vd_status read_number(scratch *s, const char *path, const char *name, float *out,
                             vd_error *err)
{
    vd_npy npy;
    vd_status status = read_array(s, path, name, true, &npy, err);
    if (status == VD_OK && npy.count == 1)
        vd_npy_floats(&npy, s->bytes + npy.offset, 1, out);
    if (status == VD_OK && (npy.count != 1 || !(*out >= 1)))
        status = vd_error_set(err, VD_FORMAT, "%s: %s is not one number from 1 on", path, name);
    return status;
}

static vd_status read_boxes(scratch *s, const char *path, size_t used, float *boxes, vd_error *err)
{
    vd_npy npy;
    float width = 0, height = 0;
    vd_status status = read_number(s, path, "image_w", &width, err);
    if (status == VD_OK)
        status = read_number(s, path, "image_h", &height, err);
    if (status == VD_OK)
        status = read_array(s, path, "bbox", true, &npy, err);
    if (status == VD_OK)
        status = expect_rows(path, "bbox", &npy, used, 4, err);
    if (status != VD_OK)
        return status;
    vd_npy_floats(&npy, s->bytes + npy.offset, 4 * used, boxes);
    vd_regions_normalise(boxes, used, width, height);
    return VD_OK;
}

static vd_status read_picture(void *state, size_t row, size_t used, float *features, float *boxes,
                              vd_error *err)
{
    const folder *f = state;
    char path[4300];
    vd_npy npy;
    scratch s = {0};
    path_of(f, row, path, sizeof path);
    vd_status status = read_array(&s, path, f->npz ? "x" : NULL, true, &npy, err);
    if (status == VD_OK)
        status = expect_rows(path, f->npz ? "x" : "the array", &npy, used, f->size, err);
    if (status == VD_OK)
        vd_npy_floats(&npy, s.bytes + npy.offset, used * f->size, features);
    if (status == VD_OK && boxes)
        status = read_boxes(&s, path, used, boxes, err);
    vd_free(s.bytes);
    return status;
}

// ------------------------------------------------------------------------------------------

static vd_status measure(folder *f, vd_regions_source *out, vd_error *err)
{
    scratch s = {0};
    out->image_id = vd_alloc(f->count, sizeof *out->image_id);
    out->used = vd_alloc(f->count, sizeof *out->used);
    vd_status status =
        out->image_id && out->used ? VD_OK : vd_error_memory(err, "the index of region features");
    for (size_t i = 0; status == VD_OK && i < f->count; i++) {
        char path[4300];
        vd_npy npy;
        path_of(f, i, path, sizeof path);
        status = read_array(&s, path, f->npz ? "x" : NULL, false, &npy, err);
        if (status == VD_OK)
            status = expect_rows(path, f->npz ? "x" : "the array", &npy, 0, f->size, err);
        if (status == VD_OK)
            status = vd_regions_check_sizes(path, f->npz ? "x" : "the array", npy.shape[0],
                                            npy.shape[1], err);
        if (status != VD_OK)
            break;
        f->size = npy.shape[1];
        out->image_id[i] = f->pictures[i].id;
        out->used[i] = (int64_t)npy.shape[0];
        out->max = (int)npy.shape[0] > out->max ? (int)npy.shape[0] : out->max;
    }
    vd_free(s.bytes);
    return status;
}

static void close_folder(void *state)
{
    folder *f = state;
    forget_pictures(f);
    vd_free(f->pictures);
    vd_free(f->path);
    vd_free(f);
}

vd_status vd_regions_open_folder(const char *path, vd_regions_source *out, vd_error *err)
{
    folder *f = vd_alloc(1, sizeof *f);
    if (!f)
        return vd_error_memory(err, "region features");
    out->state = f;
    out->read = read_picture;
    out->close = close_folder;
    f->path = vd_strndup(path, strnlen(path, 4000));
    vd_status status = f->path ? list(f, err) : vd_error_memory(err, "region features");
    if (status == VD_OK)
        status = measure(f, out, err);
    if (status != VD_OK)
        return status;
    out->kind = f->npz ? "folder of npz" : "folder of npy";
    out->no_boxes = f->npz ? NULL : "npy files carry none";
    out->count = f->count;
    out->size = (int)f->size;
    return VD_OK;
}
