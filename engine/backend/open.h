// Choosing a backend at run time. The CPU is always there. The GPU's is a plugin, visdial-cuda.so,
// opened only where the driver's libcuda.so.1 opens first: that question costs a millisecond, and
// cuBLAS, which the plugin is linked to, a tenth of a second and 200 MB.
#ifndef VD_BACKEND_OPEN_H
#define VD_BACKEND_OPEN_H

#include "engine/backend/backend.h"

typedef enum vd_backend_choice {
    VD_BACKEND_AUTO,
    VD_BACKEND_CPU,
    VD_BACKEND_CUDA
} vd_backend_choice;

// The GPU backend on device number `device` (where there are fewer, counting on from the first:
// processes of one machine take its devices in turn), looked for in directories (NULL-terminated
// list), or with NULL beside the program and in PREFIX/lib/visdial. VD_UNAVAILABLE says why there
// is none: no driver, no plugin, a plugin of another version, a driver too old, no device.
vd_status vd_backend_open_cuda(const char *const *directories, int device, const vd_backend **out,
                               vd_error *err);

// The plugin of that path, whether or not there is a driver.
vd_status vd_backend_open_plugin(const char *path, int device, const vd_backend **out,
                                 vd_error *err);

// The backend of a choice: auto is the GPU's where it opens and else the CPU, and never fails.
vd_status vd_backend_choose(vd_backend_choice choice, int device, const vd_backend **out,
                            vd_error *err);

// Whether the CPU can continue after this failure: the device is out of memory or lost.
bool vd_backend_gave_up(const vd_backend *backend, vd_status status);

#endif
