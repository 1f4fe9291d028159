#include "features/regions/regions.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/safetensors.h"
#include "features/pictures/image.h"
#include "features/regions/source.h"

// ---- opening ------------------------------------------------------------------------------------

vd_status vd_regions_check_sizes(const char *path, const char *where, size_t regions, size_t size,
                                 vd_error *err)
{
    if (regions >= 1 && regions <= VD_REGIONS_MOST && size >= 1 && size <= VD_REGIONS_WIDEST)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%s: %s: %zu regions of %zu numbers; expected 1 to %d of 1 to %d", path,
                        where, regions, size, VD_REGIONS_MOST, VD_REGIONS_WIDEST);
}

void vd_regions_normalise(float *boxes, size_t count, float width, float height)
{
    for (size_t i = 0; i < 4 * count; i++) {
        float side = boxes[i] / (i % 2 ? height : width);
        boxes[i] = side > -1 && side < 2 ? fminf(fmaxf(side, 0), 1) : side;
    }
}

vd_status vd_regions_index(vd_regions *out, size_t count, vd_error *err)
{
    out->count = count;
    out->image_id = vd_alloc(count, sizeof *out->image_id);
    out->used = vd_alloc(count, sizeof *out->used);
    return out->image_id && out->used ? VD_OK
                                      : vd_error_memory(err, "the index of region features");
}

static vd_status index_rows(vd_regions *r, vd_error *err)
{
    if (r->count == 0)
        return vd_error_set(err, VD_FORMAT, "%s: there are no pictures in it", r->path);
    r->by_id = vd_alloc(r->count, sizeof *r->by_id);
    if (!r->by_id)
        return vd_error_memory(err, "the index of region features");
    for (size_t i = 0; i < r->count; i++) {
        if (r->used[i] < 1 || r->used[i] > r->max)
            return vd_error_set(err, VD_FORMAT,
                                "%s: num_regions[%zu] (image %" PRId64 ") is %" PRId64
                                ", expected 1 to %d",
                                r->path, i, r->image_id[i], r->used[i], r->max);
        r->by_id[i] = (vd_image_at){r->image_id[i], i};
    }
    const vd_image_at *twice = vd_image_at_sort(r->by_id, r->count);
    return twice ? vd_error_set(err, VD_FORMAT,
                                "%s: image %" PRId64 " is there twice, in rows %zu and %zu",
                                r->path, twice->image_id, twice[-1].at, twice->at)
                 : VD_OK;
}

typedef enum format { SAFETENSORS, HDF5, TSV, FOLDER } format;

// By what it starts with, whatever it is called.
static vd_status detect_format(const char *path, format *out, vd_error *err)
{
    char start[64];
    size_t got, whole;
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        *out = FOLDER;
        return VD_OK;
    }
    vd_status status = vd_file_read_start(path, start, sizeof start, &got, &whole, err);
    if (status != VD_OK)
        return status;
    bool zip = got >= 4 && memcmp(start, "PK\3\4", 4) == 0;
    const char *suffix = strrchr(path, '.');
    if ((zip && suffix && strcmp(suffix, ".npz") == 0) ||
        (got >= 6 && memcmp(start, "\x93NUMPY", 6) == 0)) {
        *out = FOLDER; // of one
        return VD_OK;
    }
    // A tab in the first bytes that are all printable: what comes before it is an image's id.
    size_t printable = 0;
    while (printable < got && start[printable] >= ' ' && start[printable] <= '~')
        printable++;
    *out = got >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0 ? HDF5
           : printable < got && start[printable] == '\t'          ? TSV
                                                                  : SAFETENSORS;
    return VD_OK;
}

vd_status vd_regions_refuse_index(const char *path, vd_error *err)
{
    return vd_error_set(err, VD_USAGE,
                        "%s: has its image ids in itself; an index belongs to adaptive HDF5", path);
}

vd_status vd_regions_open_index(const char *path, const char *index, vd_regions **out,
                                vd_error *err)
{
    *out = NULL;
    format kind = SAFETENSORS;
    vd_regions *r = vd_alloc(1, sizeof *r);
    if (!r || !(r->path = vd_strdup(path))) {
        vd_free(r);
        return vd_error_memory(err, "region features");
    }
    vd_status status = detect_format(path, &kind, err);
    if (status == VD_OK && index && kind != HDF5)
        status = vd_regions_refuse_index(path, err);
    if (status == VD_OK)
        status = kind == HDF5     ? vd_regions_open_hdf5(index, r, err)
                 : kind == TSV    ? vd_regions_open_tsv(r, err)
                 : kind == FOLDER ? vd_regions_open_folder(r, err)
                                  : vd_regions_open_safetensors(r, err);
    if (status == VD_OK)
        status = index_rows(r, err);
    if (status == VD_OK)
        *out = r;
    else
        vd_regions_close(r);
    return status;
}

vd_status vd_regions_open(const char *path, vd_regions **out, vd_error *err)
{
    return vd_regions_open_index(path, NULL, out, err);
}

