// What kind of captioner a model is, and how large.
#ifndef VD_CAPTION_CONFIG_H
#define VD_CAPTION_CONFIG_H

#include "engine/base/settings.h"

typedef enum vd_captioner_kind {
    VD_CAPTIONER_TRANSFORMER,
    VD_CAPTIONER_CAT,
    VD_CAPTIONER_SAT_SOFT,
    VD_CAPTIONER_SAT_HARD,
    VD_CAPTIONERS
} vd_captioner_kind;

// What the second attention of a layer sees beside the regions: contexts of the words up to this
// one (COMPLETE); of earlier words (PAST); up to this one, without the regions (ONLY); of this word
// (NOW); the layer's queries, without a first attention (LIGHT); nothing.
typedef enum vd_caption_history {
    VD_HISTORY_OWN, // the captioner's own: cat complete, all others none
    VD_HISTORY_COMPLETE,
    VD_HISTORY_PAST,
    VD_HISTORY_ONLY,
    VD_HISTORY_NOW,
    VD_HISTORY_LIGHT,
    VD_HISTORY_NONE
} vd_caption_history;

// The level that a head's history weight is pulled to (attention weight coherence).
typedef enum vd_awc { VD_AWC_NONE, VD_AWC_FIXED, VD_AWC_LEARNT } vd_awc;

// The cross entropy: a mean over words, or over captions of the sum over words (SAT always).
typedef enum vd_caption_ce { VD_CE_MEAN, VD_CE_SUM, VD_CES } vd_caption_ce;

// Hard attention: which region a word attends to. OWN: sampled in training (hard.c), else as
// LARGEST; LARGEST: that of the largest share; DRAW: sampled by the shares; EXPECTED: soft, the
// mean of all by their shares.
typedef enum vd_hard { VD_HARD_OWN, VD_HARD_LARGEST, VD_HARD_DRAW, VD_HARD_EXPECTED } vd_hard;

typedef struct vd_caption_config {
    vd_captioner_kind captioner;
    int vocab;  // V
    int region; // D
    int hidden; // d; of SAT H, too
    int embed;  // E of SAT
    int heads;  // h; 0: 4
    int layers; // N
    int inner;  // f; of SAT A
    vd_caption_history history;
    int shared, history_norm; // 0 or 1
    vd_awc awc;
    double awc_level, awc_weight;                     // B, gamma
    double seen_weight, seen_target;                  // lambda, tau of SAT
    double reward_weight, entropy_weight, soft_share; // lambda_r, lambda_e of hard SAT, its 1/2
    double smoothing;                                 // epsilon_s
    vd_caption_ce ce;
} vd_caption_config;

extern const vd_setting
    vd_caption_settings[]; // the rows of vd_caption_config (networks/settings.h)
extern const char *const vd_captioner_names[];
extern const char *const vd_history_names[];
extern const char *const vd_awc_names[];
extern const char *const vd_no_yes_names[];
extern const char *const vd_ce_names[];

// What the captioner looks back at, never VD_HISTORY_OWN.
vd_caption_history vd_caption_history_of(const vd_caption_config *config);
bool vd_caption_is_sat(const vd_caption_config *config);
bool vd_caption_is_hard(const vd_caption_config *config); // it attends to one region at a time
// Whether an option can change anything in this captioner.
bool vd_caption_reads(const vd_caption_config *config, const char *option);
int vd_caption_heads(const vd_caption_config *config);  // SAT: 1
int vd_caption_layers(const vd_caption_config *config); // SAT: 1
// Checks that the settings are compatible; VD_USAGE says which are not.
vd_status vd_caption_check(const vd_caption_config *config, vd_error *err);

#endif
