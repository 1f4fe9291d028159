// Attention 1, question -> history rounds, and the plain softmax of rows.
#include "cuda/device.cuh"

enum { THREADS = 256, WARPS = THREADS / VD_WARP };
enum { ENTRIES = 16 }; // that a block of a question scores at a time, a warp each

// Dropout's factor of number i of the product of question n and entry r of those it sees; the index
// as on the CPU.
static __device__ __forceinline__ float pair_factor(const vd_geometry &span, int hidden,
                                                    vd_dropout drop, int n, int r, int i)
{
    uint32_t pair =
        static_cast<uint32_t>(n) * static_cast<uint32_t>(span.most) + static_cast<uint32_t>(r);
    return vd_dropout_factor(drop, pair * static_cast<uint32_t>(hidden) + static_cast<uint32_t>(i));
}

// ---- forward ------------------------------------------------------------------------------------

// A block a question: scores by a warp an entry, their softmax, the weighted sum of entries.
static __global__ void __launch_bounds__(ENTRIES *VD_WARP)
    context_kernel(vd_geometry span, int hidden, const float *fq, const float *fh, const float *h,
                   const float *w, const float *b, vd_dropout drop, float *a, float *c)
{
    int n = blockIdx.x, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    int first = span.rows.entry_start[span.rows.dialog[n]], seen = span.rows.seen[n];
    size_t size = static_cast<size_t>(hidden);
    float *row = a + static_cast<size_t>(n) * span.most;
    const float *q = fq + n * size;
    for (int r = warp; r < seen; r += blockDim.x / VD_WARP) {
        const float *entry = fh + (first + r) * size;
        float sum = 0;
        for (int i = lane; i < hidden; i += VD_WARP)
            sum += w[i] * q[i] * entry[i] * pair_factor(span, hidden, drop, n, r, i);
        sum = vd_warp_sum(sum);
        if (lane == 0)
            row[r] = sum + b[0];
    }
    for (int r = seen + threadIdx.x; r < span.most; r += blockDim.x)
        row[r] = 0;
    __syncthreads();
    if (warp == 0)
        vd_warp_softmax(row, row, seen, lane);
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * hidden; i += blockDim.x) {
        float sum = 0;
        for (int r = 0; r < seen; r++)
            sum += row[r] * h[(first + r) * 2 * size + i];
        c[n * 2 * size + i] = sum;
    }
}

static void context_attention(const vd_geometry *span, int hidden, const vd_real *fq,
                              const vd_real *fh, const vd_real *h, const vd_score_weights *score,
                              vd_real rate, uint64_t key, vd_real *a, vd_real *c)
{
    VD_LAUNCH(context_kernel, static_cast<unsigned>(span->questions), ENTRIES * VD_WARP, *span,
              hidden, fq, fh, h, score->w, score->b, vd_dropout_make(rate, key), a, c);
}

// ---- backward -----------------------------------------------------------------------------------

// A block a question: the scores' gradient, that of the question's projection, and the question's
// share of the score layer's.
static __global__ void context_question_kernel(vd_geometry span, int hidden, const float *fq,
                                               const float *fh, const float *h, const float *w,
                                               vd_dropout drop, const float *a, float *da,
                                               const float *dc, float *dfq, float *dw, float *db)
{
    int n = blockIdx.x, lane = threadIdx.x % VD_WARP, warp = threadIdx.x / VD_WARP;
    int first = span.rows.entry_start[span.rows.dialog[n]], seen = span.rows.seen[n];
    size_t size = static_cast<size_t>(hidden);
    const float *row = a + static_cast<size_t>(n) * span.most, *d = dc + n * 2 * size;
    float *drow = da + static_cast<size_t>(n) * span.most;
    for (int r = warp; r < seen; r += WARPS) {
        float sum = 0;
        for (int i = lane; i < 2 * hidden; i += VD_WARP)
            sum += d[i] * h[(first + r) * 2 * size + i];
        sum = vd_warp_sum(sum);
        if (lane == 0)
            drow[r] += sum;
    }
    __syncthreads();
    if (warp == 0)
        vd_warp_softmax_backward(row, drow, seen, lane);
    __syncthreads();
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float sum = 0;
        for (int r = 0; r < seen; r++)
            sum += drow[r] * pair_factor(span, hidden, drop, n, r, i) * fh[(first + r) * size + i];
        dfq[n * size + i] += sum * w[i];
        atomicAdd(dw + i, sum * fq[n * size + i]);
    }
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int r = 0; r < seen; r++)
            sum += drow[r];
        atomicAdd(db, sum);
    }
}

