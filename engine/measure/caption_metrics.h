// Metrics of captions: functions of tokens. A token is the id of a word; equal words have equal
// ids, which may be any numbers of 0 or more. c_s(g) is how often the n-gram g is in the sentence
// s.
//
// The formulas are coco-caption's (Chen et al., "Microsoft COCO Captions", arXiv:1504.00325, 2015),
// as pycocoevalcap computes them. BLEU: Papineni et al., ACL 2002; ROUGE-L: Lin, ACL workshop 2004.
// CIDEr-D is in cider.h, METEOR-es in meteor.h.
#ifndef VD_CAPTION_METRICS_H
#define VD_CAPTION_METRICS_H

#include <stdint.h>

// Largest number of tokens of a caption; readers refuse longer ones.
enum { VD_CAPTION_MOST = 256 };

// A sentence, borrowed. count 0: an empty sentence, which is allowed.
typedef struct vd_tokens {
    const int32_t *id; // (count)
    int count;         // 0..VD_CAPTION_MOST
} vd_tokens;

// ---- BLEU ---------------------------------------------------------------------------------------

enum { VD_BLEU_ORDERS = 4 };

// Sums over pictures of what BLEU-1 to BLEU-4 are made of; zero-initialise.
typedef struct vd_bleu {
    double correct[VD_BLEU_ORDERS]; // C_n = sum of min(c_h(g), max_j c_rj(g)) over n-grams g
    double guess[VD_BLEU_ORDERS];   // G_n = sum of max(0, |h| - n + 1)
    double hypothesis;              // sum of |h|
    double reference;               // sum of the reference length that is nearest to |h|, of two
                                    // that are equally near the shorter
} vd_bleu;

// Adds a picture's. references: 1 or more.
void vd_bleu_add(vd_bleu *sums, vd_tokens hypothesis, const vd_tokens *reference, int references);
// score[n-1] = prod_{m<=n} ((C_m + 1e-15) / (G_m + 1e-9))^(1/n), times exp(1 - 1/rho) where
// rho = (hypothesis + 1e-15) / (reference + 1e-9) is below 1. Of one picture's sums: its own BLEU.
void vd_bleu_scores(const vd_bleu *sums, double score[VD_BLEU_ORDERS]);

// ---- ROUGE-L ------------------------------------------------------------------------------------

// Of one picture; a set of pictures has the mean. P = max_j LCS(h, r_j) / |h|, R = max_j LCS(h,
// r_j) / |r_j|, each by a reference of its own; 0 when either is 0, else 2.44 P R / (R + 1.44 P).
// An empty sentence is one empty token, so that it matches another empty one.
double vd_rouge_l(vd_tokens hypothesis, const vd_tokens *reference, int references);

// ---- n-grams ------------------------------------------------------------------------------------

// Of each n-gram that starts at i in a sentence: how often it is there where i is its first place,
// else 0. times: (VD_CAPTION_MOST). Returns how many n-grams there are, max(0, count - n + 1).
int vd_ngram_counts(vd_tokens sentence, int n, int times[VD_CAPTION_MOST]);
// How often the n-gram at gram (n ids) is in a sentence.
int vd_ngram_times(vd_tokens sentence, const int32_t *gram, int n);

#endif
