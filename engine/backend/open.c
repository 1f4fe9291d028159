#include "engine/backend/open.h"

#include <dlfcn.h>

#include "engine/base/plugin.h"

static const char PLUGIN[] = "visdial-cuda.so";

typedef const vd_backend *(*vd_plugin_entry)(int abi, int device, char *text, size_t room);

vd_status vd_backend_open_plugin(const char *path, int device, const vd_backend **out,
                                 vd_error *err)
{
    *out = NULL;
    char text[512] = "";
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin)
        return vd_error_set(err, VD_UNAVAILABLE, "%.300s does not open: %.300s", path, dlerror());
    vd_plugin_entry entry;
    *(void **)&entry = dlsym(plugin, "vd_backend_plugin"); // as POSIX has it
    const vd_backend *table = entry ? entry(VD_BACKEND_ABI, device, text, sizeof text) : NULL;
    if (table && table->abi == VD_BACKEND_ABI && table->size == sizeof *table) {
        *out = table; // stays open: its threads' memory is given back by its own code
        return VD_OK;
    }
    vd_status status =
        !entry  ? vd_error_set(err, VD_UNAVAILABLE, "%.300s is not a backend of this program", path)
        : table ? vd_error_set(err, VD_UNAVAILABLE, "%.300s is for another version of this program",
                               path)
                : vd_error_set(err, VD_UNAVAILABLE, "%.300s: %.400s", path, text);
    dlclose(plugin);
    return status;
}

vd_status vd_backend_open_cuda(const char *const *directories, int device, const vd_backend **out,
                               vd_error *err)
{
    char path[VD_PLUGIN_PATH], looked[512];
    *out = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return vd_error_set(err, VD_UNAVAILABLE, "no NVIDIA driver on this machine: %.300s",
                            dlerror());
    vd_status status =
        vd_plugin_find(directories, PLUGIN, path, looked, sizeof looked)
            ? vd_backend_open_plugin(path, device, out, err)
            : vd_error_set(err, VD_UNAVAILABLE,
                           "the NVIDIA driver is installed, but %s is not in %s: `make cuda` "
                           "builds it where the CUDA toolkit is installed",
                           PLUGIN, looked);
    if (status != VD_OK)
        dlclose(driver);
    return status;
}

vd_status vd_backend_choose(vd_backend_choice choice, int device, const vd_backend **out,
                            vd_error *err)
{
    vd_error found;
    *out = vd_backend_cpu();
    if (choice == VD_BACKEND_CPU)
        return VD_OK;
    const vd_backend *cuda;
    if (vd_backend_open_cuda(NULL, device, &cuda, &found) == VD_OK)
        *out = cuda;
    else if (choice == VD_BACKEND_CUDA)
        return vd_error_set(err, VD_UNAVAILABLE, "--backend cuda: %s", found.text);
    return VD_OK;
}

bool vd_backend_gave_up(const vd_backend *backend, vd_status status)
{
    return !backend->memory->host && (status == VD_NO_MEMORY || status == VD_UNAVAILABLE);
}
