// HDF5 files, read by rows. Linking to libhdf5 costs 44 ms at every start of the program (it brings
// libcurl and libcrypto along), so the library is opened when the first such file is. Any number
// of threads may read a file: libhdf5 itself, which is not thread-safe as it is packaged, runs
// under a mutex of the process, and rows that are contiguous float32 in the file are read
// without it. libhdf5 1.10 itself crashes on some damaged files (seen in H5HL_protect), so
// that another process tries a file first. Internal to features/.
#ifndef VD_HDF5_H
#define VD_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef struct vd_hdf5 vd_hdf5;

// Only vd_hdf5_once and vd_hdf5_floats may be called without this lock; the latter takes it where
// it needs the library.
void vd_hdf5_lock(void);
void vd_hdf5_unlock(void);

enum { VD_HDF5_DIMS = 4 };

// A data set: shape[0] rows.
typedef struct vd_hdf5_table {
    vd_hdf5 *file;
    char name[32];
    int64_t id; // of libhdf5; 0: not open
    int dims;
    size_t shape[VD_HDF5_DIMS];
    size_t row;      // elements a row
    uint64_t stored; // bytes of it in the file, compressed perhaps
    int64_t plain;   // where its floats lie in the file, all in a row; -1: libhdf5 has to get them
} vd_hdf5_table;

// names: the data sets that may be asked for, as far as they are there, and NULL. VD_UNAVAILABLE
// when libhdf5 is not on this machine.
vd_status vd_hdf5_open(const char *path, const char *const *names, vd_hdf5 **out, vd_error *err);
void vd_hdf5_close(vd_hdf5 *file); // NULL is fine; tables are to be closed before
// From now on rows are read once, about in their order (vd_file_passed).
void vd_hdf5_once(vd_hdf5 *file);
bool vd_hdf5_has(const vd_hdf5 *file, const char *name);

// A data set of numbers with that many dimensions; others are refused by name. Zero-initialise.
vd_status vd_hdf5_table_open(vd_hdf5 *file, const char *name, int dims, vd_hdf5_table *out,
                             vd_error *err);
void vd_hdf5_table_close(vd_hdf5_table *table);
// Rows `first` to `first + count`, whatever kind of number the file has.
vd_status vd_hdf5_floats(const vd_hdf5_table *table, size_t first, size_t count, float *out,
                         vd_error *err);
vd_status vd_hdf5_doubles(const vd_hdf5_table *table, size_t first, size_t count, double *out,
                          vd_error *err);

#endif
