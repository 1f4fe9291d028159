// Matrix products: cuBLAS, one warp a result where a vector is multiplied, and one launch for many
// small products of different sizes.
#include "cuda/device.cuh"

static vd_precision precision = VD_PRECISION_FP32;

// ---- plain products -----------------------------------------------------------------------------

static void clear_rows(float *c, int rows, int n, int ldc)
{
    vd_for_rows(__func__, rows, n, [=] __device__(size_t r) {
        for (VD_EACH_COLUMN(j, n))
            c[r * ldc + j] = 0;
    });
}

// For at most ROWS rows m: y (m, n) = beta y + x w^T + b; w (n, k), b (n) or NULL. A warp
// makes COLUMNS columns, and waits for AHEAD loads of each at a time, so that w is read as fast as
// it can be. Lane r ends row r.
template <int ROWS, int COLUMNS, int AHEAD>
static __global__ void rows_product(const float *x, int ldx, int m, const float *w, int ldw, int n,
                                    int k, const float *b, float beta, float *y, int ldy)
{
    int lane = threadIdx.x % VD_WARP, warps = blockDim.x / VD_WARP;
    int first = (blockIdx.x * warps + threadIdx.x / VD_WARP) * COLUMNS;
    bool four = ldw % 4 == 0 && (m == 1 || ldx % 4 == 0) && vd_fits_four(x) && vd_fits_four(w);
    int fours = four ? k / 4 : 0; // numbers a load
    if (first >= n)
        return;
    const float *at[COLUMNS];
    float sum[ROWS][COLUMNS] = {};
    VD_UNROLL
    for (int c = 0; c < COLUMNS; c++)
        at[c] = w + static_cast<size_t>(first + c < n ? first + c : n - 1) * ldw;
    for (int from = lane; from - lane < fours; from += AHEAD * VD_WARP) {
        float4 p[COLUMNS][AHEAD];
        VD_UNROLL
        for (int c = 0; c < COLUMNS; c++) {
            VD_UNROLL
            for (int a = 0; a < AHEAD; a++) {
                int i = from + a * VD_WARP;
                p[c][a] = i < fours ? reinterpret_cast<const float4 *>(at[c])[i] : float4();
            }
        }
        VD_UNROLL
        for (int r = 0; r < ROWS; r++) {
            const float *row = x + static_cast<size_t>(r < m ? r : m - 1) * ldx;
            VD_UNROLL
            for (int a = 0; a < AHEAD; a++) {
                int i = from + a * VD_WARP;
                float4 q = reinterpret_cast<const float4 *>(row)[i < fours ? i : fours - 1];
                VD_UNROLL
                for (int c = 0; c < COLUMNS; c++)
                    sum[r][c] +=
                        p[c][a].x * q.x + p[c][a].y * q.y + p[c][a].z * q.z + p[c][a].w * q.w;
            }
        }
    }
    for (int i = 4 * fours + lane; i < k; i += VD_WARP) {
        VD_UNROLL
        for (int r = 0; r < ROWS; r++) {
            float of = r < m ? x[static_cast<size_t>(r) * ldx + i] : 0;
            VD_UNROLL
            for (int c = 0; c < COLUMNS; c++)
                sum[r][c] += at[c][i] * of;
        }
    }
    VD_UNROLL
    for (int c = 0; c < COLUMNS; c++) {
        float own = 0;
        VD_UNROLL
        for (int r = 0; r < ROWS; r++) {
            float all = vd_warp_sum(sum[r][c]);
            own = lane == r ? all : own;
        }
        if (lane >= m || first + c >= n)
            continue;
        float *to = y + static_cast<size_t>(lane) * ldy + first + c;
        *to = own + (b ? b[first + c] : 0) + (beta == 0 ? 0 : beta * *to);
    }
}

enum { MOST_ROWS = 16, ROW_THREADS = 128 };

// Whether a product of so many rows is made so.
static bool are_few(int m)
{
    return m <= (precision == VD_PRECISION_FP32 ? MOST_ROWS : 1);
}

static void gemv_rows(int m, int n, int k, const float *x, int ldx, const float *w, int ldw,
                      const float *b, float beta, float *y, int ldy)
{
#define ROWS_PRODUCT(ROWS, COLUMNS, AHEAD)                                                         \
    VD_LAUNCH((rows_product<ROWS, COLUMNS, AHEAD>),                                                \
              static_cast<unsigned>(vd_ceil(n, ROW_THREADS / VD_WARP * (COLUMNS))), ROW_THREADS,   \
              x, ldx, m, w, ldw, n, k, b, beta, y, ldy)
    if (m == 1)
        ROWS_PRODUCT(1, 1, 8);
    else if (m <= 4)
        ROWS_PRODUCT(4, 1, 4);
    else if (m <= 8)
        ROWS_PRODUCT(8, 2, 4);
    else
        ROWS_PRODUCT(MOST_ROWS, 2, 2);
#undef ROWS_PRODUCT
}

