// Ranks scores: few of them on the host, many with a radix sort on the device.
#include "cuda/device.cuh"

#include <algorithm>

// 4 bits a pass over 32-bit keys; a thread takes EACH neighbours, so that equal keys keep order.
enum { FEW = 2048, THREADS = 128, EACH = 8, DIGITS = 16, BITS = 4, WARPS = THREADS / VD_WARP };
enum { TILE = THREADS * EACH, PARTS = 256 };

struct vd_key {
    uint32_t key;
    int32_t index;
};

static __device__ __host__ uint32_t bits_of(float x)
{
    union {
        float f;
        uint32_t u;
    } b;
    b.f = x;
    return b.u;
}

// Keys that rise as scores fall.
static __global__ void keys_kernel(const float *z, vd_key *keys, size_t n)
{
    for (VD_EACH(i, n)) {
        uint32_t bits = bits_of(z[i] + 0.0f); // -0 counts as 0
        keys[i].key = bits & 0x80000000u ? bits : ~(bits | 0x80000000u);
        keys[i].index = static_cast<int32_t>(i);
    }
}

static __device__ __forceinline__ int digit_of(vd_key key, int shift)
{
    return key.key >> shift & (DIGITS - 1);
}

// How often each digit is among a thread's keys.
static __device__ void count_digits(const vd_key *keys, int n, int shift, int (*count)[THREADS])
{
    int me = threadIdx.x, first = blockIdx.x * TILE + me * EACH;
    for (int d = 0; d < DIGITS; d++)
        count[d][me] = 0;
    for (int at = first; at < first + EACH && at < n; at++)
        count[digit_of(keys[at], shift)][me]++;
    __syncthreads();
}

// counts[digit][tile]
static __global__ void count_kernel(const vd_key *keys, int n, int shift, int tiles, int *counts)
{
    __shared__ int count[DIGITS][THREADS];
    int tile = blockIdx.x, me = threadIdx.x;
    count_digits(keys, n, shift, count);
    if (me < DIGITS) {
        int sum = 0;
        for (int t = 0; t < THREADS; t++)
            sum += count[me][t];
        counts[me * tiles + tile] = sum;
    }
}

// One block: counts become the places where each (digit, tile) begins.
static __global__ void places_kernel(int *counts, int n)
{
    __shared__ int sums[THREADS];
    int me = threadIdx.x, share = (n + THREADS - 1) / THREADS;
    int from = me * share < n ? me * share : n, to = from + share < n ? from + share : n, sum = 0;
    for (int i = from; i < to; i++)
        sum += counts[i];
    sums[me] = sum;
    __syncthreads();
    int before = 0;
    for (int t = 0; t < me; t++)
        before += sums[t];
    for (int i = from; i < to; i++) {
        int count = counts[i];
        counts[i] = before;
        before += count;
    }
}

static __global__ void scatter_kernel(const vd_key *keys, int n, int shift, int tiles,
                                      const int *places, vd_key *sorted)
{
    __shared__ int count[DIGITS][THREADS];
    int tile = blockIdx.x, me = threadIdx.x, first = tile * TILE + me * EACH;
    count_digits(keys, n, shift, count);
    if (me < DIGITS) {
        int place = places[me * tiles + tile];
        for (int t = 0; t < THREADS; t++) {
            int here = count[me][t];
            count[me][t] = place;
            place += here;
        }
    }
    __syncthreads();
    for (int at = first; at < first + EACH && at < n; at++)
        sorted[count[digit_of(keys[at], shift)][me]++] = keys[at];
}

static __global__ void order_kernel(const vd_key *keys, int32_t *order, size_t n)
{
    for (VD_EACH(i, n))
        order[i] = keys[i].index;
}

// ---- softmax of one long row --------------------------------------------------------------------

