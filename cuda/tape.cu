// What networks on a tape are composed of: functions of a number, rows that are copied and
// multiplied, segments of numbers, additive scores, words that are copied, rows that are
// normalised.
#include "cuda/device.cuh"

enum { THREADS = 256, WARPS = THREADS / VD_WARP };

// ---- functions of a number ----------------------------------------------------------------------

static __device__ __forceinline__ float value_of(vd_function f, float x)
{
    switch (f) {
    case VD_TANH:
        return tanhf(x);
    case VD_SIGMOID:
        return vd_sigmoidf(x);
    case VD_RELU:
        return x > 0 ? x : 0;
    case VD_LEAKY_RELU:
        return x > 0 ? x : VD_LEAKY_SLOPE * x;
    case VD_ELU:
        return x > 0 ? x : expm1f(x);
    case VD_GELU:
        return x * 0.5f * (1 + erff(x * 0.70710678f));
    default:
        return fabsf(x);
    }
}

static void map(vd_function f, const vd_real *x, vd_real *y, size_t n)
{
    vd_for_numbers(__func__, n, x, x, y,
                   [=] __device__(size_t, float p, float) { return value_of(f, p); });
}

static void map_backward(vd_function f, const vd_real *x, const vd_real *y, const vd_real *dy,
                         vd_real *dx, size_t n)
{
    vd_for_each(__func__, n,
                [=] __device__(size_t i) { dx[i] += dy[i] * vd_function_slope(f, x[i], y[i]); });
}

static void add_scaled(vd_real *y, vd_real a, const vd_real *x, size_t n)
{
    vd_for_numbers(__func__, n, y, x, y,
                   [=] __device__(size_t, float p, float q) { return p + a * q; });
}

// ---- rows ---------------------------------------------------------------------------------------

static void multiply_rows(const vd_real *x, const int *x_row, const vd_real *y, const int *y_row,
                          int rows, int width, vd_real *z)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        const float *a = x + vd_row_of(x_row, r) * width, *b = y + vd_row_of(y_row, r) * width;
        for (VD_EACH_COLUMN(j, width))
            z[r * width + j] = a[j] * b[j];
    });
}

static void multiply_rows_backward(const vd_real *dz, const vd_real *y, const int *y_row, int rows,
                                   int width, vd_real *dx, const int *x_row)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        const float *b = y + vd_row_of(y_row, r) * width;
        float *to = dx + vd_row_of(x_row, r) * width;
        for (VD_EACH_COLUMN(j, width))
            vd_scatter(to + j, x_row, dz[r * width + j] * b[j]);
    });
}

// ---- segments: a warp each ----------------------------------------------------------------------

template <typename F> static __global__ void each_warp_kernel(int count, F f)
{
    int warps = blockDim.x / VD_WARP;
    for (int s = blockIdx.x * warps + threadIdx.x / VD_WARP; s < count; s += gridDim.x * warps)
        f(s, threadIdx.x % VD_WARP);
}

// f(s, lane) for 0 <= s < count, each by one warp.
template <typename F> static void each_warp(const char *name, int count, F f)
{
    VD_LAUNCH_AS(name, each_warp_kernel<F>, vd_blocks(static_cast<size_t>(count), WARPS), THREADS,
                 count, f);
}

static void softmax_segments(const vd_segments *segments, const vd_real *x, vd_real *y)
{
    vd_segments g = *segments;
    each_warp(__func__, g.count, [=] __device__(int s, int lane) {
        vd_warp_softmax(x + g.start[s], y + g.start[s], g.length[s], lane);
    });
}

static void softmax_segments_backward(const vd_segments *segments, const vd_real *y,
                                      const vd_real *dy, vd_real *dx)
{
    vd_segments g = *segments;
    each_warp(__func__, g.count, [=] __device__(int s, int lane) {
        int first = g.start[s], end = first + g.length[s];
        float sum = 0;
        for (int i = first + lane; i < end; i += VD_WARP)
            sum += y[i] * dy[i];
        sum = vd_warp_sum(sum);
        for (int i = first + lane; i < end; i += VD_WARP)
            dx[i] += y[i] * (dy[i] - sum);
    });
}

static void max_segments(const vd_segments *segments, const vd_real *x, vd_real *y, int *at)
{
    vd_segments g = *segments;
    vd_for_each(__func__, static_cast<size_t>(g.count), [=] __device__(size_t s) {
        int best = -1, first = g.start[s], end = first + g.length[s];
        for (int i = first; i < end; i++)
            if (best < 0 || x[i] > x[best])
                best = i;
        at[s] = best;
        y[s] = best < 0 ? 0 : x[best];
    });
}

static void max_segments_backward(int segments, const int *at, const vd_real *dy, vd_real *dx)
{
    vd_for_each(__func__, static_cast<size_t>(segments), [=] __device__(size_t s) {
        if (at[s] >= 0)
            atomicAdd(dx + at[s], dy[s]);
    });
}

