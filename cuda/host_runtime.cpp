// Device memory, copies and cuBLAS on the host (cuda/host.h).
#include "cuda/host_private.h"

#include <cblas.h>
#include <stdio.h>
#include <sys/mman.h>

#include <map>
#include <mutex>
#include <vector>

// ---- the region ---------------------------------------------------------------------------------

static const size_t REGION = size_t(1) << 36, PAGE = 4096, GUARD = 64;
static const unsigned char PAINT = 0xa5;

static std::recursive_mutex mutex;
static unsigned char *region;
static size_t in_use;                             // bytes of the region ever handed out
static std::map<size_t, size_t> blocks;           // offset -> bytes, guards and rounding included
static std::map<unsigned char *, size_t> painted; // what nobody may write
static int depth, allocations, memory_at, lost_at;
static bool is_lost;

void vd_host_stop(const char *what)
{
    fprintf(stderr, "cuda on the host: %s\n", what);
    abort();
}

static void protect(int how)
{
    if (in_use > 0 && mprotect(region, in_use, how) != 0)
        vd_host_stop("mprotect failed");
}

static void check_paint()
{
    for (const auto &p : painted)
        for (size_t i = 0; i < p.second; i++)
            if (p.first[i] != PAINT)
                vd_host_stop("a kernel wrote beyond the end of its buffer");
}

vd_host_entry::vd_host_entry()
{
    mutex.lock();
    if (depth++ == 0)
        protect(PROT_READ | PROT_WRITE);
}

vd_host_entry::~vd_host_entry()
{
    if (--depth == 0) {
        check_paint();
        protect(PROT_NONE);
    }
    mutex.unlock();
}

static void paint(unsigned char *at, size_t bytes)
{
    if (bytes == 0)
        return;
    memset(at, PAINT, bytes);
    painted[at] = bytes;
}

static void forget(unsigned char *from, unsigned char *to)
{
    painted.erase(painted.lower_bound(from), painted.lower_bound(to));
}

void vd_host_piece(void *memory, size_t bytes, size_t room)
{
    vd_host_entry entry;
    unsigned char *at = static_cast<unsigned char *>(memory);
    forget(at, at + room);
    memset(at, 0xff, bytes); // NaN until it is written
    paint(at + bytes, room - bytes);
}

void vd_host_fail(int memory, int lost)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    memory_at = memory;
    lost_at = lost;
    is_lost = false;
}

int vd_host_allocations(void)
{
    return allocations;
}

// Counts a call that a lost device would refuse.
static cudaError_t alive()
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (lost_at > 0 && --lost_at == 0)
        is_lost = true;
    return is_lost ? cudaErrorIllegalAddress : cudaSuccess;
}

bool vd_host_is_lost()
{
    return alive() != cudaSuccess;
}

// ---- allocation ---------------------------------------------------------------------------------

static size_t limit()
{
    const char *text = getenv("VISDIAL_HOST_MEMORY");
    return text ? strtoull(text, NULL, 10) : REGION;
}

static size_t handed_out()
{
    size_t sum = 0;
    for (const auto &b : blocks)
        sum += b.second;
    return sum;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *all)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    size_t used = handed_out();
    *all = limit();
    *available = *all > used ? *all - used : 0;
    return cudaSuccess;
}

static size_t find_room(size_t bytes)
{
    size_t from = 0;
    for (const auto &b : blocks) {
        if (b.first - from >= bytes)
            return from;
        from = b.first + b.second;
    }
    return from;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    vd_host_entry entry;
    *memory = NULL;
    if (alive() != cudaSuccess)
        return cudaErrorIllegalAddress;
    if (!region) {
        void *all =
            mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED)
            return cudaErrorMemoryAllocation;
        region = static_cast<unsigned char *>(all);
    }
    allocations++;
    size_t size = (bytes + 2 * GUARD + PAGE - 1) / PAGE * PAGE;
    if ((memory_at > 0 && --memory_at == 0) || bytes > REGION || handed_out() + size > limit())
        return cudaErrorMemoryAllocation;
    size_t from = find_room(size);
    if (from > REGION - size)
        return cudaErrorMemoryAllocation;
    blocks[from] = size;
    if (from + size > in_use) {
        in_use = from + size;
        protect(PROT_READ | PROT_WRITE);
    }
    unsigned char *at = region + from + GUARD;
    paint(region + from, GUARD);
    memset(at, 0xff, bytes);
    paint(at + bytes, size - GUARD - bytes);
    *memory = at;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    vd_host_entry entry;
    if (!memory)
        return cudaSuccess;
    check_paint();
    size_t from = static_cast<size_t>(static_cast<unsigned char *>(memory) - region) - GUARD;
    auto found = blocks.find(from);
    if (found == blocks.end())
        vd_host_stop("cudaFree of what cudaMalloc did not give");
    forget(region + from, region + from + found->second);
    blocks.erase(found);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    return cudaSuccess;
}

