// Numbers of pairs of rows: softmax and maximum over a segment of them, additive scores, words that
// are copied.
#include "engine/backend/cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "engine/base/threads.h"
#include "engine/base/elementary.h"

typedef struct segments_job {
    const vd_segments *segments;
    const vd_real *x, *dy;
    vd_real *y;
    int *at;
} segments_job;

// The cost of a segment in nanoseconds.
static double segment_cost(const vd_segments *s)
{
    return 10 + 0.7 * s->longest;
}

VD_TARGET_CLONES void vd_cpu_softmax(const vd_real *x, vd_real *y, size_t n)
{
    vd_real most = x[0], sum = 0;
    for (size_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++)
        y[i] = vd_exp(x[i] - most);
    for (size_t i = 0; i < n; i++)
        sum += y[i];
    for (size_t i = 0; i < n; i++)
        y[i] /= sum;
}

static void softmax_range(void *data, size_t from, size_t to)
{
    const segments_job *j = data;
    for (size_t s = from; s < to; s++) {
        size_t first = (size_t)j->segments->start[s], n = (size_t)j->segments->length[s];
        if (n > 0)
            vd_cpu_softmax(j->x + first, j->y + first, n);
    }
}

static void softmax_segments(const vd_segments *segments, const vd_real *x, vd_real *y)
{
    segments_job job = {.segments = segments, .x = x, .y = y};
    vd_threads_ranges((size_t)segments->count, segment_cost(segments), softmax_range, &job);
}

// dx += y (dy - y . dy)
static void softmax_range_backward(void *data, size_t from, size_t to)
{
    const segments_job *j = data;
    for (size_t s = from; s < to; s++) {
        size_t first = (size_t)j->segments->start[s], n = (size_t)j->segments->length[s];
        const vd_real *y = j->x + first, *dy = j->dy + first;
        vd_real *dx = j->y + first, sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += y[i] * dy[i];
        for (size_t i = 0; i < n; i++)
            dx[i] += y[i] * (dy[i] - sum);
    }
}

static void softmax_segments_backward(const vd_segments *segments, const vd_real *y,
                                      const vd_real *dy, vd_real *dx)
{
    segments_job job = {.segments = segments, .x = y, .dy = dy, .y = dx};
    vd_threads_ranges((size_t)segments->count, segment_cost(segments), softmax_range_backward,
                      &job);
}

static void max_range(void *data, size_t from, size_t to)
{
    const segments_job *j = data;
    for (size_t s = from; s < to; s++) {
        int best = -1, first = j->segments->start[s], end = first + j->segments->length[s];
        for (int at = first; at < end; at++)
            if (best < 0 || j->x[at] > j->x[best])
                best = at;
        j->at[s] = best;
        j->y[s] = best < 0 ? 0 : j->x[best];
    }
}

static void max_segments(const vd_segments *segments, const vd_real *x, vd_real *y, int *at)
{
    segments_job job = {.segments = segments, .x = x, .y = y, .at = at};
    vd_threads_ranges((size_t)segments->count, segment_cost(segments), max_range, &job);
}

static void max_segments_backward(int segments, const int *at, const vd_real *dy, vd_real *dx)
{
    for (int s = 0; s < segments; s++)
        if (at[s] >= 0)
            dx[at[s]] += dy[s];
}

// ---- additive scores ----------------------------------------------------------------------------

typedef struct additive_job {
    const int *query, *key;
    size_t pairs, hidden;
    const vd_real *q, *k, *v, *ds;
    vd_real *s, *dq, *dk, *dv;
} additive_job;

VD_TARGET_CLONES static void additive_range(void *data, size_t from, size_t to)
{
    const additive_job j = *(const additive_job *)data;
    for (size_t p = from; p < to; p++) {
        const vd_real *q = j.q + (size_t)j.query[p] * j.hidden;
        const vd_real *k = j.k + (size_t)j.key[p] * j.hidden;
        vd_real sum[16] = {0}, total = 0;
        size_t i = 0;
        for (; i + 16 <= j.hidden; i += 16)
            for (size_t l = 0; l < 16; l++)
                sum[l] += j.v[i + l] * vd_tanh(q[i + l] + k[i + l]);
        for (; i < j.hidden; i++)
            total += j.v[i] * vd_tanh(q[i] + k[i]);
        for (size_t l = 0; l < 16; l++)
            total += sum[l];
        j.s[p] = total;
    }
}

static void additive_scores(const int *query, const int *key, int pairs, int hidden,
                            const vd_real *q, const vd_real *k, const vd_real *v, vd_real *s)
{
    additive_job job = {
        .query = query, .key = key, .hidden = (size_t)hidden, .q = q, .k = k, .v = v, .s = s};
    vd_threads_ranges((size_t)pairs, hidden * 0.8, additive_range, &job);
}

