// libnccl.so.2 for the tests of several processes without GPUs: as much of NCCL as cuda/group.cu
// uses, over shared memory. Device memory is the host shim's, which alone can reach it; what NCCL
// would refuse, or would do when a process is gone, FAKE_NCCL_FAILS asks for: "init", "sum",
// "later", "hang".
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DOOR __attribute__((visibility("default")))

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_USAGE = 5, REMOTE_ERROR = 6, IN_PROGRESS = 7 };
enum { MOST_RANKS = 8, CHUNK = 4096, FLOAT = 7, SUM = 0 };

typedef struct fake_id {
    char name[128];
} fake_id;

typedef struct fake_room {
    atomic_int joined, arrived, meeting; // meeting: how often all have met
    float part[MOST_RANKS][CHUNK];
} fake_room;

typedef struct fake_comm {
    fake_room *room;
    char name[128];
    int rank, size, error;
} fake_comm;

// The host shim's: copies between device memory and the host's (tests/cuda_host/cuda_host.h).
void vd_host_move(void *to, const void *from, size_t bytes);

DOOR int ncclGetVersion(int *version);
DOOR int ncclGetUniqueId(fake_id *id);
DOOR int ncclCommInitRank(fake_comm **comm, int size, fake_id id, int rank);
DOOR int ncclAllReduce(const void *from, void *to, size_t n, int type, int how, fake_comm *comm,
                       void *stream);
DOOR int ncclCommGetAsyncError(fake_comm *comm, int *result);
DOOR int ncclCommAbort(fake_comm *comm);
DOOR const char *ncclGetErrorString(int result);

static int fails(const char *what)
{
    const char *asked = getenv("FAKE_NCCL_FAILS");
    return asked && strcmp(asked, what) == 0;
}

int ncclGetVersion(int *version)
{
    *version = 22809;
    return SUCCESS;
}

const char *ncclGetErrorString(int result)
{
    return result == INVALID_USAGE  ? "invalid usage"
           : result == REMOTE_ERROR ? "remote process exited or there was a network error"
                                    : "unhandled system error";
}

int ncclGetUniqueId(fake_id *id)
{
    memset(id, 0, sizeof *id);
    // All its bytes are passed on.
    memset(id->name + 64, 0xfe, 64);
    snprintf(id->name, 64, "/visdial-fake-nccl-%d", (int)getpid());
    return SUCCESS;
}

// Whether all have come before long.
static int meet(const fake_comm *comm)
{
    fake_room *room = comm->room;
    int now = atomic_load(&room->meeting);
    if (atomic_fetch_add(&room->arrived, 1) + 1 == comm->size) {
        atomic_store(&room->arrived, 0);
        atomic_fetch_add(&room->meeting, 1);
        return 1;
    }
    const struct timespec pause = {.tv_nsec = 100000};
    for (int i = 0; i < 200000 && atomic_load(&room->meeting) == now; i++)
        nanosleep(&pause, NULL);
    return atomic_load(&room->meeting) != now;
}

int ncclCommInitRank(fake_comm **out, int size, fake_id id, int rank)
{
    if (fails("init"))
        return INVALID_USAGE;
    for (int i = 64; i < 128; i++)
        if (id.name[i] != (char)0xfe)
            return SYSTEM_ERROR;
    int file = shm_open(id.name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || size > MOST_RANKS || rank < 0 || rank >= size ||
        ftruncate(file, sizeof(fake_room)) != 0)
        return SYSTEM_ERROR;
    fake_comm *comm = calloc(1, sizeof *comm);
    comm->room = mmap(NULL, sizeof(fake_room), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    comm->rank = rank;
    comm->size = size;
    *out = comm;
    int all = meet(comm);
    shm_unlink(id.name);
    return all ? SUCCESS : SYSTEM_ERROR;
}

int ncclAllReduce(const void *from, void *to, size_t n, int type, int how, fake_comm *comm,
                  void *stream)
{
    (void)stream;
    if (fails("sum") || type != FLOAT || how != SUM)
        return INVALID_USAGE;
    if (fails("later") || fails("hang")) {
        comm->error = fails("hang") ? IN_PROGRESS : REMOTE_ERROR;
        return SUCCESS;
    }
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t chunk = n - at < CHUNK ? n - at : CHUNK;
        float sum[CHUNK];
        vd_host_move(comm->room->part[comm->rank], (const float *)from + at, chunk * sizeof *sum);
        if (!meet(comm))
            return SYSTEM_ERROR;
        for (size_t i = 0; i < chunk; i++) {
            sum[i] = comm->room->part[0][i];
            for (int r = 1; r < comm->size; r++)
                sum[i] += comm->room->part[r][i];
        }
        if (!meet(comm))
            return SYSTEM_ERROR;
        vd_host_move((float *)to + at, sum, chunk * sizeof *sum);
    }
    return SUCCESS;
}

int ncclCommGetAsyncError(fake_comm *comm, int *result)
{
    *result = comm->error;
    return SUCCESS;
}

int ncclCommAbort(fake_comm *comm)
{
    munmap(comm->room, sizeof(fake_room));
    free(comm);
    return SUCCESS;
}