void vd_regions_use_photos(vd_regions *file, const vd_photos *photos)
{
    if (!file->pixels || !photos)
        return;
    file->photos = photos;
    file->no_boxes = NULL;
}

void vd_regions_close(vd_regions *file)
{
    if (!file)
        return;
    if (file->close)
        file->close(file->state);
    vd_free(file->image_id);
    vd_free(file->used);
    vd_free(file->by_id);
    vd_free(file->path);
    vd_free(file);
}

// ---- reading ------------------------------------------------------------------------------------

vd_status vd_regions_mismatch(const vd_regions *file, const char *reader, int expected,
                              const char *advice, vd_error *err)
{
    return vd_error_set(err, VD_MISMATCH, "%.300s expects regions of %d numbers, %.300s has %d; %s",
                        reader, expected, file->path, file->size, advice);
}

// Of two ids, without overflow.
static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

vd_status vd_regions_find(const vd_regions *file, int64_t image_id, size_t *row, vd_error *err)
{
    size_t low = vd_image_id_index(file->by_id, file->count, sizeof *file->by_id, image_id);
    if (low < file->count && file->by_id[low].image_id == image_id) {
        *row = file->by_id[low].at;
        return VD_OK;
    }
    size_t near = low < file->count ? low : low - 1;
    if (low > 0 && distance(file->by_id[low - 1].image_id, image_id) <
                       distance(file->by_id[near].image_id, image_id))
        near = low - 1;
    return vd_error_set(err, VD_NOT_FOUND,
                        "%s: no features of image %" PRId64
                        "; it has %zu pictures, the nearest id is %" PRId64,
                        file->path, image_id, file->count, file->by_id[near].image_id);
}

static vd_status refuse_feature(const vd_regions *file, size_t row, size_t i, vd_error *err)
{
    return vd_error_set(err, VD_FORMAT,
                        "%s: image %" PRId64 ", region %zu: feature %zu is not finite", file->path,
                        file->image_id[row], i / (size_t)file->size + 1, i % (size_t)file->size);
}

static vd_status check_features(const vd_regions *file, size_t row, const float *features,
                                size_t count, vd_error *err)
{
    // Without a branch a number, so that the compiler makes vectors of it.
    int32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &features[i], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    for (size_t i = 0; bad && i < count; i++)
        if (!isfinite(features[i]))
            return refuse_feature(file, row, i, err);
    return VD_OK;
}

// Rounding may carry a box a little beyond the picture. Numbers farther out mean pixels, or
// another order of the four numbers.
static vd_status check_boxes(const vd_regions *file, size_t row, float *boxes, size_t count,
                             vd_error *err)
{
    static const float slack = 0.01f;
    for (size_t i = 0; i < count; i++) {
        float *box = boxes + 4 * i;
        bool fits = true;
        for (int c = 0; c < 4; c++)
            fits = fits && box[c] >= -slack && box[c] <= 1.0f + slack; // false for NaN
        if (!fits || box[0] > box[2] || box[1] > box[3])
            return vd_error_set(err, VD_FORMAT,
                                "%s: image %" PRId64 ", region %zu: its box is %g %g %g %g; x1 y1 "
                                "x2 y2 in 0..1 are expected",
                                file->path, file->image_id[row], i + 1, (double)box[0],
                                (double)box[1], (double)box[2], (double)box[3]);
        for (int c = 0; c < 4; c++)
            box[c] = fminf(fmaxf(box[c], 0.0f), 1.0f);
    }
    return VD_OK;
}

static vd_status measure_photo(const vd_regions *file, size_t row, float *boxes, size_t count,
                               vd_error *err)
{
    int width, height;
    const char *photo = vd_photos_find(file->photos, file->image_id[row]);
    if (!photo)
        return vd_error_set(err, VD_NOT_FOUND,
                            "%s: image %" PRId64
                            ": its boxes are in pixels, and %.300s has no photo that gives the "
                            "size of the picture; leave --images out to continue without boxes",
                            file->path, file->image_id[row], file->photos->directory);
    vd_status status = vd_image_size(photo, &width, &height, err);
    if (status == VD_OK)
        vd_regions_normalise(boxes, count, (float)width, (float)height);
    return status;
}

vd_status vd_regions_read(const vd_regions *file, size_t row, float *features, float *boxes,
                          vd_error *err)
{
    if (row >= file->count)
        return vd_error_set(err, VD_NOT_FOUND, "%s: row %zu wanted; it has %zu", file->path, row,
                            file->count);
    size_t p = (size_t)file->max, d = (size_t)file->size, used = (size_t)file->used[row];
    if (boxes)
        memset(boxes, 0, p * 4 * sizeof *boxes);
    vd_status status =
        file->read(file->state, row, used, features, file->no_boxes ? NULL : boxes, err);
    if (status == VD_OK)
        status = check_features(file, row, features, used * d, err);
    memset(features + used * d, 0, (p - used) * d * sizeof *features);
    if (status != VD_OK || !boxes || file->no_boxes)
        return status;
    if (file->photos && (status = measure_photo(file, row, boxes, used, err)))
        return status;
    return check_boxes(file, row, boxes, used, err);
}

