// Self-critical sequence training (SCST: Rennie et al., CVPR 2017; the form of Cornia et al., CVPR
// 2020): a captioner generates K captions of each of B pictures and is trained on their rewards, to
// minimise -E[r]:
//   L = -(1 / (B K)) sum_b sum_k (r_bk - b_bk) (1 / 20) sum_t ln p(w_bkt),  </S> included
// First the captions are generated, by beam search or by sampling; then they are read once for the
// gradient; both without dropout. b is the mean of the picture's rewards, that of the other K - 1,
// or the reward of the greedy caption. Equal captions are read once, captions of weight zero not at
// all: the sum is the same. Options add: min(r, reward_most) in place of r; if r > 0 and the
// caption has form f, - variety log2(n_f / n), where n captions of the batch have a form and n_f of
// them form f (otherwise the form with the best reward would be the only one left); ce_weight times
// the cross entropy of the data's captions, mean over words (a mixed objective as in Paulus et al.,
// ICLR 2018).
#ifndef VD_SCST_H
#define VD_SCST_H

#include "engine/model/vocab.h"
#include "engine/networks/captions/captions.h"
#include "engine/train/options.h"

enum { VD_CAPTION_FORMS = 16 };

// The rewards of captions.
typedef struct vd_rewards {
    // The reward of a caption of picture `item` of the data set (vd_batch.item): word ids; the last
    // is </S> if the caption ended.
    double (*of)(const void *context, size_t item, const int32_t *id, int count);
    // Which of VD_CAPTION_FORMS forms a caption has, -1: none; NULL: there are no forms.
    int (*form)(const void *context, const int32_t *id, int count);
    const void *context;
} vd_rewards;

typedef struct vd_scst_step {
    const vd_train_options *options;
    const vd_vocab *vocab;
    const vd_rewards *rewards;
    uint64_t seed; // of the sampling; each picture has its own random numbers
    vd_totals of;  // of the whole step: questions is B; words those of the data's captions
} vd_scst_step;

// The gradient of a batch's pictures, for pass->tape.dw; pass as for vd_caption_encode, without
// dropout. *loss: L; *rewards: the captions' rewards.
vd_status vd_scst_gradient(vd_caption_pass *pass, const vd_batch *batch, const vd_scst_step *step,
                           double *loss, vd_caption_rewards *rewards, vd_error *err);

#endif
