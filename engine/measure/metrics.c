#include "engine/measure/metrics.h"

#include <math.h>
#include <stdbool.h>

void vd_metrics_ranks(const float *scores, int n, float *ranks)
{
    // Counting is quadratic, but needs no memory and, for the 100 candidates of a round, beats
    // sorting.
    int numbers = 0;
    for (int i = 0; i < n; i++)
        numbers += !isnan(scores[i]);
    for (int i = 0; i < n; i++) {
        int better = 0, equal = 0;
        for (int j = 0; j < n; j++) {
            better += scores[j] > scores[i];
            equal += scores[j] == scores[i];
        }
        if (isnan(scores[i])) {
            better = numbers;
            equal = n - numbers;
        }
        ranks[i] = (float)better + ((float)equal + 1.0f) / 2.0f;
    }
}

// Mean over the ranks first .. first + count - 1 of 1 / log2(rank + 1), 0 beyond rank `last`.
static double mean_discount(int first, int count, int last)
{
    double sum = 0.0;
    for (int rank = first; rank < first + count && rank <= last; rank++)
        sum += 1.0 / log2(rank + 1.0);
    return sum / count;
}

double vd_metrics_ndcg(const float *ranks, const float *relevance, int n)
{
    int relevant = 0;
    for (int i = 0; i < n; i++)
        relevant += relevance[i] > 0.0f;
    double dcg = 0.0, ideal = 0.0;
    for (int i = 0; i < n; i++) {
        if (!(relevance[i] > 0.0f))
            continue;
        int before = 0, tied = 0, better = 0, equal = 0;
        for (int j = 0; j < n; j++) {
            before += ranks[j] < ranks[i];
            tied += ranks[j] == ranks[i];
            better += relevance[j] > relevance[i];
            equal += relevance[j] == relevance[i];
        }
        dcg += (double)relevance[i] * mean_discount(before + 1, tied, relevant);
        ideal += (double)relevance[i] * mean_discount(better + 1, equal, relevant);
    }
    return ideal > 0.0 ? dcg / ideal : 0.0;
}

double vd_metrics_correct(const float *ranks, const float *relevance, int n)
{
    int first = 0, correct = 0;
    float best = INFINITY;
    for (int i = 0; i < n; i++)
        best = ranks[i] < best ? ranks[i] : best;
    for (int i = 0; i < n; i++) {
        first += ranks[i] == best;
        correct += ranks[i] == best && relevance[i] >= 1.0f;
    }
    return first ? (double)correct / first : 0.0;
}

void vd_metrics_add(vd_metrics *metrics, const float *ranks, int n, int truth,
                    const float *relevance)
{
    static const float within[] = {[VD_R1] = 1.0f, [VD_R5] = 5.0f, [VD_R10] = 10.0f};
    double *sum = metrics->sum;
    if (truth >= 0 && truth < n) {
        float rank = ranks[truth];
        metrics->rounds++;
        for (int i = VD_R1; i <= VD_R10; i++)
            sum[i] += rank <= within[i];
        sum[VD_MEAN_RANK] += (double)rank;
        sum[VD_MRR] += 1.0 / (double)rank;
    }
    bool relevant = false;
    for (int i = 0; relevance && i < n; i++)
        relevant = relevant || relevance[i] > 0;
    if (relevant) {
        metrics->dense_rounds++;
        sum[VD_NDCG] += vd_metrics_ndcg(ranks, relevance, n);
        sum[VD_CORRECT] += vd_metrics_correct(ranks, relevance, n);
    }
}

void vd_metrics_merge(vd_metrics *into, const vd_metrics *from)
{
    into->rounds += from->rounds;
    into->dense_rounds += from->dense_rounds;
    for (int i = 0; i < VD_METRICS; i++)
        into->sum[i] += from->sum[i];
}

const char *vd_metric_name(vd_metric metric)
{
    static const char *const names[] = {
#define X(id, name) [id] = (name),
        VD_METRIC_LIST(X)
#undef X
    };
    return (unsigned)metric < VD_METRICS ? names[metric] : "?";
}

size_t vd_metrics_rounds(const vd_metrics *metrics, vd_metric metric)
{
    return metric < VD_NDCG ? metrics->rounds : metrics->dense_rounds;
}

double vd_metrics_mean(const vd_metrics *metrics, vd_metric metric)
{
    size_t rounds = vd_metrics_rounds(metrics, metric);
    return rounds > 0 ? metrics->sum[metric] / (double)rounds : NAN;
}
