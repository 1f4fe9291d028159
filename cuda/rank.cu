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

static bool ranking_of(vd_stream *stream, int n, vd_ranking *r)
{
    *r = vd_ranking();
    size_t row = (static_cast<size_t>(n) * sizeof(float) + 255) / 256 * 256;
    if (!sort_by_bits(r, n, stream->handle)) // how much memory it needs
        return false;
    unsigned char *at = static_cast<unsigned char *>(
        vd_stream_scratch(stream, PARTS * sizeof(float) + 5 * row + r->sort_bytes));
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
static bool sort_and_share(vd_stream *stream, const float *z, int n, vd_ranking r)
{
    vd_for_each(__func__, static_cast<size_t>(n), [=] __device__(size_t i) {
        r.keys[i] = falling_bits(z[i]);
        r.index[i] = static_cast<int32_t>(i);
    });
    if (!sort_by_bits(&r, n, stream->handle))
        return false;
    probabilities(z, r.order, r.part, r.share, static_cast<size_t>(n));
    return true;
}

// Starts a download; the event `downloaded` follows it.
static bool start_download(vd_stream *stream, void *to, const void *from, size_t bytes,
                           cudaEvent_t downloaded)
{
    return vd_stream_copy(stream, to, from, bytes, cudaMemcpyDeviceToHost) &&
           vd_check(cudaEventRecord(downloaded, stream->handle), "a download");
}

static bool finish_download(cudaEvent_t downloaded, void *to, const void *from, size_t bytes)
{
    if (!vd_check(cudaEventSynchronize(downloaded), "waiting for the device"))
        return false;
    memcpy(to, from, bytes);
    return true;
}

// Results go to pinned memory; those that have arrived are read while the device goes on.
static bool rank_many(vd_stream *stream, const float *z, int n, float *score, float *probability,
                      int32_t *order)
{
    vd_ranking r;
    size_t all = static_cast<size_t>(n), bytes = all * sizeof(float);
    unsigned char *at = vd_stream_downloads(stream, 3 * bytes);
    cudaEvent_t *downloaded = stream->downloaded;
    if (!at || !ranking_of(stream, n, &r) || !start_download(stream, at, z, bytes, downloaded[0]) ||
        !sort_and_share(stream, z, n, r) ||
        !start_download(stream, at + bytes, r.order, bytes, downloaded[1]) ||
        !vd_stream_copy(stream, at + 2 * bytes, r.share, bytes, cudaMemcpyDeviceToHost) ||
        !finish_download(downloaded[0], score, at, bytes) ||
        !finish_download(downloaded[1], order, at + bytes, bytes) || !vd_stream_wait(stream))
        return false;
    memcpy(probability, at + 2 * bytes, bytes);
    return true;
}

static void rank(const vd_real *z, int n, float *score, float *probability, int32_t *order,
                 int32_t *)
{
    vd_stream *stream = vd_stream_get();
    bool done = false;
    if (stream && n > FEW) {
        done = rank_many(stream, z, n, score, probability, order);
    } else if (stream && n > 0) {
        done = vd_stream_download(stream, score, z, static_cast<size_t>(n) * sizeof *score);
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
