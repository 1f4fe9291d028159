// Picking candidate scores and their loss (engine/backend/cpu/loss.c has the arithmetic).
#include "cuda/device.cuh"

enum { THREADS = 128, WARPS = THREADS / VD_WARP };

static __global__ void gather_kernel(const float *products, const int32_t *option, int candidates,
                                     int distinct, float *scores, size_t n)
{
    for (VD_EACH(i, n))
        scores[i] = products[i / candidates * distinct + option[i]];
}

static void gather(const vd_real *products, const int32_t *option, int questions, int candidates,
                   int distinct, vd_real *scores)
{
    size_t n = static_cast<size_t>(questions) * static_cast<size_t>(candidates);
    VD_LAUNCH(gather_kernel, vd_blocks(n, THREADS), THREADS, products, option, candidates, distinct,
              scores, n);
}

static __global__ void gather_backward_kernel(const float *dscores, const int32_t *option,
                                              int candidates, int distinct, float *dproducts,
                                              size_t n)
{
    for (VD_EACH(i, n))
        atomicAdd(dproducts + i / candidates * distinct + option[i], dscores[i]);
}

static void gather_backward(const vd_real *dscores, const int32_t *option, int questions,
                            int candidates, int distinct, vd_real *dproducts)
{
    size_t n = static_cast<size_t>(questions) * static_cast<size_t>(candidates);
    vd_cuda_zero(dproducts,
                 static_cast<size_t>(questions) * static_cast<size_t>(distinct) * sizeof(float));
    VD_LAUNCH(gather_backward_kernel, vd_blocks(n, THREADS), THREADS, dscores, option, candidates,
              distinct, dproducts, n);
}

// ---- the margin ---------------------------------------------------------------------------------

// psi and its slope of a cosine, as vd_margin_psi.
static __device__ double psi_of(int margin, double cosine, double *slope)
{
    const double edge = 1 - 1e-7;
    double c = cosine > edge ? edge : cosine < -edge ? -edge : cosine;
    double before = 1, t = c, dbefore = 0, dt = 1;
    for (int k = 1; k < margin; k++) {
        double next = 2 * c * t - before, dnext = 2 * t + 2 * c * dt - dbefore;
        before = t;
        t = next;
        dbefore = dt;
        dt = dnext;
    }
    int turn = 0;
    while (turn + 1 < margin && c < cos((turn + 1) * 3.14159265358979323846 / margin))
        turn++;
    double sign = turn % 2 ? -1 : 1;
    *slope = c == cosine ? sign * dt : 0;
    return sign * t - 2 * turn;
}

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
    t.psi = psi_of(l.margin, t.cosine, &t.slope);
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

// A block a question.
static __global__ void loss_kernel(vd_candidate_loss l)
{
    __shared__ double room[WARPS];
    __shared__ float room_max[WARPS];
    int n = blockIdx.x, o = l.candidates, truth = l.truth[n];
    const float *z = l.scores + static_cast<size_t>(n) * o;
    float *d = l.dscores ? l.dscores + static_cast<size_t>(n) * o : NULL;
    if (truth < 0) {
        for (int i = threadIdx.x; d && i < o; i += THREADS)
            d[i] = 0;
        return;
    }
    int option = l.option[static_cast<size_t>(n) * o + truth];
    double score = z[truth], share = 1;
    vd_target t = vd_target();
    if (l.margin > 1) {
        t = target_of(l, n, option, room);
        share = l.lambda / (1 + l.lambda);
        score = share * score + (1 - share) * t.o_norm * t.e_norm * t.psi;
    }
    float most = -INFINITY;
    for (int i = threadIdx.x; i < o; i += THREADS)
        most = i == truth ? most : fmaxf(most, z[i]);
    double max = fmax(static_cast<double>(vd_block_max(most, room_max)), score), sum = 0;
    for (int i = threadIdx.x; i < o; i += THREADS)
        sum += exp((i == truth ? score : static_cast<double>(z[i])) - max);
    sum = vd_block_sum(sum, room);
    double p = exp(score - max) / sum - 1;
    for (int i = threadIdx.x; d && i < o; i += THREADS)
        d[i] =
            static_cast<float>(i == truth ? p * l.scale * share
                                          : exp(static_cast<double>(z[i]) - max) / sum * l.scale);
    if (d && l.margin > 1)
        margin_backward(l, t, n, option, p * l.scale * (1 - share));
    if (threadIdx.x == 0)
        atomicAdd(l.loss, (log(sum) + max - score) * l.scale);
}

static void candidate_loss(const vd_candidate_loss *loss)
{
    vd_cuda_zero(loss->loss, sizeof *loss->loss);
    VD_LAUNCH(loss_kernel, static_cast<unsigned>(loss->questions), THREADS, *loss);
}

// ---- words --------------------------------------------------------------------------------------

static __global__ void word_log_kernel(const float *p, const int32_t *target, int words, float *out,
                                       size_t n)
{
    for (VD_EACH(r, n))
        out[r] = logf(fmaxf(p[r * words + target[r]], 1e-37f));
}

static void word_log(const vd_real *p, const int32_t *target, int rows, int words, vd_real *out)
{
    size_t n = static_cast<size_t>(rows);
    VD_LAUNCH(word_log_kernel, vd_blocks(n, THREADS), THREADS, p, target, words, out, n);
}

static __global__ void word_gradient_kernel(float *p, const int32_t *target, int rows, int words,
                                            float scale)
{
    for (VD_EACH_ROW(r, rows))
        for (VD_EACH_COLUMN(j, words))
            p[r * words + j] = scale * (p[r * words + j] - (j == target[r] ? 1 : 0));
}

static void word_gradient(vd_real *p, const int32_t *target, int rows, int words, vd_real scale)
{
    VD_LAUNCH(word_gradient_kernel, vd_row_grid(rows, words, THREADS), THREADS, p, target, rows,
              words, scale);
}

void vd_cuda_loss(vd_backend *table)
{
    table->gather = gather;
    table->gather_backward = gather_backward;
    table->word_log = word_log;
    table->word_gradient = word_gradient;
    table->candidate_loss = candidate_loss;
}
