// An answer that a generative decoder generated.
#ifndef VD_UTTERANCE_H
#define VD_UTTERANCE_H

#include <stdint.h>

#include "engine/networks/batch.h"

enum {
    VD_MOST_WORDS = VD_MAX_CANDIDATE - 2, // words without <S> and </S>
    VD_BEAMS = 5
};

typedef struct vd_utterance {
    int length;
    int32_t word[VD_MOST_WORDS];
    float score; // mean log-probability of its words and </S>, as answers are ranked by
} vd_utterance;

// The generated answers to one question.
typedef struct vd_turn_answers {
    int count; // 0: the model has no generative decoder
    // Of a beam search over VD_BEAMS hypotheses by falling score, different from each other; the
    // greedy answer is one of them.
    vd_utterance beam[VD_BEAMS];
    vd_utterance greedy; // greedy search: always the most probable next word
} vd_turn_answers;

#endif
