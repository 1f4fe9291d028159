// Region features in HDF5, in the two public layouts:
//   VisDial challenge: /features (N, P, D), /image_id or /image_ids (N), numbers of any kind (the
//     public files have float32 ids); in some /num_boxes (N), /boxes (N, P, 4) x1 y1 x2 y2, in
//     pixels or in 0..1, and /image_w, /image_h (N)
//   adaptive: /image_features (M, D), /spatial_features (M, 6) x1 y1 x2 y2 w h in 0..1, /pos_boxes
//     (N, 2) [first, end) of each picture's rows, beside a pickle {image id: row of pos_boxes}
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "features/regions/hdf5.h"
#include "features/regions/parts.h"
#include "features/regions/source.h"

typedef struct hdf5_regions {
    const char *path; // borrowed
    vd_hdf5 *file;
    vd_hdf5_table features, spatial, boxes;
    int64_t *width, *height; // (N) challenge with boxes in pixels: of each picture; else NULL
    int64_t *first;          // (N) adaptive: row of each picture's first region; else NULL
} hdf5_regions;

// ---- whole numbers ------------------------------------------------------------------------------

// A data set of whole numbers, read as doubles: exact far beyond any image id.
static vd_status read_whole(hdf5_regions *h, const char *name, int dims, size_t count,
                            int64_t **out, vd_error *err)
{
    enum { CHUNK = 4096, DEFLATED = 1032 }; // numbers at most in a byte of a compressed data set
    vd_hdf5_table table;
    double chunk[CHUNK];
    vd_status status = vd_hdf5_table_open(h->file, name, dims, &table, err);
    if (status != VD_OK)
        return status;
    size_t all = table.shape[0] * table.row, rows = table.row <= CHUNK ? CHUNK / table.row : 0;
    if (count > 0 && table.shape[0] != count)
        status =
            vd_error_set(err, VD_FORMAT, "%s: \"%s\" has %zu rows; expected %zu, one a picture",
                         h->path, name, table.shape[0], count);
    else if (all / DEFLATED > table.stored)
        status = vd_error_set(err, VD_FORMAT,
                              "%s: \"%s\" should have %zu rows of %zu numbers; only %" PRIu64
                              " bytes of them are there",
                              h->path, name, table.shape[0], table.row, table.stored);
    else if (rows == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: \"%s\" has %zu numbers a row", h->path, name,
                              table.row);
    else if (!(*out = vd_alloc(all, sizeof **out)))
        status = vd_error_memory(err, "the index of region features");
    for (size_t row = 0; status == VD_OK && row < table.shape[0]; row += rows) {
        size_t some = table.shape[0] - row < rows ? table.shape[0] - row : rows;
        status = vd_hdf5_doubles(&table, row, some, chunk, err);
        for (size_t i = 0; status == VD_OK && i < some * table.row; i++) {
            int64_t value = chunk[i] >= 0 && chunk[i] < 0x1p53 ? (int64_t)chunk[i] : -1;
            if (value < 0 || (double)value != chunk[i])
                status = vd_error_set(err, VD_FORMAT,
                                      "%s: \"%s\"[%zu] is %.17g; expected a whole number from 0 on",
                                      h->path, name, row + i / table.row, chunk[i]);
            (*out)[row * table.row + i] = value;
        }
    }
    return status;
}

// ---- challenge ----------------------------------------------------------------------------------

// The first picture shows what the numbers of /boxes are: no region is smaller than a pixel.
static vd_status find_pixels(hdf5_regions *h, bool *pixels, vd_error *err)
{
    size_t numbers = 4 * h->boxes.shape[1];
    double largest = 0, *first = vd_alloc(numbers, sizeof *first);
    vd_status status =
        first ? vd_hdf5_doubles(&h->boxes, 0, 1, first, err) : vd_error_memory(err, "boxes");
    for (size_t i = 0; status == VD_OK && i < numbers; i++)
        largest = first[i] > largest ? first[i] : largest;
    vd_free(first);
    *pixels = largest > 1.01;
    return status;
}

