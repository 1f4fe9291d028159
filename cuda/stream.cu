// Lanes, device memory, copies, errors.
#include "cuda/device.cuh"

#include <stdio.h>

#ifdef __CUDACC__
static const size_t WORKSPACE = size_t(32) << 20;
#else
static const size_t WORKSPACE =
    1 << 12; // a larger one would slow down the start and end of every kernel
#endif
static const size_t HALF = size_t(4) << 20;

// ---- trouble ------------------------------------------------------------------------------------

// One for each thread: the thread that prefetches batches must not see the errors of the thread
// that computes.
static thread_local bool in_trouble;
static thread_local char trouble_text[256], reported[256];

static bool fail(const char *what, const char *why)
{
    if (!in_trouble)
        snprintf(trouble_text, sizeof trouble_text, "the GPU: %s: %s", what, why);
    in_trouble = true;
    return false;
}

bool vd_check(cudaError_t error, const char *what)
{
    return error == cudaSuccess ? true : fail(what, cudaGetErrorString(error));
}

bool vd_check_blas(cublasStatus_t status, const char *what)
{
    char why[64];
    if (status == CUBLAS_STATUS_SUCCESS)
        return true;
    snprintf(why, sizeof why, "cuBLAS status %d", static_cast<int>(status));
    return fail(what, why);
}

// ---- lanes --------------------------------------------------------------------------------------

static int device_index;

struct vd_lane_owner {
    vd_lane lane;
    bool open;
    vd_lane_owner() : lane(), open(false) {}
    ~vd_lane_owner()
    {
        if (!open)
            return;
        if (lane.workspace)
            cublasDestroy(lane.blas);
        cudaEventDestroy(lane.half_read[0]);
        cudaEventDestroy(lane.half_read[1]);
        cudaEventDestroy(lane.landed[0]);
        cudaEventDestroy(lane.landed[1]);
        cudaStreamDestroy(lane.stream);
        cudaFree(lane.workspace);
        cudaFree(lane.scratch);
        cudaFreeHost(lane.pinned);
        cudaFreeHost(lane.landing);
    }
};

static thread_local vd_lane_owner owner;

static bool open_lane(vd_lane *l)
{
    void *pinned = NULL;
    if (!vd_check(cudaSetDevice(device_index), "choosing the device") ||
        !vd_check(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking), "a stream") ||
        !vd_check(cudaEventCreateWithFlags(&l->half_read[0], cudaEventDisableTiming), "an event") ||
        !vd_check(cudaEventCreateWithFlags(&l->half_read[1], cudaEventDisableTiming), "an event") ||
        !vd_check(cudaEventCreateWithFlags(&l->landed[0], cudaEventDisableTiming), "an event") ||
        !vd_check(cudaEventCreateWithFlags(&l->landed[1], cudaEventDisableTiming), "an event") ||
        !vd_check(cudaMallocHost(&pinned, 2 * HALF), "pinned memory"))
        return false;
    l->pinned = static_cast<unsigned char *>(pinned);
    return true;
}

bool vd_lane_blas(vd_lane *l, cublasHandle_t *blas)
{
    void *workspace = NULL;
    if (!l->workspace) {
        if (!vd_check(cudaMalloc(&workspace, WORKSPACE), "memory for cuBLAS"))
            return false;
        if (!vd_check_blas(cublasCreate(&l->blas), "cuBLAS")) {
            cudaFree(workspace);
            return false;
        }
        l->workspace = workspace;
        if (!vd_check_blas(cublasSetStream(l->blas, l->stream), "cuBLAS") ||
            !vd_check_blas(cublasSetWorkspace(l->blas, workspace, WORKSPACE), "cuBLAS"))
            return false;
    }
    *blas = l->blas;
    return true;
}

static const char *trouble(void)
{
    // The work of this thread is done when this reports no error; other threads may then use its
    // results.
    if (owner.open && !in_trouble)
        vd_lane_wait(&owner.lane);
    if (!in_trouble)
        return NULL;
    in_trouble = false;
    snprintf(reported, sizeof reported, "%s", trouble_text);
    return reported;
}

vd_lane *vd_lane_get()
{
    if (in_trouble)
        return NULL;
    if (!owner.open && !(owner.open = open_lane(&owner.lane)))
        return NULL;
    return &owner.lane;
}

void *vd_lane_scratch(vd_lane *lane, size_t bytes)
{
    if (bytes > lane->scratch_size) {
        void *larger = NULL;
        size_t size = bytes + bytes / 2;
        // Earlier work may still use the old one.
        if (!vd_check(cudaMalloc(&larger, size), "scratch memory") || !vd_lane_wait(lane))
            return NULL;
        cudaFree(lane->scratch);
        lane->scratch = static_cast<unsigned char *>(larger);
        lane->scratch_size = size;
    }
    return lane->scratch;
}