// ---- copies -------------------------------------------------------------------------------------

static bool on_device(const void *memory, size_t bytes)
{
    const unsigned char *at = static_cast<const unsigned char *>(memory);
    return region && at >= region && at + bytes <= region + in_use;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t)
{
    vd_host_entry entry;
    if (alive() != cudaSuccess)
        return cudaErrorIllegalAddress;
    if (bytes > 0 && (on_device(to, bytes) != (kind != cudaMemcpyDeviceToHost) ||
                      on_device(from, bytes) != (kind != cudaMemcpyHostToDevice)))
        vd_host_stop("a copy between other memories than it says");
    if (bytes > 0)
        memmove(to, from, bytes);
    return cudaSuccess;
}

void vd_host_move(void *to, const void *from, size_t bytes)
{
    vd_host_entry entry;
    if (on_device(to, bytes) == on_device(from, bytes))
        vd_host_stop("one of two memories must be the device's");
    memcpy(to, from, bytes);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t)
{
    vd_host_entry entry;
    if (alive() != cudaSuccess)
        return cudaErrorIllegalAddress;
    if (bytes > 0 && !on_device(memory, bytes))
        vd_host_stop("cudaMemset of host memory");
    if (bytes > 0)
        memset(memory, value, bytes);
    return cudaSuccess;
}

// ---- what there is only one of, or nothing to do for --------------------------------------------

cudaError_t cudaGetDeviceCount(int *count)
{
    const char *text = getenv("VISDIAL_HOST_DEVICES");
    *count = text ? atoi(text) : 1;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = cudaDeviceProp();
    strcpy(p->name, "the host in place of a GPU");
    p->totalGlobalMem = REGION;
    p->major = 9;
    p->multiProcessorCount = 1;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = NULL;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return alive();
}

cudaError_t cudaStreamQuery(cudaStream_t)
{
    return alive();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = NULL;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t)
{
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    return alive();
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorNotReady:
        return "device not ready";
    case cudaErrorNotSupported:
        return "operation not supported";
    }
    return "unknown error";
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
    return cudaErrorNotSupported;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *)
{
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long)
{
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *)
{
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t)
{
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphDestroy(cudaGraph_t)
{
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t)
{
    return cudaSuccess;
}

// ---- cuBLAS -------------------------------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = NULL;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

// A matrix as floats, column-major (rows, columns) with leading dimension ld.
static const float *floats(const void *x, cudaDataType_t type, int columns, int ld,
                           std::vector<float> *copy)
{
    if (type == CUDA_R_32F)
        return static_cast<const float *>(x);
    const uint16_t *bits = static_cast<const uint16_t *>(x);
    size_t count = static_cast<size_t>(columns) * static_cast<size_t>(ld);
    copy->resize(count);
    for (size_t i = 0; i < count; i++) {
        uint32_t wide = static_cast<uint32_t>(bits[i]) << 16;
        memcpy(copy->data() + i, &wide, sizeof wide);
    }
    return copy->data();
}

cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType_t at,
                            int lda, const void *b, cudaDataType_t bt, int ldb, const void *beta,
                            void *c, cudaDataType_t ct, int ldc, cublasComputeType_t,
                            cublasGemmAlgo_t)
{
    vd_host_entry entry;
    if (ct != CUDA_R_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (m <= 0 || n <= 0 || k <= 0 || ldc < m || lda < (ta == CUBLAS_OP_N ? m : k) ||
        ldb < (tb == CUBLAS_OP_N ? k : n))
        vd_host_stop("a matrix product of sizes that cuBLAS refuses");
    std::vector<float> a_copy, b_copy;
    // The last column is as long as its rows, not as its leading dimension: nothing is read beyond.
    const float *x = floats(a, at, ta == CUBLAS_OP_N ? k : m, lda, &a_copy);
    const float *y = floats(b, bt, tb == CUBLAS_OP_N ? n : k, ldb, &b_copy);
    cblas_sgemm(CblasColMajor, ta == CUBLAS_OP_N ? CblasNoTrans : CblasTrans,
                tb == CUBLAS_OP_N ? CblasNoTrans : CblasTrans, m, n, k,
                *static_cast<const float *>(alpha), x, lda, y, ldb,
                *static_cast<const float *>(beta), static_cast<float *>(c), ldc);
    return CUBLAS_STATUS_SUCCESS;
}
