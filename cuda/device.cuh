// What every kernel file of the GPU backend uses: the launch macro, a host thread's stream
// with its cuBLAS handle and its memory, reductions, dropout.
//
// The .cu files compile with nvcc for GPUs, and against tests/cuda_host/ for the tests.
#ifndef VD_CUDA_DEVICE_CUH
#define VD_CUDA_DEVICE_CUH

#ifdef __CUDACC__
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define VD_UNROLL       _Pragma("unroll")
#define VD_PRAGMA(text) _Pragma(#text)
#define VD_UNROLL_BY(n) VD_PRAGMA(unroll n)
#define VD_START(kernel, grid, threads, stream, ...)                                               \
    kernel<<<grid, (threads), 0, stream>>>(__VA_ARGS__)
#else
#include <cuda_host.h>
#endif

#include "engine/backend/backend.h"

static_assert(sizeof(vd_real) == sizeof(float), "the GPU computes in float");

// ---- streams ------------------------------------------------------------------------------------

// A CUDA stream and what is used with it. Each host thread has its own; operations of one stream
// run in order.
struct vd_stream {
    cudaStream_t handle;
    cublasHandle_t blas; // with its workspace, from the first product on (vd_stream_blas)
    void *workspace;
    // Device memory for the length of one operation; grows, never shrinks.
    unsigned char *scratch;
    size_t scratch_size;
    // Pinned memory for uploads, in two halves used alternately.
    unsigned char *pinned;
    size_t pinned_used;
    cudaEvent_t half_read[2];
    // Pinned memory for downloads, and the events after two of them.
    unsigned char *downloads;
    size_t downloads_size;
    cudaEvent_t downloaded[2];
};

// The calling thread's stream; NULL after an error on the device; then nothing is launched.
vd_stream *vd_stream_get();
// The stream's cuBLAS; false on error. A stream that only copies never opens it.
bool vd_stream_blas(vd_stream *stream, cublasHandle_t *blas);
// Remembers the first error until `last_error` reads it; true when there is none.
bool vd_check(cudaError_t error, const char *what);
bool vd_check_blas(cublasStatus_t status, const char *what);
// `bytes` of the stream's scratch memory, valid until the next call; NULL on error.
void *vd_stream_scratch(vd_stream *stream, size_t bytes);
void vd_stream_upload(vd_stream *stream, void *to, const void *from, size_t bytes);
// Asks for a copy; waits for all that was asked for. False on error.
bool vd_stream_copy(vd_stream *stream, void *to, const void *from, size_t bytes,
                    cudaMemcpyKind kind);
bool vd_stream_wait(vd_stream *stream);
bool vd_stream_download(vd_stream *stream, void *to, const void *from, size_t bytes);
// `bytes` of pinned memory for downloads that run beside the device's work, until the next call;
// NULL on error.
unsigned char *vd_stream_downloads(vd_stream *stream, size_t bytes);