// ---- copies -------------------------------------------------------------------------------------

// Through pinned memory, so that the copy overlaps the work of the device. A half is reused after
// the device has read it.
void vd_lane_upload(vd_lane *lane, void *to, const void *from, size_t bytes)
{
    unsigned char *target = static_cast<unsigned char *>(to);
    const unsigned char *source = static_cast<const unsigned char *>(from);
    while (bytes > 0) {
        size_t at = lane->pinned_used % (2 * HALF), half = at / HALF, room = (half + 1) * HALF - at;
        size_t piece = bytes < room ? bytes : room;
        if (at == half * HALF &&
            !vd_check(cudaEventSynchronize(lane->half_read[half]), "waiting for an upload"))
            return;
        memcpy(lane->pinned + at, source, piece);
        if (!vd_lane_copy(lane, target, lane->pinned + at, piece, cudaMemcpyHostToDevice))
            return;
        // Pieces begin at multiples of 16.
        lane->pinned_used += (piece + 15) / 16 * 16;
        if (lane->pinned_used % HALF == 0 &&
            !vd_check(cudaEventRecord(lane->half_read[half], lane->stream), "an upload"))
            return;
        target += piece;
        source += piece;
        bytes -= piece;
    }
}

bool vd_lane_copy(vd_lane *lane, void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return bytes == 0 || vd_check(cudaMemcpyAsync(to, from, bytes, kind, lane->stream), "a copy");
}

bool vd_lane_wait(vd_lane *lane)
{
    return vd_check(cudaStreamSynchronize(lane->stream), "waiting for the device");
}

bool vd_lane_download(vd_lane *lane, void *to, const void *from, size_t bytes)
{
    return bytes == 0 ||
           (vd_lane_copy(lane, to, from, bytes, cudaMemcpyDeviceToHost) && vd_lane_wait(lane));
}

unsigned char *vd_lane_landing(vd_lane *lane, size_t bytes)
{
    void *larger = NULL;
    if (bytes > lane->landing_size) {
        if (!vd_lane_wait(lane) || !vd_check(cudaMallocHost(&larger, bytes), "pinned memory"))
            return NULL;
        cudaFreeHost(lane->landing);
        lane->landing = static_cast<unsigned char *>(larger);
        lane->landing_size = bytes;
    }
    return lane->landing;
}

static void *allocate(size_t bytes)
{
    void *memory = NULL;
    if (!vd_lane_get() || cudaMalloc(&memory, bytes ? bytes : 1) != cudaSuccess) {
        cudaGetLastError(); // the caller reports out of memory, and it is not permanent
        return NULL;
    }
    return memory;
}

static void release(void *memory)
{
    cudaFree(memory);
}

void vd_cuda_zero(void *memory, size_t bytes)
{
    vd_lane *lane = vd_lane_get();
    if (lane && bytes > 0)
        vd_check(cudaMemsetAsync(memory, 0, bytes, lane->stream), "clearing memory");
}

static void copy(void *to, const void *from, size_t bytes)
{
    vd_lane *lane = vd_lane_get();
    if (lane)
        vd_lane_copy(lane, to, from, bytes, cudaMemcpyDeviceToDevice);
}

static void upload(void *to, const void *from, size_t bytes)
{
    vd_lane *lane = vd_lane_get();
    if (lane)
        vd_lane_upload(lane, to, from, bytes);
}

static void download(void *to, const void *from, size_t bytes)
{
    vd_lane *lane = vd_lane_get();
    if (lane)
        vd_lane_download(lane, to, from, bytes);
    else
        memset(to, 0, bytes);
}

static void load_floats(const float *host, vd_real *y, size_t n)
{
    upload(y, host, n * sizeof *y);
}

static void read_floats(const vd_real *x, float *host, size_t n)
{
    download(host, x, n * sizeof *x);
}

static size_t room(void)
{
    size_t available = 0, all = 0;
    if (vd_lane_get() && cudaMemGetInfo(&available, &all) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return available;
}

#ifdef __CUDACC__
#define PIECE NULL
#else
#define PIECE vd_host_piece
#endif

const vd_memory vd_cuda_memory = {false,  allocate, release, vd_cuda_zero, copy,
                                  upload, download, room,    PIECE};

void vd_cuda_lane(vd_backend *t)
{
    device_index = t->device;
    t->memory = &vd_cuda_memory;
    t->trouble = trouble;
    t->load_floats = load_floats;
    t->read_floats = read_floats;
}
