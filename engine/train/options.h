// How a network is trained: optimiser, schedule, loss, dropout, batches, and what is made of it.
// Names, bounds, defaults and help of all of them: engine/networks/settings.h.
#ifndef VD_TRAIN_OPTIONS_H
#define VD_TRAIN_OPTIONS_H

#include <stdint.h>

#include "engine/base/settings.h"
#include "engine/networks/captions/config.h"

// AdamW is Adam with decoupled weight decay (Loshchilov, Hutter 2019, algorithm 2; as PyTorch, the
// decay is in proportion to the learning rate): before a step of Adam, w -= rate weight_decay w.
// Only matrices decay, as is usual for transformers (vd_parameter_decays), where PyTorch's AdamW by
// itself takes all parameters.
typedef enum vd_optimiser { VD_ADAM, VD_RMSPROP, VD_ADAMAX, VD_ADAMW, VD_OPTIMISERS } vd_optimiser;

// Of the learning rate: the thesis' three steps, a cosine, none (vd_schedule_multiplier).
typedef enum vd_schedule {
    VD_SCHEDULE_STEPS,
    VD_SCHEDULE_COSINE,
    VD_SCHEDULE_CONSTANT,
    VD_SCHEDULE_WARM_UP, // Vaswani et al. 2017, section 5.3 (vd_warm_up)
    VD_SCHEDULES
} vd_schedule;

// The reward of generated captions (scst.h); none: training on the captions of the data.
typedef enum vd_scst { VD_SCST_NONE, VD_SCST_CIDER_D, VD_SCST_BITS, VD_SCSTS } vd_scst;
// How captions are generated, and the baseline of their rewards.
typedef enum vd_scst_sample { VD_SAMPLE_BEAM, VD_SAMPLE_DRAW, VD_SAMPLES } vd_scst_sample;
typedef enum vd_scst_baseline {
    VD_BASELINE_MEAN,   // of all of the picture
    VD_BASELINE_OTHERS, // of the others
    VD_BASELINE_GREEDY, // the greedy caption's
    VD_BASELINES
} vd_scst_baseline;
// Whether </S> is a token of captions, references and document frequencies of CIDEr-D.
typedef enum vd_scst_eos { VD_EOS_IN, VD_EOS_OUT, VD_EOSS } vd_scst_eos;

// What selects the best epoch of a captioner (best.safetensors). OWN: cross entropy, with scst the
// reward; the others: that, or a metric of its greedy captions.
typedef enum vd_best_by {
    VD_BEST_OWN,
    VD_BEST_CE,
    VD_BEST_REWARD,
    VD_BEST_CIDER_D,
    VD_BEST_BLEU_4,
    VD_BEST_FAITHFUL,
    VD_BEST_BITS,
    VD_BESTS
} vd_best_by;

typedef struct vd_train_options {
    vd_optimiser optimiser;         // RMSProp: alpha 0.99, eps 1e-8
    double beta_1, beta_2, epsilon; // of Adam, AdaMax and AdamW
    double weight_decay;            // of AdamW
    double rate, clip;
    vd_schedule schedule;
    int warm_up; // W of VD_SCHEDULE_WARM_UP
    int margin;  // of the L-softmax: lambda = max(floor, start * decay^step)
    double lambda_start, lambda_decay, lambda_floor;
    double dropout, lstm_dropout, position_dropout;
    int own_masks;       // as vd_pass has it
    double text_dropout; // below 0: the text encoder's own (engine/networks/text/)
    double random_time;  // memn2n: most empty entries, a share (vd_aged_entries)
    double linear_start; // memn2n: share of the epochs without softmax in the hops
    double coverage;     // weight of the coverage loss in the last epoch (decoders/copying.c)
    double next_word;    // weight of the loss of the next word (networks/dialog_transformer.c)
    // 1: a gate without an upper bound starts as the tangent of a sigmoid one, 1/2 + x/4, so that
    // the network starts where one with sigmoid gates does; 0: as the sigmoid's weights would,
    // PyTorch's start, from which attention 3 saturates early.
    int open_gates;
    vd_scst scst; // of captioners, which then learn without dropout
    vd_scst_sample sample;
    int sample_size; // K
    vd_scst_baseline baseline;
    vd_scst_eos eos;
    double reward_most; // upper limit of a reward; 0: none
    double variety;     // weight of the bonus for rare forms
    double ce_weight;   // of the cross entropy of the data's captions beside it
    uint64_t seed;
    // Of a run over a data set (tui/train); a trainer only keeps and checks them.
    int batch, micro_batch, epochs; // micro_batch 0: the whole batch
    int patience; // a run stops after this many epochs without improvement; 0: never
    vd_best_by best_by;
    int min_count, pool, half;
} vd_train_options;

extern const vd_setting vd_train_settings[]; // the rows of vd_train_options
extern const char *const vd_optimiser_names[],
    *const vd_schedule_names[], *const vd_scst_names[], *const vd_sample_names[],
                                                            *const vd_baseline_names[],
                                                                *const vd_eos_names[],
                                                                    *const vd_best_names[];

vd_train_options vd_train_defaults(void);

enum { VD_SIGNATURE = 400 };
// How a captioner is trained, in one line that every result is to be printed with:
// "ce=mean smooth=0 awc=learnt scst=cider-d sample=beam K=5 baseline=mean df=pictures eos=in
// seed=1".
void vd_train_signature(const vd_caption_config *config, const vd_train_options *options,
                        char out[VD_SIGNATURE]);

#endif
