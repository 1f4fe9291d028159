// Region features of pictures. The project's own container is safetensors:
//   image_id I64 (N), num_regions I32 (N), features F16 or F32 (N, P, D),
//   boxes F32 (N, P, 4) x1 y1 x2 y2 in 0..1 (optional); metadata "source".
// The public formats are read directly, too: HDF5 of the VisDial challenge, adaptive HDF5 with
// its pickled index, bottom-up attention's and LXMERT's TSV, folders of npz or npy; each is
// described in features/regions/*.c. TSV and folders are read once when they are opened.
// Once open, a reader may be read by any number of threads at the same time: calls share no state.
// (libhdf5 runs in separate processes, a few per file; plain float32 data is read without it.)
#ifndef VD_REGIONS_H
#define VD_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "features/pictures/photos.h"

typedef struct vd_regions vd_regions;

vd_status vd_regions_open(const char *path, vd_regions **out, vd_error *err);
// index: the pickle of adaptive HDF5; NULL: the one beside it (val_btmup_f.hdf5 has
// val_imgid2idx.pkl).
vd_status vd_regions_open_index(const char *path, const char *index, vd_regions **out,
                                vd_error *err);
void vd_regions_close(vd_regions *file);
const char *vd_regions_path(const vd_regions *file);
// Of a folder of files: changes with any of them; else 0.
uint64_t vd_regions_changed(const vd_regions *file);
const char *vd_regions_kind(const vd_regions *file); // "HDF5, adaptive"

// For files with boxes in pixels but without the size of the pictures: from now on boxes are
// normalised by the size of the photos, which must outlive file. Reading the boxes of a picture
// without a photo is VD_NOT_FOUND. Other files stay as they are.
void vd_regions_use_photos(vd_regions *file, const vd_photos *photos);

size_t vd_regions_count(const vd_regions *file); // N
int vd_regions_max(const vd_regions *file);      // P
int vd_regions_size(const vd_regions *file);     // D
// VD_MISMATCH: `reader` (a model) expects regions of another size; advice: what to do.
vd_status vd_regions_mismatch(const vd_regions *file, const char *reader, int expected,
                              const char *advice, vd_error *err);
bool vd_regions_has_boxes(const vd_regions *file);
const char *vd_regions_no_boxes(const vd_regions *file); // why there are none; NULL: there are
int64_t vd_regions_image_id(const vd_regions *file, size_t row);
int vd_regions_used(const vd_regions *file, size_t row); // regions of this picture, 1..P
// Row of an image; the error says how many pictures the file has and an id near the one asked for.
vd_status vd_regions_find(const vd_regions *file, int64_t image_id, size_t *row, vd_error *err);
// features: (P, D), zero beyond the regions used; boxes: (P, 4) or NULL.
vd_status vd_regions_read(const vd_regions *file, size_t row, float *features, float *boxes,
                          vd_error *err);
// Announces that rows will be read once, roughly in order, so that the system can drop what was
// read. Call it before threads read.
void vd_regions_once(const vd_regions *file);

// Whether the features are in half precision in the file, so that they can be read without a copy.
bool vd_regions_in_halves(const vd_regions *file);
// Of such a file: the (used, D) features of a row, in the file; real: (P), whether a region is more
// than zeros.
vd_status vd_regions_halves(const vd_regions *file, size_t row, const uint16_t **features,
                            uint8_t *real, vd_error *err);

// Pictures' regions in memory, for writing and for training without files in between.
typedef struct vd_region_set {
    size_t count;       // N
    int max, size;      // P, D
    int64_t *image_id;  // (N)
    int32_t *used;      // (N)
    uint16_t *features; // (N, P, D) half precision
    float *boxes;       // (N, P, 4)
} vd_region_set;

// All zero. VD_USAGE: max or size below 1.
vd_status vd_region_set_new(size_t count, int max, int size, vd_region_set *out, vd_error *err);
void vd_region_set_clear(vd_region_set *set);
// A safetensors file; source: kept in its metadata. VD_USAGE: an image without regions, or with
// more than max.
vd_status vd_region_set_write(const vd_region_set *set, const char *path, const char *source,
                              vd_error *err);
#endif
