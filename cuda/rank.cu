// Ranks scores: few of them on the host, many with CUB's radix sort on the device.
#include "cuda/device.cuh"

#include <algorithm>

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#endif

enum { FEW = 2048, THREADS = 128, PARTS = 256, WARPS = THREADS / VD_WARP };

// Bits that rise as the score falls.
static __device__ __forceinline__ uint32_t falling_bits(float score)
{
    uint32_t bits;
    score += 0.0f; // -0 counts as 0
    memcpy(&bits, &score, sizeof bits);
    return bits & 0x80000000u ? bits : ~(bits | 0x80000000u);
}

// ---- softmax of one long row --------------------------------------------------------------------

// part[block] = sum of exp(z - max); the largest score is that of the first of the order.
static __global__ void sums_kernel(const float *z, const int32_t *order, float *part, size_t n)
{
    __shared__ float room[WARPS];
    float most = z[order[0]], sum = 0;
    for (VD_EACH(i, n))
        sum += expf(z[i] - most);
    sum = vd_block_sum(sum, room);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

static __global__ void shares_kernel(const float *z, const int32_t *order, const float *part,
                                     int parts, float *probability, size_t n)
{
    __shared__ float room[WARPS];
    float most = z[order[0]], sum = 0;
    for (int p = threadIdx.x; p < parts; p += THREADS)
        sum += part[p];
    sum = vd_block_sum(sum, room);
    for (VD_EACH(i, n))
        probability[i] = expf(z[i] - most) / sum;
}

static void probabilities(const float *z, const int32_t *order, float *part, float *probability,
                          size_t n)
{
    unsigned parts = std::min(vd_blocks(n, THREADS), static_cast<unsigned>(PARTS));
    VD_LAUNCH(sums_kernel, parts, THREADS, z, order, part, n);
    VD_LAUNCH(shares_kernel, vd_blocks(n, THREADS), THREADS, z, order, part,
              static_cast<int>(parts), probability, n);
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
    float *part, *share;
    uint32_t *keys, *sorted;
    int32_t *index, *order;
    void *sort;
    size_t sort_bytes;
};

static bool sort_by_bits(vd_ranking *r, int n, cudaStream_t stream)
{
    return vd_check(cub::DeviceRadixSort::SortPairs(r->sort, r->sort_bytes, r->keys, r->sorted,
                                                    r->index, r->order, n, 0, 32, stream),
                    "sorting");
}

static bool ranking_of(vd_lane *lane, int n, vd_ranking *r)
{
    *r = vd_ranking();
    size_t row = (static_cast<size_t>(n) * sizeof(float) + 255) / 256 * 256;
    if (!sort_by_bits(r, n, lane->stream)) // how much memory it needs
        return false;
    unsigned char *at = static_cast<unsigned char *>(
        vd_lane_scratch(lane, PARTS * sizeof(float) + 5 * row + r->sort_bytes));
    if (!at)
        return false;
    r->part = reinterpret_cast<float *>(at);
    at += PARTS * sizeof(float);
    r->share = reinterpret_cast<float *>(at);
    r->keys = reinterpret_cast<uint32_t *>(at + row);
    r->sorted = reinterpret_cast<uint32_t *>(at + 2 * row);
    r->index = reinterpret_cast<int32_t *>(at + 3 * row);
    r->order = reinterpret_cast<int32_t *>(at + 4 * row);
    r->sort = at + 5 * row;
    return true;
}

// The sort is stable: equal scores keep the pool's order.
static bool sort_and_share(vd_lane *lane, const float *z, int n, vd_ranking r)
{
    vd_for_each(__func__, static_cast<size_t>(n), [=] __device__(size_t i) {
        r.keys[i] = falling_bits(z[i]);
        r.index[i] = static_cast<int32_t>(i);
    });
    if (!sort_by_bits(&r, n, lane->stream))
        return false;
    probabilities(z, r.order, r.part, r.share, static_cast<size_t>(n));
    return true;
}

// Asks for a download, and says when it has landed.
static bool land(vd_lane *lane, void *to, const void *from, size_t bytes, cudaEvent_t landed)
{
    return vd_lane_copy(lane, to, from, bytes, cudaMemcpyDeviceToHost) &&
           vd_check(cudaEventRecord(landed, lane->stream), "a download");
}

static bool take(cudaEvent_t landed, void *to, const void *from, size_t bytes)
{
    if (!vd_check(cudaEventSynchronize(landed), "waiting for the device"))
        return false;
    memcpy(to, from, bytes);
    return true;
}

// Results go to pinned memory; those that have landed are read while the device goes on.
static bool rank_many(vd_lane *lane, const float *z, int n, float *score, float *probability,
                      int32_t *order)
{
    vd_ranking r;
    size_t all = static_cast<size_t>(n), bytes = all * sizeof(float);
    unsigned char *at = vd_lane_landing(lane, 3 * bytes);
    cudaEvent_t *landed = lane->landed;
    if (!at || !ranking_of(lane, n, &r) || !land(lane, at, z, bytes, landed[0]) ||
        !sort_and_share(lane, z, n, r) || !land(lane, at + bytes, r.order, bytes, landed[1]) ||
        !vd_lane_copy(lane, at + 2 * bytes, r.share, bytes, cudaMemcpyDeviceToHost) ||
        !take(landed[0], score, at, bytes) || !take(landed[1], order, at + bytes, bytes) ||
        !vd_lane_wait(lane))
        return false;
    memcpy(probability, at + 2 * bytes, bytes);
    return true;
}

static void rank(const vd_real *z, int n, float *score, float *probability, int32_t *order,
                 int32_t *)
{
    vd_lane *lane = vd_lane_get();
    bool done = false;
    if (lane && n > FEW) {
        done = rank_many(lane, z, n, score, probability, order);
    } else if (lane && n > 0) {
        done = vd_lane_download(lane, score, z, static_cast<size_t>(n) * sizeof *score);
        if (done)
            rank_few(n, score, probability, order);
    }
    for (int i = 0; !done && i < n; i++) {
        score[i] = probability[i] = 0;
        order[i] = i;
    }
}

void vd_cuda_rank(vd_backend *table)
{
    table->rank = rank;
}
