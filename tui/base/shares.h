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
void vd_shares_by_index(vd_share *shares, int count); // sorts them so

// The text shown for networks without such an attention.
#define VD_NO_REGIONS "looks at the picture as a whole"
#define VD_NO_ROUNDS  "no attention to single rounds"

typedef struct vd_percent_text {
    char text[16];
} vd_percent_text;
vd_percent_text vd_percent(double fraction); // "62 %", ">99 %", "0.4 %"

// How much the answer drew on a question word: its share of the attention from the question to its
// words; where there is none, the regions' attention to it, weighted by theirs:
// w_i = sum_k g_k M_ki. Negative: the network shows neither.
double vd_word_share(const vd_answer *answer, int word);

#endif
