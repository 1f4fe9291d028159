// METEOR-es: the part of METEOR 1.5 (Denkowski, Lavie, WMT 2014) that needs no Java and no tables:
// *e*xact matches and matches of *s*tems. It is not METEOR, whose synonyms, paraphrases and
// function words are missing here, and its numbers are not to be compared with METEOR's.
//
// An alignment matches words of the caption h with words of a reference r, each word once: equal
// words with weight 1, words of one stem with weight 0.5. Of all alignments the one with the
// largest sum of weights is taken, then the one with the fewest chunks (runs of matches that are
// next to each other in both sentences), then that with the least sum of |place in h - place in r|.
// With w = 1 (exact) and 0.6 (stem), m matches: P = sum w / |h|, R = sum w / |r|,
//   score = (1 - 0.6 (chunks / m)^0.2) P R / (0.85 P + 0.15 R)
// and 0 without matches. Where all words of both are matched in one chunk, it counts as none, in
// sums too (as METEOR's own program does it): then there is no penalty.
#ifndef VD_METEOR_H
#define VD_METEOR_H

#include "engine/measure/caption_metrics.h"

// What the score is made of. A set of pictures has the score of the sums.
typedef struct vd_meteor {
    double weight;                // sum of w
    double matches, chunks;       // m
    double hypothesis, reference; // |h|, |r|
} vd_meteor;

// stem[i]: the stem of the word with id i, as a number that words of one stem share
// (features/captions/tokens.h); NULL: every word is its own. At most 100 partial alignments are
// kept at a time, more than captions ever have; beyond it the alignment is the best of those.
vd_meteor vd_meteor_align(vd_tokens hypothesis, vd_tokens reference, const int32_t *stem);
double vd_meteor_score(const vd_meteor *counts);
// The counts with the reference that gives the best score, the first of equal ones.
vd_meteor vd_meteor_best(vd_tokens hypothesis, const vd_tokens *reference, int references,
                         const int32_t *stem);

#endif
