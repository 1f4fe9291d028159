// HDF5 files, read by rows. libhdf5 1.10 crashes on some damaged files, and as it is packaged it
// serves one thread at a time; so it runs in separate processes, a few per file, which read
// pictures in parallel into shared memory. If one of them crashes, that is an error of the file.
// Contiguous float32 rows are read without libhdf5. The library is not linked, which would cost 44
// ms at every start of the program (it loads libcurl and libcrypto), but opened with the first such
// file. Any number of threads may read a file. Internal to features/.
#ifndef VD_HDF5_H
#define VD_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef struct vd_hdf5 vd_hdf5;

enum { VD_HDF5_DIMS = 4 };

// A data set: shape[0] rows.
typedef struct vd_hdf5_table {
    vd_hdf5 *file; // NULL: not open
    char name[32];
    int dims;
    size_t shape[VD_HDF5_DIMS];
    size_t row;        // elements a row
    uint64_t stored;   // bytes of it in the file, compressed perhaps
    int64_t plain;     // offset of its contiguous floats in the file; -1: libhdf5 has to read them
    size_t chunk_rows; // rows that libhdf5 gets at once
    double chunk;      // bytes of them
} vd_hdf5_table;

// names: the data sets that may be requested, if they exist, ending with NULL; borrowed.
// VD_UNAVAILABLE when libhdf5 is not on this machine.
vd_status vd_hdf5_open(const char *path, const char *const *names, vd_hdf5 **out, vd_error *err);
void vd_hdf5_close(vd_hdf5 *file); // NULL is fine
// Stops or starts processes as needed to read these tables (`count`, those that are open). Call it
// after opening the file, while the program uses little memory.
vd_status vd_hdf5_prepare(vd_hdf5 *file, const vd_hdf5_table *const *tables, size_t count,
                          vd_error *err);
// From now on rows are read once, roughly in order (vd_file_passed).
void vd_hdf5_once(vd_hdf5 *file);
bool vd_hdf5_has(const vd_hdf5 *file, const char *name); // one of the names

// A data set of numbers with that many dimensions; others are refused by name.
vd_status vd_hdf5_table_open(vd_hdf5 *file, const char *name, int dims, vd_hdf5_table *out,
                             vd_error *err);
// Rows `first` to `first + count`, whatever kind of number the file has.
vd_status vd_hdf5_floats(const vd_hdf5_table *table, size_t first, size_t count, float *out,
                         vd_error *err);
vd_status vd_hdf5_doubles(const vd_hdf5_table *table, size_t first, size_t count, double *out,
                          vd_error *err);

#endif
