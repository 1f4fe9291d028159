// CIDEr-D (Vedantam, Zitnick, Parikh, CVPR 2015), as coco-caption computes it under the name CIDEr.
//
// df(g) = pictures any of whose references has the n-gram g, I = pictures, both of the set that the
// weights were made of: the one that is scored (metric), or the training pictures (reward of SCST).
// a_s(g) = c_s(g) (ln I - ln max(1, df(g))), for n-grams of n = 1..4 each:
//   sim_n(h, r) = exp(-delta^2 / 72) sum_g min(a_h(g), a_r(g)) a_r(g) / (|a_h| |a_r|)
// 0 where a norm is 0; delta is the difference in number of bigrams. The score is 10 times the mean
// over references and n: 0..10. Tables show the mean over pictures times 100. A picture alone (I =
// 1) scores 0; a perfect caption of three words 7.5, because it has no 4-gram.
#ifndef VD_CIDER_H
#define VD_CIDER_H

#include "engine/base/error.h"
#include "engine/measure/caption_metrics.h"

// Document frequencies. Tokens are ids of one vocabulary throughout; whether </S> is one of them is
// the caller's choice, the same for captions and references.
typedef struct vd_cider { // zero at first
    // A hash table with open addressing: a power of two of slots, at most half of them taken.
    struct vd_cider_entry *entry; // (slots)
    size_t slots, taken, pictures;
} vd_cider;

void vd_cider_clear(vd_cider *cider);
// One more picture: counts it, and each n-gram of its references once.
vd_status vd_cider_add(vd_cider *cider, const vd_tokens *reference, int references, vd_error *err);

// Of one caption, 0..10, against references that need not be among those added. Threads may score
// at the same time, while none adds. references: 1 or more.
double vd_cider_score(const vd_cider *cider, vd_tokens hypothesis, const vd_tokens *reference,
                      int references);

#endif