// ---- additive scores: a warp a pair -------------------------------------------------------------

static void additive_scores(const int *query, const int *key, int pairs, int hidden,
                            const vd_real *q, const vd_real *k, const vd_real *v, vd_real *s)
{
    each_warp(__func__, pairs, [=] __device__(int p, int lane) {
        const float *a = q + static_cast<size_t>(query[p]) * hidden;
        const float *b = k + static_cast<size_t>(key[p]) * hidden;
        float sum = 0;
        for (int i = lane; i < hidden; i += VD_WARP)
            sum += v[i] * tanhf(a[i] + b[i]);
        sum = vd_warp_sum(sum);
        if (lane == 0)
            s[p] = sum;
    });
}

static void additive_scores_backward(const int *query, const int *key, int pairs, int hidden,
                                     const vd_real *q, const vd_real *k, const vd_real *v,
                                     const vd_real *ds, vd_real *dq, vd_real *dk, vd_real *dv)
{
    each_warp(__func__, pairs, [=] __device__(int p, int lane) {
        size_t a = static_cast<size_t>(query[p]) * hidden, b = static_cast<size_t>(key[p]) * hidden;
        for (int i = lane; i < hidden; i += VD_WARP) {
            float t = tanhf(q[a + i] + k[b + i]), d = ds[p] * v[i] * (1 - t * t);
            if (dv)
                atomicAdd(dv + i, ds[p] * t);
            if (dq)
                atomicAdd(dq + a + i, d);
            if (dk)
                atomicAdd(dk + b + i, d);
        }
    });
}

// ---- words that are copied: a warp a word, a thread what an answer's words look at --------------

// Scores become shares; the logarithm of their sum.
static __device__ double share_out(float *share, int count, int lane)
{
    float largest = -INFINITY;
    double sum = 0;
    for (int j = lane; j < count; j += VD_WARP)
        largest = fmaxf(largest, share[j]);
    largest = vd_warp_reduce<vd_larger>(largest);
    for (int j = lane; j < count; j += VD_WARP)
        sum += exp(static_cast<double>(share[j]) - largest);
    sum = vd_warp_sum(sum);
    for (int j = lane; j < count; j += VD_WARP)
        share[j] = static_cast<float>(exp(static_cast<double>(share[j]) - largest) / sum);
    return largest + log(sum);
}

static void copy_log(const vd_copied_words *copies, vd_real *log_p)
{
    vd_copied_words c = *copies;
    each_warp(__func__, c.pairs.count, [=] __device__(int r, int lane) {
        int first = c.pairs.start[r], n = c.pairs.length[r];
        double p_gen = 1, copied = 0, against = 0;
        if (n > 0) {
            against = c.gate ? -static_cast<double>(c.gate[r])
                             : share_out(c.share + first, n, lane) - c.log_sum[r];
            p_gen = 1 / (1 + exp(against));
        }
        for (int j = first + lane; c.hit && j < first + n; j += VD_WARP)
            copied += c.hit[j] ? c.share[j] : 0;
        copied = vd_warp_sum(copied);
        if (lane > 0)
            return;
        double generated = c.hit && c.known[r] ? exp(static_cast<double>(log_p[r])) : 0;
        c.word[r] = vd_copied_of(p_gen, generated, copied);
        if (c.hit)
            log_p[r] = static_cast<float>(log(c.word[r].p));
    });
}

static void copy_gradient(const vd_copied_words *copies, vd_real scale, vd_real *dshare,
                          vd_real *dgate, vd_real *whole, vd_real *hit)
{
    vd_copied_words c = *copies;
    each_warp(__func__, c.pairs.count, [=] __device__(int r, int lane) {
        const vd_copied_word w = c.word[r];
        int first = c.pairs.start[r], n = c.pairs.length[r];
        for (int j = first + lane; j < first + n; j += VD_WARP)
            dshare[j] +=
                static_cast<float>(scale * (c.gate ? vd_copied_dshare(w, c.hit[j])
                                                   : vd_copied_dscore(w, c.share[j], c.hit[j])));
        if (lane > 0)
            return;
        hit[r] = static_cast<float>(w.p_gen * w.generated / w.p);
        whole[r] = c.gate ? hit[r] : static_cast<float>(w.p_gen);
        if (c.gate)
            dgate[r] += static_cast<float>(scale * vd_copied_dgate(w));
    });
}

