// What the formats of region features are read with: base64, NumPy's arrays, pickled indices,
// entries of zip files. Internal to features/.
#ifndef VD_REGIONS_PARTS_H
#define VD_REGIONS_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

// ---- base64 -------------------------------------------------------------------------------------

// Base64 (RFC 4648) of little-endian floats, as the public TSV files carry them. Strict: padding
// where it belongs, no other characters, no bits left over. GLib's decoder skips what is not
// base64; with a check before it, it takes six times as long (2.1 ms for 96,000 numbers instead of
// 0.34).

// How many bytes `length` characters of text hold; SIZE_MAX when no text of that length exists.
size_t vd_base64_bytes(const char *text, size_t length);
// Decodes into out (vd_base64_bytes of it). Returns `length`, or the index of the first character
// that is wrong.
size_t vd_base64_decode(const char *text, size_t length, unsigned char *out);

// ---- NumPy --------------------------------------------------------------------------------------

// NumPy's array files: "\x93NUMPY", version, length of the header, a Python dictionary of descr,
// fortran_order and shape, the numbers.

enum { VD_NPY_DIMS = 4, VD_NPY_HEADER = 4096 };

typedef struct vd_npy {
    char kind;   // 'f', 'i' or 'u'
    size_t size; // bytes a number: 2, 4, 8
    int dims;    // 0: one number
    size_t shape[VD_NPY_DIMS];
    size_t count;  // numbers
    size_t offset; // of the first
} vd_npy;

// bytes: the start of the file, at least VD_NPY_HEADER of them or all; whole: the file's length,
// which must be that of header and numbers. where names file and array in errors.
vd_status vd_npy_header(const char *where, const void *bytes, size_t size, size_t whole,
                        vd_npy *out, vd_error *err);
// Converts `count` numbers at `data`.
void vd_npy_floats(const vd_npy *npy, const void *data, size_t count, float *out);

// ---- pickle -------------------------------------------------------------------------------------

// The index beside adaptive features: a Python pickle of {image id: row}, both whole numbers, as
// pickle.dump writes it with protocol 2 to 5. Read by a small machine that knows the few
// instructions such a dictionary needs; nothing else of pickle exists here, and nothing can be
// executed.

typedef struct vd_pickle_pair {
    int64_t key, value;
} vd_pickle_pair;

// *out (vd_free): the pairs in the order of the file. Errors name file and byte.
vd_status vd_pickle_read(const char *path, vd_pickle_pair **out, size_t *count, vd_error *err);

// ---- zip ----------------------------------------------------------------------------------------

// Single entries of zip files (npz is one). libzip is opened when the first is read: linked, it and
// libcrypto cost 8 ms at every start of the program. Each call opens the file for itself: any
// number of threads may read.

// The first bytes of an entry, at most `size`; *got how many, *whole how many it has. VD_NOT_FOUND
// without words when there is no such entry; VD_UNAVAILABLE without libzip.
vd_status vd_zip_read(const char *path, const char *entry, void *out, size_t size, size_t *got,
                      size_t *whole, vd_error *err);

#endif
