// The plugin visdial-mpi.so: vd_group on MPI (engine/train/group.h).
#include <mpi.h>
#include <stdio.h>

#include "engine/train/group.h"

// Counts are ints in MPI; so much at a time.
static const size_t PIECE = (size_t)1 << 26;

static const char *sum(void *x, size_t n, size_t size, MPI_Datatype type)
{
    for (size_t from = 0; from < n; from += PIECE) {
        int count = (int)(n - from < PIECE ? n - from : PIECE);
        if (MPI_Allreduce(MPI_IN_PLACE, (char *)x + from * size, count, type, MPI_SUM,
                          MPI_COMM_WORLD) != MPI_SUCCESS)
            return "MPI_Allreduce failed";
    }
    return NULL;
}

static const char *sum_floats(float *x, size_t n)
{
    return sum(x, n, sizeof *x, MPI_FLOAT);
}

static const char *sum_doubles(double *x, size_t n)
{
    return sum(x, n, sizeof *x, MPI_DOUBLE);
}

static void leave(void)
{
    MPI_Finalize();
}

const vd_group *vd_group_plugin(char *text, size_t room);

__attribute__((visibility("default"))) const vd_group *vd_group_plugin(char *text, size_t room)
{
    static vd_group group = {.abi = VD_GROUP_ABI,
                             .name = "MPI",
                             .sum_floats = sum_floats,
                             .sum_doubles = sum_doubles,
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
