// Picking candidate scores and their loss (engine/backend/cpu/loss.c has the arithmetic).
#include "cuda/device.cuh"

enum { THREADS = 128, WARPS = THREADS / VD_WARP };

static void gather(const vd_real *products, const int32_t *option, int questions, int candidates,
                   int distinct, vd_real *scores)
{
    size_t n = static_cast<size_t>(questions) * static_cast<size_t>(candidates);
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        scores[i] = products[i / candidates * distinct + option[i]];
    });
}

static void gather_backward(const vd_real *dscores, const int32_t *option, int questions,
                            int candidates, int distinct, vd_real *dproducts)
{
    size_t all = static_cast<size_t>(questions), n = all * static_cast<size_t>(candidates);
    vd_cuda_zero(dproducts, all * static_cast<size_t>(distinct) * sizeof(float));
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        atomicAdd(dproducts + i / candidates * distinct + option[i], dscores[i]);
    });
}

// ---- the margin ---------------------------------------------------------------------------------

struct vd_target {
    const float *o, *e;
    double o_norm, e_norm, cosine, psi, slope;
};

static __device__ vd_target target_of(const vd_candidate_loss &l, int n, int option, double *room)
{
    vd_target t;
    t.o = l.vector + static_cast<size_t>(option) * l.hidden;
    t.e = l.encoded + static_cast<size_t>(n) * l.hidden;
    double z = 0, o = 0, e = 0;
    for (int i = threadIdx.x; i < l.hidden; i += THREADS) {
        z += static_cast<double>(t.o[i]) * t.e[i];
        o += static_cast<double>(t.o[i]) * t.o[i];
        e += static_cast<double>(t.e[i]) * t.e[i];
    }
    z = vd_block_sum(z, room);
    t.o_norm = fmax(sqrt(vd_block_sum(o, room)), 1e-12);
    t.e_norm = fmax(sqrt(vd_block_sum(e, room)), 1e-12);
    t.cosine = z / (t.o_norm * t.e_norm);
    t.psi = vd_margin_psi(l.margin, t.cosine, &t.slope);
    return t;
}

// d of |o||e| psi(cos); other questions may have the same candidate.
static __device__ void margin_backward(const vd_candidate_loss &l, const vd_target &t, int n,
                                       int option, double d)
{
    double rest = t.psi - t.slope * t.cosine;
    float *de = l.dencoded + static_cast<size_t>(n) * l.hidden;
    float *dvector = l.dvector + static_cast<size_t>(option) * l.hidden;
    for (int i = threadIdx.x; i < l.hidden; i += THREADS) {
        atomicAdd(dvector + i,
                  static_cast<float>(d * (t.slope * t.e[i] + rest * t.e_norm / t.o_norm * t.o[i])));
        de[i] += static_cast<float>(d * (t.slope * t.o[i] + rest * t.o_norm / t.e_norm * t.e[i]));
    }
}

// ---- loss ---------------------------------------------------------------------------------------

// A block a question: cross entropy against shares of relevance, or where nothing is relevant
// against the truth, whose score a margin changes.
static __global__ void loss_kernel(vd_candidate_loss l)
{
    __shared__ double room[WARPS];
    __shared__ float room_max[WARPS];
    int n = blockIdx.x, o = l.candidates, truth = l.truth[n];
    size_t first = static_cast<size_t>(n) * o;
    const float *z = l.scores + first, *y = l.relevance ? l.relevance + first : NULL;
    float *d = l.dscores ? l.dscores + first : NULL, most = -INFINITY;
    if (truth < 0) {
        for (int i = threadIdx.x; d && i < o; i += THREADS)
            d[i] = 0;
        return;
    }
    double relevant = 0, weighted = 0, sum = 0, score = z[truth], share = 1;
    for (int i = threadIdx.x; i < o; i += THREADS) {
        relevant += y ? y[i] : 0;
        most = i == truth ? most : fmaxf(most, z[i]);
    }
    relevant = y ? vd_block_sum(relevant, room) : 0;
    bool shares = relevant > 0, margin = !shares && l.margin > 1;
    int option = margin ? l.option[first + truth] : 0;
    vd_target t = vd_target();
    if (margin) {
        t = target_of(l, n, option, room);
        share = l.lambda / (1 + l.lambda);
        score = share * score + (1 - share) * t.o_norm * t.e_norm * t.psi;
    }
    double max = fmax(static_cast<double>(vd_block_reduce<vd_larger>(most, room_max)), score);
    for (int i = threadIdx.x; i < o; i += THREADS) {
        sum += exp((i == truth ? score : static_cast<double>(z[i])) - max);
        weighted += shares ? y[i] / relevant * z[i] : 0;
    }
    sum = vd_block_sum(sum, room);
    weighted = shares ? vd_block_sum(weighted, room) : score;
    double p = exp(score - max) / sum - 1;
    for (int i = threadIdx.x; d && i < o; i += THREADS) {
        double of = exp(static_cast<double>(z[i]) - max) / sum - (shares ? y[i] / relevant : 0);
        d[i] = static_cast<float>((!shares && i == truth ? p * share : of) * l.scale);
    }
    if (d && margin)
        margin_backward(l, t, n, option, p * l.scale * (1 - share));
    if (threadIdx.x == 0)
        atomicAdd(l.loss, (log(sum) + max - weighted) * l.scale);
}

static void candidate_loss(const vd_candidate_loss *loss)
{
    vd_cuda_zero(loss->loss, sizeof *loss->loss);
    VD_LAUNCH(loss_kernel, static_cast<unsigned>(loss->questions), THREADS, *loss);
}

// ---- words --------------------------------------------------------------------------------------

static void word_log(const vd_real *p, const int32_t *target, int rows, int words, vd_real *out)
{
    vd_for_each(__func__, static_cast<size_t>(rows), [=] __device__(size_t r) {
        out[r] = logf(fmaxf(p[r * words + target[r]], 1e-37f));
    });
}

static void word_gradient(vd_real *p, const int32_t *target, const vd_real *whole,
                          const vd_real *hit, int rows, int words, vd_real scale)
{
    vd_for_rows(__func__, rows, words, [=] __device__(size_t r) {
        vd_real times = whole ? whole[r] : 1, less = hit ? hit[r] : 1;
        for (VD_EACH_COLUMN(j, words))
            p[r * words + j] = scale * (times * p[r * words + j] - (j == target[r] ? less : 0));
    });
}

void vd_cuda_loss(vd_backend *table)
{
    table->gather = gather;
    table->gather_backward = gather_backward;
    table->word_log = word_log;
    table->word_gradient = word_gradient;
    table->candidate_loss = candidate_loss;
}
