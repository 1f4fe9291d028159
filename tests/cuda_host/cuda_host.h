// Just enough of CUDA and cuBLAS for the .cu files to compile as C++ and run without a GPU, so that
// every machine can check the kernels. Blocks run one after another; a block's threads are fibers
// that meet at __syncthreads and at warp shuffles. Device memory is a region of its own that only
// kernels, copies and cuBLAS calls can reach: host code that reads it stops at once. Guard bytes
// that a kernel may not write are checked. It is slow on purpose.
#ifndef VD_TEST_CUDA_HOST_H
#define VD_TEST_CUDA_HOST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __shared__ static
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

struct float4 {
    float x, y, z, w;
};

extern dim3 threadIdx, blockIdx, blockDim, gridDim;

// code, number, text
#define VD_HOST_ERRORS(X)                                                                          \
    X(cudaSuccess, 0, "no error")                                                                  \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                               \
    X(cudaErrorInsufficientDriver, 35,                                                             \
      "CUDA driver version is insufficient for CUDA runtime version")                              \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                \
    X(cudaErrorNotReady, 600, "device not ready")                                                  \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                    \
    X(cudaErrorNotSupported, 801, "operation not supported")

enum cudaError_t {
#define X(code, number, text) code = (number),
    VD_HOST_ERRORS(X)
#undef X
};

// ---- threads ------------------------------------------------------------------------------------

typedef void (*vd_host_body)(void *context);
void vd_host_launch(dim3 grid, dim3 block, vd_host_body body, void *context);
void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffffu);
uint32_t vd_host_shuffle(uint32_t value, int lane);
int vd_host_lane();

// body: a kernel with its arguments.
template <typename F> void vd_host_run(dim3 grid, dim3 block, F body)
{
    vd_host_launch(
        grid, block, [](void *context) { (*static_cast<F *>(context))(); }, &body);
}

// What cuda/device.cuh defines for nvcc.
#define VD_START(kernel, grid, threads, stream, ...)                                               \
    vd_host_run(grid, dim3(threads), std::bind(kernel, __VA_ARGS__))
#define VD_UNROLL
#define VD_UNROLL_BY(n)

static inline float __shfl_xor_sync(unsigned, float value, int mask)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = vd_host_shuffle(bits, vd_host_lane() ^ mask);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double __shfl_xor_sync(unsigned, double value, int mask)
{
    uint32_t bits[2];
    memcpy(bits, &value, sizeof bits);
    bits[0] = vd_host_shuffle(bits[0], vd_host_lane() ^ mask);
    bits[1] = vd_host_shuffle(bits[1], vd_host_lane() ^ mask);
    memcpy(&value, bits, sizeof value);
    return value;
}

static inline float atomicAdd(float *at, float value)
{
    float before = *at;
    *at += value;
    return before;
}

static inline double atomicAdd(double *at, double value)
{
    double before = *at;
    *at += value;
    return before;
}

// ---- the runtime --------------------------------------------------------------------------------

enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

typedef struct vd_host_stream *cudaStream_t;
typedef struct vd_host_event *cudaEvent_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount;
};

// There is one device, one stream, and an event is nothing.
#define VD_HOST_NOTHING(status, call, ...)                                                         \
    static inline status call(__VA_ARGS__)                                                         \
    {                                                                                              \
        return status();                                                                           \
    }
VD_HOST_NOTHING(cudaError_t, cudaSetDevice, int)
VD_HOST_NOTHING(cudaError_t, cudaStreamCreateWithFlags, cudaStream_t *, unsigned)
VD_HOST_NOTHING(cudaError_t, cudaStreamDestroy, cudaStream_t)
VD_HOST_NOTHING(cudaError_t, cudaEventCreateWithFlags, cudaEvent_t *, unsigned)
VD_HOST_NOTHING(cudaError_t, cudaEventDestroy, cudaEvent_t)
VD_HOST_NOTHING(cudaError_t, cudaEventRecord, cudaEvent_t, cudaStream_t)

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaRuntimeGetVersion(int *version);
#define cudaDriverGetVersion cudaRuntimeGetVersion
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
// $VISDIAL_HOST_MEMORY: of how many bytes; without it, of more than any test needs.
cudaError_t cudaMemGetInfo(size_t *available, size_t *all);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
#define cudaStreamQuery cudaStreamSynchronize
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);

// ---- half precision, bfloat16 and cuBLAS --------------------------------------------------------

struct __half {
    uint16_t bits;
};
static inline __half __ushort_as_half(unsigned short bits)
{
    return {bits};
}

// The exponent is moved; subnormals are 2^-24 times a whole number.
static inline float __half2float(__half x)
{
    uint32_t magnitude = x.bits & 0x7fffu, bits;
    float value = static_cast<float>(magnitude) * 0x1p-24f;
    if (magnitude >= 0x400u) {
        bits = (magnitude << 13) + (magnitude < 0x7c00u ? 112u << 23 : 224u << 23);
        memcpy(&value, &bits, sizeof value);
    }
    return x.bits & 0x8000u ? -value : value;
}

struct __nv_bfloat16 {
    uint16_t bits;
};
static inline __nv_bfloat16 __float2bfloat16(float x) // to nearest, ties to even
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7fffu + ((bits >> 16) & 1);
    __nv_bfloat16 y = {static_cast<uint16_t>(bits >> 16)};
    return y;
}

static inline float __bfloat162float(__nv_bfloat16 x)
{
    uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
    float wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_SUPPORTED = 15 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16BF = 14 };
typedef struct vd_host_blas *cublasHandle_t;

VD_HOST_NOTHING(cublasStatus_t, cublasCreate, cublasHandle_t *)
VD_HOST_NOTHING(cublasStatus_t, cublasDestroy, cublasHandle_t)
VD_HOST_NOTHING(cublasStatus_t, cublasSetStream, cublasHandle_t, cudaStream_t)
VD_HOST_NOTHING(cublasStatus_t, cublasSetWorkspace, cublasHandle_t, void *, size_t)
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType_t at, int lda, const void *b, cudaDataType_t bt, int ldb,
                            const void *beta, void *c, cudaDataType_t ct, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

// CUB's stable sort; with `room` NULL it says how much room it needs.
namespace cub
{
struct DeviceRadixSort {
    static cudaError_t SortPairs(void *room, size_t &bytes, const uint32_t *keys, uint32_t *sorted,
                                 const int32_t *values, int32_t *sorted_values, int count,
                                 int first_bit, int end_bit, cudaStream_t stream);
};
} // namespace cub

// ---- looking after memory -----------------------------------------------------------------------

// An arena allocated `bytes` in a block with room for more: the old contents are lost, the bytes
// become NaN, and guard bytes follow them.
void vd_host_guard(void *memory, size_t bytes, size_t room);

extern "C" {
// For tests: the n-th call from now of a kind fails (0 = none): memory runs out, or the device is
// lost and every call after it fails too.
__attribute__((visibility("default"))) void vd_host_fail(int memory_at, int lost_at);
// How many device allocations were made so far.
__attribute__((visibility("default"))) int vd_host_allocations(void);
// Copies from or to device memory, for a library that replaces one on the device.
__attribute__((visibility("default"))) void vd_host_move(void *to, const void *from, size_t bytes);
}

#endif
