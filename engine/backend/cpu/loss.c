// Candidate scores, their loss and ranking.
#include "engine/backend/cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "engine/base/threads.h"
#include "engine/base/elementary.h"

static void gather(const vd_real *products, const int32_t *option, int questions, int candidates,
                   int distinct, vd_real *scores)
{
    for (int n = 0; n < questions; n++, products += distinct)
        for (int i = 0; i < candidates; i++)
            *scores++ = products[*option++];
}

static void gather_backward(const vd_real *dscores, const int32_t *option, int questions,
                            int candidates, int distinct, vd_real *dproducts)
{
    memset(dproducts, 0, (size_t)questions * (size_t)distinct * sizeof *dproducts);
    for (int n = 0; n < questions; n++, dproducts += distinct)
        for (int i = 0; i < candidates; i++)
            dproducts[*option++] += *dscores++;
}

// ---- loss ---------------------------------------------------------------------------------------

typedef struct vd_target {
    int question, option;
    const vd_real *o, *e;
    double o_norm, e_norm, cosine, psi, slope;
} vd_target;

static double norm_of(const vd_real *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static vd_target target_of(const vd_candidate_loss *l, int question, int option)
{
    size_t h = (size_t)l->hidden;
    vd_target t = {.question = question,
                   .option = option,
                   .o = l->vector + (size_t)option * h,
                   .e = l->encoded + (size_t)question * h};
    double z = 0;
    for (size_t i = 0; i < h; i++)
        z += (double)t.o[i] * (double)t.e[i];
    t.o_norm = fmax(norm_of(t.o, (int)h), 1e-12);
    t.e_norm = fmax(norm_of(t.e, (int)h), 1e-12);
    t.cosine = z / (t.o_norm * t.e_norm);
    t.psi = vd_margin_psi(l->margin, t.cosine, &t.slope);
    return t;
}

// d of |o||e| psi(cos): psi' e + (psi - psi' cos) |e|/|o| o with respect to o, likewise e.
static void margin_backward(const vd_candidate_loss *l, const vd_target *t, double d)
{
    size_t h = (size_t)l->hidden;
    vd_real *de = l->dencoded + (size_t)t->question * h;
    vd_real *dvector = l->dvector + (size_t)t->option * h;
    double rest = t->psi - t->slope * t->cosine;
    for (size_t i = 0; i < h; i++) {
        dvector[i] += (vd_real)(d * (t->slope * t->e[i] + rest * t->e_norm / t->o_norm * t->o[i]));
        de[i] += (vd_real)(d * (t->slope * t->o[i] + rest * t->o_norm / t->e_norm * t->e[i]));
    }
}

// The largest number of a row, -INFINITY of none.
static double largest(const vd_real *z, int n)
{
    vd_real most = (vd_real)-INFINITY;
    for (int i = 0; i < n; i++)
        most = z[i] > most ? z[i] : most;
    return (double)most;
}

enum { LANES = 16 };

// The sum of e^(z - max), which y gets unless it is NULL.
VD_TARGET_CLONES static double exponentials(const vd_real *z, int n, vd_real max, vd_real *y)
{
    double lane[LANES] = {0}, sum = 0;
    vd_real e[LANES];
    int whole = n - n % LANES;
    for (int i = 0; i < whole; i += LANES) {
        for (int k = 0; k < LANES; k++)
            e[k] = vd_exp(z[i + k] - max);
        for (int k = 0; k < LANES; k++)
            lane[k] += (double)e[k];
        if (y)
            memcpy(y + i, e, sizeof e);
    }
    for (int i = whole; i < n; i++) {
        e[0] = vd_exp(z[i] - max);
        sum += (double)e[0];
        if (y)
            y[i] = e[0];
    }
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

VD_TARGET_CLONES static void scale_row(vd_real *y, int n, vd_real by)
{
    for (int i = 0; i < n; i++)
        y[i] *= by;
}

// Cross entropy of a row with the target's score given; its gradient goes to d unless that is NULL,
// but for the target's own. Returns the loss, and in *target the target's probability less one.
static double cross_entropy(const vd_real *z, int n, int truth, double score, double scale,
                            vd_real *d, double *target)
{
    int next = truth + 1, rest = n - next;
    double others = fmax(largest(z, truth), largest(z + next, rest));
    vd_real max = (vd_real)fmax(score, others);
    double own = exp(score - (double)max);
    double sum = own + exponentials(z, truth, max, d) +
                 exponentials(z + next, rest, max, d ? d + next : NULL);
    if (d)
        scale_row(d, n, (vd_real)(scale / sum));
    *target = own / sum - 1;
    return log(sum) + (double)max - score;
}

// Cross entropy against shares of relevance, -sum_i y_i log p_i, y_i = relevance_i / sum.
static double relevance_loss(const vd_candidate_loss *l, int n, double relevant)
{
    int o = l->candidates;
    size_t first = (size_t)n * (size_t)o;
    const vd_real *z = l->scores + first;
    const float *y = l->relevance + first;
    vd_real *d = l->dscores ? l->dscores + first : NULL, max = (vd_real)largest(z, o);
    double sum = exponentials(z, o, max, d), log_sum = log(sum), loss = 0;
    for (int i = 0; i < o; i++)
        loss -= (double)y[i] / relevant * ((double)(z[i] - max) - log_sum);
    for (int i = 0; d && i < o; i++)
        d[i] = (vd_real)(((double)d[i] / sum - (double)y[i] / relevant) * l->scale);
    return loss;
}

static double relevance_of(const vd_candidate_loss *l, int n)
{
    double sum = 0;
    for (int i = 0; l->relevance && i < l->candidates; i++)
        sum += (double)l->relevance[(size_t)n * (size_t)l->candidates + (size_t)i];
    return sum;
}

static double question_loss(const vd_candidate_loss *l, int n)
{
    double relevant = relevance_of(l, n);
    if (relevant > 0)
        return relevance_loss(l, n, relevant);
    int o = l->candidates, truth = l->truth[n];
    const vd_real *z = l->scores + (size_t)n * (size_t)o;
    vd_real *d = l->dscores ? l->dscores + (size_t)n * (size_t)o : NULL;
    double score = (double)z[truth], share = 1, p;
    vd_target t = {0};
    if (l->margin > 1) {
        t = target_of(l, n, l->option[(size_t)n * (size_t)o + (size_t)truth]);
        share = l->lambda / (1 + l->lambda);
        score = share * score + (1 - share) * t.o_norm * t.e_norm * t.psi;
    }
    double loss = cross_entropy(z, o, truth, score, l->scale, d, &p);
    if (!d)
        return loss;
    d[truth] = (vd_real)(p * l->scale * share);
    if (l->margin > 1)
        margin_backward(l, &t, p * l->scale * (1 - share));
    return loss;
}

// Questions are divided into so many tasks, whatever the number of threads, so that sums are the
// same.
enum { TASKS = 64, WORTH_THREADS = 1 << 16 };

typedef struct loss_job {
    const vd_candidate_loss *l;
    double sum[TASKS];
} loss_job;

static void loss_task(void *data, int index)
{
    loss_job *j = data;
    int from = (int)((int64_t)j->l->questions * index / TASKS),
        to = (int)((int64_t)j->l->questions * (index + 1) / TASKS);
    for (int n = from; n < to; n++)
        if (j->l->truth[n] >= 0)
            j->sum[index] += question_loss(j->l, n);
}

// With a margin questions add to the same rows of dvector: one after the other.
static void candidate_loss(const vd_candidate_loss *l)
{
    loss_job job = {.l = l};
    double total = 0;
    size_t scores = (size_t)l->questions * (size_t)l->candidates;
    if (l->dscores)
        memset(l->dscores, 0, scores * sizeof *l->dscores);
    if (l->margin <= 1 && scores >= WORTH_THREADS)
        vd_threads_run(TASKS, loss_task, &job);
    else
        for (int i = 0; i < TASKS; i++)
            loss_task(&job, i);
    for (int i = 0; i < TASKS; i++)
        total += job.sum[i];
    *l->loss = total * l->scale;
}

// ---- words --------------------------------------------------------------------------------------

static void word_log(const vd_real *p, const int32_t *target, int rows, int words, vd_real *out)
{
    for (int r = 0; r < rows; r++, p += words)
        out[r] = (vd_real)log(fmax((double)p[target[r]], 1e-37));
}

static void word_gradient(vd_real *p, const int32_t *target, const vd_real *whole,
                          const vd_real *hit, int rows, int words, vd_real scale)
{
    for (int r = 0; r < rows; r++, p += words) {
        vd_real times = whole ? whole[r] : 1, at = times * p[target[r]];
        for (int i = 0; i < words; i++)
            p[i] *= scale * times;
        p[target[r]] = scale * (at - (hit ? hit[r] : 1));
    }
}

// ---- ranking ------------------------------------------------------------------------------------

// Bits that sort as the score falls: as whole numbers, floats rise with their size, and fall where
// they are negative.
static uint32_t falling_bits(float score)
{
    uint32_t bits;
    score += 0.0f; // -0 is 0
    memcpy(&bits, &score, sizeof bits);
    return bits & 0x80000000u ? bits : ~bits & 0x7fffffffu;
}

// A candidate as its score's bits that rise as it falls, and its index.
typedef struct ranked {
    uint32_t bits;
    int32_t index;
} ranked;

enum { DIGITS = 3, BITS = 11, VALUES = 1 << BITS };

static uint32_t digit_of(ranked value, int d)
{
    return value.bits >> d * BITS & (VALUES - 1);
}

// Radix sort by falling score (Seward 1954), eleven bits at a time. It is stable, so equal scores
// keep the pool's order. Every pass reads its candidates in a row.
static void sort_scores(const float *score, int32_t *order, ranked *here, ranked *there, int n)
{
    int next[DIGITS][VALUES] = {{0}};
    for (int i = 0; i < n; i++) {
        here[i] = (ranked){falling_bits(score[i]), i};
        for (int d = 0; d < DIGITS; d++)
            next[d][digit_of(here[i], d)]++;
    }
    for (int d = 0; d < DIGITS; d++)
        for (int v = 0, from = 0; v < VALUES; v++) {
            int count = next[d][v];
            next[d][v] = from;
            from += count;
        }
    for (int i = 0; i < n; i++)
        there[next[0][digit_of(here[i], 0)]++] = here[i];
    for (int i = 0; i < n; i++)
        here[next[1][digit_of(there[i], 1)]++] = there[i];
    for (int i = 0; i < n; i++)
        order[next[2][digit_of(here[i], 2)]++] = here[i].index;
}

VD_TARGET_CLONES static void probabilities(const float *score, float *probability, int n)
{
    float max = score[0], sum = 0;
    for (int i = 1; i < n; i++)
        max = score[i] > max ? score[i] : max;
    for (int i = 0; i < n; i++)
        probability[i] = (float)vd_exp(score[i] - max);
    for (int i = 0; i < n; i++)
        sum += probability[i];
    for (int i = 0; i < n; i++)
        probability[i] /= sum;
}

typedef struct rank_job {
    float *score, *probability;
    int32_t *order;
    ranked *scratch;
    int n;
} rank_job;

// The order and the probabilities need each other's results for nothing.
static void rank_task(void *data, int index)
{
    const rank_job *j = data;
    if (index == 0)
        sort_scores(j->score, j->order, j->scratch, j->scratch + j->n, j->n);
    else
        probabilities(j->score, j->probability, j->n);
}

static void rank(const vd_real *z, int n, float *score, float *probability, int32_t *order,
                 int32_t *scratch)
{
    enum { MANY = 20000 };
    rank_job job = {score, probability, order, (ranked *)scratch, n};
    if (n <= 0)
        return;
    for (int i = 0; i < n; i++)
        score[i] = (float)z[i];
    if (n >= MANY) {
        vd_threads_run(2, rank_task, &job);
    } else {
        rank_task(&job, 0);
        rank_task(&job, 1);
    }
}

void vd_cpu_loss(vd_backend *table)
{
    table->gather = gather;
    table->gather_backward = gather_backward;
    table->word_log = word_log;
    table->word_gradient = word_gradient;
    table->candidate_loss = candidate_loss;
    table->rank = rank;
}
