// What-if: a question is answered with a changed input, while the dialog stays as it is. A
// word that is dropped or replaced needs none of this: ask with other tokens.
#ifndef VD_INTERVENTION_H
#define VD_INTERVENTION_H

#include <stdbool.h>

// All zero: nothing is changed.
typedef struct vd_intervention {
    // (entries) history entries left out, as if they did not exist; entry 0 is the caption. One
    // entry must stay. NULL: none.
    const bool *drop_entry;
    // (regions) regions left out, as if the detector had not found them: the others are normalised
    // without them. With all left out the picture is blank. NULL: none.
    const bool *mask_region;
    bool blank; // every region's features are zero
    // Attentions by name, up to a NULL, made uniform over what is not masked: all hops, heads,
    // layers or steps of a name. NULL: none.
    const char *const *uniform;
    // Positions are taken from the words of question and history where the model adds them, and
    // added as sinusoids where it has none. The candidates keep the vectors of their pool.
    bool swap_positions;
} vd_intervention;

#endif