// Of columns from..to-1: several pairs share a row.
VD_TARGET_CLONES static void additive_columns_backward(void *data, size_t from, size_t to)
{
    const additive_job j = *(const additive_job *)data;
    enum { COLUMNS = 256 };
    vd_real t[COLUMNS];
    for (size_t first = from; first < to; first += COLUMNS) {
        size_t n = to - first < COLUMNS ? to - first : COLUMNS;
        for (size_t p = 0; p < j.pairs; p++) {
            size_t query = (size_t)j.query[p] * j.hidden + first;
            size_t key = (size_t)j.key[p] * j.hidden + first;
            const vd_real *q = j.q + query, *k = j.k + key, *v = j.v + first;
            const vd_real ds = j.ds[p];
            for (size_t i = 0; i < n; i++)
                t[i] = vd_tanh(q[i] + k[i]);
            for (size_t i = 0; j.dv && i < n; i++)
                j.dv[first + i] += ds * t[i];
            for (size_t i = 0; i < n; i++)
                t[i] = ds * v[i] * (1 - t[i] * t[i]);
            if (j.dq)
                vd_cpu_add(j.dq + query, t, n);
            if (j.dk)
                vd_cpu_add(j.dk + key, t, n);
        }
    }
}

static void additive_scores_backward(const int *query, const int *key, int pairs, int hidden,
                                     const vd_real *q, const vd_real *k, const vd_real *v,
                                     const vd_real *ds, vd_real *dq, vd_real *dk, vd_real *dv)
{
    additive_job job = {.query = query,
                        .key = key,
                        .pairs = (size_t)pairs,
                        .hidden = (size_t)hidden,
                        .q = q,
                        .k = k,
                        .v = v,
                        .ds = ds,
                        .dq = dq,
                        .dk = dk,
                        .dv = dv};
    vd_threads_ranges((size_t)hidden, pairs * 1.5, additive_columns_backward, &job);
}

// ---- words that are copied ----------------------------------------------------------------------

// Scores become shares; the logarithm of their sum.
static double share_out(vd_real *share, int count)
{
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < count; j++)
        largest = fmax(largest, (double)share[j]);
    for (int j = 0; j < count; j++)
        sum += exp((double)share[j] - largest);
    for (int j = 0; j < count; j++)
        share[j] = (vd_real)(exp((double)share[j] - largest) / sum);
    return largest + log(sum);
}

static void copy_log(const vd_copied_words *c, vd_real *log_p)
{
    for (int r = 0; r < c->pairs.count; r++) {
        int first = c->pairs.start[r], n = c->pairs.length[r];
        double p_gen = 1, copied = 0, generated = c->hit && c->known[r] ? exp((double)log_p[r]) : 0;
        if (n > 0)
            p_gen = 1 / (1 + exp(c->gate ? -(double)c->gate[r]
                                         : share_out(c->share + first, n) - (double)c->log_sum[r]));
        for (int j = first; c->hit && j < first + n; j++)
            copied += c->hit[j] ? (double)c->share[j] : 0;
        c->word[r] = vd_copied_of(p_gen, generated, copied);
        if (c->hit)
            log_p[r] = (vd_real)log(c->word[r].p);
    }
}

static void copy_gradient(const vd_copied_words *c, vd_real scale, vd_real *dshare, vd_real *dgate,
                          vd_real *whole, vd_real *hit)
{
    for (int r = 0; r < c->pairs.count; r++) {
        const vd_copied_word w = c->word[r];
        int first = c->pairs.start[r], n = c->pairs.length[r];
        hit[r] = (vd_real)(w.p_gen * w.generated / w.p);
        whole[r] = c->gate ? hit[r] : (vd_real)w.p_gen;
        if (c->gate)
            dgate[r] += (vd_real)((double)scale * vd_copied_dgate(w));
        for (int j = first; j < first + n; j++)
            dshare[j] +=
                (vd_real)((double)scale * (c->gate ? vd_copied_dshare(w, c->hit[j])
                                                   : vd_copied_dscore(w, c->share[j], c->hit[j])));
    }
}

static void coverage(const vd_packed *answers, const vd_segments *pairs, const vd_real *x,
                     vd_real scale, vd_real *dx, double *sum)
{
    double total = 0;
    for (int s = 0; s < answers->sequences; s++) {
        int row = answers->rows.start[s], words = answers->rows.length[s];
        for (int j = 0; words > 0 && j < pairs->length[row]; j++) {
            int at = pairs->start[row] + j;
            total += vd_cover(x + at, words, pairs->length[row], scale, dx ? dx + at : NULL);
        }
    }
    if (sum)
        *sum = total;
}

void vd_cpu_segments(vd_backend *table)
{
    table->softmax_segments = softmax_segments;
    table->softmax_segments_backward = softmax_segments_backward;
    table->max_segments = max_segments;
    table->max_segments_backward = max_segments_backward;
    table->additive_scores = additive_scores;
    table->additive_scores_backward = additive_scores_backward;
    table->copy_log = copy_log;
    table->copy_gradient = copy_gradient;
    table->coverage = coverage;
}