// ---- operands -----------------------------------------------------------------------------------

bool vd_operands_are_narrow()
{
    return precision == VD_PRECISION_BF16;
}

static size_t copy_room(int rows, int columns)
{
    size_t numbers = static_cast<size_t>(rows) * vd_operand_ld<__nv_bfloat16>(columns);
    return (numbers * sizeof(__nv_bfloat16) + 255) / 256 * 256;
}

static vd_operand narrow_copy(const float *x, int rows, int columns, int ld, unsigned char **room)
{
    __nv_bfloat16 *y = reinterpret_cast<__nv_bfloat16 *>(*room);
    int y_ld = vd_operand_ld<__nv_bfloat16>(columns);
    if (columns % 4 == 0 && ld % 4 == 0 && vd_fits_four(x))
        vd_for_rows(__func__, rows, columns / 4, [=] __device__(size_t r) {
            for (VD_EACH_COLUMN(j, columns / 4)) {
                vd_wide<float, VD_FOUR> of = vd_load<VD_FOUR>(x + r * ld + VD_FOUR * j);
                vd_wide<__nv_bfloat16, VD_FOUR> to;
                VD_UNROLL
                for (int k = 0; k < VD_FOUR; k++)
                    to.x[k] = __float2bfloat16(of.x[k]);
                vd_store<VD_FOUR>(y + r * y_ld + VD_FOUR * j, to);
            }
        });
    else
        vd_for_rows(__func__, rows, columns, [=] __device__(size_t r) {
            for (VD_EACH_COLUMN(j, columns))
                y[r * y_ld + j] = __float2bfloat16(x[r * ld + j]);
        });
    *room += copy_room(rows, columns);
    return vd_operand_at(y, y_ld);
}

size_t vd_operand_room(int rows, int columns)
{
    return vd_operands_are_narrow() ? copy_room(rows, columns) : 0;
}

vd_operand vd_operand_of(const float *x, int rows, int columns, int ld, unsigned char **room)
{
    return vd_operands_are_narrow() ? narrow_copy(x, rows, columns, ld, room)
                                    : vd_operand_at(x, ld);
}

// cuBLAS counts columns first: the row-major c = a b is its c^T = b^T a^T. Sums are kept in float.
static void multiply(bool ta, bool tb, int m, int n, int k, vd_operand a, vd_operand b, float beta,
                     float *c, int ldc)
{
    vd_stream *stream = vd_stream_get();
    cublasHandle_t blas;
    const float alpha = 1;
    cudaDataType_t type = a.narrow ? CUDA_R_16BF : CUDA_R_32F;
    cublasComputeType_t compute = a.narrow || precision == VD_PRECISION_FP32
                                      ? CUBLAS_COMPUTE_32F
                                      : CUBLAS_COMPUTE_32F_FAST_TF32;
    if (stream && vd_stream_blas(stream, &blas))
        vd_check_blas(cublasGemmEx(blas, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   ta ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha, b.x, type, b.ld,
                                   a.x, type, a.ld, &beta, c, CUDA_R_32F, ldc, compute,
                                   CUBLAS_GEMM_DEFAULT),
                      "a matrix product");
}

void vd_cuda_multiply(bool ta, bool tb, int m, int n, int k, vd_operand a, vd_operand b, float beta,
                      float *c, int ldc)
{
    if (a.narrow && m > 0 && n > 0 && k > 0)
        multiply(ta, tb, m, n, k, a, b, beta, c, ldc);
    else if (!a.narrow)
        vd_cuda_gemm(ta, tb, m, n, k, static_cast<const float *>(a.x), a.ld,
                     static_cast<const float *>(b.x), b.ld, beta, c, ldc);
}

// Small products are not worth the conversion.
static bool worth_narrowing(int m, int n, int k)
{
    return vd_operands_are_narrow() && m >= 64 && n >= 64 && k >= 64;
}

