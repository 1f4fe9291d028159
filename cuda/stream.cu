// Streams, device memory, copies, errors.
#include "cuda/device.cuh"

#include <initializer_list>

#include <stdio.h>

#ifdef __CUDACC__
static const size_t WORKSPACE = size_t(32) << 20;
#else
static const size_t WORKSPACE =
    1 << 12; // a larger one would slow down the start and end of every kernel
#endif
static const size_t HALF = size_t(4) << 20;

// ---- errors -------------------------------------------------------------------------------------

// One for each thread: the thread that prefetches batches must not see the errors of the thread
// that computes.
static thread_local bool failed;
static thread_local char error_text[256], reported[256];

static bool fail(const char *what, const char *why)
{
    if (!failed)
        snprintf(error_text, sizeof error_text, "the GPU: %s: %s", what, why);
    failed = true;
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

// ---- streams ------------------------------------------------------------------------------------

static int device_index;

struct vd_stream_owner {
    vd_stream stream;
    bool open;
    vd_stream_owner() : stream(), open(false) {}
    ~vd_stream_owner()
    {
        if (!open)
            return;
        if (stream.workspace)
            cublasDestroy(stream.blas);
        for (int i = 0; i < 2; i++) {
            cudaEventDestroy(stream.half_read[i]);
            cudaEventDestroy(stream.downloaded[i]);
        }
        cudaStreamDestroy(stream.handle);
        cudaFree(stream.workspace);
        cudaFree(stream.scratch);
        cudaFreeHost(stream.pinned);
        cudaFreeHost(stream.downloads);
    }
};

static thread_local vd_stream_owner owner;

static bool open_stream(vd_stream *s)
{
    void *pinned = NULL;
    if (!vd_check(cudaSetDevice(device_index), "choosing the device") ||
        !vd_check(cudaStreamCreateWithFlags(&s->handle, cudaStreamNonBlocking), "a stream"))
        return false;
    for (cudaEvent_t *event : {s->half_read, s->half_read + 1, s->downloaded, s->downloaded + 1})
        if (!vd_check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "an event"))
            return false;
    if (!vd_check(cudaMallocHost(&pinned, 2 * HALF), "pinned memory"))
        return false;
    s->pinned = static_cast<unsigned char *>(pinned);
    return true;
}

bool vd_stream_blas(vd_stream *s, cublasHandle_t *blas)
{
    void *workspace = NULL;
    if (!s->workspace) {
        if (!vd_check(cudaMalloc(&workspace, WORKSPACE), "memory for cuBLAS"))
            return false;
        if (!vd_check_blas(cublasCreate(&s->blas), "cuBLAS")) {
            cudaFree(workspace);
            return false;
        }
        s->workspace = workspace;
        if (!vd_check_blas(cublasSetStream(s->blas, s->handle), "cuBLAS") ||
            !vd_check_blas(cublasSetWorkspace(s->blas, workspace, WORKSPACE), "cuBLAS"))
            return false;
    }
    *blas = s->blas;
    return true;
}

static const char *last_error(void)
{
    // The work of this thread is done when this reports no error; other threads may then use its
    // results.
    if (owner.open && !failed)
        vd_stream_wait(&owner.stream);
    if (!failed)
        return NULL;
    failed = false;
    cudaGetLastError(); // else the next launch reports it again
    snprintf(reported, sizeof reported, "%s", error_text);
    return reported;
}

vd_stream *vd_stream_get()
{
    if (failed)
        return NULL;
    if (!owner.open && !(owner.open = open_stream(&owner.stream)))
        return NULL;
    return &owner.stream;
}

void *vd_stream_scratch(vd_stream *stream, size_t bytes)
{
    if (bytes > stream->scratch_size) {
        void *larger = NULL;
        size_t size = bytes + bytes / 2;
        // Earlier work may still use the old one.
        if (!vd_check(cudaMalloc(&larger, size), "scratch memory") || !vd_stream_wait(stream))
            return NULL;
        cudaFree(stream->scratch);
        stream->scratch = static_cast<unsigned char *>(larger);
        stream->scratch_size = size;
    }
    return stream->scratch;
}

