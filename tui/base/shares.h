// Shares of a whole (attentions, probabilities) as people read them.
#ifndef VD_SHARES_H
#define VD_SHARES_H

#include <stddef.h>

#include "engine/model/dialog.h"

// The largest of n shares, largest first, until `mass` of their sum is reached; at most `most`.
typedef struct vd_share {
    int index;
    double share;
} vd_share;
int vd_shares_top(const float *shares, int n, double mass, vd_share *out, int most);

void vd_percent(char *out, size_t size, double fraction); // "62 %", ">99 %", "0.4 %"

// How much the answer drew on each question word: attention 3 weighted by attention 4,
// w_i = sum_k g_k M_ki.
double vd_word_share(const vd_answer *answer, int word);

#endif
