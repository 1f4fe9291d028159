// The option --backend of the commands that run the network.
#ifndef VD_BACKEND_CHOICE_H
#define VD_BACKEND_CHOICE_H

#include "engine/backend/open.h"

#define VD_BACKEND_OPTION                                                                          \
    {                                                                                              \
        "backend", "NAME", "cpu, cuda or auto (default: auto, cuda where it can be used)"          \
    }

typedef struct vd_chosen_backend {
    const vd_backend *backend;
    char why[512]; // why the GPU is not used; "" when it is, or was not wanted
} vd_chosen_backend;

// name: what the option said, NULL = auto. VD_USAGE for another name, VD_UNAVAILABLE when cuda was
// asked for and cannot be used. With auto the reason is not reported: most machines have no GPU.
vd_status vd_choose_backend(const char *name, int device, vd_chosen_backend *out, vd_error *err);

// Whether the CPU can continue after this failure: the device is out of memory or lost.
bool vd_backend_gave_up(const vd_backend *backend, vd_status status);

#endif
