// Self-critical sequence training (SCST: Rennie et al., CVPR 2017; the form of Cornia et al., CVPR
// 2020): a captioner says K captions of each of B pictures and learns by what they are worth, to
// minimise -E[r]:
//   L = -(1 / (B K)) sum_b sum_k (r_bk - b_bk) (1 / 20) sum_t ln p(w_bkt),  </S> included
// The captions are said first, those of a beam search or draws from the network's distribution;
// then they are read once for the gradient; both without dropout. b is the mean of the picture's
// rewards, that of the other K - 1, or the reward of the greedy caption. Captions that are alike
// are read once, those that count for nothing not at all: the same sum. Beside it, where options
// want them: min(r, reward_most) in place of r; where r > 0 and the caption is of form f, - variety
// log2(n_f / n), n_f of the n captions of the batch with a form being of it (a form that pays best
// would be the only one else); ce_weight times the cross entropy of the data's captions, mean over
// words (a mixed objective as of Paulus et al., ICLR 2018).
#ifndef VD_SCST_H
#define VD_SCST_H

#include "engine/model/vocab.h"
#include "engine/networks/captions/captions.h"
#include "engine/train/options.h"

enum { VD_CAPTION_FORMS = 16 };

// What captions are worth.
typedef struct vd_rewards {
    // Of a caption of picture `item` of the data set (vd_batch.item): ids of the vocabulary, </S>
    // the last where it was said.
    double (*of)(const void *context, size_t item, const int32_t *id, int count);
    // Which of VD_CAPTION_FORMS forms a caption has, -1: none; NULL: there are no forms.
    int (*form)(const void *context, const int32_t *id, int count);
    const void *context;
} vd_rewards;

typedef struct vd_scst_step {
    const vd_train_options *options;
    const vd_vocab *vocab;
    const vd_rewards *rewards;
    uint64_t seed; // of the draws; each picture has numbers of its own
    vd_totals of;  // of the whole step: questions is B; words those of the data's captions
} vd_scst_step;

// The gradient of a batch's pictures, for pass->tape.dw; pass as for vd_caption_see, without
// dropout. *loss: L; *said: what the captions were worth.
vd_status vd_scst_learn(vd_caption_pass *pass, const vd_batch *batch, const vd_scst_step *step,
                        double *loss, vd_caption_rewards *said, vd_error *err);

#endif