// VD_LAUNCH(kernel, grid, threads, arguments): nothing happens for an empty grid.
#define VD_LAUNCH(kernel, grid, threads, ...)                                                      \
    VD_LAUNCH_AS(#kernel, kernel, grid, threads, __VA_ARGS__)
#define VD_LAUNCH_AS(name, kernel, grid, threads, ...)                                             \
    do {                                                                                           \
        vd_stream *vd_launch_stream = vd_stream_get();                                             \
        dim3 vd_launch_grid(grid);                                                                 \
        if (vd_launch_stream && vd_launch_grid.x > 0 && vd_launch_grid.y > 0) {                    \
            VD_START(kernel, vd_launch_grid, threads, vd_launch_stream->handle, __VA_ARGS__);      \
            vd_check(cudaGetLastError(), name);                                                    \
        }                                                                                          \
    } while (0)

// Blocks of `threads` for n elements; kernels stride over the grid, so that it need not be larger.
static inline unsigned vd_blocks(size_t n, unsigned threads)
{
    size_t blocks = (n + threads - 1) / threads;
    return blocks > 65535 ? 65535u : static_cast<unsigned>(blocks);
}

static inline int vd_ceil(int n, int by)
{
    return n / by + (n % by != 0);
}

// for (VD_EACH(i, n)): this thread's share of 0..n-1
#define VD_EACH(i, n)                                                                              \
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;                         \
    i < (n);                                                                                       \
    i += static_cast<size_t>(gridDim.x) * blockDim.x

// for (VD_EACH_ROW(k, n)), blocks sharing the rows, and in it for (VD_EACH_COLUMN(j, width)),
// threads sharing a row: so that no thread needs a division to find its element.
#define VD_EACH_ROW(k, n)                                                                          \
    size_t k = blockIdx.x;                                                                         \
    k < static_cast<size_t>(n);                                                                    \
    k += gridDim.x
#define VD_EACH_COLUMN(j, width)                                                                   \
    int j = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);                               \
    j < (width);                                                                                   \
    j += static_cast<int>(gridDim.y * blockDim.x)

// Their grid: a block a row, several where rows are few.
static inline dim3 vd_row_grid(int rows, int width, int threads, int depth = 1)
{
    int parts = rows < 128 ? vd_ceil(width, threads) : 1;
    return dim3(rows > 0 ? vd_blocks(static_cast<size_t>(rows), 1) : 0,
                static_cast<unsigned>(parts), static_cast<unsigned>(depth));
}

enum { VD_EACH_THREADS = 256 };

template <typename F> static __global__ void vd_each_kernel(size_t n, F f)
{
    for (VD_EACH(i, n))
        f(i);
}

// f(i) for 0 <= i < n, each by one thread. name: for errors. What f captures is captured by value.
template <typename F> static void vd_for_each(const char *name, size_t n, F f)
{
    VD_LAUNCH_AS(name, vd_each_kernel<F>, vd_blocks(n, VD_EACH_THREADS), VD_EACH_THREADS, n, f);
}

template <typename F> static __global__ void vd_each_row_kernel(int rows, F f)
{
    for (VD_EACH_ROW(r, rows))
        f(r);
}

// f(r) for 0 <= r < rows, each by one block, whose threads share the row's `width` numbers: in f is
// a loop for (VD_EACH_COLUMN(j, width)).
template <typename F> static void vd_for_rows(const char *name, int rows, int width, F f)
{
    VD_LAUNCH_AS(name, vd_each_row_kernel<F>, vd_row_grid(rows, width, VD_EACH_THREADS),
                 VD_EACH_THREADS, rows, f);
}

// ---- numbers ------------------------------------------------------------------------------------

// WIDE numbers that are loaded and stored together; where they lie is aligned to that.
template <typename T, int WIDE> struct alignas(sizeof(T) * WIDE) vd_wide {
    T x[WIDE];
};

template <int WIDE, typename T>
static __device__ __forceinline__ vd_wide<T, WIDE> vd_load(const T *at)
{
    return *reinterpret_cast<const vd_wide<T, WIDE> *>(at);
}

template <int WIDE, typename T>
static __device__ __forceinline__ void vd_store(T *at, const vd_wide<T, WIDE> &of)
{
    *reinterpret_cast<vd_wide<T, WIDE> *>(at) = of;
}

enum { VD_FOUR = 4 };

static __host__ __device__ __forceinline__ bool vd_fits_four(const float *x)
{
    return reinterpret_cast<uintptr_t>(x) % (VD_FOUR * sizeof *x) == 0;
}

