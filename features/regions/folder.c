// Region features in a folder of one file per picture, with a name that ends with the image's id:
//   npz (bottom-up-attention.pytorch): x (n, D), bbox (n, 4) in pixels, image_w, image_h
//   npy: (n, D), no boxes
// A folder that has npz is read as npz: an npy of the same picture is passed over, one of another
// picture is refused, since npz have boxes and npy have none. Opening reads the header of every
// file. One such file alone is read, too: then it may have any name, and its image's id is 0 where
// it names none.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "features/regions/parts.h"
#include "features/regions/source.h"

typedef struct folder {
    bool npz;
    vd_numbered_files pictures;
    size_t size; // D
} folder;

// A call's own memory for the array it reads, so that several threads may read.
typedef struct scratch {
    unsigned char *bytes;
    size_t room;
} scratch;

// ---- one file -----------------------------------------------------------------------------------

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
        if (!vd_make_room(&s->bytes, &s->room, whole, 1))
            return vd_error_memory(err, "a file of region features");
        status = name ? vd_zip_read(path, entry, s->bytes, pass ? whole : VD_NPY_HEADER, &got,
                                    &whole, err)
                      : vd_file_read_start(path, s->bytes, pass ? whole : VD_NPY_HEADER, &got,
                                           &whole, err);
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
    const char *path = f->pictures.list[row].path;
    vd_npy npy;
    scratch s = {0};
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

static vd_status measure(folder *f, vd_regions *out, vd_error *err)
{
    scratch s = {0};
    vd_status status = vd_regions_index(out, f->pictures.count, err);
    for (size_t i = 0; status == VD_OK && i < out->count; i++) {
        const char *path = f->pictures.list[i].path;
        vd_npy npy;
        status = read_array(&s, path, f->npz ? "x" : NULL, false, &npy, err);
        if (status == VD_OK)
            status = expect_rows(path, f->npz ? "x" : "the array", &npy, 0, f->size, err);
        if (status == VD_OK)
            status = vd_regions_check_sizes(path, f->npz ? "x" : "the array", npy.shape[0],
                                            npy.shape[1], err);
        if (status != VD_OK)
            break;
        struct stat about = {0};
        stat(path, &about);
        const uint64_t of_file[] = {(uint64_t)about.st_size, (uint64_t)about.st_mtim.tv_sec,
                                    (uint64_t)about.st_mtim.tv_nsec};
        for (int k = 0; k < 3; k++)
            out->changed = vd_hash_with(out->changed, of_file[k]);
        f->size = npy.shape[1];
        out->image_id[i] = f->pictures.list[i].image_id;
        out->used[i] = (int64_t)npy.shape[0];
        out->max = (int)npy.shape[0] > out->max ? (int)npy.shape[0] : out->max;
    }
    vd_free(s.bytes);
    return status;
}

static void close_folder(void *state)
{
    folder *f = state;
    vd_numbered_files_clear(&f->pictures);
    vd_free(f);
}

static vd_status list_one(folder *f, const char *path, vd_error *err)
{
    const char *slash = strrchr(path, '/'), *suffix = strrchr(path, '.');
    int64_t id;
    f->npz = suffix && strcmp(suffix, ".npz") == 0;
    if (!vd_image_id_of(slash ? slash + 1 : path, &id))
        id = 0;
    char *copy = vd_strdup(path);
    if (!copy || !vd_make_room(&f->pictures.list, &f->pictures.room, 1, sizeof *f->pictures.list)) {
        vd_free(copy);
        return vd_error_memory(err, "a file of region features");
    }
    f->pictures.list[f->pictures.count++] = (vd_numbered_file){id, copy};
    return VD_OK;
}

// Of the picture of an npy.
static vd_status expect_npz(const folder *f, const vd_numbered_file *npy, vd_error *err)
{
    const vd_numbered_files *npz = &f->pictures;
    size_t at = vd_image_id_index(npz->list, npz->count, sizeof *npz->list, npy->image_id);
    if (at < npz->count && npz->list[at].image_id == npy->image_id)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%s: there are npz files in this directory, but none of this picture; "
                        "expected files of one kind (npz have boxes, npy have none)",
                        npy->path);
}

static vd_status list_files(folder *f, const char *path, vd_error *err)
{
    static const char *const npz[] = {".npz", NULL}, *const npy[] = {".npy", NULL};
    struct stat about;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode))
        return list_one(f, path, err);
    vd_status status = vd_numbered_files_list(&f->pictures, path, npz, true, false, err);
    f->npz = f->pictures.count > 0;
    vd_numbered_files others = {0};
    if (status == VD_OK)
        status =
            vd_numbered_files_list(f->npz ? &others : &f->pictures, path, npy, true, false, err);
    for (size_t i = 0; i < others.count && status == VD_OK; i++)
        status = expect_npz(f, &others.list[i], err);
    vd_numbered_files_clear(&others);
    if (status == VD_OK && f->pictures.count == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: no npz or npy files in this directory", path);
    return status;
}

vd_status vd_regions_open_folder(vd_regions *out, vd_error *err)
{
    folder *f = vd_alloc(1, sizeof *f);
    if (!f)
        return vd_error_memory(err, "region features");
    out->state = f;
    out->read = read_picture;
    out->close = close_folder;
    vd_status status = list_files(f, out->path, err);
    if (status == VD_OK)
        status = measure(f, out, err);
    if (status != VD_OK)
        return status;
    out->kind = f->npz ? "folder of npz" : "folder of npy";
    out->no_boxes = f->npz ? NULL : "npy files carry none";
    out->size = (int)f->size;
    return VD_OK;
}
