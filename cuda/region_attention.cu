// Attention 4, the answer's regions, and the pooling by it.
#include "cuda/device.cuh"

enum { THREADS = 256, WARPS = THREADS / VD_WARP, POOL_BLOCKS = 5 };
enum { REGIONS = 32 }; // that a block of a question scores at a time, a warp each

// A block a question; a warp a (question, region) row: z = l2norm(fm * fc), its score.
static __global__ void __launch_bounds__(REGIONS *VD_WARP)
    region_kernel(const int *start, int hidden, const float *fm, const float *fc, const float *w,
                  const float *b, vd_dropout drop, float *z, float *norm, float *g)
{
    int n = blockIdx.x, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    int from = start[n], to = start[n + 1];
    size_t h = static_cast<size_t>(hidden);
    const float *c = fc + n * h;
    for (int k = from + warp; k < to; k += blockDim.x / VD_WARP) {
        const float *m = fm + k * h;
        float *row = z + k * h, square = 0, sum = 0;
        for (int i = lane; i < hidden; i += VD_WARP)
            square += m[i] * c[i] * (m[i] * c[i]);
        float length = fmaxf(sqrtf(vd_warp_sum(square)), 1e-12f);
        uint32_t first = static_cast<uint32_t>(k) * static_cast<uint32_t>(hidden);
        for (int i = lane; i < hidden; i += VD_WARP) {
            row[i] = m[i] * c[i] / length;
            sum += w[i] * row[i] * vd_dropout_factor(drop, first + static_cast<uint32_t>(i));
        }
        sum = vd_warp_sum(sum);
        if (lane == 0) {
            norm[k] = length;
            g[k] = sum + b[0];
        }
    }
    __syncthreads();
    if (warp == 0)
        vd_warp_softmax(g + from, g + from, to - from, lane);
}

static void region_attention(const vd_geometry *span, int hidden, const vd_real *fm,
                             const vd_real *fc, const vd_score_weights *score, vd_real rate,
                             uint64_t key, vd_real *z, vd_real *norm, vd_real *g)
{
    VD_LAUNCH(region_kernel, static_cast<unsigned>(span->questions), REGIONS * VD_WARP,
              span->rows.region_start, hidden, fm, fc, score->w, score->b,
              vd_dropout_make(rate, key), z, norm, g);
}

// Gradient of z = v / |v|: (dz - z (z . dz)) / |v|, then of v = fm * fc; and the score layer's.
static __global__ void region_backward_kernel(const int *start, int hidden, const float *fm,
                                              const float *fc, const float *w, vd_dropout drop,
                                              const float *z, const float *norm, const float *g,
                                              float *dg, float *dfm, float *dfc, float *dw,
                                              float *db)
{
    int n = blockIdx.x, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    int from = start[n], to = start[n + 1];
    size_t h = static_cast<size_t>(hidden);
    const float *c = fc + n * h;
    if (warp == 0)
        vd_warp_softmax_backward(g + from, dg + from, to - from, lane);
    __syncthreads();
    for (int k = from + warp; k < to; k += WARPS) {
        const float *row = z + k * h;
        float *dv = dfm + k * h, along = 0;
        uint32_t first = static_cast<uint32_t>(k) * static_cast<uint32_t>(hidden);
        for (int i = lane; i < hidden; i += VD_WARP) {
            dv[i] = dg[k] * w[i] * vd_dropout_factor(drop, first + static_cast<uint32_t>(i));
            along += row[i] * dv[i];
        }
        along = vd_warp_sum(along);
        for (int i = lane; i < hidden; i += VD_WARP)
            dv[i] = (dv[i] - row[i] * along) / norm[k];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float context = 0, weight = 0;
        for (int k = from; k < to; k++) {
            size_t at = k * h + i;
            uint32_t index =
                static_cast<uint32_t>(k) * static_cast<uint32_t>(hidden) + static_cast<uint32_t>(i);
            context += dfm[at] * fm[at];
            dfm[at] *= c[i];
            weight += dg[k] * z[at] * vd_dropout_factor(drop, index);
        }
        dfc[n * h + i] += context;
        atomicAdd(dw + i, weight);
    }
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = from; k < to; k++)
            sum += dg[k];
        atomicAdd(db, sum);
    }
}

static void region_attention_backward(const vd_geometry *span, int hidden, const vd_real *fm,
                                      const vd_real *fc, const vd_score_weights *score,
                                      const vd_score_weights *dscore, vd_real rate, uint64_t key,
                                      const vd_real *z, const vd_real *norm, const vd_real *g,
                                      vd_real *dg, vd_real *dfm, vd_real *dfc)
{
    VD_LAUNCH(region_backward_kernel, static_cast<unsigned>(span->questions), THREADS,
              span->rows.region_start, hidden, fm, fc, score->w, vd_dropout_make(rate, key), z,
              norm, g, dg, dfm, dfc, dscore->w, dscore->b);
}

// ---- pooling ------------------------------------------------------------------------------------

static __global__ void pool_kernel(const int *start, const float *g, const float *m, int size,
                                   float *y, int y_stride)
{
    int n = blockIdx.y;
    for (VD_EACH(i, static_cast<size_t>(size))) {
        float sum = 0;
        for (int k = start[n]; k < start[n + 1]; k++)
            sum += g[k] * m[static_cast<size_t>(k) * size + i];
        y[static_cast<size_t>(n) * y_stride + i] = sum;
    }
}

static void region_pool(const vd_geometry *span, const vd_real *g, const vd_real *m, int size,
                        vd_real *y, int y_stride)
{
    VD_LAUNCH(
        pool_kernel,
        dim3(vd_blocks(static_cast<size_t>(size), THREADS), static_cast<unsigned>(span->questions)),
        THREADS, span->rows.region_start, g, m, size, y, y_stride);
}

// Some blocks a question, a warp a row.
static __global__ void pool_backward_kernel(const int *start, const float *g, const float *m,
                                            int size, const float *dy, int y_stride, float *dg,
                                            float *dm)
{
    int n = blockIdx.x, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    const float *row = dy + static_cast<size_t>(n) * y_stride;
    for (int k = start[n] + static_cast<int>(blockIdx.y) * WARPS + warp; k < start[n + 1];
         k += static_cast<int>(gridDim.y) * WARPS) {
        size_t at = static_cast<size_t>(k) * size;
        float sum = 0, share = g[k];
        for (int i = lane; i < size; i += VD_WARP) {
            sum += row[i] * m[at + i];
            dm[at + i] += share * row[i];
        }
        sum = vd_warp_sum(sum);
        if (lane == 0)
            dg[k] += sum;
    }
}

static void region_pool_backward(const vd_geometry *span, const vd_real *g, const vd_real *m,
                                 int size, const vd_real *dy, int y_stride, vd_real *dg,
                                 vd_real *dm)
{
    VD_LAUNCH(pool_backward_kernel, dim3(static_cast<unsigned>(span->questions), POOL_BLOCKS),
              THREADS, span->rows.region_start, g, m, size, dy, y_stride, dg, dm);
}

void vd_cuda_region(vd_backend *table)
{
    table->region_attention = region_attention;
    table->region_attention_backward = region_attention_backward;
    table->region_pool = region_pool;
    table->region_pool_backward = region_pool_backward;
}
