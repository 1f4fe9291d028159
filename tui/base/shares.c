#include "tui/base/shares.h"

#include <stdlib.h>
#include <stdbool.h>
#include <stdio.h>

int vd_shares_top(const float *shares, int n, double mass, vd_share *out, int most)
{
    double sum = 0, taken = 0;
    for (int i = 0; i < n; i++)
        sum += shares[i] > 0 ? shares[i] : 0;
    int count = 0;
    while (count < most && count < n && taken < mass * sum) {
        int best = -1;
        for (int i = 0; i < n; i++) {
            bool used = false;
            for (int j = 0; j < count && !used; j++)
                used = out[j].index == i;
            if (!used && shares[i] > 0 && (best < 0 || shares[i] > shares[best]))
                best = i;
        }
        if (best < 0)
            break;
        out[count++] = (vd_share){.index = best, .share = shares[best]};
        taken += shares[best];
    }
    return count;
}

vd_percent_text vd_percent(double fraction)
{
    vd_percent_text out;
    enum { SIZE = sizeof out.text };
    double percent = fraction * 100;
    if (!(percent >= 0))
        snprintf(out.text, SIZE, "?");
    else if (percent > 99 && percent < 100)
        snprintf(out.text, SIZE, ">99 %%");
    else if (percent >= 9.95)
        snprintf(out.text, SIZE, "%.0f %%", percent);
    else if (percent >= 0.05 || percent == 0)
        snprintf(out.text, SIZE, "%.1f %%", percent);
    else
        snprintf(out.text, SIZE, "<.1 %%");
    return out;
}

double vd_word_share(const vd_answer *answer, int word)
{
    const float *own = vd_answer_shares(answer, VD_AXIS_QUESTION_WORDS);
    const float *regions = vd_answer_shares(answer, VD_AXIS_REGIONS);
    const vd_attention *words =
        vd_answer_attention(answer, VD_AXIS_REGIONS, VD_AXIS_QUESTION_WORDS);
    double sum = 0;
    if (!own && (!regions || !words))
        return -1;
    if (word >= answer->question_length)
        return 0;
    if (own)
        return (double)own[word];
    for (int k = 0; k < answer->regions; k++)
        sum += (double)regions[k] * (double)words->share[k * words->columns + word];
    return sum;
}

static int by_index(const void *a, const void *b)
{
    return ((const vd_share *)a)->index - ((const vd_share *)b)->index;
}

void vd_shares_by_index(vd_share *shares, int count)
{
    qsort(shares, (size_t)count, sizeof *shares, by_index);
}
