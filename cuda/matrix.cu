// Matrix products: cuBLAS, one warp a result where a vector is multiplied, and one launch for many
// small products of different sizes.
#include "cuda/device.cuh"

static vd_precision precision = VD_PRECISION_FP32;

// ---- plain products -----------------------------------------------------------------------------

static __global__ void scale_rows(float *c, int n, int ldc, float beta)
{
    float *row = c + static_cast<size_t>(blockIdx.y) * ldc;
    for (VD_EACH(i, static_cast<size_t>(n)))
        row[i] = beta == 0 ? 0 : beta * row[i];
}

// y (n) = beta y + alpha w x; w (n, k): a warp a row, as fast as w can be read.
static __global__ void vector_product(const float *x, const float *w, int ldw, int n, int k,
                                      float alpha, float beta, float *y)
{
    int lane = threadIdx.x % VD_WARP, warps = blockDim.x / VD_WARP;
    for (int row = blockIdx.x * warps + threadIdx.x / VD_WARP; row < n; row += gridDim.x * warps) {
        const float *at = w + static_cast<size_t>(row) * ldw;
        float sum = 0;
        for (int i = lane; i < k; i += VD_WARP)
            sum += at[i] * x[i];
        sum = vd_warp_sum(sum);
        if (lane == 0)
            y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}

static __global__ void narrow(const float *x, int columns, int ld, size_t n, __nv_bfloat16 *y)
{
    for (VD_EACH(i, n))
        y[i] = __float2bfloat16(x[i / columns * ld + i % columns]);
}

// Sums of bfloat16 products are kept in float; what is small is not worth the conversion.
static bool worth_narrowing(int m, int n, int k)
{
    return precision == VD_PRECISION_BF16 && m >= 64 && n >= 64 && k >= 64;
}

static void gemm_bf16(vd_lane *lane, bool ta, bool tb, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc)
{
    size_t a_size = static_cast<size_t>(m) * k, b_size = static_cast<size_t>(n) * k;
    size_t room = (a_size + 63) / 64 * 64;
    int a_columns = ta ? m : k, b_columns = tb ? k : n;
    __nv_bfloat16 *x = static_cast<__nv_bfloat16 *>(
        vd_lane_scratch(lane, (room + b_size) * sizeof(__nv_bfloat16)));
    cublasHandle_t blas;
    if (!x || !vd_lane_blas(lane, &blas))
        return;
    __nv_bfloat16 *y = x + room;
    VD_LAUNCH(narrow, vd_blocks(a_size, 256), 256, a, a_columns, lda, a_size, x);
    VD_LAUNCH(narrow, vd_blocks(b_size, 256), 256, b, b_columns, ldb, b_size, y);
    vd_check_blas(cublasGemmEx(blas, tb ? CUBLAS_OP_T : CUBLAS_OP_N, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                               n, m, k, &alpha, y, CUDA_R_16BF, b_columns, x, CUDA_R_16BF,
                               a_columns, &beta, c, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                               CUBLAS_GEMM_DEFAULT),
                  "a matrix product");
}

// cuBLAS counts columns first: the row-major c = a b is its c^T = b^T a^T.
void vd_cuda_gemm(bool ta, bool tb, int m, int n, int k, vd_real alpha, const vd_real *a, int lda,
                  const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc)
{
    vd_lane *lane = vd_lane_get();
    cublasHandle_t blas;
    if (!lane || m <= 0 || n <= 0)
        return;
    if (k <= 0) {
        for (int row = 0; row < m; row += 65535) {
            unsigned rows = static_cast<unsigned>(m - row < 65535 ? m - row : 65535);
            float *at = c + static_cast<size_t>(row) * ldc;
            VD_LAUNCH(scale_rows, dim3(vd_blocks(static_cast<size_t>(n), 256), rows), 256, at, n,
                      ldc, beta);
        }
    } else if (m == 1 && !ta && tb) {
        VD_LAUNCH(vector_product, vd_blocks(static_cast<size_t>(n), 8), 256, a, b, ldb, n, k, alpha,
                  beta, c);
    } else if (worth_narrowing(m, n, k)) {
        gemm_bf16(lane, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    } else if (vd_lane_blas(lane, &blas)) {
        vd_check_blas(cublasGemmEx(blas, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   ta ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha, b, CUDA_R_32F,
                                   ldb, a, CUDA_R_32F, lda, &beta, c, CUDA_R_32F, ldc,
                                   precision == VD_PRECISION_FP32 ? CUBLAS_COMPUTE_32F
                                                                  : CUBLAS_COMPUTE_32F_FAST_TF32,
                                   CUBLAS_GEMM_DEFAULT),
                      "a matrix product");
    }
}

// ---- many products ------------------------------------------------------------------------------

enum {
    TILE = 32,
    STEP = 16,
    SIDE = 16
}; // a block of SIDE x SIDE threads makes TILE x TILE numbers

struct vd_job {
    vd_product p;
    int first, across; // its first tile of all, tiles in a row
};

static __device__ __forceinline__ float element(const float *x, int ld, bool transposed, int row,
                                                int column, int rows, int columns)
{
    if (row >= rows || column >= columns)
        return 0;
    return transposed ? x[static_cast<size_t>(column) * ld + row]
                      : x[static_cast<size_t>(row) * ld + column];
}

static __global__ void grouped(const vd_job *jobs, int count, bool ta, bool tb, float beta)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    int tile = blockIdx.x, low = 0, high = count - 1;
    while (low < high) { // the last job that begins at or before this tile
        int middle = (low + high + 1) / 2;
        if (jobs[middle].first <= tile)
            low = middle;
        else
            high = middle - 1;
    }
    const vd_product p = jobs[low].p;
    int row = (tile - jobs[low].first) / jobs[low].across * TILE;
    int column = (tile - jobs[low].first) % jobs[low].across * TILE;
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    float sum[2][2] = {{0, 0}, {0, 0}};
    for (int k = 0; k < p.k; k += STEP) {
        for (int i = threadIdx.x; i < STEP * TILE; i += SIDE * SIDE) {
            // Neighbouring threads read neighbouring numbers, whichever way the matrix lies.
            int ak = ta ? i / TILE : i % STEP, am = ta ? i % TILE : i / STEP;
            int bk = tb ? i % STEP : i / TILE, bn = tb ? i / STEP : i % TILE;
            a[ak][am] = element(p.a, p.lda, ta, row + am, k + ak, p.m, p.k);
            b[bk][bn] = element(p.b, p.ldb, tb, k + bk, column + bn, p.k, p.n);
        }
        __syncthreads();
        for (int i = 0; i < STEP; i++)
            for (int y = 0; y < 2; y++)
                for (int x = 0; x < 2; x++)
                    sum[y][x] += a[i][ty + y * SIDE] * b[i][tx + x * SIDE];
        __syncthreads();
    }
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++) {
            int m = row + ty + y * SIDE, n = column + tx + x * SIDE;
            if (m >= p.m || n >= p.n)
                continue;
            float *at = p.c + static_cast<size_t>(m) * p.ldc + n;
            *at = sum[y][x] + (beta == 0 ? 0 : beta * *at);
        }
}

