// Attention of the generative decoder over the dialog (answer lstm-attention): every word of an
// answer looks at all words of the entries 0..t and of the question.
//
// Use: whoever ran the encoder calls vd_source_read once; then vd_source_attend for any answers.
// Backward: the tapes of the answers first, then vd_source_backward, then the encoder.
#ifndef VD_LSTM_ATTENTION_H
#define VD_LSTM_ATTENTION_H

#include "engine/graph/tape.h"
#include "engine/networks/config.h"

struct vd_pass;

// What the answers of a pass look at. Legend of mvan/pass.h.
typedef struct vd_source {
    // Of networks on the tape: (TQ, W), (TH, W') word states, or word vectors. NULL: MVAN's.
    const vd_value *question, *history;
    const vd_real *kept; // (TH, H) x of the entries, where a dialog has kept them; else NULL
    int first;           // the question that the decoder takes for the first

    vd_tape *tape;         // from the word states to
    const vd_value *words; // x (TH + TQ, H): of all entries, then of all questions
    const vd_value *keys;  // what their scores need of them
    vd_pair_group *seen;   // (N) of each question: the rows of its entries 0..t, its own
} vd_source;

void vd_source_declare(const vd_config *config, vd_layout *layout);
// pass->source, after the encoder; nothing where the configuration has no attention.
vd_status vd_source_read(struct vd_pass *pass, vd_error *err);
// x of entries whose word states are in pass->history: *x (TH, H), in the arena.
vd_status vd_source_entries(struct vd_pass *pass, const vd_real **x, vd_error *err);

// Words of answers, on their way from the LSTM to the scores of the next word.
typedef struct vd_attended {
    vd_tape *tape;
    const vd_value *out; // (words, H) tanh(W [s ; c] + b)
} vd_attended;

// s, ds: states (words, H) after each word and their gradient (NULL: none is wanted); sequence i of
// `answers` belongs to question[i].
vd_status vd_source_attend(struct vd_pass *pass, const vd_packed *answers, const int *question,
                           const vd_real *s, vd_real *ds, vd_attended *attended, vd_error *err);
// To the word states, once the answers have been walked back.
vd_status vd_source_backward(struct vd_pass *pass, vd_error *err);

#endif
