// What the files of the host shim share.
#ifndef VD_CUDA_HOST_PRIVATE_H
#define VD_CUDA_HOST_PRIVATE_H

#include "cuda/host.h"

// While one lives, this thread alone may reach device memory; what was painted is checked when it
// ends.
struct vd_host_entry {
    vd_host_entry();
    ~vd_host_entry();
};

[[noreturn]] void vd_host_stop(const char *what);
bool vd_host_is_lost();

#endif
