// The interface of a format of region features: one open function per format, used by vd_regions.
// Internal to features/.
#ifndef VD_REGIONS_SOURCE_H
#define VD_REGIONS_SOURCE_H

#include "features/regions/regions.h"

typedef struct vd_regions_source {
    const char *kind;     // for messages
    const char *no_boxes; // why there are no boxes; NULL when there are
    bool pixels;          // boxes could be read, but as pixels of pictures of unknown size
    size_t count;         // N
    int max, size;        // P, D
    int64_t *image_id;    // (N), vd_alloc: the receiver's, on failure too
    int64_t *used;        // (N), the same; checked by the receiver
    uint64_t changed;     // of a folder: sizes of its files and when they were changed, as a hash
    void *state;
    // May be called by several threads at the same time. used x D features and, unless boxes is
    // NULL, used x 4 boxes, x1 y1 x2 y2 in 0..1. Whether the numbers are finite and the boxes in
    // the picture is checked by the caller.
    vd_status (*read)(void *state, size_t row, size_t used, float *features, float *boxes,
                      vd_error *err);
    // Where the features of a row lie in half precision; NULL: they do not.
    const uint16_t *(*halves)(void *state, size_t row);
    void (*once)(void *state); // rows will be read once, in their order; NULL: all the same
    void (*close)(void *state);
} vd_regions_source;

// *out is to be closed after a failure, too.
vd_status vd_regions_open_safetensors(const char *path, vd_regions_source *out, vd_error *err);
// index: of the adaptive layout, a pickle; NULL: beside the file.
vd_status vd_regions_open_hdf5(const char *path, const char *index, vd_regions_source *out,
                               vd_error *err);
// VD_USAGE: only the adaptive layout has one.
vd_status vd_regions_refuse_index(const char *path, vd_error *err);
vd_status vd_regions_open_tsv(const char *path, vd_regions_source *out, vd_error *err);
vd_status vd_regions_open_folder(const char *path, vd_regions_source *out, vd_error *err);

// Allocates image_id and used for count pictures, and sets count.
vd_status vd_regions_source_index(vd_regions_source *out, size_t count, vd_error *err);

// Sizes a picture's features may have (regions.h); VD_FORMAT names path and `where`.
vd_status vd_regions_check_sizes(const char *path, const char *where, size_t regions, size_t size,
                                 vd_error *err);

// Boxes in pixels to 0..1. Detectors do not clip theirs at the picture's edge: boxes of up to one
// picture beyond it are clipped, the rest is left for the check.
void vd_regions_normalise(float *boxes, size_t count, float width, float height);

enum { VD_REGIONS_MOST = 1000, VD_REGIONS_WIDEST = 65536 };

#endif
