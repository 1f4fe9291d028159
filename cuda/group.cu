// Several processes with a GPU each: sums over all of them by NCCL, whose library is opened only
// when they are asked for, so that neither the build nor one GPU needs it.
#include "cuda/device.cuh"

#include <chrono>
#include <thread>

#include <dlfcn.h>
#include <stdio.h>

// ---- what is used of nccl.h ---------------------------------------------------------------------

typedef struct ncclComm *vd_nccl_comm;
typedef struct vd_nccl_id {
    char internal[VD_DEVICES_ID];
} vd_nccl_id;
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_FLOAT = 7, NCCL_SUM = 0 };

static struct {
    int (*version)(int *version);
    int (*unique_id)(vd_nccl_id *id);
    int (*init)(vd_nccl_comm *comm, int size, vd_nccl_id id, int rank);
    int (*all_reduce)(const void *from, void *to, size_t n, int type, int how, vd_nccl_comm comm,
                      cudaStream_t stream);
    int (*state)(vd_nccl_comm comm, int *result);
    int (*abort)(vd_nccl_comm comm);
    const char *(*text)(int result);
} nccl;

static const struct {
    const char *name;
    void *at;
} functions[] = {{"ncclGetVersion", &nccl.version},      {"ncclGetUniqueId", &nccl.unique_id},
                 {"ncclCommInitRank", &nccl.init},       {"ncclAllReduce", &nccl.all_reduce},
                 {"ncclCommGetAsyncError", &nccl.state}, {"ncclCommAbort", &nccl.abort},
                 {"ncclGetErrorString", &nccl.text}};

// ---- opening and joining ------------------------------------------------------------------------

static vd_nccl_comm comm;
static const vd_wait_limit *limit;
static char message[256], title[64];

static const char *refuse(const char *what, const char *why)
{
    snprintf(message, sizeof message, "%s: %.200s", what, why);
    return message;
}

static const char *open_nccl(void)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return refuse("no NCCL", dlerror());
    for (const auto &f : functions) {
        void *found = dlsym(library, f.name);
        if (!found)
            return refuse("libnccl.so.2 is too old: it lacks", f.name);
        memcpy(f.at, &found, sizeof found); // as POSIX has it
    }
    int version = 0, result = nccl.version(&version);
    if (result != NCCL_SUCCESS)
        return refuse("NCCL", nccl.text(result));
    int thousand = version < 10000 ? 1000 : 10000; // before 2.9 and since
    snprintf(title, sizeof title, "NCCL %d.%d.%d", version / thousand, version % thousand / 100,
             version % 100);
    return NULL;
}

static const char *make_id(unsigned char id[VD_DEVICES_ID])
{
    vd_nccl_id made;
    int result = nccl.unique_id(&made);
    if (result != NCCL_SUCCESS)
        return refuse("NCCL's id", nccl.text(result));
    memcpy(id, made.internal, VD_DEVICES_ID);
    return NULL;
}

static const char *join(const unsigned char id[VD_DEVICES_ID], int rank, int size)
{
    vd_nccl_id all;
    memcpy(all.internal, id, VD_DEVICES_ID);
    if (!vd_stream_get()) // chooses the device
        return "the GPU reported an error";
    int result = nccl.init(&comm, size, all, rank);
    if (result == NCCL_SUCCESS)
        return NULL;
    comm = NULL;
    return refuse("NCCL does not start", nccl.text(result));
}

static void leave(void)
{
    // Not ncclCommDestroy, which may wait for processes that have ended. A process that leaves
    // normally has waited for its own sums, and through the group for the others.
    if (comm)
        nccl.abort(comm);
    comm = NULL;
}

static const char *name(void)
{
    return title;
}

// ---- sums ---------------------------------------------------------------------------------------

static const char *give_up(const char *why)
{
    leave();
    return refuse("the sum of the gradients by NCCL", why);
}

// A kernel of NCCL that waits for an ended process never ends: poll the stream instead of waiting
// for it, without sleeping at first.
static const char *wait_for(cudaStream_t stream)
{
    const double awake = 0.2;
    for (auto from = std::chrono::steady_clock::now();;) {
        int state = NCCL_SUCCESS, asked = nccl.state(comm, &state);
        cudaError_t error = cudaStreamQuery(stream);
        if (asked != NCCL_SUCCESS || (state != NCCL_SUCCESS && state != NCCL_IN_PROGRESS))
            return give_up(nccl.text(asked != NCCL_SUCCESS ? asked : state));
        if (error == cudaSuccess && state == NCCL_SUCCESS)
            return NULL;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return give_up(cudaGetErrorString(error));
        std::chrono::duration<double> waited = std::chrono::steady_clock::now() - from;
        const char *why = limit ? limit->over(limit->context, waited.count()) : NULL;
        if (why)
            return give_up(why);
        if (waited.count() < awake)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

static void wait_with(const vd_wait_limit *from_now_on)
{
    limit = from_now_on;
}

static const char *sum(vd_real *x, size_t n)
{
    vd_stream *stream = vd_stream_get();
    if (!comm || !stream)
        return "the GPU reported an error";
    int result = nccl.all_reduce(x, x, n, NCCL_FLOAT, NCCL_SUM, comm, stream->handle);
    return result == NCCL_SUCCESS ? wait_for(stream->handle) : give_up(nccl.text(result));
}

void vd_cuda_group(vd_backend *table)
{
    static const vd_devices devices = {open_nccl, make_id, join, wait_with, sum, leave, name};
    table->devices = &devices;
}
