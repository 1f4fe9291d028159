// What stands behind a vd_visdial: its memory and its index. Internal to features/.
#ifndef VD_VISDIAL_STORE_H
#define VD_VISDIAL_STORE_H

#include "features/pieces.h"
#include "features/visdial.h"

typedef struct vd_visdial_image {
    int64_t image_id;
    size_t dialog;
} vd_visdial_image;

typedef struct vd_visdial_store {
    vd_visdial data;          // first, so that a vd_visdial is a vd_visdial_store
    vd_pieces pieces;         // strings, rounds, options, relevance
    vd_visdial_image *images; // (dialog_count) by rising image id
} vd_visdial_store;

// The caller's own name for a place in a file: "image 7, round 2". image -1 when it is not known
// yet, then the dialog's number (from 1) is given; round 0 for none.
void vd_visdial_place(char *text, size_t size, size_t dialog, int64_t image, int32_t round);

#endif
