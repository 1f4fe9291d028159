#include "engine/backend_open.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

static const char PLUGIN[] = "visdial-cuda.so";

typedef const vd_backend *(*vd_plugin_door)(int abi, int device, char *text, size_t room);

static const char *const choice_names[] = {"auto", "cpu", "cuda"};

const char *vd_backend_choice_name(vd_backend_choice choice)
{
    return choice_names[choice];
}

bool vd_backend_choice_parse(const char *name, vd_backend_choice *out)
{
    for (int i = 0; i <= VD_BACKEND_CUDA; i++)
        if (strcmp(name, choice_names[i]) == 0) {
            *out = (vd_backend_choice)i;
            return true;
        }
    return false;
}

// The program's own directory, without a slash behind it; "" when that cannot be told.
static void own_directory(char *out, size_t room)
{
    ssize_t length = readlink("/proc/self/exe", out, room - 1);
    out[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

static bool plugin_path(const char *const *directories, char *out, size_t room)
{
    for (; *directories; directories++) {
        snprintf(out, room, "%s/%s", *directories, PLUGIN);
        if (**directories && access(out, R_OK) == 0)
            return true;
    }
    return false;
}

static vd_status no_plugin(const char *const *directories, vd_error *err)
{
    char looked[256] = "";
    for (; *directories; directories++)
        snprintf(looked + strlen(looked), sizeof looked - strlen(looked), "%s%.100s",
                 *looked ? ", " : "", *directories);
    return vd_error_set(err, VD_UNAVAILABLE,
                        "there is a driver, but no %s in %s: this program was built without a CUDA "
                        "toolkit",
                        PLUGIN, looked);
}

vd_status vd_backend_open_plugin(const char *path, int device, const vd_backend **out,
                                 vd_error *err)
{
    *out = NULL;
    char text[512] = "";
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin)
        return vd_error_set(err, VD_UNAVAILABLE, "%.300s does not open: %.300s", path, dlerror());
    vd_plugin_door door;
    *(void **)&door = dlsym(plugin, "vd_backend_plugin"); // as POSIX has it
    const vd_backend *table = door ? door(VD_BACKEND_ABI, device, text, sizeof text) : NULL;
    if (table && table->abi == VD_BACKEND_ABI && table->size == sizeof *table) {
        *out = table; // stays open: its threads' memory is given back by its own code
        return VD_OK;
    }
    vd_status status =
        !door   ? vd_error_set(err, VD_UNAVAILABLE, "%.300s is not a backend of this program", path)
        : table ? vd_error_set(err, VD_UNAVAILABLE, "%.300s is for another version of this program",
                               path)
                : vd_error_set(err, VD_UNAVAILABLE, "%.300s: %.400s", path, text);
    dlclose(plugin);
    return status;
}

vd_status vd_backend_open_cuda(const char *const *directories, int device, const vd_backend **out,
                               vd_error *err)
{
    char own[LONGEST], path[LONGEST + sizeof PLUGIN + 1];
    const char *const usual[] = {own, VD_PREFIX "/lib/visdial", NULL};
    *out = NULL;
    own_directory(own, sizeof own);
    if (!directories)
        directories = usual;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return vd_error_set(err, VD_UNAVAILABLE,
                            "no NVIDIA driver: libcuda.so.1 does not open on this machine");
    vd_status status = plugin_path(directories, path, sizeof path)
                           ? vd_backend_open_plugin(path, device, out, err)
                           : no_plugin(directories, err);
    if (status != VD_OK)
        dlclose(driver);
    return status;
}

vd_status vd_backend_choose(vd_backend_choice choice, int device, const vd_backend **out, char *why,
                            size_t room, vd_error *err)
{
    vd_error found;
    *out = vd_backend_cpu();
    if (why && room > 0)
        *why = '\0';
    if (choice == VD_BACKEND_CPU)
        return VD_OK;
    const vd_backend *cuda;
    if (vd_backend_open_cuda(NULL, device, &cuda, &found) == VD_OK) {
        *out = cuda;
        return VD_OK;
    }
    if (why)
        snprintf(why, room, "%s", found.text);
    return choice == VD_BACKEND_AUTO
               ? VD_OK
               : vd_error_set(err, VD_UNAVAILABLE, "--backend cuda: %s", found.text);
}
