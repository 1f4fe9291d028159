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
// Called when memory was allocated. False when this thread is capturing and could use it in the
// graph.
void vd_host_taken(const void *memory);
bool vd_host_may_free(const void *memory);
// For a call that may not be captured: an error where this thread captures, which is then invalid.
cudaError_t vd_host_refuse();

#endif
