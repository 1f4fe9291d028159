// What-if: a question is answered with a changed input, while the dialog stays as it is. A
// word that is dropped or replaced needs none of this: ask with other tokens.
#ifndef VD_INTERVENTION_H
#define VD_INTERVENTION_H

#include <stdbool.h>

// The four attentions, as bits.
enum {
    VD_ATTENTION_ROUNDS = 1,         // 1: question -> history rounds
    VD_ATTENTION_HISTORY_WORDS = 2,  // 2: question words -> history words
    VD_ATTENTION_QUESTION_WORDS = 4, // 3: regions -> question words
    VD_ATTENTION_REGIONS = 8         // 4: the answer's regions
};

// All zero: nothing is changed.
typedef struct vd_intervention {
    // (entries) history entries left out, as if they did not exist; entry 0 is the caption. One
    // entry must stay. NULL: none.
    const bool *drop_entry;
    // (regions) regions left out, as if the detector had not found them: the others are normalised
    // without them. With all left out the picture is blank. NULL: none.
    const bool *mask_region;
    bool blank;       // every region's features are zero
    unsigned flatten; // VD_ATTENTION_*: made uniform over what is not masked
    // Positions are taken from the words of question and history where the model adds them, and
    // added as sinusoids where it has none. The candidates keep the vectors of their pool.
    bool swap_positions;
} vd_intervention;

#endif
