#include "features/regions.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/alloc.h"
#include "engine/safetensors.h"

typedef struct vd_row {
    int64_t image_id;
    size_t row;
} vd_row;

struct vd_regions {
    vd_safetensors *file;
    size_t count;
    int max, size;
    const vd_tensor *features, *boxes; // boxes may be NULL
    int64_t *image_id, *used;
    vd_row *by_id; // sorted
};

// ---- opening ------------------------------------------------------------------------------------

static vd_status check_dtype(const vd_regions *r, const vd_tensor *tensor, vd_dtype one,
                             vd_dtype other, vd_error *err)
{
    if (!tensor || tensor->dtype == one || tensor->dtype == other)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT, "%s: tensor \"%s\" has dtype %s; %s or %s is expected",
                        vd_safetensors_path(r->file), tensor->name, vd_dtype_name(tensor->dtype),
                        vd_dtype_name(one), vd_dtype_name(other));
}

static vd_status check_shapes(vd_regions *r, vd_error *err)
{
    const char *path = vd_safetensors_path(r->file);
    const vd_tensor *id, *used;
    vd_status status =
        vd_safetensors_require(r->file, "features", 3, (size_t[]){0, 0, 0}, &r->features, err);
    if (status != VD_OK)
        return status;
    size_t n = r->features->shape[0], p = r->features->shape[1], d = r->features->shape[2];
    if (n < 1 || p < 1 || d < 1 || p > 1000 || d > 65536)
        return vd_error_set(err, VD_FORMAT,
                            "%s: features of shape [%zu, %zu, %zu]; expected at least one picture, "
                            "1 to 1000 regions of size 1 to 65536",
                            path, n, p, d);
    r->count = n;
    r->max = (int)p;
    r->size = (int)d;
    status = vd_safetensors_require(r->file, "image_id", 1, &n, &id, err);
    if (status == VD_OK)
        status = vd_safetensors_require(r->file, "num_regions", 1, &n, &used, err);
    if (status == VD_OK && vd_safetensors_find(r->file, "boxes"))
        status = vd_safetensors_require(r->file, "boxes", 3, (size_t[]){n, p, 4}, &r->boxes, err);
    if (status == VD_OK)
        status = check_dtype(r, r->features, VD_F16, VD_F32, err);
    if (status == VD_OK)
        status = check_dtype(r, r->boxes, VD_F32, VD_F16, err);
    if (status == VD_OK)
        status = check_dtype(r, id, VD_I64, VD_I32, err);
    if (status == VD_OK)
        status = check_dtype(r, used, VD_I32, VD_I64, err);
    if (status != VD_OK)
        return status;
    r->image_id = vd_alloc(n, sizeof *r->image_id);
    r->used = vd_alloc(n, sizeof *r->used);
    r->by_id = vd_alloc(n, sizeof *r->by_id);
    if (!r->image_id || !r->used || !r->by_id)
        return vd_error_memory(err, "the index of region features");
    status = vd_tensor_ints(id, 0, n, r->image_id, err);
    return status == VD_OK ? vd_tensor_ints(used, 0, n, r->used, err) : status;
}

static int compare_rows(const void *a, const void *b)
{
    const vd_row *x = a, *y = b;
    return x->image_id < y->image_id ? -1 : x->image_id > y->image_id;
}

static vd_status index_rows(vd_regions *r, vd_error *err)
{
    const char *path = vd_safetensors_path(r->file);
    for (size_t i = 0; i < r->count; i++) {
        if (r->used[i] < 1 || r->used[i] > r->max)
            return vd_error_set(err, VD_FORMAT,
                                "%s: num_regions[%zu] (image %" PRId64 ") is %" PRId64
                                ", expected 1 to %d",
                                path, i, r->image_id[i], r->used[i], r->max);
        r->by_id[i] = (vd_row){r->image_id[i], i};
    }
    qsort(r->by_id, r->count, sizeof *r->by_id, compare_rows);
    for (size_t i = 1; i < r->count; i++)
        if (r->by_id[i].image_id == r->by_id[i - 1].image_id)
            return vd_error_set(err, VD_FORMAT,
                                "%s: image %" PRId64 " is there twice, in rows %zu and %zu", path,
                                r->by_id[i].image_id, r->by_id[i - 1].row, r->by_id[i].row);
    return VD_OK;
}

vd_status vd_regions_open(const char *path, vd_regions **out, vd_error *err)
{
    *out = NULL;
    vd_regions *r = vd_alloc(1, sizeof *r);
    if (!r)
        return vd_error_memory(err, "region features");
    vd_status status = vd_safetensors_open(path, &r->file, err);
    if (status == VD_OK)
        status = check_shapes(r, err);
    if (status == VD_OK)
        status = index_rows(r, err);
    if (status != VD_OK) {
        vd_regions_close(r);
        return status;
    }
    *out = r;
    return VD_OK;
}

void vd_regions_close(vd_regions *file)
{
    if (!file)
        return;
    vd_safetensors_close(file->file);
    vd_free(file->image_id);
    vd_free(file->used);
    vd_free(file->by_id);
    vd_free(file);
}

// ---- reading ------------------------------------------------------------------------------------

size_t vd_regions_count(const vd_regions *file)
{
    return file->count;
}

int vd_regions_max(const vd_regions *file)
{
    return file->max;
}

int vd_regions_size(const vd_regions *file)
{
    return file->size;
}