static void multiply_narrow(vd_stream *stream, bool ta, bool tb, int m, int n, int k,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc)
{
    int a_rows = ta ? k : m, a_columns = ta ? m : k, b_rows = tb ? n : k, b_columns = tb ? k : n;
    unsigned char *room = static_cast<unsigned char *>(
        vd_stream_scratch(stream, copy_room(a_rows, a_columns) + copy_room(b_rows, b_columns)));
    if (!room)
        return;
    vd_operand x = narrow_copy(a, a_rows, a_columns, lda, &room);
    multiply(ta, tb, m, n, k, x, narrow_copy(b, b_rows, b_columns, ldb, &room), beta, c, ldc);
}

void vd_cuda_gemm(bool ta, bool tb, int m, int n, int k, const vd_real *a, int lda,
                  const vd_real *b, int ldb, vd_real beta, vd_real *c, int ldc)
{
    vd_stream *stream = vd_stream_get();
    if (!stream || m <= 0 || n <= 0 || (k <= 0 && beta == 1))
        return;
    if (k <= 0)
        clear_rows(c, m, n, ldc);
    else if (!ta && tb && are_few(m))
        gemv_rows(m, n, k, a, lda, b, ldb, NULL, beta, c, ldc);
    else if (worth_narrowing(m, n, k))
        multiply_narrow(stream, ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc);
    else
        multiply(ta, tb, m, n, k, vd_operand_at(a, lda), vd_operand_at(b, ldb), beta, c, ldc);
}

// ---- many products ------------------------------------------------------------------------------

enum {
    TILE = 32,
    STEP = 16,
    SIDE = 16
}; // a block of SIDE x SIDE threads makes TILE x TILE numbers

enum { MOST_JOBS = 4096 };

struct vd_jobs {
    int first[MOST_JOBS]; // a job's first tile of all
    vd_product p[MOST_JOBS];
};

static __device__ __forceinline__ float element(const float *x, int ld, bool transposed, int row,
                                                int column, int rows, int columns)
{
    if (row >= rows || column >= columns)
        return 0;
    return transposed ? x[static_cast<size_t>(column) * ld + row]
                      : x[static_cast<size_t>(row) * ld + column];
}

// Results may overlap where beta is 1.
static __global__ void grouped(const int *first, const vd_product *list, int count, bool ta,
                               bool tb, float beta)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    int tile = blockIdx.x, low = 0, high = count - 1;
    while (low < high) { // the last job that begins at or before this tile
        int middle = (low + high + 1) / 2;
        if (first[middle] <= tile)
            low = middle;
        else
            high = middle - 1;
    }
    const vd_product p = list[low];
    int across = (p.n + TILE - 1) / TILE;
    int row = (tile - first[low]) / across * TILE, column = (tile - first[low]) % across * TILE;
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
            if (beta == 1)
                atomicAdd(at, sum[y][x]);
            else
                *at = sum[y][x] + (beta == 0 ? 0 : beta * *at);
        }
}

static void products(bool ta, bool tb, vd_real beta, const vd_product *list, int count)
{
    vd_stream *stream = vd_stream_get();
    if (!stream || count < 1)
        return;
    if (count == 1) {
        vd_cuda_gemm(ta, tb, list->m, list->n, list->k, list->a, list->lda, list->b, list->ldb,
                     beta, list->c, list->ldc);
        return;
    }
    static thread_local vd_jobs jobs;
    for (int from = 0; from < count;) {
        int tiles = 0, used = 0;
        for (; from < count && used < MOST_JOBS; from++) {
            const vd_product *p = list + from;
            if (p->m <= 0 || p->n <= 0)
                continue;
            jobs.p[used] = *p;
            jobs.first[used++] = tiles;
            tiles += vd_ceil(p->m, TILE) * vd_ceil(p->n, TILE);
        }
        vd_jobs *there = static_cast<vd_jobs *>(vd_stream_scratch(stream, sizeof jobs));
        if (used == 0 || !there)
            return;
        // One copy: the numbers of tiles are moved to just before the products.
        int *first = there->first + (MOST_JOBS - used);
        memmove(jobs.first + (MOST_JOBS - used), jobs.first,
                static_cast<size_t>(used) * sizeof *jobs.first);
        vd_stream_upload(stream, first, jobs.first + (MOST_JOBS - used),
                         static_cast<size_t>(used) * (sizeof *jobs.first + sizeof *jobs.p));
        VD_LAUNCH(grouped, static_cast<unsigned>(tiles), SIDE * SIDE, first, there->p, used, ta, tb,
                  beta);
    }
}

// ---- layers -------------------------------------------------------------------------------------