static vd_status open_boxes(hdf5_regions *h, vd_regions *out, vd_error *err)
{
    const size_t *shape = h->features.shape;
    if (!vd_hdf5_has(h->file, "boxes")) {
        out->no_boxes = "the file has none";
        return VD_OK;
    }
    vd_status status = vd_hdf5_table_open(h->file, "boxes", 3, &h->boxes, err);
    const size_t *found = h->boxes.shape;
    if (status == VD_OK && (found[0] != shape[0] || found[1] != shape[1] || found[2] != 4))
        status = vd_error_set(err, VD_FORMAT,
                              "%s: \"boxes\" has the shape %zu x %zu x %zu; expected %zu x %zu x 4",
                              h->path, found[0], found[1], found[2], shape[0], shape[1]);
    bool pixels = false;
    if (status == VD_OK && shape[0] > 0)
        status = find_pixels(h, &pixels, err);
    if (status != VD_OK || !pixels)
        return status;
    if (vd_hdf5_has(h->file, "image_w") && vd_hdf5_has(h->file, "image_h")) {
        status = read_whole(h, "image_w", 1, shape[0], &h->width, err);
        if (status == VD_OK)
            status = read_whole(h, "image_h", 1, shape[0], &h->height, err);
        for (size_t i = 0; status == VD_OK && i < shape[0]; i++)
            if (h->width[i] == 0 || h->height[i] == 0)
                status = vd_error_set(err, VD_FORMAT,
                                      "%s: \"image_w\" and \"image_h\": picture %zu has %" PRId64
                                      " x %" PRId64 " pixels",
                                      h->path, i, h->width[i], h->height[i]);
        return status;
    }
    out->pixels = true;
    out->no_boxes = "the file has boxes in pixels but not the size of the pictures; "
                    "--images DIR finds it in the photos";
    return status;
}

static vd_status open_challenge(hdf5_regions *h, vd_regions *out, vd_error *err)
{
    const char *id = vd_hdf5_has(h->file, "image_id") ? "image_id" : "image_ids";
    vd_status status = vd_hdf5_table_open(h->file, "features", 3, &h->features, err);
    if (status != VD_OK)
        return status;
    const size_t *shape = h->features.shape;
    out->kind = "HDF5, VisDial challenge";
    out->count = shape[0];
    status = vd_regions_check_sizes(h->path, "\"features\"", shape[1], shape[2], err);
    if (status == VD_OK)
        status = read_whole(h, id, 1, shape[0], &out->image_id, err);
    if (status == VD_OK)
        status = open_boxes(h, out, err);
    if (status == VD_OK && vd_hdf5_has(h->file, "num_boxes"))
        status = read_whole(h, "num_boxes", 1, shape[0], &out->used, err);
    if (status != VD_OK)
        return status;
    out->max = (int)shape[1];
    out->size = (int)shape[2];
    if (out->used)
        return VD_OK;
    out->used = vd_alloc(out->count, sizeof *out->used);
    if (!out->used)
        return vd_error_memory(err, "the index of region features");
    for (size_t i = 0; i < out->count; i++)
        out->used[i] = out->max;
    return VD_OK;
}

static vd_status read_challenge(void *state, size_t row, size_t used, float *features, float *boxes,
                                vd_error *err)
{
    hdf5_regions *h = state;
    // Room for all P is there; what is beyond the used ones is cleared by the caller.
    vd_status status = vd_hdf5_floats(&h->features, row, 1, features, err);
    if (status != VD_OK || !boxes)
        return status;
    status = vd_hdf5_floats(&h->boxes, row, 1, boxes, err);
    if (status == VD_OK && h->width)
        vd_regions_normalise(boxes, used, (float)h->width[row], (float)h->height[row]);
    memset(boxes + 4 * used, 0, 4 * (h->boxes.shape[1] - used) * sizeof *boxes);
    return status;
}

// ---- adaptive -----------------------------------------------------------------------------------