// ---- copies -------------------------------------------------------------------------------------

// Through pinned memory, so that the copy overlaps the work of the device. A half is reused after
// the device has read it.
void vd_stream_upload(vd_stream *stream, void *to, const void *from, size_t bytes)
{
    unsigned char *target = static_cast<unsigned char *>(to);
    const unsigned char *source = static_cast<const unsigned char *>(from);
    while (bytes > 0) {
        size_t at = stream->pinned_used % (2 * HALF), half = at / HALF,
               room = (half + 1) * HALF - at;
        size_t part = bytes < room ? bytes : room;
        if (at == half * HALF &&
            !vd_check(cudaEventSynchronize(stream->half_read[half]), "waiting for an upload"))
            return;
        memcpy(stream->pinned + at, source, part);
        if (!vd_stream_copy(stream, target, stream->pinned + at, part, cudaMemcpyHostToDevice))
            return;
        // Parts begin at multiples of 16.
        stream->pinned_used += (part + 15) / 16 * 16;
        if (stream->pinned_used % HALF == 0 &&
            !vd_check(cudaEventRecord(stream->half_read[half], stream->handle), "an upload"))
            return;
        target += part;
        source += part;
        bytes -= part;
    }
}

bool vd_stream_copy(vd_stream *stream, void *to, const void *from, size_t bytes,
                    cudaMemcpyKind kind)
{
    return bytes == 0 || vd_check(cudaMemcpyAsync(to, from, bytes, kind, stream->handle), "a copy");
}

bool vd_stream_wait(vd_stream *stream)
{
    return vd_check(cudaStreamSynchronize(stream->handle), "waiting for the device");
}

bool vd_stream_download(vd_stream *stream, void *to, const void *from, size_t bytes)
{
    return bytes == 0 || (vd_stream_copy(stream, to, from, bytes, cudaMemcpyDeviceToHost) &&
                          vd_stream_wait(stream));
}

unsigned char *vd_stream_downloads(vd_stream *stream, size_t bytes)
{
    void *larger = NULL;
    if (bytes > stream->downloads_size) {
        if (!vd_stream_wait(stream) || !vd_check(cudaMallocHost(&larger, bytes), "pinned memory"))
            return NULL;
        cudaFreeHost(stream->downloads);
        stream->downloads = static_cast<unsigned char *>(larger);
        stream->downloads_size = bytes;
    }
    return stream->downloads;
}

static void *allocate(size_t bytes)
{
    void *memory = NULL;
    if (!vd_stream_get() || cudaMalloc(&memory, bytes ? bytes : 1) != cudaSuccess) {
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
    vd_stream *stream = vd_stream_get();
    if (stream && bytes > 0)
        vd_check(cudaMemsetAsync(memory, 0, bytes, stream->handle), "clearing memory");
}

static void copy(void *to, const void *from, size_t bytes)
{
    vd_stream *stream = vd_stream_get();
    if (stream)
        vd_stream_copy(stream, to, from, bytes, cudaMemcpyDeviceToDevice);
}

static void upload(void *to, const void *from, size_t bytes)
{
    vd_stream *stream = vd_stream_get();
    if (stream)
        vd_stream_upload(stream, to, from, bytes);
}

static void download(void *to, const void *from, size_t bytes)
{
    vd_stream *stream = vd_stream_get();
    if (stream)
        vd_stream_download(stream, to, from, bytes);
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
    if (vd_stream_get() && cudaMemGetInfo(&available, &all) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return available;
}

#ifdef __CUDACC__
#define GUARD NULL
#else
#define GUARD vd_host_guard
#endif

static const vd_memory memory_of_device = {false,  allocate, release, vd_cuda_zero, copy,
                                           upload, download, room,    GUARD};

void vd_cuda_stream(vd_backend *t)
{
    device_index = t->device;
    t->memory = &memory_of_device;
    t->last_error = last_error;
    t->load_floats = load_floats;
    t->read_floats = read_floats;
}
