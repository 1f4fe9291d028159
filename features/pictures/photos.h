// The photos that belong to features: files of a directory whose names end with an image's id, as
// COCO and VisDial name them (COCO_train2014_000000000009.jpg,
// VisualDialog_val2018_000000185565.jpg, 000000000042.jpg, 42.png).
#ifndef VD_PHOTOS_H
#define VD_PHOTOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

// The image of a file or name: the digits that end it, without its suffix
// ("COCO_val2014_000000000042.npz": 42). False when there are none or too many.
bool vd_image_id_of(const char *name, int64_t *out);

// Of structs that begin with an image's id (int64_t): how qsort orders them; in an array sorted so,
// the index of the first with an id of at least image_id.
int vd_image_id_order(const void *a, const void *b);
size_t vd_image_id_index(const void *array, size_t count, size_t size, int64_t image_id);

// An entry of an index: where an image stands.
typedef struct vd_image_at {
    int64_t image_id;
    size_t at;
} vd_image_at;

// Sorts an index by image and, of one image, by index. The entry is the second of the first image
// that is there twice, right behind the first; NULL: each is there once.
const vd_image_at *vd_image_at_sort(vd_image_at *index, size_t count);
int vd_image_at_order(const void *a, const void *b); // the same, of structs that begin with one

typedef struct vd_numbered_file {
    int64_t image_id;
    char *path;
} vd_numbered_file;

typedef struct vd_numbered_files {
    vd_numbered_file *list; // sorted by id, then by path
    size_t count, room;
} vd_numbered_files;

// The files of a directory whose names end with an image's id and one of the suffixes (up to NULL).
// all: a name without an id is VD_FORMAT, else it is passed over. below: directories in it are
// listed, too. Empty on failure.
vd_status vd_numbered_files_list(vd_numbered_files *files, const char *directory,
                                 const char *const *suffixes, bool all, bool below, vd_error *err);
void vd_numbered_files_clear(vd_numbered_files *files);

typedef struct vd_photos {
    char *directory;
    vd_numbered_files files;
} vd_photos;

// Lists directory and the directories right in it (train2014, VisualDialog_val2018, ...): JPEG,
// PNG, BMP and PNM files by the digits that end their names. Other files are passed over.
vd_status vd_photos_open(const char *directory, vd_photos **out, vd_error *err);
void vd_photos_close(vd_photos *photos);
// Path of an image's photo, NULL when there is none; of several the first by name. Borrowed.
const char *vd_photos_find(const vd_photos *photos, int64_t image_id);

#endif