void vd_cuda_linear(const vd_real *x, const vd_matrix *w, const vd_real *b, vd_real *y, int rows)
{
    if (rows > 0 && are_few(rows)) {
        gemv_rows(rows, w->rows, w->columns, x, w->columns, vd_matrix_reals(w), w->stride, b, 0, y,
                  w->rows);
        return;
    }
    if (b)
        vd_cuda_copy_rows(b, 0, NULL, rows, w->rows, y, w->rows);
    vd_cuda_gemm(false, true, rows, w->rows, w->columns, x, w->columns, vd_matrix_reals(w),
                 w->stride, b ? 1 : 0, y, w->rows);
}

enum { SUM_COLUMNS = 32, SUM_ROWS = 8, SUM_CHUNK = 512 };

// sum[column] += x[rows of a chunk, column]
template <typename F>
static __global__ void sum_kernel(const F *x, int rows, int columns, float *sum, float *also)
{
    __shared__ float part[SUM_ROWS][SUM_COLUMNS];
    int tx = threadIdx.x % SUM_COLUMNS, ty = threadIdx.x / SUM_COLUMNS;
    int column = blockIdx.x * SUM_COLUMNS + tx, from = blockIdx.y * SUM_CHUNK;
    int to = from + SUM_CHUNK < rows ? from + SUM_CHUNK : rows;
    float s = 0;
    if (column < columns)
        for (int r = from + ty; r < to; r += SUM_ROWS)
            s += vd_from(x[static_cast<size_t>(r) * columns + column]);
    part[ty][tx] = s;
    __syncthreads();
    if (ty == 0 && column < columns) {
        for (int r = 1; r < SUM_ROWS; r++)
            s += part[r][tx];
        atomicAdd(sum + column, s);
        if (also)
            atomicAdd(also + column, s);
    }
}

template <typename F>
void vd_cuda_sum_columns(const F *x, int rows, int columns, float *sum, float *also)
{
    VD_LAUNCH(sum_kernel<F>,
              dim3(static_cast<unsigned>(vd_ceil(columns, SUM_COLUMNS)),
                   static_cast<unsigned>(vd_ceil(rows, SUM_CHUNK))),
              SUM_COLUMNS * SUM_ROWS, x, rows, columns, sum, also);
}

template void vd_cuda_sum_columns(const float *x, int rows, int columns, float *sum, float *also);
template void vd_cuda_sum_columns(const __nv_bfloat16 *x, int rows, int columns, float *sum,
                                  float *also);

// dy is converted once for both products.
static void backward_narrow(vd_stream *stream, const float *x, const vd_matrix *w, const float *dy,
                            float *dx, int dx_stride, float beta, const vd_matrix *dw, int rows)
{
    int in = w->columns, out = w->rows;
    unsigned char *room = static_cast<unsigned char *>(
        vd_stream_scratch(stream, copy_room(rows, out) + (dx ? copy_room(out, in) : 0) +
                                      (dw ? copy_room(rows, in) : 0)));
    if (!room)
        return;
    vd_operand d = narrow_copy(dy, rows, out, out, &room);
    if (dx)
        multiply(false, false, rows, in, out, d,
                 narrow_copy(vd_matrix_reals(w), out, in, w->stride, &room), beta, dx, dx_stride);
    if (dw)
        multiply(true, false, out, in, rows, d, narrow_copy(x, rows, in, in, &room), 1,
                 vd_matrix_reals(dw), dw->stride);
}

void vd_cuda_linear_backward(const vd_real *x, const vd_matrix *w, const vd_real *dy, vd_real *dx,
                             int dx_stride, vd_real beta, const vd_matrix *dw, vd_real *db,
                             int rows)
{
    int in = w->columns, out = w->rows;
    vd_stream *stream = vd_stream_get();
    if (!stream || rows <= 0)
        return;
    if (worth_narrowing(rows, in, out)) {
        backward_narrow(stream, x, w, dy, dx, dx_stride, beta, dw, rows);
    } else {
        if (dx)
            vd_cuda_gemm(false, false, rows, in, out, dy, out, vd_matrix_reals(w), w->stride, beta,
                         dx, dx_stride);
        if (dw)
            vd_cuda_gemm(true, false, out, in, rows, dy, out, x, in, 1, vd_matrix_reals(dw),
                         dw->stride);
    }
    if (db)
        vd_cuda_sum_columns(dy, rows, out, db, NULL);
}

static void set_precision(vd_precision p)
{
    precision = p;
}

void vd_cuda_matrix(vd_backend *table)
{
    table->precision = set_precision;
    table->products = products;
    table->adds_overlapping = true;
    table->linear = vd_cuda_linear;
    table->linear_backward = vd_cuda_linear_backward;
}