bool vd_regions_has_boxes(const vd_regions *file)
{
    return file->boxes != NULL;
}

int64_t vd_regions_image_id(const vd_regions *file, size_t row)
{
    return file->image_id[row];
}

int vd_regions_used(const vd_regions *file, size_t row)
{
    return (int)file->used[row];
}

// Of two ids, without overflow.
static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

vd_status vd_regions_find(const vd_regions *file, int64_t image_id, size_t *row, vd_error *err)
{
    size_t low = 0, high = file->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->by_id[middle].image_id < image_id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < file->count && file->by_id[low].image_id == image_id) {
        *row = file->by_id[low].row;
        return VD_OK;
    }
    size_t near = low < file->count ? low : low - 1;
    if (low > 0 && distance(file->by_id[low - 1].image_id, image_id) <
                       distance(file->by_id[near].image_id, image_id))
        near = low - 1;
    return vd_error_set(
        err, VD_NOT_FOUND,
        "%s: no features of image %" PRId64 "; it has %zu pictures, the nearest id is %" PRId64,
        vd_safetensors_path(file->file), image_id, file->count, file->by_id[near].image_id);
}

static vd_status check_features(const vd_regions *file, size_t row, const float *features,
                                size_t count, vd_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(features[i]))
            return vd_error_set(err, VD_FORMAT,
                                "%s: image %" PRId64 ", region %zu: feature %zu is not finite",
                                vd_safetensors_path(file->file), file->image_id[row],
                                i / (size_t)file->size, i % (size_t)file->size);
    return VD_OK;
}

// Rounding may carry a box a little beyond the picture. What lies farther out means pixels, or
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
                                vd_safetensors_path(file->file), file->image_id[row], i,
                                (double)box[0], (double)box[1], (double)box[2], (double)box[3]);
        for (int c = 0; c < 4; c++)
            box[c] = fminf(fmaxf(box[c], 0.0f), 1.0f);
    }
    return VD_OK;
}

vd_status vd_regions_read(const vd_regions *file, size_t row, float *features, float *boxes,
                          vd_error *err)
{
    if (row >= file->count)
        return vd_error_set(err, VD_NOT_FOUND, "%s: row %zu wanted; it has %zu",
                            vd_safetensors_path(file->file), row, file->count);
    size_t p = (size_t)file->max, d = (size_t)file->size, used = (size_t)file->used[row];
    vd_status status = vd_tensor_floats(file->features, row * p * d, used * d, features, err);
    if (status == VD_OK)
        status = check_features(file, row, features, used * d, err);
    memset(features + used * d, 0, (p - used) * d * sizeof *features);
    if (status != VD_OK || !boxes)
        return status;
    memset(boxes, 0, p * 4 * sizeof *boxes);
    if (!file->boxes)
        return VD_OK;
    status = vd_tensor_floats(file->boxes, row * p * 4, used * 4, boxes, err);
    return status == VD_OK ? check_boxes(file, row, boxes, used, err) : status;
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

// Each picture's rows, cut to the most regions any picture has.
static vd_status append_rows(vd_safetensors_writer *writer, const vd_region_set *set, size_t most,
                             const void *data, size_t row_elements, size_t element_size,
                             vd_error *err)
{
    const unsigned char *at = data;
    size_t step = (size_t)set->max * row_elements * element_size;
    vd_status status = VD_OK;
    for (size_t i = 0; status == VD_OK && i < set->count; i++, at += step)
        status = vd_safetensors_append(writer, at, most * row_elements, err);
    return status;
}

vd_status vd_region_set_write(const vd_region_set *set, const char *path, const char *source,
                              vd_error *err)
{
    size_t n = set->count, d = (size_t)set->size, most = 1;
    vd_safetensors_writer *writer = NULL;
    for (size_t i = 0; i < n; i++) {
        if (set->used[i] < 1 || set->used[i] > set->max)
            return vd_error_set(err, VD_USAGE,
                                "%s: image %" PRId64 " has %" PRId32 " regions; 1 to %d can be "
                                "written",
                                path, set->image_id[i], set->used[i], set->max);
        if ((size_t)set->used[i] > most)
            most = (size_t)set->used[i];
    }
    vd_status status = vd_safetensors_create(path, &writer, err);
    if (status == VD_OK)
        status = vd_safetensors_put_metadata(writer, "source", source, err);
    if (status == VD_OK)
        status = vd_safetensors_declare(writer, "image_id", VD_I64, 1, &n, err);
    if (status == VD_OK)
        status = vd_safetensors_declare(writer, "num_regions", VD_I32, 1, &n, err);
    if (status == VD_OK)
        status = vd_safetensors_declare(writer, "boxes", VD_F32, 3, (size_t[]){n, most, 4}, err);
    if (status == VD_OK)
        status = vd_safetensors_declare(writer, "features", VD_F16, 3, (size_t[]){n, most, d}, err);
    if (status == VD_OK)
        status = vd_safetensors_append(writer, set->image_id, n, err);
    if (status == VD_OK)
        status = vd_safetensors_append(writer, set->used, n, err);
    if (status == VD_OK)
        status = append_rows(writer, set, most, set->boxes, 4, sizeof *set->boxes, err);
    if (status == VD_OK)
        status = append_rows(writer, set, most, set->features, d, sizeof *set->features, err);
    if (status == VD_OK)
        return vd_safetensors_commit(writer, err);
    vd_safetensors_abort(writer);
    return status;
}
