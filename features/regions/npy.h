// NumPy's array files: "\x93NUMPY", version, length of the header, a Python dictionary of descr,
// fortran_order and shape, the numbers. Internal to features/.
#ifndef VD_NPY_H
#define VD_NPY_H

#include <stddef.h>

#include "engine/base/error.h"

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

#endif
