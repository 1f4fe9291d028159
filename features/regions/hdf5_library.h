// libhdf5, and the process that reads a file with it for hdf5.c. Internal to hdf5*.c.
#ifndef VD_HDF5_LIBRARY_H
#define VD_HDF5_LIBRARY_H

#include "features/regions/hdf5.h"

// Bytes of the chunk cache; for larger chunks shared by pictures, one row of chunks, if below
// VD_HDF5_LARGEST.
enum { VD_HDF5_CACHE = 64 << 20 };
#define VD_HDF5_LARGEST 4e9

typedef struct vd_hdf5_request {
    char name[32];       // of a data set; "": the file is opened, no more
    int dims;            // that it is to have; 0: whether it is there
    bool wide;           // rows as doubles, else as floats
    size_t first, count; // rows that are to be read
} vd_hdf5_request;

typedef struct vd_hdf5_reply {
    vd_status status;
    vd_error err;
    bool there;
    vd_hdf5_table table; // without its file
} vd_hdf5_reply;

// Opens the library; the first thread that asks does it.
vd_status vd_hdf5_library_open(const char *path, vd_error *err);
const char *vd_hdf5_library_version(void);

// What a new process does: it answers requests that come from the socket, a reply each, with the
// rows in `room`, until the other end is closed. It crashes where libhdf5 does, and ends with
// SIGXCPU when libhdf5 takes longer for a request than its bytes can explain.
_Noreturn void vd_hdf5_serve(const char *path, int socket, void *room);

#endif
