// A dialog as one sequence of tokens, for networks that read it at once: its regions, the words of
// its entries in order, and those of questions that stand apart. A region sees the picture's
// regions; a word sees these and the words up to itself.
//
// An entry begins with the question it answers: that is where the question is read. One that no
// entry begins with (the newest; all of them when the history is left out) stands apart, and sees
// the entries before it and its own words up to itself, which comes to the same.
#ifndef VD_DIALOG_TOKENS_H
#define VD_DIALOG_TOKENS_H

#include "engine/networks/encoder.h"

// What the questions' last words see of one kind, among the pairs of `sees`.
typedef struct vd_token_look {
    const vd_pairing *p;
    const int *pair; // (heads, pairs of p) -1: of a question without words
} vd_token_look;

typedef struct vd_dialog_sizes {
    int heads, layers, positions;
} vd_dialog_sizes;

typedef struct vd_dialog_tokens {
    vd_tape *tape;
    vd_inputs *in;
    // Rows of this pass. A chat has kept those before them, which are keys alone: `kept` of them.
    int heads, rows, words, kept;
    // Lists where operations read them: of each token its row, in all regions and below these the
    // words; of each word its id, and its position in the text, below `positions`; of each question
    // the row of its last word, -1 when it has none.
    const int *from, *id, *position, *question;
    // Where in->next_word is not 0: of each word the row of the one before it in its text, and its
    // id; -1: it is the first.
    const int *before, *next;
    const int *last;        // (N) host: the group in `sees` of that word, or -1
    const vd_pairing *sees; // of tokens to tokens
    // For what people see, and so not there in training.
    vd_token_look at_regions, at_words, at_own; // words: of the entries; own: of the question
    const vd_value *sum;                        // of the words of an entry
    // (rows) what each token is made of so far: shares of the regions of its dialog, then of the
    // entries. What they lack to one is of questions that stand apart.
    const vd_value *rollout;
    int entries; // its first column of these
    // What a chat has kept (kept, width), and what of it has been read; these rows' values so far.
    const vd_value *memory, **made;
    int columns, values;
} vd_dialog_tokens;

// False, and a failure of the tape, when memory is out.
bool vd_dialog_tokens_make(vd_tape *tape, vd_inputs *in, const vd_dialog_sizes *sizes,
                           vd_dialog_tokens *out);

// Keys, values and rollouts of each layer are what a chat keeps of its picture and its entries.
// x with the rows that it has kept above it; every pass asks for the same values in the same order.
const vd_value *vd_dialog_tokens_all(vd_dialog_tokens *d, const vd_value *x);
// After the last layer: what the chat is to keep.
void vd_dialog_tokens_keep(const vd_dialog_tokens *d);

// Scores of all heads (pairs of `sees`), where what is to be flattened is even: at the words of the
// questions, the regions, the entries whatever their length, the entries' words, or their own.
const vd_value *vd_dialog_tokens_make_uniform(const vd_dialog_tokens *d, const vd_value *scores);
// The share that each question's last word gives to each region, the mean over heads: pairs of
// VD_SEES_REGIONS.
vd_value *vd_dialog_tokens_of_regions(const vd_dialog_tokens *d, const vd_value *attention);
// What the questions' last words look at: "regions", "history-words", "question-words", the mean
// over heads of the shares that a head gives to each among its kind, and "rounds", the sum over an
// entry's words. Does nothing in training.
void vd_dialog_tokens_show(const vd_dialog_tokens *d, const vd_value *scores, int index);
// One layer more of attention rollout (Abnar, Zuidema 2020): rollout = (A + I) / 2 rollout, A the
// mean of the heads of `attention`. Does nothing in training.
void vd_dialog_tokens_roll(vd_dialog_tokens *d, const vd_value *attention);
// What the questions' last words are made of: "rollout" of the regions, "rollout-rounds" of the
// entries, shares among their kind. Does nothing in training.
void vd_dialog_tokens_show_rollout(const vd_dialog_tokens *d);

#endif
