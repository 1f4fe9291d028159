// Small files in the layouts of the public region features, whole or damaged.
#ifndef VD_TEST_PUBLIC_FILES_H
#define VD_TEST_PUBLIC_FILES_H

#include <stddef.h>
#include <stdint.h>

enum { PUBLIC_IMAGES = 3, PUBLIC_REGIONS = 4, PUBLIC_SIZE = 6 };

// Image ids 42, 7, 581929; adaptive, TSV and folders have 2, 4, 1 regions of them.
int64_t public_image(size_t picture);
size_t public_used(size_t picture);
// What every file holds as feature `k` of region `p`.
float public_feature(size_t picture, size_t p, size_t k);
// Boxes lie in pictures of 200 x 100 pixels.
void public_box(size_t picture, size_t p, float box[4]);

// What is to be wrong; NULL or an empty text for nothing. Each writer says which it knows.
void public_challenge(const char *path, const char *wrong);
// Of a large compressed chunk a picture; all features are 0. The key of picture `wrong` in the
// index of chunks, if there is one, says that it is not compressed: libhdf5 1.10 reads far beyond
// its end.
void public_chunks(const char *path, size_t wrong);
void public_adaptive(const char *path, const char *index, const char *wrong);
void public_npz(const char *path, size_t picture, const char *wrong);
char *public_tsv_text(int lxmert); // free()
// An npy file's bytes, free().
char *public_npy_bytes(size_t picture, size_t *size);

// Each picture a file of its own: folder/COCO_val2014_000000000042.npz. suffix: "npz" or "npy".
char *public_file_name(const char *folder, size_t picture, const char *suffix); // free()
void public_folder(const char *folder, const char *suffix);                     // made anew

enum {
    PUBLIC_CHALLENGE,
    PUBLIC_CHALLENGE_COUNTS,
    PUBLIC_CHALLENGE_DOUBLE,
    PUBLIC_CHALLENGE_COMPRESSED,
    PUBLIC_CHALLENGE_SIZED,
    PUBLIC_CHALLENGE_UNIT,
    PUBLIC_ADAPTIVE,
    PUBLIC_BOTTOM_UP,
    PUBLIC_LXMERT,
    PUBLIC_NPZ,
    PUBLIC_NPY,
    PUBLIC_LAYOUTS
};

// Writes path (npz and npy: a folder) in a layout; index: of the adaptive one.
void public_layout(int layout, const char *path, const char *index);

#endif
