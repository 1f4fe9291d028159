// Networks that are composed on the tape (engine/graph/tape.h): each a file of its own beside this
// one, which declares its parameters and says how a batch becomes e (N, H), the vectors that
// candidates are compared with. All else (decoders, losses, training, pools, dialogs) is the same
// for all networks.
//
// In the files: q_t, h_r sentence vectors of question t and entry r, v_k region k; [x ; y] joined,
// o elementwise; p the softmax of s.
#ifndef VD_ENCODER_H
#define VD_ENCODER_H

#include "engine/graph/tape.h"
#include "engine/networks/config.h"

// What a question sees, an entry sees: the usual pairings.
typedef enum vd_sight {
    VD_SEES_ROUNDS,    // questions: entries 0..t
    VD_SEES_EARLIER,   // questions: the questions before it in its dialog, if the network has them
    VD_SEES_REGIONS,   // questions: the real regions of the picture, or all when none is real
    VD_SEES_OWN_WORDS, // questions: their words
    VD_SEES_HISTORY_WORDS, // questions: the words of entries 0..t
    VD_SEES_OWN_ROUNDS,    // the same as rounds, of rows that differ by question: a key a pair
    VD_SEES_PICTURE,       // dialogs: the regions
    VD_SIGHTS
} vd_sight;

// Rows that a network makes once of each entry, from entries up to that one and the questions
// before it: a chat keeps them from question to question, so that what was said is not worked out
// again.
typedef struct vd_memo {
    int each, width;        // rows of an entry, numbers of a row
    int entries;            // from the first on, whose rows are kept
    const vd_real *numbers; // (entries, each, width) in the backend's memory
    // What a pass made, when it has run: of entries `entries`, entries + 1, ... (made, each), rows
    // of `width` numbers in the arena. The network sets all of these, and each and width.
    const vd_value *const *row;
    int made;
} vd_memo;

// The states in which a network reads words, for the generative decoder to look at
// (decoders/source.c).
typedef struct vd_word_states {
    const vd_value *question, *history; // (TQ, W), (TH, W'), a row a word; NULL: there are none
} vd_word_states;

typedef struct vd_inputs {
    const vd_config *config;
    const vd_geometry *span; // which question belongs to which dialog, and sees how many entries
    const vd_packed *question_words, *history_words;
    const vd_real *sinusoid;                                       // pass.h
    vd_real dropout, lstm_dropout, position_dropout, text_dropout; // rates
    // Region k of a dialog: rows region_start[b] .. region_start[b + 1], real ones only.
    const int *region_start;            // (B + 1)
    const vd_value *raw;                // (K, D) as the extractor gave them
    const vd_value *regions;            // (K, D) divided by their norms (config->image)
    const vd_pairing *sight[VD_SIGHTS]; // vd_inputs_pairing
    vd_memo *memo;                      // of the one dialog; NULL: nothing is kept
    vd_word_states *states;             // the network sets those that it has
} vd_inputs;

typedef int vd_width(const vd_config *config);

typedef struct vd_encoder {
    const char *name, *title;
    // A question is answered from what was asked before, too, not only from the entries: a chat
    // computes all rounds.
    bool reads_earlier;
    // Its own (engine/networks/text/text.h); NULL: it reads in a way that no other network does.
    const struct vd_text_encoder *text;
    void (*declare)(const vd_config *config, vd_layout *layout);
    vd_value *(*build)(vd_tape *tape, vd_inputs *in);
    // Of the states in which it reads questions and entries; NULL: it has none, and so it takes no
    // text encoder. Otherwise it takes all, whose states are as wide as those of its questions.
    vd_width *question_width, *history_width;
    int (*heads)(const vd_config *config); // of its attention; NULL: it has none
} vd_encoder;

#define X(code, symbol, name) extern const vd_encoder vd_encoder_##symbol;
VD_ENCODERS(X)
#undef X
extern const vd_encoder vd_encoder_mvan;

const vd_encoder *vd_encoder_of(const vd_config *config);
// Whether its stages are the fused ones (engine/networks/mvan/): MVAN with its own text encoder.
bool vd_is_fused(const vd_config *config);
// Whether the network, MVAN too, takes the configuration's text encoder, and its decoder the way in
// which answers are said; VD_USAGE says what is expected. Of a captioner vd_caption_check.
vd_status vd_encoder_check(const vd_config *config, vd_error *err);
// Heads of the attention, of the network's or of the text encoder's, where the setting leaves them
// to it (0); the setting where neither has any.
int vd_encoder_heads(const vd_config *config);

// One of the usual pairings, made when it is first asked for.
const vd_pairing *vd_inputs_pairing(vd_tape *tape, vd_inputs *in, vd_sight sight);
// The questions of each dialog as a sequence; NULL after a failure.
const vd_packed *vd_inputs_rounds(vd_tape *tape, vd_inputs *in);
// What each query of a pairing sees as a sequence, whose words are the pairs; without any after a
// failure.
const vd_packed *vd_inputs_sequences(vd_tape *tape, const vd_pairing *p);
// The picture as one vector (N, D) a question: the mean of its regions, brought to length 1.
vd_value *vd_inputs_picture(vd_tape *tape, vd_inputs *in);

#endif
