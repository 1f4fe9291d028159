// The four attentions, their pooling, and the image normalisation. Masked entries are left out
// rather than given a score of -10000: exp(-10000 - max) is zero in float, so the sums are the
// same.
#include "engine/backend/cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "engine/base/threads.h"

VD_TARGET_CLONES static vd_real dot(const vd_real *x, const vd_real *y, int n)
{
    vd_real sum[16] = {0};
    int i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++)
            sum[k] += x[i + k] * y[i + k];
    vd_real total = 0;
    for (; i < n; i++)
        total += x[i] * y[i];
    for (int k = 0; k < 16; k++)
        total += sum[k];
    return total;
}

VD_TARGET_CLONES static void multiply(vd_real *z, const vd_real *x, const vd_real *y, int n)
{
    for (int i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

VD_TARGET_CLONES static void add_product(vd_real *z, const vd_real *x, const vd_real *y, int n)
{
    for (int i = 0; i < n; i++)
        z[i] += x[i] * y[i];
}

// w . drop(x * y): one attention score over a product of two projections.
VD_TARGET_CLONES static vd_real product_score(const vd_real *w, const vd_real *x, const vd_real *y,
                                              int n, vd_real rate, uint64_t key, uint32_t first)
{
    vd_real sum = 0;
    if (rate == 0) {
        for (int i = 0; i < n; i++)
            sum += w[i] * x[i] * y[i];
        return sum;
    }
    uint32_t threshold = vd_dropout_threshold(rate);
    vd_real scale = 1 / (1 - rate);
    for (int i = 0; i < n; i++)
        sum +=
            vd_dropout_keeps(key, first + (uint32_t)i, threshold) ? w[i] * x[i] * y[i] * scale : 0;
    return sum;
}

VD_TARGET_CLONES static void product_score_backward(vd_real ds, const vd_real *w, const vd_real *x,
                                                    const vd_real *y, int n, vd_real rate,
                                                    uint64_t key, uint32_t first, vd_real *dw,
                                                    vd_real *dx, vd_real *dy)
{
    uint32_t threshold = vd_dropout_threshold(rate);
    vd_real scale = 1 / (1 - rate);
    for (int i = 0; i < n; i++) {
        vd_real keep =
            rate == 0 || vd_dropout_keeps(key, first + (uint32_t)i, threshold) ? ds * scale : 0;
        dw[i] += keep * x[i] * y[i];
        vd_real d = keep * w[i];
        dx[i] += d * y[i];
        dy[i] += d * x[i];
    }
}

static void softmax(vd_real *x, int rows, int columns, int stride)
{
    for (vd_real *row = x; columns > 0 && row < x + (size_t)rows * (size_t)stride; row += stride)
        vd_cpu_softmax(row, row, (size_t)columns);
}

static void softmax_backward(const vd_real *y, vd_real *dx, int n)
{
    vd_real sum = dot(y, dx, n);
    for (int i = 0; i < n; i++)
        dx[i] = y[i] * (dx[i] - sum);
}

// One picture, (regions, size), some channels at a time.
VD_TARGET_CLONES static void normalise_channels(const vd_real *x, vd_real *y, int regions,
                                                size_t size)
{
    enum { CHANNELS = 64 };
    for (size_t d = 0; d < size; d += CHANNELS) {
        vd_real norm[CHANNELS] = {0};
        size_t n = size - d < CHANNELS ? size - d : CHANNELS;
        for (size_t k = 0; k < (size_t)regions; k++)
            for (size_t i = 0; i < n; i++)
                norm[i] += x[k * size + d + i] * x[k * size + d + i];
        for (size_t i = 0; i < n; i++) {
            norm[i] = (vd_real)sqrt(norm[i]);
            norm[i] = norm[i] < (vd_real)1e-12 ? (vd_real)1e-12 : norm[i];
        }
        for (size_t k = 0; k < (size_t)regions; k++)
            for (size_t i = 0; i < n; i++)
                y[k * size + d + i] = x[k * size + d + i] / norm[i];
    }
}

static void normalise_regions(const vd_real *x, vd_real *y, int dialogs, int regions, int size)
{
    for (size_t b = 0; b < (size_t)dialogs; b++) {
        size_t at = b * (size_t)regions * (size_t)size;
        normalise_channels(x + at, y + at, regions, (size_t)size);
    }
}

// ---- attention 1 --------------------------------------------------------------------------------

// Dropout's index of the product of question n and the entry r of those it sees: the same in both
// passes.
static uint32_t pair_index(const vd_geometry *span, int n, int r, int hidden)
{
    return ((uint32_t)n * (uint32_t)span->most + (uint32_t)r) * (uint32_t)hidden;
}

static void context_attention(const vd_geometry *span, int hidden, const vd_real *fq,
                              const vd_real *fh, const vd_real *h, const vd_score_weights *score,
                              vd_real rate, uint64_t key, vd_real *a, vd_real *c)
{
    size_t size = (size_t)hidden;
    memset(c, 0, (size_t)span->questions * 2 * size * sizeof *c);
    memset(a, 0, (size_t)span->questions * (size_t)span->most * sizeof *a);
    for (int n = 0; n < span->questions; n++) {
        vd_real *row = a + (size_t)n * (size_t)span->most;
        int first = span->entry_start[span->dialog[n]], seen = span->seen[n];
        for (int r = 0; r < seen; r++)
            row[r] = score->b[0] + product_score(score->w, fq + (size_t)n * size,
                                                 fh + (size_t)(first + r) * size, hidden, rate, key,
                                                 pair_index(span, n, r, hidden));
        vd_cpu_softmax(row, row, (size_t)seen);
        for (int r = 0; r < seen; r++)
            vd_cpu_add_scaled(c + (size_t)n * 2 * size, row[r], h + (size_t)(first + r) * 2 * size,
                              2 * size);
    }
}

static void context_attention_backward(const vd_geometry *span, int hidden, const vd_real *fq,
                                       const vd_real *fh, const vd_real *h,
                                       const vd_score_weights *score,
                                       const vd_score_weights *dscore, vd_real rate, uint64_t key,
                                       const vd_real *a, vd_real *da, const vd_real *dc,
                                       vd_real *dfq, vd_real *dfh, vd_real *dh)
{
    size_t size = (size_t)hidden;
    for (int n = 0; n < span->questions; n++) {
        const vd_real *row = a + (size_t)n * (size_t)span->most, *d = dc + (size_t)n * 2 * size;
        vd_real *drow = da + (size_t)n * (size_t)span->most;
        int first = span->entry_start[span->dialog[n]], seen = span->seen[n];
        for (int r = 0; r < seen; r++) {
            drow[r] += dot(d, h + (size_t)(first + r) * 2 * size, 2 * hidden);
            vd_cpu_add_scaled(dh + (size_t)(first + r) * 2 * size, row[r], d, 2 * size);
        }
        softmax_backward(row, drow, seen);
        for (int r = 0; r < seen; r++) {
            dscore->b[0] += drow[r];
            product_score_backward(drow[r], score->w, fq + (size_t)n * size,
                                   fh + (size_t)(first + r) * size, hidden, rate, key,
                                   pair_index(span, n, r, hidden), dscore->w,
                                   dfq + (size_t)n * size, dfh + (size_t)(first + r) * size);
        }
    }
}

// ---- attention 2 --------------------------------------------------------------------------------

// One dialog's score matrix: a row for each word of its questions, a column for each word of its
// entries. These give the index of a question's or an entry's first word in it.
static int word_row(const vd_geometry *span, int dialog, int question)
{
    const int *start = span->question->start;
    return start[question] - start[span->question_start[dialog]];
}

static int word_column(const vd_geometry *span, int dialog, int index)
{
    const int *start = span->history->start + span->entry_start[dialog];
    return start[index] - start[0];
}

static void dialog_topics(const vd_geometry *span, int dialog, const vd_real *a, vd_real *s,
                          vd_real *weighted)
{
    int entries = span->entry_start[dialog + 1] - span->entry_start[dialog];
    int width = word_column(span, dialog, entries);
    for (int n = span->question_start[dialog]; n < span->question_start[dialog + 1]; n++) {
        const vd_real *share = a + (size_t)n * (size_t)span->most;
        int from = word_row(span, dialog, n), to = from + span->question->length[n];
        int seen = word_column(span, dialog, span->seen[n]);
        for (int i = from; i < to; i++) {
            vd_real *row = s + (size_t)i * (size_t)width;
            vd_real *out = weighted + (size_t)i * (size_t)width;
            for (int r = 0; r < span->seen[n]; r++) {
                int j = word_column(span, dialog, r), end = word_column(span, dialog, r + 1);
                if (end > j)
                    vd_cpu_softmax(row + j, row + j, (size_t)(end - j));
                for (int k = j; k < end; k++)
                    out[k] = share[r] * row[k];
            }
            memset(row + seen, 0, (size_t)(width - seen) * sizeof *row);
            memset(out + seen, 0, (size_t)(width - seen) * sizeof *out);
        }
    }
}

static void dialog_topics_backward(const vd_geometry *span, int dialog, const vd_real *a,
                                   const vd_real *s, vd_real *ds, vd_real *da)
{
    int entries = span->entry_start[dialog + 1] - span->entry_start[dialog];
    int width = word_column(span, dialog, entries);
    for (int n = span->question_start[dialog]; n < span->question_start[dialog + 1]; n++) {
        const vd_real *share = a + (size_t)n * (size_t)span->most;
        vd_real *dshare = da + (size_t)n * (size_t)span->most;
        int from = word_row(span, dialog, n), to = from + span->question->length[n];
        int seen = word_column(span, dialog, span->seen[n]);
        for (int i = from; i < to; i++) {
            const vd_real *row = s + (size_t)i * (size_t)width;
            vd_real *drow = ds + (size_t)i * (size_t)width;
            for (int r = 0; r < span->seen[n]; r++) {
                int j = word_column(span, dialog, r), end = word_column(span, dialog, r + 1);
                vd_real sum = dot(row + j, drow + j, end - j);
                dshare[r] += sum;
                // The softmax's gradient of a_r ds: a_r s (ds - sum).
                for (int k = j; k < end; k++)
                    drow[k] = share[r] * row[k] * (drow[k] - sum);
            }
            memset(drow + seen, 0, (size_t)(width - seen) * sizeof *drow);
        }
    }
}

static void topic_attention(const vd_geometry *span, const size_t *start, const vd_real *a,
                            vd_real *s, vd_real *weighted)
{
    for (int b = 0; b < span->dialogs; b++)
        dialog_topics(span, b, a, s + start[b], weighted + start[b]);
}

static void topic_attention_backward(const vd_geometry *span, const size_t *start, const vd_real *a,
                                     const vd_real *s, vd_real *ds, vd_real *da)
{
    for (int b = 0; b < span->dialogs; b++)
        dialog_topics_backward(span, b, a, s + start[b], ds + start[b], da);
}

// ---- attention 3 --------------------------------------------------------------------------------

// The words of a question in its dialog's matrix, and where that begins.
typedef struct words_span {
    size_t at;
    int from, count, stride;
} words_span;

static words_span words_of_question(const vd_geometry *span, int regions, int n)
{
    const int *start = span->question->start, *first = span->question_start + span->dialog[n];
    return (words_span){(size_t)regions * (size_t)start[first[0]], start[n] - start[first[0]],
                        start[n + 1] - start[n], start[first[1]] - start[first[0]]};
}

static void word_attention(const vd_geometry *span, int regions, vd_real *m)
{
    for (int n = 0; n < span->questions; n++) {
        words_span w = words_of_question(span, regions, n);
        softmax(m + w.at + w.from, regions, w.count, w.stride);
    }
}

static void word_attention_backward(const vd_geometry *span, int regions, const vd_real *m,
                                    vd_real *dm)
{
    for (int n = 0; n < span->questions; n++) {
        words_span w = words_of_question(span, regions, n);
        size_t at = w.at + (size_t)w.from;
        for (int r = 0; r < regions; r++, at += (size_t)w.stride)
            softmax_backward(m + at, dm + at, w.count);
    }
}

// ---- attention 4 --------------------------------------------------------------------------------

static void region_attention(const vd_geometry *span, int hidden, const vd_real *fm,
                             const vd_real *fc, const vd_score_weights *score, vd_real rate,
                             uint64_t key, vd_real *z, vd_real *norm, vd_real *g)
{
    size_t h = (size_t)hidden;
    for (int n = 0; n < span->questions; n++) {
        int from = span->region_start[n], to = span->region_start[n + 1];
        for (int k = from; k < to; k++) {
            vd_real *row = z + (size_t)k * h;
            multiply(row, fm + (size_t)k * h, fc + (size_t)n * h, hidden);
            norm[k] = (vd_real)sqrt(dot(row, row, hidden));
            if (norm[k] < (vd_real)1e-12)
                norm[k] = (vd_real)1e-12;
            for (int i = 0; i < hidden; i++)
                row[i] /= norm[k];
            vd_real sum = 0;
            uint32_t threshold = vd_dropout_threshold(rate), first = (uint32_t)k * (uint32_t)hidden;
            vd_real scale = 1 / (1 - rate);
            if (rate == 0)
                sum = dot(score->w, row, hidden);
            else
                for (int i = 0; i < hidden; i++)
                    if (vd_dropout_keeps(key, first + (uint32_t)i, threshold))
                        sum += score->w[i] * row[i] * scale;
            g[k] = sum + score->b[0];
        }
        if (to > from)
            vd_cpu_softmax(g + from, g + from, (size_t)(to - from));
    }
}

// Gradient of z = v / |v|: (dz - z (z . dz)) / |v|, then of v = fm * fc.
static void region_attention_backward(const vd_geometry *span, int hidden, const vd_real *fm,
                                      const vd_real *fc, const vd_score_weights *score,
                                      const vd_score_weights *dscore, vd_real rate, uint64_t key,
                                      const vd_real *z, const vd_real *norm, const vd_real *g,
                                      vd_real *dg, vd_real *dfm, vd_real *dfc)
{
    size_t h = (size_t)hidden;
    uint32_t threshold = vd_dropout_threshold(rate);
    vd_real scale = 1 / (1 - rate);
    for (int n = 0; n < span->questions; n++) {
        int from = span->region_start[n], to = span->region_start[n + 1];
        softmax_backward(g + from, dg + from, to - from);
        for (int k = from; k < to; k++) {
            const vd_real *row = z + (size_t)k * h;
            vd_real *dv = dfm + (size_t)k * h;
            uint32_t first = (uint32_t)k * (uint32_t)hidden;
            dscore->b[0] += dg[k];
            for (int i = 0; i < hidden; i++) {
                bool keep = rate == 0 || vd_dropout_keeps(key, first + (uint32_t)i, threshold);
                vd_real d = keep ? dg[k] * scale : 0;
                dscore->w[i] += d * row[i];
                dv[i] = d * score->w[i];
            }
            vd_real along = dot(row, dv, hidden);
            for (int i = 0; i < hidden; i++)
                dv[i] = (dv[i] - row[i] * along) / norm[k];
            add_product(dfc + (size_t)n * h, dv, fm + (size_t)k * h, hidden);
            multiply(dv, dv, fc + (size_t)n * h, hidden);
        }
    }
}

typedef struct pool_job {
    const vd_geometry *span;
    const vd_real *g, *m, *dy;
    vd_real *y, *dg, *dm;
    int size;
    size_t stride;
} pool_job;

// A question with all its regions, in nanoseconds.
static double pool_cost(const vd_geometry *span, int size)
{
    return 0.3 * size * span->region_start[span->questions] / (span->questions + 1);
}

static void pool_questions(void *data, size_t from, size_t to)
{
    const pool_job *j = data;
    for (size_t n = from; n < to; n++) {
        vd_real *row = j->y + n * j->stride;
        memset(row, 0, (size_t)j->size * sizeof *row);
        for (int k = j->span->region_start[n]; k < j->span->region_start[n + 1]; k++)
            vd_cpu_add_scaled(row, j->g[k], j->m + (size_t)k * (size_t)j->size, (size_t)j->size);
    }
}

static void region_pool(const vd_geometry *span, const vd_real *g, const vd_real *m, int size,
                        vd_real *y, int y_stride)
{
    pool_job job = {.span = span, .g = g, .m = m, .y = y, .size = size, .stride = (size_t)y_stride};
    vd_threads_ranges((size_t)span->questions, pool_cost(span, size), pool_questions, &job);
}

static void pool_questions_backward(void *data, size_t from, size_t to)
{
    const pool_job *j = data;
    for (size_t n = from; n < to; n++) {
        const vd_real *row = j->dy + n * j->stride;
        for (int k = j->span->region_start[n]; k < j->span->region_start[n + 1]; k++) {
            j->dg[k] += dot(row, j->m + (size_t)k * (size_t)j->size, j->size);
            vd_cpu_add_scaled(j->dm + (size_t)k * (size_t)j->size, j->g[k], row, (size_t)j->size);
        }
    }
}

static void region_pool_backward(const vd_geometry *span, const vd_real *g, const vd_real *m,
                                 int size, const vd_real *dy, int y_stride, vd_real *dg,
                                 vd_real *dm)
{
    pool_job job = {.span = span,
                    .g = g,
                    .m = m,
                    .dy = dy,
                    .dg = dg,
                    .dm = dm,
                    .size = size,
                    .stride = (size_t)y_stride};
    vd_threads_ranges((size_t)span->questions, 2 * pool_cost(span, size), pool_questions_backward,
                      &job);
}

void vd_cpu_attention(vd_backend *table)
{
    table->softmax = softmax;
    table->normalise_regions = normalise_regions;
    table->context_attention = context_attention;
    table->context_attention_backward = context_attention_backward;
    table->topic_attention = topic_attention;
    table->topic_attention_backward = topic_attention_backward;
    table->word_attention = word_attention;
    table->word_attention_backward = word_attention_backward;
    table->region_attention = region_attention;
    table->region_attention_backward = region_attention_backward;
    table->region_pool = region_pool;
    table->region_pool_backward = region_pool_backward;
}