static void coverage(const vd_packed *answers, const vd_segments *pairs, const vd_real *x,
                     vd_real scale, vd_real *dx, double *sum)
{
    vd_packed_rows rows = answers->rows;
    vd_segments g = *pairs;
    size_t longest = static_cast<size_t>(g.longest);
    if (sum)
        vd_cuda_zero(sum, sizeof *sum);
    vd_for_each(__func__, answers->sequences * longest, [=] __device__(size_t i) {
        int row = rows.start[i / longest], words = rows.length[i / longest];
        int j = static_cast<int>(i % longest);
        if (words == 0 || j >= g.length[row])
            return;
        size_t at = static_cast<size_t>(g.start[row]) + j;
        double of = vd_cover(x + at, words, g.length[row], scale, dx ? dx + at : NULL);
        if (sum)
            atomicAdd(sum, of);
    });
}

// ---- rows that are normalised: a warp each ------------------------------------------------------

static void layer_norm(const vd_real *x, const vd_real *gain, const vd_real *bias, int rows,
                       int width, vd_real *normal, vd_real *inverse, vd_real *y)
{
    each_warp(__func__, rows, [=] __device__(int r, int lane) {
        size_t at = static_cast<size_t>(r) * width;
        float mean = 0, square = 0;
        for (int i = lane; i < width; i += VD_WARP)
            mean += x[at + i];
        mean = vd_warp_sum(mean) / static_cast<float>(width);
        for (int i = lane; i < width; i += VD_WARP)
            square += (x[at + i] - mean) * (x[at + i] - mean);
        float scale = 1 / sqrtf(vd_warp_sum(square) / static_cast<float>(width) + 1e-5f);
        if (lane == 0)
            inverse[r] = scale;
        for (int i = lane; i < width; i += VD_WARP) {
            float z = (x[at + i] - mean) * scale;
            normal[at + i] = z;
            y[at + i] = z * gain[i] + bias[i];
        }
    });
}

static void layer_norm_backward(const vd_real *dy, const vd_real *gain, const vd_real *normal,
                                const vd_real *inverse, int rows, int width, vd_real *dx,
                                vd_real *dgain, vd_real *dbias)
{
    each_warp(__func__, rows, [=] __device__(int r, int lane) {
        size_t at = static_cast<size_t>(r) * width;
        float mean = 0, along = 0;
        for (int i = lane; i < width; i += VD_WARP) {
            mean += dy[at + i] * gain[i];
            along += dy[at + i] * gain[i] * normal[at + i];
        }
        mean = vd_warp_sum(mean) / static_cast<float>(width);
        along = vd_warp_sum(along) / static_cast<float>(width);
        for (int i = lane; i < width; i += VD_WARP) {
            if (dx)
                dx[at + i] += inverse[r] * (dy[at + i] * gain[i] - mean - normal[at + i] * along);
            if (dgain)
                atomicAdd(dgain + i, dy[at + i] * normal[at + i]);
            if (dbias)
                atomicAdd(dbias + i, dy[at + i]);
        }
    });
}

static void unit_rows(const vd_real *x, int rows, int width, vd_real *y, vd_real *norm)
{
    each_warp(__func__, rows, [=] __device__(int r, int lane) {
        size_t at = static_cast<size_t>(r) * width;
        float sum = 0;
        for (int i = lane; i < width; i += VD_WARP)
            sum += x[at + i] * x[at + i];
        float length = fmaxf(sqrtf(vd_warp_sum(sum)), 1e-12f);
        if (lane == 0)
            norm[r] = length;
        for (int i = lane; i < width; i += VD_WARP)
            y[at + i] = x[at + i] / length;
    });
}

static void unit_rows_backward(const vd_real *dy, const vd_real *y, const vd_real *norm, int rows,
                               int width, vd_real *dx)
{
    each_warp(__func__, rows, [=] __device__(int r, int lane) {
        size_t at = static_cast<size_t>(r) * width;
        float along = 0;
        for (int i = lane; i < width; i += VD_WARP)
            along += y[at + i] * dy[at + i];
        along = norm[r] > 1e-12f ? vd_warp_sum(along) : 0;
        for (int i = lane; i < width; i += VD_WARP)
            dx[at + i] += (dy[at + i] - y[at + i] * along) / norm[r];
    });
}

void vd_cuda_tape(vd_backend *table)
{
    table->map = map;
    table->map_backward = map_backward;
    table->add_scaled = add_scaled;
    table->multiply_rows = multiply_rows;
    table->multiply_rows_backward = multiply_rows_backward;
    table->softmax_segments = softmax_segments;
    table->softmax_segments_backward = softmax_segments_backward;
    table->max_segments = max_segments;
    table->max_segments_backward = max_segments_backward;
    table->additive_scores = additive_scores;
    table->additive_scores_backward = additive_scores_backward;
    table->copy_log = copy_log;
    table->copy_gradient = copy_gradient;
    table->coverage = coverage;
    table->layer_norm = layer_norm;
    table->layer_norm_backward = layer_norm_backward;
    table->unit_rows = unit_rows;
    table->unit_rows_backward = unit_rows_backward;
}
