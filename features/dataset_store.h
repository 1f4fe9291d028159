// What stands behind a vd_dataset. Internal to features/.
#ifndef VD_DATASET_STORE_H
#define VD_DATASET_STORE_H

#include "features/dataset.h"

// The longest the network sees of each, special tokens included (mvan: "Inputs").
enum {
    VD_CUT_QUESTION = VD_MAX_QUESTION - 1,
    VD_CUT_CANDIDATE = VD_MAX_CANDIDATE - 1,
    VD_CUT_CAPTION = VD_MAX_HISTORY - 1
};

// Many short sequences of token ids, one behind the other.
typedef struct vd_sequences {
    int32_t *ids;
    size_t used, room;
    size_t *first;   // where each starts in ids
    uint8_t *length; // 0 too for strings that no dialog uses
} vd_sequences;

struct vd_dataset {
    const vd_visdial *dialogs;
    const vd_regions *regions;
    size_t *row;            // (dialog_count) row of its image in regions
    vd_sequences questions; // with "?", cut to VD_CUT_QUESTION
    vd_sequences answers;   // without <S> and </S>, cut to VD_CUT_CANDIDATE
    vd_sequences captions;  // one a dialog, cut to VD_CUT_CAPTION
    int32_t candidates;     // O
};

#endif
