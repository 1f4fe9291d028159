#include "engine/measure/statistics.h"

#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"

// ---- samples ------------------------------------------------------------------------------------

vd_status vd_sample_new(const vd_metrics *dialog, size_t dialogs, vd_sample *out, vd_error *err)
{
    *out = (vd_sample){.dialogs = dialogs, .metrics = VD_METRICS};
    out->sum = vd_alloc(dialogs, VD_METRICS * sizeof *out->sum);
    out->count = vd_alloc(dialogs, VD_METRICS * sizeof *out->count);
    if (!out->sum || !out->count) {
        vd_sample_clear(out);
        return vd_error_memory(err, "the metrics of the dialogs");
    }
    for (size_t i = 0; i < dialogs * VD_METRICS; i++) {
        const vd_metrics *one = &dialog[i / VD_METRICS];
        out->sum[i] = one->sum[i % VD_METRICS];
        out->count[i] = (double)vd_metrics_rounds(one, (vd_metric)(i % VD_METRICS));
    }
    return VD_OK;
}

void vd_sample_clear(vd_sample *sample)
{
    vd_free(sample->sum);
    vd_free(sample->count);
    *sample = (vd_sample){0};
}

static size_t columns_of(const vd_sample *sample)
{
    return (size_t)(sample->columns > 0 ? sample->columns : sample->metrics);
}

// Sums of the dialogs, each taken times[d] times, or once when times is NULL. total: (2, columns).
static void sum_dialogs(const vd_sample *sample, const uint32_t *times, double *total)
{
    size_t m = columns_of(sample);
    memset(total, 0, 2 * m * sizeof *total);
    for (size_t d = 0; d < sample->dialogs; d++) {
        const double *sum = sample->sum + d * m,
                     *count = sample->derive ? NULL : sample->count + d * m;
        double weight = times ? times[d] : 1.0;
        if (weight == 0.0)
            continue;
        for (size_t i = 0; i < m; i++)
            total[i] += weight * sum[i];
        for (size_t i = 0; i < m && count; i++)
            total[m + i] += weight * count[i];
    }
}

// value: (metrics), of sums of dialogs.
static void metrics_of(const vd_sample *sample, const double *total, double *value)
{
    size_t m = columns_of(sample);
    if (sample->derive) {
        sample->derive(total, value);
        return;
    }
    for (size_t k = 0; k < m; k++)
        value[k] = total[m + k] > 0.0 ? total[k] / total[m + k] : NAN;
}

void vd_sample_means(const vd_sample *sample, double *mean)
{
    size_t m = (size_t)sample->metrics;
    for (size_t i = 0; i < m; i++) {
        double sum = 0.0, count = 0.0;
        for (size_t d = 0; d < sample->dialogs; d++) {
            sum += sample->sum[d * m + i];
            count += sample->count[d * m + i];
        }
        mean[i] = count > 0.0 ? sum / count : NAN;
    }
}

// ---- bootstrap ----------------------------------------------------------------------------------

// The runs of one model, or of one of the two that are compared.
typedef struct side {
    const vd_sample *runs;
    size_t count;
} side;

typedef struct resampler {
    side sides[2];
    int side_count;
    size_t dialogs, metrics;
    int resamples;
    double level;
    bool draw_runs;
    vd_rng rng;
    uint32_t *times; // (dialogs) how often each was sampled
    double *total;   // (2, columns) of a run
    double *run;     // (metrics) of it
    double *value;   // (metrics, resamples) a metric's resampled estimates
    double *now;     // (2, metrics) of this resample, each side's
} resampler;

// mean: (metrics), over the runs of a side, of the run's metrics.
static void mean_of_side(resampler *r, const side *s, bool draw, double *mean)
{
    size_t m = r->metrics;
    memset(mean, 0, m * sizeof *mean);
    for (size_t i = 0; i < s->count; i++) {
        size_t run = draw && r->draw_runs ? (size_t)vd_rng_below(&r->rng, (int)s->count) : i;
        sum_dialogs(&s->runs[run], draw ? r->times : NULL, r->total);
        metrics_of(&s->runs[run], r->total, r->run);
        for (size_t k = 0; k < m; k++)
            mean[k] += r->run[k];
    }
    for (size_t k = 0; k < m; k++)
        mean[k] /= (double)s->count;
}