// val_btmup_f.hdf5 -> val_imgid2idx.pkl; another name -> the same with .pkl.
static void index_beside(const char *path, char *out, size_t size)
{
    const char *name = strrchr(path, '/'), *dot = strrchr(path, '.');
    name = name ? name + 1 : path;
    const char *end = dot && dot > name ? dot : path + strlen(path);
    const char *part = strstr(name, "btmup_f");
    if (part && part < end)
        snprintf(out, size, "%.*simgid2idx%.*s.pkl", (int)(part - path), path,
                 (int)(end - part - 7), part + 7);
    else
        snprintf(out, size, "%.*s.pkl", (int)(end - path), path);
}

static vd_status find_index(const char *path, char *out, size_t size, vd_error *err)
{
    index_beside(path, out, size);
    if (access(out, F_OK) == 0)
        return VD_OK;
    return vd_error_set(err, VD_NOT_FOUND,
                        "%s: needs the pickled index of its images; there is no %.300s beside it: "
                        "name it with --index",
                        path, out);
}

static vd_status check_index(const char *index, const vd_pickle_pair *pairs, size_t count,
                             const char *path, size_t rows, vd_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].key < 0 || pairs[i].value < 0 || (uint64_t)pairs[i].value >= rows)
            return vd_error_set(err, VD_MISMATCH,
                                "%.300s: gives image %" PRId64 " row %" PRId64
                                "; expected an image id from 0 on and one of the %zu rows of "
                                "\"pos_boxes\" in %s",
                                index, pairs[i].key, pairs[i].value, rows, path);
    return VD_OK;
}

static vd_status take_pictures(hdf5_regions *h, const vd_pickle_pair *pairs, const int64_t *ranges,
                               vd_regions *out, vd_error *err)
{
    size_t all = h->features.shape[0], most = 0;
    for (size_t i = 0; i < out->count; i++) {
        int64_t from = ranges[2 * pairs[i].value], end = ranges[2 * pairs[i].value + 1];
        if (from >= end || (uint64_t)end > all)
            return vd_error_set(err, VD_FORMAT,
                                "%s: \"pos_boxes\"[%" PRId64 "] is %" PRId64 " to %" PRId64
                                "; expected at least one of the %zu rows of \"image_features\"",
                                h->path, pairs[i].value, from, end, all);
        out->image_id[i] = pairs[i].key;
        out->used[i] = end - from;
        h->first[i] = from;
        most = (size_t)(end - from) > most ? (size_t)(end - from) : most;
    }
    vd_status status =
        vd_regions_check_sizes(h->path, "\"pos_boxes\"", most, h->features.shape[1], err);
    if (status != VD_OK)
        return status;
    out->max = (int)most;
    out->size = (int)h->features.shape[1];
    return VD_OK;
}

static vd_status open_spatial(hdf5_regions *h, vd_regions *out, vd_error *err)
{
    if (!vd_hdf5_has(h->file, "spatial_features")) {
        out->no_boxes = "the file has no spatial_features";
        return VD_OK;
    }
    vd_status status = vd_hdf5_table_open(h->file, "spatial_features", 2, &h->spatial, err);
    if (status == VD_OK && (h->spatial.shape[0] != h->features.shape[0] ||
                            h->spatial.shape[1] < 4 || h->spatial.shape[1] > 6))
        status = vd_error_set(
            err, VD_FORMAT, "%s: \"spatial_features\" has the shape %zu x %zu; expected %zu x 6",
            h->path, h->spatial.shape[0], h->spatial.shape[1], h->features.shape[0]);
    return status;
}

