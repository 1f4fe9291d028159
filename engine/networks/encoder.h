// Networks that are composed on the tape (engine/graph/tape.h): each is a file in this folder,
// which declares its parameters and computes e (N, H), the vectors that candidates are compared
// with, from a batch. All else (decoders, losses, training, pools, dialogs) is the same for all
// networks; one that reads the dialog as a text can also be the generative decoder (`answer`).
//
// In the files: q_t, h_r sentence vectors of question t and entry r, v_k region k; [x ; y]
// concatenation, o elementwise product; p the softmax of s.
#ifndef VD_ENCODER_H
#define VD_ENCODER_H

#include "engine/graph/tape.h"
#include "engine/networks/config.h"

// The usual pairings: what each question (or dialog) attends to.
typedef enum vd_usual_pairing {
    VD_SEES_ROUNDS,        // questions: entries 0..t
    VD_SEES_REGIONS,       // questions: the real regions of the picture, or all when none is real
    VD_SEES_OWN_WORDS,     // questions: their words
    VD_SEES_HISTORY_WORDS, // questions: the words of entries 0..t
    VD_SEES_PICTURE,       // dialogs: the regions
    // The same of rows that differ by question: a key a pair.
    VD_SEES_OWN_ROUNDS,
    VD_SEES_OWN_REGIONS,
    VD_SEES_OWN_HISTORY_WORDS,
    VD_USUAL_PAIRINGS
} vd_usual_pairing;

// Cached rows of the picture and of each entry, which depend only on the entries up to it and the
// questions before it. A chat keeps them between questions, so that they are computed once.
typedef struct vd_memo {
    int width;              // numbers of a row
    int entries;            // number of entries, from the first on, whose rows are cached
    const vd_real *numbers; // (rows, width) in the backend's memory
    // Output of a pass: `value` lists `values` values, in the arena, with the rows of entries
    // `entries`, entries + 1, ... (`made` of them), which follow the first `known` cached rows. The
    // network sets all of these, and width; if the cached width is another one, or what is cached
    // is of no use, it sets entries to 0.
    int known, made, values;
    const vd_value *const *value;
} vd_memo;

// The network's states of words, to which the generative decoder attends (decoders/source.c).
typedef struct vd_word_states {
    const vd_value *question, *history; // (TQ, W), (TH, W'), a row a word; NULL: there are none
    const struct vd_dialog_tokens *sequence; // from which answers go on; NULL: the same
} vd_word_states;

typedef struct vd_inputs {
    const vd_config *config;
    const vd_geometry *span; // which question belongs to which dialog, and sees how many entries
    const vd_packed *question_words, *history_words;
    const vd_real *sinusoid;                                       // pass.h
    vd_real dropout, lstm_dropout, position_dropout, text_dropout; // rates
    vd_real random_time;                                           // memn2n.c
    bool linear;
    // Region k of a dialog: rows region_start[b] .. region_start[b + 1], real ones only.
    const int *region_start;                    // (B + 1)
    const vd_value *raw;                        // (K, D) as the extractor gave them
    const vd_value *regions;                    // (K, D) divided by their norms (config->image)
    const vd_pairing *usual[VD_USUAL_PAIRINGS]; // vd_inputs_pairing
    vd_memo *memo;                              // of the one dialog; NULL: nothing is kept
    vd_word_states *states;                     // the network sets those that it has
    double next_word, *next_word_loss;          // pass.h
} vd_inputs;

typedef int vd_width(const vd_config *config);

// How public weights of a network are known.
typedef struct vd_public_weights {
    const char *mark; // a tensor that only they have; NULL: none are known
    const char *last; // weight of the last layer, H x (D + states H)
    int states;
    vd_boundaries ranking; // of those that rank candidates
} vd_public_weights;

// Whose they are, for the help.
#define VD_PUBLIC_NETWORKS "mvan, or of the VisDial challenge's baseline lf-bu"

typedef struct vd_encoder {
    const char *name, *title;
    // The options that only some networks read, and this one does, with spaces between them
    // (vd_encoder_reads); NULL: none.
    const char *reads;
    vd_public_weights published;
    // The answer also depends on the earlier questions, not only on the entries: a chat computes
    // all rounds.
    bool reads_earlier;
    // Its own text encoder (engine/networks/text/text.h); NULL: a way of reading that only this
    // network has.
    const struct vd_text_encoder *text;
    void (*declare)(const vd_config *config, vd_layout *layout);
    vd_value *(*build)(vd_tape *tape, vd_inputs *in);
    // The words of answers that go on with the network's own text (states->sequence), each after
    // its question, a host list: rows (words, E) that word vectors are multiplied with to predict
    // the next word (answer sequence). NULL: it has no such text.
    vd_value *(*answer)(vd_tape *tape, const struct vd_dialog_tokens *sequence,
                        const vd_packed *answers, const int *question);
    // Widths of its states of questions, and of entries (NULL: the same). Without both it has no
    // states, and takes no text encoder; otherwise it takes all of them, with states as wide as
    // those of its questions.
    vd_width *question_width, *history_width;
    int (*heads)(const vd_config *config); // of its attention; NULL: it has none
    const char *part; // "hop": what the index of its attentions counts; NULL: it has one of each
} vd_encoder;

#define X(code, symbol, name) extern const vd_encoder vd_encoder_##symbol;
VD_ENCODERS(X)
#undef X
extern const vd_encoder vd_encoder_mvan;

const vd_encoder *vd_encoder_of(const vd_config *config);
// Whether its stages are the fused ones (engine/networks/mvan/): MVAN with its own text encoder.
bool vd_is_fused(const vd_config *config);
// Checks that the network (MVAN too) takes the configuration's text encoder and scores, and its
// decoder the answer setting; VD_USAGE says what is expected. For captioners: vd_caption_check.
vd_status vd_encoder_check(const vd_config *config, vd_error *err);
// Whether an option of the settings (networks/settings.h) can change anything in this network,
// which may be a captioner.
bool vd_encoder_reads(const vd_config *config, const char *option);
// Attention heads of the network, of its text encoder or of its scores if the setting is 0; the
// setting if none of them has heads.
int vd_encoder_heads(const vd_config *config);

// One of the usual pairings, made at its first use.
const vd_pairing *vd_inputs_pairing(vd_tape *tape, vd_inputs *in, vd_usual_pairing which);
// How many rows an axis has: dialogs, questions, their words, entries, their words, or regions; and
// which of them question n sees, of the axes that it attends to.
int vd_inputs_rows(const vd_inputs *in, vd_axis axis);
vd_range vd_inputs_seen(const vd_inputs *in, vd_axis axis, int n);
// As a sequence each, empty after a failure: of a dialog its questions or (VD_AXIS_HISTORY_WORDS)
// the words of its entries; of each query of a pairing its keys, whose words are the pairs.
const vd_packed *vd_inputs_dialogs(vd_tape *tape, const vd_inputs *in, vd_axis axis);
const vd_packed *vd_inputs_sequences(vd_tape *tape, const vd_pairing *p);
// The picture as one vector per question (N, D): the mean of its regions, normalised to length 1.
vd_value *vd_inputs_picture(vd_tape *tape, vd_inputs *in);

#endif
