// What the files of the host shim share.
#ifndef VD_TEST_CUDA_HOST_PRIVATE_H
#define VD_TEST_CUDA_HOST_PRIVATE_H

#include "tests/cuda_host/cuda_host.h"

// While one exists, this thread alone may access device memory; the guard bytes are checked when it
// ends.
struct vd_host_entry {
    vd_host_entry();
    ~vd_host_entry();
};

[[noreturn]] void vd_host_stop(const char *what);
bool vd_host_is_lost();

#endif
