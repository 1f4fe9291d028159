// The plugin visdial-mpi.so: vd_group on MPI (engine/train/group.h).
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "engine/train/group.h"

// So much at a time: Open MPI's collectives that can be asked whether they are done are as fast as
// its others up to here.
static const size_t CHUNK = (size_t)1 << 20;

static const vd_wait_limit *limit;

// Asks again and again, since MPI's own wait has no end: without sleeping at first, which is enough
// where processes are balanced.
static const char *wait_for(MPI_Request *request)
{
    const double awake = 0.2;
    const struct timespec nap = {.tv_nsec = 100000};
    double from = MPI_Wtime();
    for (;;) {
        int done;
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return "MPI_Test failed";
        if (done)
            return NULL;
        double waited = MPI_Wtime() - from;
        const char *why = limit ? limit->over(limit->context, waited) : NULL;
        if (why)
            return why;
        if (waited < awake)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    }
}

static const char *sum(void *x, size_t n, size_t size, MPI_Datatype type)
{
    const char *error = NULL;
    for (size_t from = 0; from < n && !error; from += CHUNK) {
        MPI_Request request;
        int count = (int)(n - from < CHUNK ? n - from : CHUNK);
        if (MPI_Iallreduce(MPI_IN_PLACE, (char *)x + from * size, count, type, MPI_SUM,
                           MPI_COMM_WORLD, &request) != MPI_SUCCESS)
            return "MPI_Iallreduce failed";
        error = wait_for(&request);
    }
    return error;
}

static const char *sum_floats(float *x, size_t n)
{
    return sum(x, n, sizeof *x, MPI_FLOAT);
}

static const char *sum_doubles(double *x, size_t n)
{
    return sum(x, n, sizeof *x, MPI_DOUBLE);
}

static void wait_with(const vd_wait_limit *from_now_on)
{
    limit = from_now_on;
}

// MPI_Finalize waits for ever for one that hangs.
static void leave(void)
{
    MPI_Request all;
    if (MPI_Ibarrier(MPI_COMM_WORLD, &all) == MPI_SUCCESS && !wait_for(&all))
        MPI_Finalize();
}

const vd_group *vd_group_plugin(char *text, size_t room);

__attribute__((visibility("default"))) const vd_group *vd_group_plugin(char *text, size_t room)
{
    static vd_group group = {.abi = VD_GROUP_ABI,
                             .name = "MPI",
                             .sum_floats = sum_floats,
                             .sum_doubles = sum_doubles,
                             .wait_with = wait_with,
                             .leave = leave};
    int level;
    MPI_Comm machine;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS ||
        MPI_Comm_rank(MPI_COMM_WORLD, &group.rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &group.size) != MPI_SUCCESS ||
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) !=
            MPI_SUCCESS ||
        MPI_Comm_rank(machine, &group.local) != MPI_SUCCESS) {
        snprintf(text, room, "MPI does not start");
        return NULL;
    }
    return &group;
}
