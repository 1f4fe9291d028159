// The formats of region features: one open function each, used by vd_regions. Internal to
// features/.
#ifndef VD_REGIONS_SOURCE_H
#define VD_REGIONS_SOURCE_H

#include "features/regions/regions.h"

// They fill *out, which has its path; it is to be closed after a failure, too.
vd_status vd_regions_open_safetensors(vd_regions *out, vd_error *err);
// index: of the adaptive layout, a pickle; NULL: beside the file.
vd_status vd_regions_open_hdf5(const char *index, vd_regions *out, vd_error *err);
// VD_USAGE: only the adaptive layout has one.
vd_status vd_regions_refuse_index(const char *path, vd_error *err);
vd_status vd_regions_open_tsv(vd_regions *out, vd_error *err);
vd_status vd_regions_open_folder(vd_regions *out, vd_error *err);

// Allocates image_id and used for count pictures, and sets count.
vd_status vd_regions_index(vd_regions *out, size_t count, vd_error *err);

// Sizes a picture's features may have (regions.h); VD_FORMAT names path and `where`.
vd_status vd_regions_check_sizes(const char *path, const char *where, size_t regions, size_t size,
                                 vd_error *err);

// Boxes in pixels to 0..1. Detectors do not clip theirs at the picture's edge: boxes of up to one
// picture beyond it are clipped, the rest is left for the check.
void vd_regions_normalise(float *boxes, size_t count, float width, float height);

enum { VD_REGIONS_MOST = 1000, VD_REGIONS_WIDEST = 65536 };

#endif
