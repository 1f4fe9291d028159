#include "engine/train/group.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/plugin.h"

typedef const vd_group *(*vd_group_entry)(char *text, size_t room);

// How a launcher tells a process how many were started. The first variable that is set decides:
// mpirun may itself have been started by srun, and a cluster may set WORLD_SIZE for every job.
static const struct {
    const char *size;
    bool mpi; // MPI finds the other processes
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", true}, // Open MPI
    {"PMI_SIZE", true},             // MPICH and what derives from it
    {"SLURM_STEP_NUM_TASKS", true}, // srun
    {"WORLD_SIZE", false},          // torchrun, or by hand
};

static vd_status read_size(const char *name, const char *text, long *size, vd_error *err)
{
    char *end;
    *size = strtol(text, &end, 10);
    if (*end || *size < 1 || *size > 1 << 20)
        return vd_error_set(err, VD_USAGE, "%s is '%.40s', expected a number from 1 to %d", name,
                            text, 1 << 20);
    return VD_OK;
}

static vd_status join_mpi(const char *path, long size, const vd_group **out, vd_error *err)
{
    char text[256] = "";
    // MPI's own plugins look its names up.
    void *plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!plugin)
        return vd_error_set(err, VD_UNAVAILABLE, "%.300s does not open: %.300s", path, dlerror());
    vd_group_entry entry;
    *(void **)&entry = dlsym(plugin, "vd_group_plugin"); // as POSIX has it
    const vd_group *group = entry ? entry(text, sizeof text) : NULL;
    if (!group || group->abi != VD_GROUP_ABI)
        return vd_error_set(err, VD_UNAVAILABLE, "%.300s: %s", path,
                            group || !entry ? "it is for another version of this program" : text);
    if (group->size != size)
        return vd_error_set(
            err, VD_UNAVAILABLE,
            "%ld processes were started, but MPI connects %d of them; under srun choose an MPI "
            "type, such as --mpi=pmix (`srun --mpi=list` lists them), or use mpirun",
            size, group->size);
    *out = group;
    return VD_OK;
}

vd_status vd_group_join(const char *const *directories, const vd_group **out, vd_error *err)
{
    char path[VD_PLUGIN_PATH], looked[512];
    const char *text = NULL;
    size_t by = 0, count = sizeof launchers / sizeof *launchers;
    long size;
    *out = NULL;
    while (by < count && (!(text = getenv(launchers[by].size)) || !*text))
        by++;
    if (by == count)
        return VD_OK;
    vd_status status = read_size(launchers[by].size, text, &size, err);
    if (status || size == 1)
        return status;
    if (!launchers[by].mpi)
        return vd_error_set(err, VD_UNAVAILABLE,
                            "%s is %ld, but there is no MPI to join the processes; start them with "
                            "`mpirun -n %ld visdial train ...` or `srun --mpi=pmix -n %ld visdial "
                            "train ...`, or unset %s to train in one process",
                            launchers[by].size, size, size, size, launchers[by].size);
    if (!vd_plugin_find(directories, "visdial-mpi.so", path, looked, sizeof looked))
        return vd_error_set(err, VD_UNAVAILABLE,
                            "started as one of %ld processes, but there is no visdial-mpi.so in "
                            "%s: this program was built without mpicc; install an MPI (Debian: "
                            "libopenmpi-dev) and build it again, or start one process",
                            size, looked);
    return join_mpi(path, size, out, err);
}

vd_status vd_group_status(const char *error, vd_error *err)
{
    return error ? vd_error_set(err, VD_IO, "the training processes: %s", error) : VD_OK;
}

static const char *is_over(void *context, double waited)
{
    const double last = 5;
    vd_group_wait *wait = context;
    bool signalled = wait->stop && atomic_load(wait->stop);
    if (!signalled || waited < wait->signalled) // which was in an earlier sum
        wait->signalled = waited;
    if (signalled && waited - wait->signalled > last)
        snprintf(wait->text, sizeof wait->text, "interrupted while waiting for another process");
    else if (waited > wait->seconds)
        snprintf(wait->text, sizeof wait->text, "another process has not answered for %g seconds",
                 wait->seconds);
    else
        return NULL;
    return wait->text;
}

void vd_group_use_wait(const vd_group *group, const vd_backend *backend, vd_group_wait *wait)
{
    if (!group)
        return;
    wait->limit = (vd_wait_limit){is_over, wait};
    group->wait_with(&wait->limit);
    if (backend && backend->devices)
        backend->devices->wait_with(&wait->limit);
}

