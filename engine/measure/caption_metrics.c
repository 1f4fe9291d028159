#include "engine/measure/caption_metrics.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- n-grams ------------------------------------------------------------------------------------

static bool same(const int32_t *a, const int32_t *b, int n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

int vd_ngram_counts(vd_tokens sentence, int n, int times[VD_CAPTION_MOST])
{
    int grams = sentence.count < n ? 0 : sentence.count - n + 1;
    for (int i = 0; i < grams; i++) {
        int first = 0;
        while (!same(sentence.id + first, sentence.id + i, n))
            first++;
        times[i] = 0;
        times[first]++;
    }
    return grams;
}

int vd_ngram_times(vd_tokens sentence, const int32_t *gram, int n)
{
    int times = 0;
    for (int i = 0; i + n <= sentence.count; i++)
        times += same(sentence.id + i, gram, n);
    return times;
}

// ---- BLEU ---------------------------------------------------------------------------------------

static int clipped_matches(vd_tokens hypothesis, const vd_tokens *reference, int references, int n)
{
    int times[VD_CAPTION_MOST], correct = 0, grams = vd_ngram_counts(hypothesis, n, times);
    for (int i = 0; i < grams; i++) {
        int most = 0;
        for (int j = 0; times[i] > most && j < references; j++) {
            int there = vd_ngram_times(reference[j], hypothesis.id + i, n);
            most = there > most ? there : most;
        }
        correct += times[i] < most ? times[i] : most;
    }
    return correct;
}

static int nearest_length(int hypothesis, const vd_tokens *reference, int references)
{
    int nearest = reference[0].count;
    for (int j = 1; j < references; j++) {
        int off = abs(reference[j].count - hypothesis), least = abs(nearest - hypothesis);
        if (off < least || (off == least && reference[j].count < nearest))
            nearest = reference[j].count;
    }
    return nearest;
}

void vd_bleu_add(vd_bleu *sums, vd_tokens hypothesis, const vd_tokens *reference, int references)
{
    for (int n = 1; n <= VD_BLEU_ORDERS; n++) {
        sums->correct[n - 1] += clipped_matches(hypothesis, reference, references, n);
        sums->guess[n - 1] += hypothesis.count < n ? 0 : hypothesis.count - n + 1;
    }
    sums->hypothesis += hypothesis.count;
    sums->reference += nearest_length(hypothesis.count, reference, references);
}

void vd_bleu_scores(const vd_bleu *sums, double score[VD_BLEU_ORDERS])
{
    double product = 1.0, rho = (sums->hypothesis + 1e-15) / (sums->reference + 1e-9);
    double brevity = rho < 1.0 ? exp(1.0 - 1.0 / rho) : 1.0;
    for (int n = 1; n <= VD_BLEU_ORDERS; n++) {
        product *= (sums->correct[n - 1] + 1e-15) / (sums->guess[n - 1] + 1e-9);
        score[n - 1] = pow(product, 1.0 / n) * brevity;
    }
}

// ---- ROUGE-L ------------------------------------------------------------------------------------

// Length of the longest common subsequence, a row of the table at a time.
static int common_subsequence(vd_tokens a, vd_tokens b)
{
    int row[VD_CAPTION_MOST + 1] = {0};
    for (int i = 0; i < a.count; i++) {
        int corner = 0; // of the row before, one place to the left
        for (int j = 0; j < b.count; j++) {
            int above = row[j + 1];
            if (a.id[i] == b.id[j])
                row[j + 1] = corner + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            corner = above;
        }
    }
    return row[b.count];
}

double vd_rouge_l(vd_tokens hypothesis, const vd_tokens *reference, int references)
{
    static const int32_t nothing[] = {-1};
    static const vd_tokens empty = {nothing, 1};
    double precision = 0.0, recall = 0.0;
    hypothesis = hypothesis.count ? hypothesis : empty;
    for (int j = 0; j < references; j++) {
        vd_tokens other = reference[j].count ? reference[j] : empty;
        double common = common_subsequence(hypothesis, other);
        precision = fmax(precision, common / hypothesis.count);
        recall = fmax(recall, common / other.count);
    }
    if (precision == 0.0 || recall == 0.0)
        return 0.0;
    return 2.44 * precision * recall / (recall + 1.44 * precision);
}
