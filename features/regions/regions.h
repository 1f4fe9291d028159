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

// To be read, not changed.
typedef struct vd_regions {
    char *path;
    const char *kind;     // "HDF5, adaptive"
    const char *no_boxes; // why there are no boxes; NULL: there are
    size_t count;         // N
    int max, size;        // P, D
    int64_t *image_id;    // (N)
    int64_t *used;        // (N) regions of each picture, 1..P
    uint64_t changed;     // of a folder: sizes of its files and when they were changed, as a hash

    // Where the features of a row lie in half precision; NULL: they do not.
    const uint16_t *(*halves)(void *state, size_t row);

    // What else the format gives, for features/regions/ only.
    void *state;
    // May be called by several threads at the same time. used x D features and, unless boxes is
    // NULL, used x 4 boxes, x1 y1 x2 y2 in 0..1. Whether the numbers are finite and the boxes in
    // the picture is checked by the caller.
    vd_status (*read)(void *state, size_t row, size_t used, float *features, float *boxes,
                      vd_error *err);
    void (*once)(void *state); // rows will be read once, in their order; NULL: all the same
    void (*close)(void *state);
    bool pixels;             // boxes could be read, but as pixels of pictures of unknown size
    vd_image_at *by_id;      // sorted
    const vd_photos *photos; // that give the size of pictures; NULL: not needed
} vd_regions;

vd_status vd_regions_open(const char *path, vd_regions **out, vd_error *err);
// index: the pickle of adaptive HDF5; NULL: the one beside it (val_btmup_f.hdf5 has
// val_imgid2idx.pkl).
vd_status vd_regions_open_index(const char *path, const char *index, vd_regions **out,
                                vd_error *err);
void vd_regions_close(vd_regions *file);

// For files with boxes in pixels but without the size of the pictures: from now on boxes are
// normalised by the size of the photos, which must outlive file. Reading the boxes of a picture
// without a photo is VD_NOT_FOUND. Other files stay as they are.
void vd_regions_use_photos(vd_regions *file, const vd_photos *photos);

// VD_MISMATCH: `reader` (a model) expects regions of another size; advice: what to do.
vd_status vd_regions_mismatch(const vd_regions *file, const char *reader, int expected,
                              const char *advice, vd_error *err);
// Row of an image; the error says how many pictures the file has and an id near the one asked for.
vd_status vd_regions_find(const vd_regions *file, int64_t image_id, size_t *row, vd_error *err);
// features: (P, D), zero beyond the regions used; boxes: (P, 4) or NULL.
vd_status vd_regions_read(const vd_regions *file, size_t row, float *features, float *boxes,
                          vd_error *err);
// Announces that rows will be read once, roughly in order, so that the system can drop what was
// read. Call it before threads read.
void vd_regions_once(const vd_regions *file);

// Of a file that has features in half precision, which can be read without a copy (file->halves):
// the (used, D) features of a row, in the file; real: (P), whether a region is more than zeros.
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