// part[block] = sum of exp(z - max); the largest score is that of the first key.
static __global__ void sums_kernel(const float *z, const vd_key *sorted, float *part, size_t n)
{
    __shared__ float room[WARPS];
    float most = z[sorted[0].index], sum = 0;
    for (VD_EACH(i, n))
        sum += expf(z[i] - most);
    sum = vd_block_sum(sum, room);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

static __global__ void probabilities_kernel(const float *z, const vd_key *sorted, const float *part,
                                            int parts, float *probability, size_t n)
{
    float most = z[sorted[0].index], sum = 0;
    for (int p = 0; p < parts; p++)
        sum += part[p];
    for (VD_EACH(i, n))
        probability[i] = expf(z[i] - most) / sum;
}

// ---- ranking ------------------------------------------------------------------------------------

static void rank_few(int n, const float *score, float *probability, int32_t *order)
{
    float most = score[0], sum = 0;
    for (int i = 0; i < n; i++) {
        order[i] = i;
        most = std::max(most, score[i]);
    }
    for (int i = 0; i < n; i++)
        sum += probability[i] = expf(score[i] - most);
    for (int i = 0; i < n; i++)
        probability[i] /= sum;
    std::stable_sort(order, order + n, [=](int32_t a, int32_t b) { return score[a] > score[b]; });
}

// The scratch memory of `rank_many`.
struct vd_ranking {
    vd_key *from, *to;
    int *place;
    float *part, *share;
    int32_t *sequence;
};

static bool ranking_of(vd_lane *lane, size_t n, int tiles, vd_ranking *r)
{
    size_t keys = (n + 63) / 64 * 64 * sizeof(vd_key), places = sizeof(int) * DIGITS * tiles;
    unsigned char *there = static_cast<unsigned char *>(
        vd_lane_scratch(lane, 2 * keys + places + (PARTS + 2 * n) * sizeof(float)));
    if (!there)
        return false;
    r->from = reinterpret_cast<vd_key *>(there);
    r->to = reinterpret_cast<vd_key *>(there + keys);
    r->place = reinterpret_cast<int *>(there + 2 * keys);
    r->part = reinterpret_cast<float *>(there + 2 * keys + places);
    r->share = r->part + PARTS;
    r->sequence = reinterpret_cast<int32_t *>(r->share + n);
    return true;
}

static void sort_and_share(const float *z, int n, int tiles, vd_ranking r)
{
    size_t all = static_cast<size_t>(n);
    unsigned parts = std::min(vd_blocks(all, THREADS), static_cast<unsigned>(PARTS));
    VD_LAUNCH(keys_kernel, vd_blocks(all, THREADS), THREADS, z, r.from, all);
    for (int shift = 0; shift < 32; shift += BITS) {
        VD_LAUNCH(count_kernel, static_cast<unsigned>(tiles), THREADS, r.from, n, shift, tiles,
                  r.place);
        VD_LAUNCH(places_kernel, 1u, THREADS, r.place, DIGITS * tiles);
        VD_LAUNCH(scatter_kernel, static_cast<unsigned>(tiles), THREADS, r.from, n, shift, tiles,
                  r.place, r.to);
        std::swap(r.from, r.to);
    }
    VD_LAUNCH(order_kernel, vd_blocks(all, THREADS), THREADS, r.from, r.sequence, all);
    VD_LAUNCH(sums_kernel, parts, THREADS, z, r.from, r.part, all);
    VD_LAUNCH(probabilities_kernel, vd_blocks(all, THREADS), THREADS, z, r.from, r.part,
              static_cast<int>(parts), r.share, all);
}

// Results go to pinned memory; the scores are read there while the device still sorts.
static void rank_many(vd_lane *lane, const float *z, int n, float *score, float *probability,
                      int32_t *order)
{
    vd_ranking r;
    int tiles = vd_ceil(n, TILE);
    size_t all = static_cast<size_t>(n), bytes = all * sizeof(float);
    unsigned char *at = vd_lane_landing(lane, 3 * bytes);
    if (!at || !ranking_of(lane, all, tiles, &r) ||
        !vd_check(cudaMemcpyAsync(at, z, bytes, cudaMemcpyDeviceToHost, lane->stream),
                  "a download") ||
        !vd_check(cudaEventRecord(lane->landed, lane->stream), "a download"))
        return;
    sort_and_share(z, n, tiles, r);
    if (!vd_check(cudaMemcpyAsync(at + bytes, r.share, bytes, cudaMemcpyDeviceToHost, lane->stream),
                  "a download") ||
        !vd_check(cudaMemcpyAsync(at + 2 * bytes, r.sequence, bytes, cudaMemcpyDeviceToHost,
                                  lane->stream),
                  "a download") ||
        !vd_check(cudaEventSynchronize(lane->landed), "waiting for the device"))
        return;
    memcpy(score, at, bytes);
    if (!vd_check(cudaStreamSynchronize(lane->stream), "waiting for the device"))
        return;
    memcpy(probability, at + bytes, bytes);
    memcpy(order, at + 2 * bytes, bytes);
}

static void rank(const vd_real *z, int n, float *score, float *probability, int32_t *order,
                 int32_t *)
{
    vd_lane *lane = vd_lane_get();
    if (!lane || n < 1) {
        for (int i = 0; i < n; i++) {
            score[i] = probability[i] = 0;
            order[i] = i;
        }
        return;
    }
    if (n > FEW) {
        rank_many(lane, z, n, score, probability, order);
        return;
    }
    vd_lane_download(lane, score, z, static_cast<size_t>(n) * sizeof *score);
    rank_few(n, score, probability, order);
}

void vd_cuda_rank(vd_backend *table)
{
    table->rank = rank;
}