// A block an entry (dialog, index): the sum of the gradients from all questions that see it.
static __global__ void context_entry_kernel(vd_geometry span, int hidden, const float *fq,
                                            const float *w, vd_dropout drop, const float *a,
                                            const float *da, const float *dc, float *dfh, float *dh)
{
    int b = blockIdx.x, r = blockIdx.y;
    int first = span.rows.entry_start[b];
    if (first + r >= span.rows.entry_start[b + 1])
        return;
    int from = span.rows.question_start[b], to = span.rows.question_start[b + 1];
    size_t size = static_cast<size_t>(hidden), entry = static_cast<size_t>(first + r);
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float sum = 0;
        for (int n = from; n < to; n++)
            if (r < span.rows.seen[n])
                sum += da[static_cast<size_t>(n) * span.most + r] * w[i] * fq[n * size + i] *
                       pair_factor(span, hidden, drop, n, r, i);
        dfh[entry * size + i] += sum;
    }
    for (int i = threadIdx.x; i < 2 * hidden; i += THREADS) {
        float sum = 0;
        for (int n = from; n < to; n++)
            if (r < span.rows.seen[n])
                sum += a[static_cast<size_t>(n) * span.most + r] * dc[n * 2 * size + i];
        dh[entry * 2 * size + i] += sum;
    }
}

static void context_attention_backward(const vd_geometry *span, int hidden, const vd_real *fq,
                                       const vd_real *fh, const vd_real *h,
                                       const vd_score_weights *score,
                                       const vd_score_weights *dscore, vd_real rate, uint64_t key,
                                       const vd_real *a, vd_real *da, const vd_real *dc,
                                       vd_real *dfq, vd_real *dfh, vd_real *dh)
{
    vd_dropout drop = vd_dropout_make(rate, key);
    VD_LAUNCH(context_question_kernel, static_cast<unsigned>(span->questions), THREADS, *span,
              hidden, fq, fh, h, score->w, drop, a, da, dc, dfq, dscore->w, dscore->b);
    VD_LAUNCH(context_entry_kernel,
              dim3(static_cast<unsigned>(span->dialogs), static_cast<unsigned>(span->most)),
              THREADS, *span, hidden, fq, score->w, drop, a, da, dc, dfh, dh);
}

// ---- softmax ------------------------------------------------------------------------------------

static __global__ void softmax_kernel(float *x, int columns, int stride)
{
    __shared__ float room[WARPS];
    float *row = x + static_cast<size_t>(blockIdx.x) * stride;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += THREADS)
        most = fmaxf(most, row[i]);
    most = vd_block_reduce<vd_larger>(most, room);
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        row[i] = expf(row[i] - most);
        sum += row[i];
    }
    sum = vd_block_sum(sum, room);
    for (int i = threadIdx.x; i < columns; i += THREADS)
        row[i] /= sum;
}

static void softmax(vd_real *x, int rows, int columns, int stride)
{
    if (columns > 0)
        VD_LAUNCH(softmax_kernel, static_cast<unsigned>(rows), THREADS, x, columns, stride);
}

void vd_cuda_context(vd_backend *table)
{
    table->softmax = softmax;
    table->context_attention = context_attention;
    table->context_attention_backward = context_attention_backward;
}