template <typename F>
static __global__ void vd_numbers_kernel(size_t n, const float *a, const float *b, float *y, F f)
{
    size_t fours = vd_fits_four(a) && vd_fits_four(b) && vd_fits_four(y) ? n / VD_FOUR : 0;
    for (VD_EACH(i, fours)) {
        vd_wide<float, VD_FOUR> p = vd_load<VD_FOUR>(a + VD_FOUR * i), q = p;
        if (b != a)
            q = vd_load<VD_FOUR>(b + VD_FOUR * i);
        VD_UNROLL
        for (int k = 0; k < VD_FOUR; k++)
            p.x[k] = f(VD_FOUR * i + k, p.x[k], q.x[k]);
        vd_store<VD_FOUR>(y + VD_FOUR * i, p);
    }
    for (VD_EACH(i, n - VD_FOUR * fours)) {
        size_t k = VD_FOUR * fours + i;
        y[k] = f(k, a[k], b[k]);
    }
}

// y[i] = f(i, a[i], b[i]) for 0 <= i < n, four at a time where all are aligned; any of a, b and y
// may be the same.
template <typename F>
static void vd_for_numbers(const char *name, size_t n, const float *a, const float *b, float *y,
                           F f)
{
    VD_LAUNCH_AS(name, vd_numbers_kernel<F>,
                 vd_blocks((n + VD_FOUR - 1) / VD_FOUR, VD_EACH_THREADS), VD_EACH_THREADS, n, a, b,
                 y, f);
}

template <typename F> static __device__ __forceinline__ F vd_to(float x);

template <> __device__ __forceinline__ float vd_to<float>(float x)
{
    return x;
}

template <> __device__ __forceinline__ __nv_bfloat16 vd_to<__nv_bfloat16>(float x)
{
    return __float2bfloat16(x);
}

static __device__ __forceinline__ float vd_from(float x)
{
    return x;
}

