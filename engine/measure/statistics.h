// Is a difference between models larger than chance? Confidence intervals and paired tests.
//
// The bootstrap resamples dialogs: rounds of one dialog share picture and history and are not
// independent. Every metric is a ratio, sum over rounds / number of rounds, or a function of
// several sums (BLEU), and what it is made of is resampled together (Efron, Tibshirani, "An
// Introduction to the Bootstrap", 1993, percentile intervals; paired: Koehn, EMNLP 2004). A seed
// determines every sample, on every machine.
#ifndef VD_STATISTICS_H
#define VD_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "engine/measure/metrics.h"

// The measurements of one run (one evaluated model): per dialog and metric, the sum over the
// dialog's rounds and the number of rounds. Metrics of an evaluation are in vd_metric's order.
typedef struct vd_sample {
    size_t dialogs;
    int metrics;
    double *sum, *count; // (dialogs, metrics)
    // Metrics that are not ratios: columns > 0 is the number of sums per dialog, (dialogs,
    // columns), count is NULL, and derive computes the metrics (NaN: unknown) from the sums over
    // some dialogs. The same for all runs.
    int columns;
    void (*derive)(const double *sum, double *metric);
} vd_sample;

// From the metrics of each dialog. Cleared with vd_sample_clear.
vd_status vd_sample_new(const vd_metrics *dialog, size_t dialogs, vd_sample *out, vd_error *err);
void vd_sample_clear(vd_sample *sample);
// mean: (metrics), sum over all dialogs / count over all dialogs; NaN where nothing was counted.
// Only for ratios.
void vd_sample_means(const vd_sample *sample, double *mean);

typedef struct vd_bootstrap_options {
    int resamples; // 1 or more; 0 = 10000
    double level;  // of the interval, 0 < level < 1; 0 = 0.95
    uint64_t seed;
    // Several runs (seeds) of a model: resample runs too, not only dialogs, so that the interval is
    // about models trained this way rather than about these particular models. With fewer than
    // about five runs it is too narrow: a resample of few runs varies less than training does.
    bool draw_runs;
} vd_bootstrap_options;

typedef struct vd_interval {
    double estimate;       // mean of the metric over the runs
    double low, high;      // percentile interval
    double standard_error; // deviation of the resampled estimates
    double p;              // differences only: two-sided p-value of "no difference"
} vd_interval;

// out: (metrics). The runs are over the same dialogs in the same order (VD_USAGE otherwise). A
// metric that was never counted gets NaN. One counted in a single dialog gets NaN except for the
// estimate and p, because one dialog does not determine a variance. NULL options are the defaults.
vd_status vd_bootstrap(const vd_sample *runs, size_t count, const vd_bootstrap_options *options,
                       vd_interval *out, vd_error *err);

// The same for (mean of runs a) - (mean of runs b), both measured on the same sampled dialogs.
// p = 2 (1 + min(#{d* <= 0}, #{d* >= 0})) / (resamples + 1), at most 1: 1 for equal models. With n
// dialogs p is at least 2^(1-n), the probability that n fair coins all show the same side;
// otherwise a few dialogs that agree would give a smaller p.
vd_status vd_bootstrap_paired(const vd_sample *a, size_t a_count, const vd_sample *b,
                              size_t b_count, const vd_bootstrap_options *options, vd_interval *out,
                              vd_error *err);

// Numbers of rounds in which both, one or neither of two models is right.
typedef struct vd_pairs {
    size_t both, only_a, only_b, neither;
} vd_pairs;
void vd_pairs_add(vd_pairs *pairs, bool a, bool b);

// McNemar's test of "a and b are right equally often" (two-sided): exact conditional p-value and
// mid-p, which is less conservative and recommended (Fagerland, Lydersen, Laake, BMC Medical
// Research Methodology 13:91, 2013). It assumes independent rounds; where several come from one
// dialog, compare it with the paired bootstrap. Both are 1 when no pair differs.
typedef struct vd_mcnemar {
    double exact, mid_p;
} vd_mcnemar;
vd_mcnemar vd_mcnemar_test(const vd_pairs *pairs);

// Holm's step-down correction of n p-values for multiple testing (Holm 1979), in place.
vd_status vd_holm(double *p, size_t n, vd_error *err);

#endif