// now: the mean, or the difference of the two means, which is exactly 0 where they are equal.
static void estimate(resampler *r, bool draw)
{
    double *other = r->now + r->metrics;
    mean_of_side(r, &r->sides[0], draw, r->now);
    if (r->side_count == 1)
        return;
    mean_of_side(r, &r->sides[1], draw, other);
    for (size_t k = 0; k < r->metrics; k++)
        r->now[k] -= other[k];
}

static void draw_dialogs(resampler *r)
{
    memset(r->times, 0, r->dialogs * sizeof *r->times);
    for (size_t i = 0; i < r->dialogs; i++)
        r->times[vd_rng_below(&r->rng, (int)r->dialogs)]++;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Quantile q of n sorted numbers, between neighbours in proportion.
static double quantile(const double *sorted, size_t n, double q)
{
    double position = q * (double)(n - 1);
    size_t below = (size_t)position;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

static size_t dialogs_counted(const vd_sample *sample, size_t metric)
{
    size_t n = 0;
    if (sample->derive)
        return sample->dialogs;
    for (size_t d = 0; d < sample->dialogs; d++)
        n += sample->count[d * (size_t)sample->metrics + metric] > 0.0;
    return n;
}

// Of a metric's resampled estimates. Those that are not a number (no annotated dialog was sampled)
// are left out. counted: dialogs that the metric is of.
static void summarise(const resampler *r, double *value, size_t counted, vd_interval *out)
{
    size_t n = 0, low = 0, high = 0;
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < (size_t)r->resamples; i++) {
        if (isnan(value[i]))
            continue;
        value[n++] = value[i];
        sum += value[n - 1];
    }
    if (n == 0 || isnan(out->estimate)) {
        out->low = out->high = out->standard_error = out->p = NAN;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double off = value[i] - sum / (double)n;
        squares += off * off;
        low += value[i] <= 0.0;
        high += value[i] >= 0.0;
    }
    qsort(value, n, sizeof *value, compare_numbers);
    out->low = quantile(value, n, (1.0 - r->level) / 2.0);
    out->high = quantile(value, n, (1.0 + r->level) / 2.0);
    out->standard_error = n > 1 ? sqrt(squares / (double)(n - 1)) : 0.0;
    out->p = fmin(1.0, 2.0 * (1.0 + (double)(low < high ? low : high)) / ((double)n + 1.0));
    out->p = fmax(out->p, pow(2.0, 1.0 - (double)counted));
    if (counted < 2) // the variance between dialogs is not known
        out->low = out->high = out->standard_error = NAN;
}

static vd_status check_runs(resampler *r, vd_error *err)
{
    const vd_sample *first = r->sides[0].runs;
    for (int s = 0; s < r->side_count; s++) {
        const side *runs = &r->sides[s];
        if (runs->count == 0 || runs->count > INT32_MAX)
            return vd_error_set(err, VD_USAGE, "a bootstrap of %zu runs: expected 1 or more",
                                runs->count);
        for (size_t i = 0; i < runs->count; i++)
            if (runs->runs[i].dialogs != first->dialogs ||
                runs->runs[i].metrics != first->metrics ||
                columns_of(&runs->runs[i]) != columns_of(first))
                return vd_error_set(err, VD_USAGE,
                                    "runs over %zu and %zu dialogs cannot be compared; evaluate "
                                    "them on the same ones",
                                    first->dialogs, runs->runs[i].dialogs);
    }
    if (first->dialogs == 0 || first->dialogs > INT32_MAX)
        return vd_error_set(err, VD_USAGE, "a bootstrap over %zu dialogs: expected 1 or more",
                            first->dialogs);
    r->dialogs = first->dialogs;
    r->metrics = (size_t)first->metrics;
    return VD_OK;
}

static vd_status read_bootstrap_options(resampler *r, const vd_bootstrap_options *options,
                                        vd_error *err)
{
    static const vd_bootstrap_options defaults = {0};
    options = options ? options : &defaults;
    r->resamples = options->resamples ? options->resamples : 10000;
    r->level = options->level != 0.0 ? options->level : 0.95;
    r->draw_runs = options->draw_runs;
    r->rng = vd_rng_seed(options->seed, 0);
    if (r->resamples < 1)
        return vd_error_set(err, VD_USAGE, "%d resamples: expected 1 or more", r->resamples);
    if (!(r->level > 0.0 && r->level < 1.0))
        return vd_error_set(err, VD_USAGE, "a confidence level of %g: expected one between 0 and 1",
                            r->level);
    return VD_OK;
}

static vd_status resample(resampler *r, const vd_bootstrap_options *options, vd_interval *out,
                          vd_error *err)
{
    vd_status status = check_runs(r, err);
    if (status == VD_OK)
        status = read_bootstrap_options(r, options, err);
    if (status)
        return status;
    size_t m = r->metrics, n = (size_t)r->resamples;
    r->times = vd_alloc(r->dialogs, sizeof *r->times);
    r->total = vd_alloc(2 * columns_of(r->sides[0].runs), sizeof *r->total);
    r->run = vd_alloc(m, sizeof *r->run);
    r->now = vd_alloc(2 * m, sizeof *r->now);
    r->value = vd_alloc(n, m * sizeof *r->value);
    if (r->times && r->total && r->run && r->now && r->value) {
        estimate(r, false);
        for (size_t k = 0; k < m; k++)
            out[k] = (vd_interval){.estimate = r->now[k]};
        for (size_t i = 0; i < n; i++) {
            draw_dialogs(r);
            estimate(r, true);
            for (size_t k = 0; k < m; k++)
                r->value[k * n + i] = r->now[k];
        }
        for (size_t k = 0; k < m; k++)
            summarise(r, r->value + k * n, dialogs_counted(r->sides[0].runs, k), &out[k]);
    } else {
        status = vd_error_memory(err, "the bootstrap");
    }
    vd_free(r->times);
    vd_free(r->total);
    vd_free(r->run);
    vd_free(r->now);
    vd_free(r->value);
    return status;
}

vd_status vd_bootstrap(const vd_sample *runs, size_t count, const vd_bootstrap_options *options,
                       vd_interval *out, vd_error *err)
{
    resampler r = {.sides = {{runs, count}}, .side_count = 1};
    vd_status status = resample(&r, options, out, err);
    for (size_t k = 0; status == VD_OK && k < r.metrics; k++)
        out[k].p = NAN;
    return status;
}

vd_status vd_bootstrap_paired(const vd_sample *a, size_t a_count, const vd_sample *b,
                              size_t b_count, const vd_bootstrap_options *options, vd_interval *out,
                              vd_error *err)
{
    resampler r = {.sides = {{a, a_count}, {b, b_count}}, .side_count = 2};
    return resample(&r, options, out, err);
}

// ---- McNemar ------------------------------------------------------------------------------------

void vd_pairs_add(vd_pairs *pairs, bool a, bool b)
{
    *(a ? b ? &pairs->both : &pairs->only_a : b ? &pairs->only_b : &pairs->neither) += 1;
}

// log n!, without lgamma's global sign.
static double log_factorial(double n)
{
    int sign;
    return lgamma_r(n + 1.0, &sign);
}

vd_mcnemar vd_mcnemar_test(const vd_pairs *pairs)
{
    if (pairs->only_a + pairs->only_b == 0)
        return (vd_mcnemar){1.0, 1.0};
    double a = (double)pairs->only_a, b = (double)pairs->only_b;
    double n = a + b, k = fmin(a, b);
    double point = exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) - n * log(2.0));
    if (a == b)
        return (vd_mcnemar){1.0, 1.0 - 0.5 * point};
    // P(X <= k) of n fair coins, from its largest term down until the terms no longer change the
    // sum.
    double tail = 0.0;
    for (double term = point, i = k; i >= 0.0 && tail + term > tail; i -= 1.0) {
        tail += term;
        term *= i / (n - i + 1.0);
    }
    return (vd_mcnemar){fmin(1.0, 2.0 * tail), fmin(1.0, 2.0 * tail - point)};
}

// ---- several questions at once ------------------------------------------------------------------

static int compare_pointed(const void *a, const void *b)
{
    return compare_numbers(*(double *const *)a, *(double *const *)b);
}

vd_status vd_holm(double *p, size_t n, vd_error *err)
{
    double **order = vd_alloc(n, sizeof *order);
    if (!order)
        return vd_error_memory(err, "the p-values");
    for (size_t i = 0; i < n; i++)
        order[i] = &p[i];
    qsort(order, n, sizeof(double *), compare_pointed);
    double least = 0.0;
    for (size_t i = 0; i < n; i++) {
        least = fmax(least, fmin(1.0, (double)(n - i) * *order[i]));
        *order[i] = least;
    }
    vd_free(order);
    return VD_OK;
}
