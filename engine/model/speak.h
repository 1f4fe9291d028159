// The generative decoder at work on one question: answers of its own by beam search, and the scores
// of given ones.
#ifndef VD_SPEAK_H
#define VD_SPEAK_H

#include <stdatomic.h>

#include "engine/networks/mvan/pass.h"
#include "engine/model/utterance.h"

// Beam search from pass->encoded (1, H) with `beams` hypotheses, 1 to VD_BEAMS; 1 is greedy search.
// Scores are log-probabilities divided by the number of words, </S> included (length normalisation
// with exponent 1; Wu et al. 2016, section 7), so that short answers are not preferred. No two
// neighbouring words occur twice in an answer (Paulus et al. 2018, section 2.5); <PAD>, <S>, <UNK>
// and an empty answer are never said. The search ends with as many answers as hypotheses. out:
// (beams) by falling score; *count of them. When stop becomes non-zero (may be NULL) it ends with
// VD_INTERRUPTED.
vd_status vd_speak(vd_pass *pass, int beams, const atomic_int *stop, vd_utterance *out, int *count,
                   vd_error *err);

// Scores (count), host: mean log-probability of each of the answers `<S> answer </S>`, tokens
// (count, width), after pass->encoded (1, H).
vd_status vd_speak_scores(vd_pass *pass, const int32_t *tokens, const int32_t *lengths, int count,
                          int width, const atomic_int *stop, float *scores, vd_error *err);

#endif
