#include "engine/group.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/plugin.h"

typedef const vd_group *(*vd_group_door)(char *text, size_t room);

// What mpirun tells its children, by implementation: Open MPI, MPICH and its kin (PMI, Hydra),
// Slurm.
static bool is_one_of_several(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && strtol(text, NULL, 10) > 1)
            return true;
    }
    return false;
}

vd_status vd_group_join(const char *const *directories, const vd_group **out, vd_error *err)
{
    char path[VD_PLUGIN_PATH], looked[512], text[256] = "";
    *out = NULL;
    if (!is_one_of_several())
        return VD_OK;
    if (!vd_plugin_find(directories, "visdial-mpi.so", path, looked, sizeof looked))
        return vd_error_set(
            err, VD_UNAVAILABLE,
            "started as one of several processes, but there is no visdial-mpi.so in "
            "%s: this program was built without mpicc",
            looked);
    // MPI's own plugins look its names up.
    void *plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!plugin)
        return vd_error_set(err, VD_UNAVAILABLE, "%.300s does not open: %.300s", path, dlerror());
    vd_group_door door;
    *(void **)&door = dlsym(plugin, "vd_group_plugin"); // as POSIX has it
    const vd_group *group = door ? door(text, sizeof text) : NULL;
    if (!group || group->abi != VD_GROUP_ABI)
        return vd_error_set(err, VD_UNAVAILABLE, "%.300s: %s", path,
                            group || !door ? "it is for another version of this program" : text);
    *out = group;
    return VD_OK;
}