static vd_status open_adaptive(hdf5_regions *h, const char *index, vd_regions *out, vd_error *err)
{
    char beside[4096];
    vd_pickle_pair *pairs = NULL;
    size_t count = 0;
    int64_t *ranges = NULL;
    vd_hdf5_table shape;
    out->kind = "HDF5, adaptive";
    vd_status status = vd_hdf5_table_open(h->file, "image_features", 2, &h->features, err);
    if (status == VD_OK)
        status = open_spatial(h, out, err);
    if (status == VD_OK)
        status = vd_hdf5_table_open(h->file, "pos_boxes", 2, &shape, err);
    if (status != VD_OK)
        return status;
    size_t rows = shape.shape[0], columns = shape.shape[1];
    if (columns != 2)
        return vd_error_set(err, VD_FORMAT, "%s: \"pos_boxes\" has %zu columns; expected 2",
                            h->path, columns);
    if (!index)
        status = find_index(h->path, beside, sizeof beside, err);
    index = index ? index : beside;
    if (status == VD_OK)
        status = vd_pickle_read(index, &pairs, &count, err);
    if (status == VD_OK)
        status = check_index(index, pairs, count, h->path, rows, err);
    if (status == VD_OK)
        status = read_whole(h, "pos_boxes", 2, rows, &ranges, err);
    if (status == VD_OK)
        status = vd_regions_index(out, count, err);
    if (status == VD_OK && !(h->first = vd_alloc(count, sizeof *h->first)))
        status = vd_error_memory(err, "the index of region features");
    if (status == VD_OK)
        status = take_pictures(h, pairs, ranges, out, err);
    vd_free(ranges);
    vd_free(pairs);
    return status;
}

static vd_status read_adaptive(void *state, size_t row, size_t used, float *features, float *boxes,
                               vd_error *err)
{
    const hdf5_regions *h = state;
    size_t first = (size_t)h->first[row], columns = h->spatial.shape[1];
    vd_status status = vd_hdf5_floats(&h->features, first, used, features, err);
    if (status != VD_OK || !boxes)
        return status;
    float *positions = vd_alloc(used, columns * sizeof *positions);
    status = positions ? vd_hdf5_floats(&h->spatial, first, used, positions, err)
                       : vd_error_memory(err, "boxes");
    for (size_t p = 0; status == VD_OK && p < used; p++)
        memcpy(boxes + 4 * p, positions + columns * p, 4 * sizeof *boxes);
    vd_free(positions);
    return status;
}

// ------------------------------------------------------------------------------------------

static void read_hdf5_once(void *state)
{
    vd_hdf5_once(((hdf5_regions *)state)->file);
}

static void close_hdf5(void *state)
{
    hdf5_regions *h = state;
    vd_hdf5_close(h->file);
    vd_free(h->first);
    vd_free(h->height);
    vd_free(h->width);
    vd_free(h);
}

static vd_status open_layout(hdf5_regions *h, const char *index, vd_regions *out, vd_error *err)
{
    static const char *const names[] = {
        "features", "image_id",       "image_ids", "num_boxes",        "boxes", "image_w",
        "image_h",  "image_features", "pos_boxes", "spatial_features", NULL};
    vd_status status = vd_hdf5_open(h->path, names, &h->file, err);
    if (status != VD_OK)
        return status;
    bool adaptive = vd_hdf5_has(h->file, "image_features");
    out->read = adaptive ? read_adaptive : read_challenge;
    if (!adaptive && !vd_hdf5_has(h->file, "features"))
        return vd_error_set(err, VD_FORMAT,
                            "%s: has neither \"features\" (VisDial challenge) nor "
                            "\"image_features\" (adaptive)",
                            h->path);
    status = adaptive ? open_adaptive(h, index, out, err)
             : index  ? vd_regions_refuse_index(h->path, err)
                      : open_challenge(h, out, err);
    const vd_hdf5_table *const tables[] = {&h->features, &h->spatial, &h->boxes};
    return status ? status : vd_hdf5_prepare(h->file, tables, 3, err);
}

vd_status vd_regions_open_hdf5(const char *index, vd_regions *out, vd_error *err)
{
    hdf5_regions *h = vd_alloc(1, sizeof *h);
    if (!h)
        return vd_error_memory(err, "region features");
    h->path = out->path;
    out->state = h;
    out->once = read_hdf5_once;
    out->close = close_hdf5;
    return open_layout(h, index, out, err);
}
