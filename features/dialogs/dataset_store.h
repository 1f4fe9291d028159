// The inside of a vd_dataset, and the tokens of dialogs. Internal to features/.
#ifndef VD_DATASET_STORE_H
#define VD_DATASET_STORE_H

#include "features/dialogs/dataset.h"

// The longest the network sees of each, special tokens included (mvan: "Inputs").
enum { VD_CUT_QUESTION = VD_MAX_QUESTION - 1, VD_CUT_CAPTION = VD_MAX_HISTORY - 1 };

// Many short sequences of token ids, one after another.
typedef struct vd_sequences {
    int32_t *ids;
    size_t used, room;
    size_t *first;   // where each starts in ids
    uint8_t *length; // 0 too for strings that no dialog uses
} vd_sequences;

// The texts of a file of dialogs as token ids.
typedef struct vd_token_tables {
    vd_sequences questions; // with "?", cut to VD_CUT_QUESTION
    vd_sequences answers;   // without <S> and </S>, cut to VD_CUT_CANDIDATE
    vd_sequences captions;  // one a dialog, cut to VD_CUT_CAPTION
} vd_token_tables;

// Tokenises what the dialogs use; what is packed as tokens only changes its ids. *out is to be
// cleared after a failure, too.
vd_status vd_token_tables_fill(const vd_visdial *data, const vd_vocab *vocab, vd_token_tables *out,
                               vd_error *err);
void vd_token_tables_clear(vd_token_tables *tables);

// Which strings of the tables the dialogs use.
typedef struct vd_text_uses {
    int64_t *question, *answer; // how often each is asked or given
    bool *candidate;            // which answers are offered
} vd_text_uses;

vd_status vd_text_uses_count(const vd_visdial *data, vd_text_uses *out, vd_error *err);
void vd_text_uses_clear(vd_text_uses *uses);

struct vd_dataset {
    const vd_visdial *dialogs;
    const vd_regions *regions;
    size_t *row; // (dialog_count) row of its image in regions
    vd_token_tables tokens;
    int32_t candidates; // O
};

static inline const int32_t *vd_sequence(const vd_sequences *s, size_t index)
{
    return s->ids + s->first[index];
}

// <S> answer </S>, cut: its length, and the tokens.
int vd_wrapped_length(const vd_dataset *set, int32_t answer);
// Of answer </S>, cut: what the generative decoder says.
int vd_turns_length(const vd_dataset *set, int32_t answer);
int vd_wrap_answer(const vd_dataset *set, int32_t answer, int32_t *out);
// Row u of candidates: one answer in all its forms. The row is zero before.
void vd_candidate_fill(const vd_dataset *set, int32_t answer, int u, vd_candidates *out);

#endif