static void products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    vd_lane *lane = vd_lane_get();
    if (!lane || count < 1)
        return;
    if (count == 1) {
        vd_cuda_gemm(ta, tb, list->m, list->n, list->k, 1, list->a, list->lda, list->b, list->ldb,
                     beta, list->c, list->ldc);
        return;
    }
    static thread_local vd_job jobs[1024];
    for (int from = 0; from < count;) {
        int tiles = 0, used = 0;
        for (; from < count && used < 1024; from++) {
            const vd_product *p = list + from;
            if (p->m <= 0 || p->n <= 0)
                continue;
            jobs[used].p = *p;
            jobs[used].first = tiles;
            jobs[used].across = vd_ceil(p->n, TILE);
            tiles += vd_ceil(p->m, TILE) * jobs[used++].across;
        }
        if (used == 0)
            return;
        void *there = vd_lane_scratch(lane, sizeof jobs);
        if (!there)
            return;
        vd_lane_upload(lane, there, jobs, static_cast<size_t>(used) * sizeof *jobs);
        VD_LAUNCH(grouped, static_cast<unsigned>(tiles), SIDE * SIDE,
                  static_cast<const vd_job *>(there), used, ta, tb, beta);
    }
}

// ---- layers -------------------------------------------------------------------------------------

static __global__ void repeat_row(const float *row, float *y, int n, size_t count)
{
    for (VD_EACH(i, count))
        y[i] = row[i % n];
}

static void fill_rows(const vd_real *row, vd_real *y, int rows, int n)
{
    size_t count = static_cast<size_t>(rows) * static_cast<size_t>(n);
    VD_LAUNCH(repeat_row, vd_blocks(count, 256), 256, row, y, n, count);
}

static void linear(const vd_real *x, const vd_real *w, const vd_real *b, vd_real *y, int rows,
                   int in, int out)
{
    if (b)
        fill_rows(b, y, rows, out);
    vd_cuda_gemm(false, true, rows, out, in, 1, x, in, w, in, b ? 1 : 0, y, out);
}

enum { SUM_COLUMNS = 32, SUM_ROWS = 8, SUM_CHUNK = 512 };

// sum[column] += x[rows of a chunk, column]
static __global__ void sum_columns(const float *x, int rows, int columns, float *sum)
{
    __shared__ float part[SUM_ROWS][SUM_COLUMNS];
    int tx = threadIdx.x % SUM_COLUMNS, ty = threadIdx.x / SUM_COLUMNS;
    int column = blockIdx.x * SUM_COLUMNS + tx, from = blockIdx.y * SUM_CHUNK;
    int to = from + SUM_CHUNK < rows ? from + SUM_CHUNK : rows;
    float s = 0;
    if (column < columns)
        for (int r = from + ty; r < to; r += SUM_ROWS)
            s += x[static_cast<size_t>(r) * columns + column];
    part[ty][tx] = s;
    __syncthreads();
    if (ty == 0 && column < columns) {
        for (int r = 1; r < SUM_ROWS; r++)
            s += part[r][tx];
        atomicAdd(sum + column, s);
    }
}

void vd_cuda_linear_backward(const vd_real *x, const vd_real *w, const vd_real *dy, vd_real *dx,
                             vd_real beta, vd_real *dw, vd_real *db, int rows, int in, int out)
{
    if (rows <= 0)
        return;
    if (dx)
        vd_cuda_gemm(false, false, rows, in, out, 1, dy, out, w, in, beta, dx, in);
    if (dw)
        vd_cuda_gemm(true, false, out, in, rows, 1, dy, out, x, in, 1, dw, in);
    if (db)
        VD_LAUNCH(sum_columns,
                  dim3(static_cast<unsigned>(vd_ceil(out, SUM_COLUMNS)),
                       static_cast<unsigned>(vd_ceil(rows, SUM_CHUNK))),
                  SUM_COLUMNS * SUM_ROWS, dy, rows, out, db);
}

static void set_precision(vd_precision p)
{
    precision = p;
}

void vd_cuda_matrix(vd_backend *table)
{
    table->precision = set_precision;
    table->gemm = vd_cuda_gemm;
    table->products = products;
    table->fill_rows = fill_rows;
    table->linear = linear;
    table->linear_backward = vd_cuda_linear_backward;
}