// *hashes: (size) that of each process, in each process (vd_free); NULL on failure. Of a hash a
// double holds 52 bits.
static vd_status share_hashes(const vd_group *group, uint64_t hash, double **hashes, vd_error *err)
{
    *hashes = vd_alloc((size_t)group->size, sizeof **hashes);
    if (!*hashes)
        return vd_error_memory(err, "what the processes compare");
    (*hashes)[group->rank] = (double)(hash >> 12);
    vd_status status = vd_group_status(group->sum_doubles(*hashes, (size_t)group->size), err);
    if (status != VD_OK) {
        vd_free(*hashes);
        *hashes = NULL;
    }
    return status;
}

vd_status vd_group_agree(const vd_group *group, const char *what, const char *text, vd_error *err)
{
    double *hash = NULL;
    uint64_t own = vd_hash_text(VD_HASH_START, text);
    vd_status status = group ? share_hashes(group, own, &hash, err) : VD_OK;
    for (int r = 1; hash && r < group->size && status == VD_OK; r++)
        if (hash[r] != hash[0])
            status = vd_error_set(err, VD_MISMATCH,
                                  "the training processes: process %d has other %s than process 0 "
                                  "(here: %.300s); start all with the same options",
                                  r, what, text);
    vd_free(hash);
    return status;
}

// ---- devices that sum ---------------------------------------------------------------------------

// Whether `yes` is true in all processes.
static vd_status ask_all(const vd_group *group, bool yes, bool *all, vd_error *err)
{
    double count = yes;
    vd_status status = vd_group_status(group->sum_doubles(&count, 1), err);
    *all = yes && status == VD_OK && (int)count == group->size;
    return status;
}

// The id of the first process becomes everyone's: the others add zeros.
static vd_status spread_id(const vd_group *group, unsigned char *id, vd_error *err)
{
    double bytes[VD_DEVICES_ID];
    for (int i = 0; i < VD_DEVICES_ID; i++)
        bytes[i] = group->rank == 0 ? id[i] : 0;
    vd_status status = vd_group_status(group->sum_doubles(bytes, VD_DEVICES_ID), err);
    for (int i = 0; status == VD_OK && i < VD_DEVICES_ID; i++)
        id[i] = (unsigned char)bytes[i];
    return status;
}

vd_status vd_group_devices(const vd_group *group, const vd_backend *backend, const vd_devices **out,
                           char *how, size_t room, vd_error *err)
{
    const vd_devices *devices = backend->devices;
    unsigned char id[VD_DEVICES_ID] = {0};
    const char *why = devices ? devices->open() : "one process computes on the CPU";
    bool all;
    *out = NULL;
    if (!why && group->rank == 0)
        why = devices->make_id(id);
    vd_status status = ask_all(group, !why, &all, err);
    if (status == VD_OK && all) {
        status = spread_id(group, id, err);
        if (status == VD_OK)
            why = devices->join(id, group->rank, group->size);
        if (status == VD_OK)
            status = ask_all(group, !why, &all, err);
        if (status != VD_OK || !all)
            devices->leave();
    }
    if (status != VD_OK)
        return status;
    if (all) {
        *out = devices;
        snprintf(how, room, "by %s on the devices", devices->name());
    } else {
        snprintf(how, room, "by %s in host memory (%s)", group->name,
                 why ? why : "another process cannot do it on its device");
    }
    return VD_OK;
}

// ---- threads ------------------------------------------------------------------------------------

// Processes of one machine share its processors: how many threads are this one's.

// How many processors this process may run on. *where: a hash of which they are, and of which
// machine: processes for which this is the same share them.
static int allowed_processors(uint64_t *where)
{
    char machine[128] = "";
    uint64_t allowed[512] = {0}; // a bit each
    int count = 0;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!file || !fgets(machine, sizeof machine, file))
        (void)gethostname(machine, sizeof machine - 1);
    if (file)
        (void)fclose(file);
    *where = vd_hash_text(VD_HASH_START, machine);
    syscall(SYS_sched_getaffinity, 0, sizeof allowed, allowed);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        count += __builtin_popcountll(allowed[i]);
        *where = vd_hash_with(*where, allowed[i]);
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : online > 0 ? (int)online : 1;
}

vd_status vd_group_threads(const vd_group *group, int *threads, vd_error *err)
{
    uint64_t where;
    *threads = allowed_processors(&where);
    if (!group)
        return VD_OK;
    double *hash;
    vd_status status = share_hashes(group, where, &hash, err);
    if (status != VD_OK)
        return status;
    int sharing = 0;
    for (int r = 0; r < group->size; r++)
        sharing += hash[r] == hash[group->rank];
    vd_free(hash);
    *threads = *threads > sharing ? *threads / (sharing ? sharing : 1) : 1;
    return VD_OK;
}