void vd_regions_once(const vd_regions *file)
{
    if (file->once)
        file->once(file->state);
}

vd_status vd_regions_halves(const vd_regions *file, size_t row, const uint16_t **features,
                            uint8_t *real, vd_error *err)
{
    size_t d = (size_t)file->size, used = (size_t)file->used[row];
    const uint16_t *half = *features = file->halves(file->state, row);
    memset(real, 0, (size_t)file->max);
    for (size_t r = 0; r < used; r++) {
        unsigned bad = 0, any = 0; // without a branch a number, so that vectors are made of it
        for (size_t i = r * d; i < (r + 1) * d; i++) {
            bad |= (half[i] & 0x7c00u) == 0x7c00u;
            any |= half[i] & 0x7fffu;
        }
        for (size_t i = r * d; bad && i < (r + 1) * d; i++)
            if ((half[i] & 0x7c00u) == 0x7c00u)
                return refuse_feature(file, row, i, err);
        real[r] = any != 0;
    }
    return VD_OK;
}

// ---- in memory, writing -------------------------------------------------------------------------

vd_status vd_region_set_new(size_t count, int max, int size, vd_region_set *out, vd_error *err)
{
    size_t rows, values;
    *out = (vd_region_set){0};
    if (max < 1 || size < 1)
        return vd_error_set(err, VD_USAGE, "%d regions of %d numbers cannot be held", max, size);
    if (__builtin_mul_overflow(count, (size_t)max, &rows) ||
        __builtin_mul_overflow(rows, (size_t)size, &values))
        return vd_error_memory(err, "region features");
    *out = (vd_region_set){.count = count, .max = max, .size = size};
    out->image_id = vd_alloc(count, sizeof *out->image_id);
    out->used = vd_alloc(count, sizeof *out->used);
    out->features = vd_alloc(values, sizeof *out->features);
    out->boxes = vd_alloc(rows, 4 * sizeof *out->boxes);
    if (out->image_id && out->used && out->features && out->boxes)
        return VD_OK;
    vd_region_set_clear(out);
    return vd_error_memory(err, "region features");
}

void vd_region_set_clear(vd_region_set *set)
{
    vd_free(set->image_id);
    vd_free(set->used);
    vd_free(set->features);
    vd_free(set->boxes);
    *set = (vd_region_set){0};
}

// A tensor of the file: numbers of each picture, of which the first `kept` are written.
typedef struct set_tensor {
    const char *name;
    vd_dtype type;
    int dims;
    size_t shape[3];
    const void *data;
    size_t numbers, kept;
} set_tensor;

static void append_tensor(vd_safetensors_writer *writer, const set_tensor *t, vd_error *err)
{
    bool whole = t->kept == t->numbers;
    size_t parts = whole ? 1 : t->shape[0], each = whole ? t->shape[0] * t->kept : t->kept;
    for (size_t i = 0; i < parts; i++)
        vd_safetensors_append(
            writer, (const char *)t->data + i * t->numbers * vd_dtype_size(t->type), each, err);
}

vd_status vd_region_set_write(const vd_region_set *set, const char *path, const char *source,
                              vd_error *err)
{
    size_t n = set->count, d = (size_t)set->size, most = 1;
    vd_safetensors_writer *writer;
    for (size_t i = 0; i < n; i++) {
        if (set->used[i] < 1 || set->used[i] > set->max)
            return vd_error_set(err, VD_USAGE,
                                "%s: image %" PRId64 " has %" PRId32 " regions; 1 to %d can be "
                                "written",
                                path, set->image_id[i], set->used[i], set->max);
        if ((size_t)set->used[i] > most)
            most = (size_t)set->used[i];
    }
    size_t max = (size_t)set->max;
    const set_tensor tensor[] = {
        {"image_id", VD_I64, 1, {n}, set->image_id, 1, 1},
        {"num_regions", VD_I32, 1, {n}, set->used, 1, 1},
        {"boxes", VD_F32, 3, {n, most, 4}, set->boxes, max * 4, most * 4},
        {"features", VD_F16, 3, {n, most, d}, set->features, max * d, most * d},
    };
    const size_t count = sizeof tensor / sizeof *tensor;
    vd_status status = vd_safetensors_create(path, &writer, err);
    if (status != VD_OK)
        return status;
    vd_safetensors_put_metadata(writer, "source", source, err);
    for (size_t i = 0; i < count; i++)
        vd_safetensors_declare(writer, tensor[i].name, tensor[i].type, tensor[i].dims,
                               tensor[i].shape, err);
    for (size_t i = 0; i < count; i++)
        append_tensor(writer, &tensor[i], err);
    return vd_safetensors_commit(writer, err);
}