static __device__ __forceinline__ float vd_from(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

// Row k of those that a list names, row k itself without one.
static __device__ __forceinline__ size_t vd_row_of(const int *list, size_t k)
{
    return list ? static_cast<size_t>(list[k]) : k;
}

// Rows of a list may be the same, those of no list are not.
static __device__ __forceinline__ void vd_scatter(float *at, bool shared, float x)
{
    if (shared)
        atomicAdd(at, x);
    else
        *at += x;
}

// ---- reductions ---------------------------------------------------------------------------------

enum { VD_WARP = 32 };

struct vd_plus {
    template <typename T> static __device__ __forceinline__ T of(T x, T y)
    {
        return x + y;
    }
};

struct vd_larger {
    static __device__ __forceinline__ float of(float x, float y)
    {
        return fmaxf(x, y);
    }
};

template <typename Op, typename T> static __device__ __forceinline__ T vd_warp_reduce(T x)
{
    for (int step = VD_WARP / 2; step > 0; step /= 2)
        x = Op::of(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
}

// Over a block of full warps; every thread gets the result. `room`: shared, a number a warp.
template <typename Op, typename T> static __device__ __forceinline__ T vd_block_reduce(T x, T *room)
{
    int lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    int warps = blockDim.x / VD_WARP;
    x = vd_warp_reduce<Op>(x);
    __syncthreads();
    if (lane == 0)
        room[warp] = x;
    __syncthreads();
    T all = room[0];
    for (int w = 1; w < warps; w++)
        all = Op::of(all, room[w]);
    return all;
}

template <typename T> static __device__ __forceinline__ T vd_warp_sum(T x)
{
    return vd_warp_reduce<vd_plus>(x);
}

template <typename T> static __device__ __forceinline__ T vd_block_sum(T x, T *room)
{
    return vd_block_reduce<vd_plus>(x, room);
}

// y = the softmax of n numbers by one warp; y may be x.
static __device__ __forceinline__ void vd_warp_softmax(const float *x, float *y, int n, int lane)
{
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < n; i += VD_WARP)
        most = fmaxf(most, x[i]);
    most = vd_warp_reduce<vd_larger>(most);
    for (int i = lane; i < n; i += VD_WARP) {
        y[i] = expf(x[i] - most);
        sum += y[i];
    }
    sum = vd_warp_sum(sum);
    for (int i = lane; i < n; i += VD_WARP)
        y[i] /= sum;
}

// dx = y (dx - y . dx)
static __device__ __forceinline__ void vd_warp_softmax_backward(const float *y, float *dx, int n,
                                                                int lane)
{
    float sum = 0;
    for (int i = lane; i < n; i += VD_WARP)
        sum += y[i] * dx[i];
    sum = vd_warp_sum(sum);
    for (int i = lane; i < n; i += VD_WARP)
        dx[i] = y[i] * (dx[i] - sum);
}

// ---- element functions --------------------------------------------------------------------------

static __device__ __forceinline__ float vd_sigmoidf(float x)
{
    return 1 / (1 + expf(-x));
}

// Dropout's mask, and the factor of element `index`.
struct vd_dropout {
    uint64_t key;
    uint32_t threshold;
    float scale;
};

static inline vd_dropout vd_dropout_make(float rate, uint64_t key)
{
    return {key, vd_dropout_threshold(rate), 1 / (1 - rate)};
}

static __device__ __forceinline__ float vd_dropout_factor(vd_dropout d, uint32_t index)
{
    return vd_dropout_keeps(d.key, index, d.threshold) ? d.scale : 0;
}

// ---- families, each filling its part of the table -----------------------------------------------

typedef void vd_cuda_family(vd_backend *table);
vd_cuda_family vd_cuda_stream, vd_cuda_matrix, vd_cuda_pointwise, vd_cuda_rows, vd_cuda_lstm,
    vd_cuda_context, vd_cuda_words, vd_cuda_region, vd_cuda_tape, vd_cuda_gru, vd_cuda_loss,
    vd_cuda_rank, vd_cuda_group;

// Shared by families.
void vd_cuda_gemm(bool ta, bool tb, int m, int n, int k, const vd_real *a, int lda,
                  const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc);
void vd_cuda_copy_rows(const vd_real *x, int x_stride, const int *index, int rows, int width,
                       vd_real *y, int y_stride);
void vd_cuda_linear(const vd_real *x, const vd_matrix *w, const vd_real *b, vd_real *y, int rows);
void vd_cuda_linear_backward(const vd_real *x, const vd_matrix *w, const vd_real *dy, vd_real *dx,
                             int dx_stride, vd_real beta, const vd_matrix *dw, vd_real *db,
                             int rows);
// An operand of products as they read it at the precision set: floats where they are, or a copy in
// bfloat16, for operations that multiply by it more than once or can make it themselves.
struct vd_operand {
    const void *x;
    int ld;
    bool narrow;
};

bool vd_operands_are_narrow();
// Bytes of scratch memory that a copy needs, 0 = no copy; and the copy, which takes them from
// *room.
size_t vd_operand_room(int rows, int columns);
vd_operand vd_operand_of(const float *x, int rows, int columns, int ld, unsigned char **room);
// c = op(a) op(b) + beta c; both operands are of one type.
void vd_cuda_multiply(bool ta, bool tb, int m, int n, int k, vd_operand a, vd_operand b, float beta,
                      float *c, int ldc);

// Rows of a copy are aligned so that the tensor cores read them fastest.
template <typename F> static inline int vd_operand_ld(int columns)
{
    return sizeof(F) == sizeof(float) ? columns : (columns + 7) / 8 * 8;
}

static inline vd_operand vd_operand_at(const float *x, int ld)
{
    return {x, ld, false};
}

static inline vd_operand vd_operand_at(const __nv_bfloat16 *x, int ld)
{
    return {x, ld, true};
}

// Adds the sum of x's rows to `sum`, and to `also` unless that is NULL.
template <typename F>
void vd_cuda_sum_columns(const F *x, int rows, int columns, float *sum, float *also);
void vd_cuda_zero(void *memory, size_t bytes);

#endif
