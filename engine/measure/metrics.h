// Ranks and the metrics of visual dialog (Das et al. 2017; NDCG: VisDial v1.0 challenge).
// Ranks start at 1; candidates whose scores tie get the mean of the ranks they share, so that the
// order of the candidates cannot help a model (in the real data it leaks the answer).
#ifndef VD_METRICS_H
#define VD_METRICS_H

#include <stddef.h>

// ranks[i] of each of n scores. NaN ranks last.
void vd_metrics_ranks(const float *scores, int n, float *ranks);

// NDCG of one round: K = number of candidates with relevance > 0; candidates ranked by rank, ties
// averaged (the expected DCG over orders of the tied). 0 when no candidate is relevant.
double vd_metrics_ndcg(const float *ranks, const float *relevance, int n);

// Relevance of the first-ranked candidate is 1 (averaged over candidates tied for the first place).
double vd_metrics_correct(const float *ranks, const float *relevance, int n);

// The metrics one by one, as tables and statistics go through them, with their names: first those
// of rounds with a known human answer, then those of rounds with relevance above 0 (there is no
// NDCG of others).
#define VD_METRIC_LIST(X)                                                                          \
    X(VD_R1, "r@1")                                                                                \
    X(VD_R5, "r@5")                                                                                \
    X(VD_R10, "r@10")                                                                              \
    X(VD_MEAN_RANK, "mean")                                                                        \
    X(VD_MRR, "mrr")                                                                               \
    X(VD_NDCG, "ndcg")                                                                             \
    X(VD_CORRECT, "correct@1")

typedef enum vd_metric {
#define X(metric, name) metric,
    VD_METRIC_LIST(X)
#undef X
        VD_METRICS
} vd_metric;

// Running sums; zero-initialise. Add each round once.
typedef struct vd_metrics {
    size_t rounds, dense_rounds; // with a human answer, with relevance
    double sum[VD_METRICS];      // over the metric's rounds
} vd_metrics;

// truth: index of the human answer or -1; relevance: n numbers or NULL.
void vd_metrics_add(vd_metrics *metrics, const float *ranks, int n, int truth,
                    const float *relevance);
void vd_metrics_merge(vd_metrics *into, const vd_metrics *from);

const char *vd_metric_name(vd_metric metric);
// The mean of one metric, NaN when no round has it; and how many rounds have it.
double vd_metrics_mean(const vd_metrics *metrics, vd_metric metric);
size_t vd_metrics_rounds(const vd_metrics *metrics, vd_metric metric);

#endif
