#include "engine/train/group.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/alloc.h"
#include "engine/train/group_tcp.h"
#include "engine/base/plugin.h"

typedef const vd_group *(*vd_group_door)(char *text, size_t room);

// What tells a process that it is one of several, by who starts it. Of those that speak MPI only
// the size is asked for: the rest is for MPI to say.
typedef struct vd_launcher {
    const char *size, *rank, *local;
    bool mpi;
} vd_launcher;

static const vd_launcher launchers[] = {
    {"WORLD_SIZE", "RANK", "LOCAL_RANK", false}, // torchrun, or by hand
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
     true},                                                           // Open MPI
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID", true},                // MPICH and its kin
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID", false}, // srun without MPI
};

static vd_status read_number(const char *name, long least, long most, long missing, long *out,
                             vd_error *err)
{
    const char *text = getenv(name);
    char *end;
    *out = missing;
    if (!text || !*text)
        return missing >= least
                   ? VD_OK
                   : vd_error_set(err, VD_USAGE,
                                  "%s is not set, but this process is one of several", name);
    *out = strtol(text, &end, 10);
    if (*end || *out < least || *out > most)
        return vd_error_set(err, VD_USAGE, "%s is '%.40s', expected a number from %ld to %ld", name,
                            text, least, most);
    return VD_OK;
}

static vd_status join_tcp(const vd_launcher *by, long size, const vd_group **out, vd_error *err)
{
    const char *address = getenv("MASTER_ADDR"), *agent = getenv("TORCHELASTIC_USE_AGENT_STORE");
    long rank = 0, local = 0, port = 0, seconds = 0;
    vd_status status = read_number(by->rank, 0, size - 1, -1, &rank, err);
    if (status == VD_OK)
        status = read_number(by->local, 0, size - 1, rank, &local, err);
    if (status == VD_OK)
        status = read_number("MASTER_PORT", 1, 65535, 29500, &port, err);
    if (status == VD_OK)
        status = read_number("VISDIAL_GROUP_SECONDS", 1, 86400, 120, &seconds, err);
    // torchrun itself listens on the port that it names: another, below those that systems give
    // out.
    if (agent && *agent == 'T')
        port = 20000 + port % 10000;
    const vd_rendezvous where = {.rank = (int)rank,
                                 .size = (int)size,
                                 .local = (int)local,
                                 .address = address && *address ? address : "127.0.0.1",
                                 .port = (int)port,
                                 .seconds = (double)seconds};
    return status == VD_OK ? vd_group_tcp(&where, out, err) : status;
}

static vd_status join_mpi(const char *path, const vd_group **out, vd_error *err)
{
    char text[256] = "";
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

vd_status vd_group_join(const char *const *directories, const vd_group **out, vd_error *err)
{
    char path[VD_PLUGIN_PATH], looked[512];
    *out = NULL;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const vd_launcher *by = &launchers[i];
        long size;
        vd_status status = read_number(by->size, 1, 1 << 20, 1, &size, err);
        if (status)
            return status;
        if (size == 1)
            continue;
        if (!by->mpi)
            return join_tcp(by, size, out, err);
        if (vd_plugin_find(directories, "visdial-mpi.so", path, looked, sizeof looked))
            return join_mpi(path, out, err);
        if (getenv("MASTER_PORT"))
            return join_tcp(by, size, out, err);
        return vd_error_set(
            err, VD_UNAVAILABLE,
            "started as one of several processes, but there is no visdial-mpi.so in %s: this "
            "program was built without mpicc; set MASTER_ADDR (the machine of process 0) and "
            "MASTER_PORT (a free port there) to do without",
            looked);
    }
    return VD_OK;
}

// FNV-1a (Fowler, Noll, Vo), of which a double holds 52 bits.
double vd_group_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (double)(hash >> 12);
}

vd_status vd_group_agree(const vd_group *group, const char *what, const char *text, vd_error *err)
{
    if (!group)
        return VD_OK;
    vd_status status = VD_OK;
    double *hash = vd_alloc((size_t)group->size, sizeof *hash);
    if (!hash)
        return vd_error_memory(err, "what the processes compare");
    hash[group->rank] = vd_group_hash(text);
    const char *trouble = group->sum_doubles(hash, (size_t)group->size);
    if (trouble)
        status = vd_error_set(err, VD_IO, "the processes that train together: %s", trouble);
    for (int r = 1; r < group->size && status == VD_OK; r++)
        if (hash[r] != hash[0])
            status = vd_error_set(err, VD_MISMATCH,
                                  "the processes that train together: process %d has other %s than "
                                  "process 0 (here: %.300s); start all with the same options",
                                  r, what, text);
    vd_free(hash);
    return status;
}
