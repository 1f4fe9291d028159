// A dialog as one sequence of tokens, for networks that read it at once: its regions, the words of
// its entries in order, and those of questions that stand apart. A region sees the picture's
// regions; a word sees these and the words up to itself.
//
// An entry begins with the question it answers: that is where the question is read. One that no
// entry begins with (the newest; all of them when the history is left out) stands apart, and sees
// the entries before it and its own words up to itself, which comes to the same.
//
// Answers may go on from the questions (vd_dialog_tokens_branch), each by itself: a word of an
// answer sees what its question's last word sees, that word, and the answer's words up to itself.
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

// Answers that continue the questions of a dialog. `window`: the range of the dialog's rows that
// the answers attend to. If the rows that one question sees are not contiguous, they are gathered
// once more after the window: `joined` lists the row of the window for each of `keys` rows. NULL:
// nothing was gathered.
typedef struct vd_token_branches {
    const struct vd_dialog_tokens *from;
    const vd_packed *answers;
    const int *asked; // (answers) host: the question of each
    vd_range window;
    const int *joined;
    int keys;
} vd_token_branches;

typedef struct vd_dialog_tokens {
    vd_tape *tape;
    vd_inputs *in;
    // Rows of this pass. A chat has kept those before them, which are keys alone: `kept` of them.
    int heads, rows, words, kept;
    int positions;
    bool shown; // whether people may look at it: not in training, and not at answers
    // Lists where operations read them: of each token its row, in all regions and below these the
    // words; of each word its id, and its position in the text, below `positions`; of each question
    // the row of its last word, -1 when it has none.
    const int *from, *id, *position, *question;
    // Where in->next_word is not 0: of each word the row of the one before it in its text, and its
    // id; -1: it is the first.
    const int *before, *next;
    const int *last;        // (N) host: the group in `sees` of that word, or -1
    const vd_pairing *sees; // of tokens to tokens
    // (N) host: the rows of all tokens that the words after each question see: those before it, its
    // own.
    vd_pair_group *seen;
    // Keys, then values, of each layer, a row for each token, the kept ones too.
    const vd_value **keys_values;
    vd_token_branches branches; // zero unless these are the words of answers
    // Only if `shown`: the pairs of a question's last word with regions, with words of the entries
    // and with words of the question.
    vd_token_look at_regions, at_words, at_own;
    const vd_value *sum; // of the words of an entry
    // (rows) what each token is made of so far: shares of the regions of its dialog, then of the
    // entries. What they lack to one is of questions that stand apart.
    const vd_value *rollout;
    int entries; // its first column of these
    // memory (kept, width): the rows that a chat has cached, of which the first `columns` columns
    // were used so far; made (values): values of this pass that are to be cached.
    const vd_value *memory, **made;
    int columns, values;
} vd_dialog_tokens;

// False, and a failure of the tape, when memory is out.
bool vd_dialog_tokens_make(vd_tape *tape, vd_inputs *in, const vd_dialog_sizes *sizes,
                           vd_dialog_tokens *out);

// The words of answers, as they follow questions; sequence i of `answers` belongs to asked[i], a
// list on the host. `from`, whose layers are through, and the lists live as long as the tape.
// False, and a failure, when memory is out.
bool vd_dialog_tokens_branch(vd_tape *tape, const vd_dialog_tokens *from, const vd_packed *answers,
                             const int *asked, vd_dialog_tokens *out);

// A layer's keys, or values, of all rows that are seen: x with those above it that a chat has kept,
// or that answers go on from. index: twice the layer, of values one more. A pass over a dialog asks
// for all of them in this order.
const vd_value *vd_dialog_tokens_all(vd_dialog_tokens *d, const vd_value *x, int index);
// After the last layer: what the chat is to keep, which is keys, values and rollouts of its picture
// and its entries.
void vd_dialog_tokens_keep(const vd_dialog_tokens *d);

// The scores of all heads (pairs of `sees`) with the attentions that the tape's what-if names made
// uniform, for the words of questions and of answers. Of regions, of the words of entries and of
// the question's words the scores become 0; of rounds each word of an entry gets -log(words of the
// entry), so that all entries get the same share.
const vd_value *vd_dialog_tokens_make_uniform(const vd_dialog_tokens *d, const vd_value *scores);
// The share that each question's last word gives to each region, the mean over heads: pairs of
// VD_SEES_REGIONS.
vd_value *vd_dialog_tokens_of_regions(const vd_dialog_tokens *d, const vd_value *attention);
// What the questions' last words look at: "regions", "history-words", "question-words", the mean
// over heads of the shares that a head gives to each among its kind, and "rounds", the sum over an
// entry's words. Does nothing where nothing is shown.
void vd_dialog_tokens_show(const vd_dialog_tokens *d, const vd_value *scores, int index);
// One layer more of attention rollout (Abnar, Zuidema 2020): rollout = (A + I) / 2 rollout, A the
// mean of the heads of `attention`. Does nothing where nothing is shown.
void vd_dialog_tokens_roll(vd_dialog_tokens *d, const vd_value *attention);
// What the questions' last words are made of: "rollout" of the regions, "rollout-rounds" of the
// entries, shares among their kind. Does nothing where nothing is shown.
void vd_dialog_tokens_show_rollout(const vd_dialog_tokens *d);

#endif
