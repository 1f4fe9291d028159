// Region features in the project's own container (features/regions/regions.h has the layout).
#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/regions/source.h"

typedef struct own {
    vd_safetensors *file;
    const vd_tensor *features, *boxes; // boxes may be NULL
} own;

static vd_status check_dtype(const own *o, const vd_tensor *tensor, vd_dtype one, vd_dtype other,
                             vd_error *err)
{
    if (!tensor || tensor->dtype == one || tensor->dtype == other)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT, "%s: tensor \"%s\" has dtype %s; %s or %s is expected",
                        vd_safetensors_path(o->file), tensor->name, vd_dtype_name(tensor->dtype),
                        vd_dtype_name(one), vd_dtype_name(other));
}

static vd_status check_shapes(own *o, vd_regions *out, vd_error *err)
{
    const char *path = vd_safetensors_path(o->file);
    const vd_tensor *id, *used;
    vd_status status =
        vd_safetensors_require(o->file, "features", 3, (size_t[]){0, 0, 0}, &o->features, err);
    if (status != VD_OK)
        return status;
    size_t n = o->features->shape[0], p = o->features->shape[1], d = o->features->shape[2];
    if (n < 1 || p < 1 || d < 1 || p > VD_REGIONS_MOST || d > VD_REGIONS_WIDEST)
        return vd_error_set(err, VD_FORMAT,
                            "%s: features of shape [%zu, %zu, %zu]; expected at least one picture, "
                            "1 to 1000 regions of size 1 to 65536",
                            path, n, p, d);
    out->max = (int)p;
    out->size = (int)d;
    status = vd_safetensors_require(o->file, "image_id", 1, &n, &id, err);
    if (status == VD_OK)
        status = vd_safetensors_require(o->file, "num_regions", 1, &n, &used, err);
    if (status == VD_OK && vd_safetensors_find(o->file, "boxes"))
        status = vd_safetensors_require(o->file, "boxes", 3, (size_t[]){n, p, 4}, &o->boxes, err);
    if (status == VD_OK)
        status = check_dtype(o, o->features, VD_F16, VD_F32, err);
    if (status == VD_OK)
        status = check_dtype(o, o->boxes, VD_F32, VD_F16, err);
    if (status == VD_OK)
        status = check_dtype(o, id, VD_I64, VD_I32, err);
    if (status == VD_OK)
        status = check_dtype(o, used, VD_I32, VD_I64, err);
    if (status != VD_OK)
        return status;
    out->no_boxes = o->boxes ? NULL : "the file was written without";
    status = vd_regions_index(out, n, err);
    if (status == VD_OK)
        status = vd_tensor_ints(id, 0, n, out->image_id, err);
    return status == VD_OK ? vd_tensor_ints(used, 0, n, out->used, err) : status;
}

static vd_status read_row(void *state, size_t row, size_t used, float *features, float *boxes,
                          vd_error *err)
{
    const own *o = state;
    size_t p = o->features->shape[1], d = o->features->shape[2];
    vd_status status = vd_tensor_floats(o->features, row * p * d, used * d, features, err);
    return status || !boxes ? status
                            : vd_tensor_floats(o->boxes, row * p * 4, used * 4, boxes, err);
}

static const uint16_t *halves_of_row(void *state, size_t row)
{
    const own *o = state;
    return (const uint16_t *)o->features->data +
           row * o->features->shape[1] * o->features->shape[2];
}

static void close_file(void *state)
{
    own *o = state;
    vd_safetensors_close(o->file);
    vd_free(o);
}

vd_status vd_regions_open_safetensors(vd_regions *out, vd_error *err)
{
    own *o = vd_alloc(1, sizeof *o);
    if (!o)
        return vd_error_memory(err, "region features");
    out->kind = "safetensors";
    out->state = o;
    out->read = read_row;
    out->close = close_file;
    vd_status status = vd_safetensors_open(out->path, &o->file, err);
    if (status == VD_OK)
        status = check_shapes(o, out, err);
    if (status == VD_OK && o->features->dtype == VD_F16 &&
        (uintptr_t)o->features->data % sizeof(uint16_t) == 0)
        out->halves = halves_of_row;
    return status;
}
